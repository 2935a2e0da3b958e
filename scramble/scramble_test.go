package scramble_test

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/idmint/idmint/scramble"
)

// constructors are the two as users call them.
var constructors = map[string]func(scramble.Domain, scramble.Key) (scramble.Permutation, error){
	"Multiplicative": func(d scramble.Domain, k scramble.Key) (scramble.Permutation, error) {
		return scramble.NewMultiplicative(d, k)
	},
	"Network": func(d scramble.Domain, k scramble.Key) (scramble.Permutation, error) {
		return scramble.NewNetwork(d, k)
	},
}

// inverse fails unless v and its scrambled form lead to each other, within the domain, and back
// does as well.
func inverse(
	t interface{ Fatalf(string, ...any) }, p scramble.Permutation, d scramble.Domain, v int64,
) {
	for _, way := range []struct {
		name      string
		one, back func(int64) (int64, error)
	}{
		{"Scramble", p.Scramble, p.Unscramble},
		{"Unscramble", p.Unscramble, p.Scramble},
	} {
		x, err := way.one(v)
		if err != nil || x < 1 || x > d.Max() {
			t.Fatalf("%s(%d) = %d, %v, want a value of %v", way.name, v, x, err, d)
		}
		if back, err := way.back(x); err != nil || back != v {
			t.Fatalf("%s(%d) = %d, which leads back to %d, %v", way.name, v, x, back, err)
		}
	}
}

// bounds are the values at which a permutation of the domain could change its mind: powers of two
// and what is beside them.
func bounds(d scramble.Domain) []int64 {
	values := []int64{d.Max(), d.Max() - 1}
	for bit := range int(d) {
		v := int64(1) << bit
		values = append(values, v, v+1)
		if v > 1 {
			values = append(values, v-1)
		}
	}
	return values
}

func TestInverseAtBounds(t *testing.T) {
	for _, kind := range kinds {
		for _, d := range domains {
			for _, k := range keys(20) {
				p := kind.of(int(d), k)
				for _, v := range bounds(d) {
					inverse(t, p, d, v)
				}
			}
		}
	}
}

// Every ID of the domain, once: the same constructions, so small that all their values can be
// looked at.
func TestBijection(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			for bits := 2; bits <= 16; bits++ {
				d := scramble.Domain(bits)
				for _, k := range keys(8) {
					p := kind.of(bits, k)
					seen := make([]bool, d.Max()+1)
					fixed := 0
					for v := int64(1); v <= d.Max(); v++ {
						inverse(t, p, d, v)
						x, _ := p.Scramble(v)
						if seen[x] {
							t.Fatalf("%d bits, key %x: %d comes twice", bits, k, x)
						}
						seen[x] = true
						if x == v {
							fixed++
						}
					}
					// a permutation drawn at random has 1, and more than 12 with probability 10^-10
					if bits >= 8 && fixed > 12 {
						t.Errorf("%d bits, key %x: %d values of %d stay the same", bits, k, fixed,
							d.Max())
					}
				}
			}
		})
	}
}

// wantRange fails unless err is a *RangeError that quotes the value and the domain.
func wantRange(t *testing.T, err error, v int64, d scramble.Domain) {
	t.Helper()
	var e *scramble.RangeError
	if !errors.As(err, &e) {
		t.Fatalf("%d: error is %v, want a *RangeError", v, err)
	}
	if e.Value != v || e.Domain != d {
		t.Errorf("error is of %d and %v, want %d and %v", e.Value, e.Domain, v, d)
	}
	if want := fmt.Sprintf("scramble: %d is outside 1..%d", v, d.Max()); err.Error() != want {
		t.Errorf("error is %q, want %q", err, want)
	}
}

func TestOutsideTheDomain(t *testing.T) {
	for name, of := range constructors {
		for _, d := range domains {
			p, err := of(d, number(1))
			if err != nil {
				t.Fatal(name, err)
			}
			outside := []int64{0, -1, -2, math.MinInt64, math.MinInt64 + 1, -d.Max(), -1 << 53}
			if d == scramble.Int53 {
				outside = append(outside, 1<<53, 1<<53+1, 1<<62, math.MaxInt64)
			}
			for _, v := range outside {
				x, err := p.Scramble(v)
				wantRange(t, err, v, d)
				y, err := p.Unscramble(v)
				wantRange(t, err, v, d)
				typed, err := scramble.ID(p, UserID(v))
				wantRange(t, err, v, d)
				original, err := scramble.Original(p, UserID(v))
				wantRange(t, err, v, d)
				if x != 0 || y != 0 || typed != 0 || original != 0 {
					t.Errorf("%s: %d, %d, %d, %d beside an error, want 0", name, x, y, typed,
						original)
				}
			}
		}
	}
}

func wantUnknown(t *testing.T, err error, d scramble.Domain) {
	t.Helper()
	var e *scramble.DomainError
	if !errors.As(err, &e) || e.Domain != d {
		t.Fatalf("error is %#v, want a *DomainError of %d", err, int(d))
	}
	want := fmt.Sprintf("scramble: unknown domain %d: want Int63 or Int53", int(d))
	if err.Error() != want {
		t.Errorf("error is %q, want %q", err, want)
	}
}

