package scramble_test

import (
	"errors"
	"fmt"
	"math"
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
	for _, ways := range [][2]func(int64) (int64, error){
		{p.Scramble, p.Unscramble}, {p.Unscramble, p.Scramble},
	} {
		x, err := ways[0](v)
		back, err2 := ways[1](x)
		if err := errors.Join(err, err2); err != nil || x < 1 || x > d.Max() || back != v {
			t.Fatalf("%d is %d, which leads back to %d, %v", v, x, back, err)
		}
	}
}

// Every ID of the domain, once: the same constructions, so small that all their values can be
// looked at.
func TestBijection(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		for bits := 2; bits <= 16; bits++ {
			d := scramble.Domain(bits)
			for _, k := range keys(8) {
				p := kind.of(bits, k)
				seen := make([]bool, d.Max()+1)
				for v := int64(1); v <= d.Max(); v++ {
					inverse(t, p, d, v)
					x, _ := p.Scramble(v)
					if seen[x] {
						t.Fatalf("%s, %d bits, key %x: %d comes twice", kind.name, bits, k.Bytes(), x)
					}
					seen[x] = true
				}
			}
		}
	}
}

// wantRange fails unless err is a *RangeError that quotes the value and the domain.
func wantRange(t *testing.T, err error, v int64, d scramble.Domain) {
	t.Helper()
	var e *scramble.RangeError
	want := fmt.Sprintf("scramble: %d is outside 1..%d", v, d.Max())
	if !errors.As(err, &e) || e.Value != v || e.Domain != d || err.Error() != want {
		t.Fatalf("error is %v, want %s", err, want)
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
					t.Errorf("%s: %d, %d, %d, %d beside an error", name, x, y, typed, original)
				}
			}
		}
	}
}

func wantUnknown(t *testing.T, err error, d scramble.Domain) {
	t.Helper()
	var e *scramble.DomainError
	want := fmt.Sprintf("scramble: unknown domain %d: want Int63 or Int53", int(d))
	if !errors.As(err, &e) || e.Domain != d || err.Error() != want {
		t.Fatalf("error is %v, want %s", err, want)
	}
}

func TestUnknownDomain(t *testing.T) {
	for name, of := range constructors {
		for _, d := range []scramble.Domain{0, 8, 52, 54, 64, -1, 63 + 64, math.MaxInt, math.MinInt} {
			p, err := of(d, number(1))
			wantUnknown(t, err, d)
			if v, err := p.Scramble(1); err == nil {
				t.Errorf("%s of domain %d makes %d of 1 beside an error", name, int(d), v)
			}
		}
	}
}

// What no constructor made takes nothing, instead of making every ID the same one.
func TestZeroValue(t *testing.T) {
	for name, of := range constructors {
		if _, err := of(scramble.Int63, scramble.Key{}); !errors.As(err, new(*scramble.KeyError)) {
			t.Errorf("%s of no key: %v", name, err)
		}
	}
	for _, p := range []scramble.Permutation{scramble.Multiplicative{}, scramble.Network{}} {
		_, err := p.Scramble(1)
		wantUnknown(t, err, 0)
		_, err = p.Unscramble(math.MaxInt64)
		wantUnknown(t, err, 0)
	}
}

// Another kind, domain or key is another permutation.
func TestValues(t *testing.T) {
	if scramble.Int63.Max() != math.MaxInt64 || scramble.Int53.Max() != 9_007_199_254_740_991 {
		t.Errorf("domains end at %d and %d", scramble.Int63.Max(), scramble.Int53.Max())
	}
	seen := map[int64]bool{}
	for _, of := range constructors {
		for _, d := range domains {
			for _, k := range keys(10) {
				p, _ := of(d, k)
				form, _ := p.Scramble(1)
				if seen[form] {
					t.Errorf("%d is the form of 1 in domain %v under key %x and others", form, d, k.Bytes())
				}
				seen[form] = true
			}
		}
	}
}

// The helpers keep the type, and do what the methods do.
func TestTypedKeys(t *testing.T) {
	type OrderID int64
	for _, kind := range kinds {
		p := kind.of(63, number(1))
		want, _ := p.Scramble(57)
		user, err := scramble.ID(p, UserID(57))
		order, err2 := scramble.ID(p, OrderID(57))
		back, err3 := scramble.Original(p, order)
		if err := errors.Join(err, err2, err3); err != nil || user != UserID(want) ||
			order != OrderID(want) || back != 57 {
			t.Errorf("%s: 57 is %d and %d, and back %d, %v", kind.name, user, order, back, err)
		}
	}
}