func TestUnknownDomain(t *testing.T) {
	for name, of := range constructors {
		for _, d := range []scramble.Domain{
			0, 1, 8, 52, 54, 62, 64, -1, 63 + 64, math.MaxInt, math.MinInt,
		} {
			p, err := of(d, number(1))
			wantUnknown(t, err, d)
			if p != (scramble.Network{}) && p != (scramble.Multiplicative{}) {
				t.Errorf("%s of domain %d is %+v beside an error, want its zero value", name,
					int(d), p)
			}
		}
	}
}

// What no constructor made takes nothing, instead of making every ID the same one.
func TestZeroValue(t *testing.T) {
	for _, p := range []scramble.Permutation{scramble.Multiplicative{}, scramble.Network{}} {
		for _, v := range []int64{math.MinInt64, -1, 0, 1, 2, scramble.Int53.Max(), math.MaxInt64} {
			_, err := p.Scramble(v)
			wantUnknown(t, err, 0)
			_, err = p.Unscramble(v)
			wantUnknown(t, err, 0)
		}
	}
}

func TestDomain(t *testing.T) {
	if got := scramble.Int63.Max(); got != math.MaxInt64 {
		t.Errorf("the largest of Int63 is %d", got)
	}
	if got := scramble.Int53.Max(); got != 9_007_199_254_740_991 { // Number.MAX_SAFE_INTEGER
		t.Errorf("the largest of Int53 is %d", got)
	}
	m, _ := scramble.NewMultiplicative(scramble.Int53, number(1))
	n, _ := scramble.NewNetwork(scramble.Int53, number(1))
	if m.Domain() != scramble.Int53 || n.Domain() != scramble.Int53 {
		t.Errorf("domains of permutations of Int53: %v and %v", m.Domain(), n.Domain())
	}
}

// Permutations are values: equal for the same domain and key.
func TestComparable(t *testing.T) {
	for name, of := range constructors {
		seen := map[scramble.Permutation]string{}
		for _, d := range domains {
			for _, k := range keys(10) {
				p, _ := of(d, k)
				q, _ := of(d, k)
				if p != q {
					t.Errorf("%s of one domain and key are not equal", name)
				}
				is := fmt.Sprintf("%v %x", d, k)
				if other, ok := seen[p]; ok {
					t.Errorf("%s of %s and of %s are equal", name, is, other)
				}
				seen[p] = is
			}
		}
	}
}

// The helpers keep the type, and do what the methods do.
func TestTypedKeys(t *testing.T) {
	type OrderID int64
	for _, kind := range kinds {
		p := kind.of(63, number(1))
		for _, v := range bounds(scramble.Int63) {
			want, _ := p.Scramble(v)
			user, err := scramble.ID(p, UserID(v))
			if err != nil || user != UserID(want) {
				t.Errorf("%s: ID(%d) = %d, %v, want %d", kind.name, v, user, err, want)
			}
			if back, err := scramble.Original(p, user); err != nil || back != UserID(v) {
				t.Errorf("%s: Original(%d) = %d, %v, want %d", kind.name, user, back, err, v)
			}
			order, err := scramble.ID(p, OrderID(v))
			if back, backErr := scramble.Original(p, order); order != OrderID(want) ||
				back != OrderID(v) || err != nil || backErr != nil {
				t.Errorf("%s: an order's %d is %d, %v, and back %d, %v", kind.name, v, order, err,
					back, backErr)
			}
		}
	}
}

func FuzzInverse(f *testing.F) {
	f.Add(int64(1), []byte("0123456789abcdef"))
	f.Add(int64(math.MaxInt64), make([]byte, 16)) // the largest, with the simplest key
	f.Add(int64(1)<<53-1, make([]byte, 16))       // the largest of Int53
	f.Add(int64(1)<<53, make([]byte, 16))         // one above
	f.Add(int64(0), make([]byte, 16))
	f.Add(int64(math.MinInt64), make([]byte, 16))
	f.Add(int64(14150009200065), []byte{15: 1})
	f.Fuzz(func(t *testing.T, v int64, b []byte) {
		var k scramble.Key
		copy(k[:], b)
		for _, of := range constructors {
			for _, d := range domains {
				p, err := of(d, k)
				if err != nil {
					t.Fatal(err)
				}
				if v >= 1 && v <= d.Max() {
					inverse(t, p, d, v)
					continue
				}
				_, err = p.Scramble(v)
				wantRange(t, err, v, d)
				_, err = p.Unscramble(v)
				wantRange(t, err, v, d)
			}
		}
	})
}

// One permutation serves all goroutines: the race detector looks on.
func TestShared(t *testing.T) {
	for _, kind := range kinds {
		p := kind.of(63, number(1))
		var wg sync.WaitGroup
		for g := range 4 {
			wg.Go(func() {
				for v := int64(1 + g); v <= 1000; v++ {
					x, err := p.Scramble(v)
					if back, backErr := p.Unscramble(x); back != v || err != nil || backErr != nil {
						t.Errorf("%d is %d, %v, which leads back to %d, %v", v, x, err, back,
							backErr)
					}
				}
			})
		}
		wg.Wait()
	}
}
