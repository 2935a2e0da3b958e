package generator_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/testclock"
)

type account struct{}

// made panics, because Go takes two results as parameters only if they are all of them.
func made[G any](g G, err error) G {
	if err != nil {
		panic(err)
	}
	return g
}

// TestKeys: typed keys of each scheme and form are the generator's IDs, one by one and many.
func TestKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		still := &generator.Options{Clock: testclock.New(noon)}
		sno := made(generator.NewSno(generator.Given(7), still))
		eightbyte := made(generator.NewEightByte(idtype.EightByteSpread,
			generator.Given(generator.EightBytePair{Generator: 7, Cluster: 2}), still))
		wantKeys[idtype.Decimal[account]](t, newDecimal(t, newSource(92, 17)))
		wantKeys[idtype.Sequence[account]](t, newSequence(t, newRegister(), 7))
		wantKeys[idtype.Trace[account]](t, made(generator.NewTrace(generator.Given(7), still)))
		short := made(generator.NewShort(generator.Given(struct{}{}), still))
		wantKeys[idtype.Short[account]](t, short)
		wantKeys[idtype.EightByte[account]](t, eightbyte)
		wantKeys[idtype.EightByte[idtype.AsBigint[account]]](t, eightbyte)
		wantKeys[idtype.Sno[account]](t, sno)
		wantKeys[idtype.Sno[idtype.AsText[account]]](t, sno.With(0xa5))
		wantKeys[idtype.Sno[idtype.AsUUID[account]]](t, sno)
	})
}

// A recorder keeps what a generator mints.
type recorder[S idtype.ID] struct {
	generator.Source[S]
	minted []S
}

func (r *recorder[S]) Next(ctx context.Context) (S, error) {
	id, err := r.Source.Next(ctx)
	r.minted = append(r.minted, id)
	return id, err
}

func (r *recorder[S]) Fill(ctx context.Context, dst []S) (int, error) {
	n, err := r.Source.Fill(ctx, dst)
	r.minted = append(r.minted, dst[:n]...)
	return n, err
}

func wantKeys[T, S idtype.ID](t *testing.T, m generator.Source[S]) {
	t.Helper()
	r := &recorder[S]{Source: m}
	keys := made(generator.For[T](r))
	got := []T{made(keys.Next(ctx)), made(keys.Next(ctx))}
	for _, n := range []int{20, 0, -1} {
		many, err := keys.Many(ctx, n)
		if len(many) != max(n, 0) || err != nil {
			t.Errorf("%v, %v", many, err)
		}
		got = append(got, many...)
	}
	if len(r.minted) != len(got) {
		t.Errorf("%d IDs for %d keys", len(r.minted), len(got))
	}
	for i, key := range got {
		bytes := idtype.AppendBytes(nil, key)
		want := idtype.AppendBytes(nil, r.minted[i])
		if !slices.Equal(bytes, want) || key.String() != r.minted[i].String() ||
			key.IsZero() {
			t.Fatalf("key %v is not the ID %v", key, r.minted[i])
		}
	}
}

// TestKeysFail: errors are the generator's, beside the keys that were minted.
func TestKeysFail(t *testing.T) {
	register := newRegister()
	keys := made(generator.For[idtype.Sequence[account]](newSequence(t, register, 5)))
	made(keys.Next(ctx))
	register.fail(errAway)
	if got, err := keys.Many(ctx, 9); len(got) != 4 || got[3] != 5 || !errors.Is(err, errAway) {
		t.Errorf("%v, %v", got, err)
	}
	if key, err := keys.Next(ctx); !key.IsZero() || !errors.Is(err, errAway) {
		t.Errorf("%v, %v", key, err)
	}
}

// A pointerSource mints pointers, which are no IDs.
type pointerSource struct {
	generator.Source[*idtype.DecimalID]
}

// TestKeysOfNoIDs: keys of another scheme are refused when they are made, and so is what only has
// the methods of IDs.
func TestKeysOfNoIDs(t *testing.T) {
	type (
		decimal  = idtype.Decimal[account]
		embedded struct{ decimal }
		pointing struct{ *decimal }
	)
	g := newDecimal(t, newSource(92))
	_, sequence := generator.For[idtype.Sequence[account]](g) // an int64 as well
	_, sno := generator.For[idtype.Sno[account]](g)
	_, pointer := generator.For[*decimal](g)
	_, embeds := generator.For[embedded](g)
	_, points := generator.For[pointing](g)
	_, minted := generator.For[decimal](pointerSource{})
	for value, err := range map[string]error{
		"idtype.Sequence[": sequence, "idtype.Sno[": sno, "*idtype.Decimal[": pointer,
		"generator_test.embedded": embeds, "generator_test.pointing": points,
		"*idtype.Decimal[interface": minted,
	} {
		var wrong *generator.OptionError
		if !errors.As(err, &wrong) || wrong.Option != "key" ||
			!strings.HasPrefix(wrong.Value, value) {
			t.Errorf("%s: %v", value, err)
		}
	}
}

func TestKeysAllocs(t *testing.T) {
	keys := made(generator.For[idtype.Decimal[account]](started(t, newSource(92))))
	dst := make([]idtype.Decimal[account], 1000)
	got := testing.AllocsPerRun(1000, func() {
		made(keys.Next(ctx))
		made(keys.Fill(ctx, dst))
	})
	if got != 0 {
		t.Errorf("%v allocations", got)
	}
}

// TestEntitiesShareNoKey: the keys that two entities take from one generator are in one domain,
// however they are taken. Two counters are two domains, and share their numbers.
func TestEntitiesShareNoKey(t *testing.T) {
	gen := generator.NewTestDecimal(nil)
	shared := keysOfTwo(t, gen, gen)
	if shared != 0 {
		t.Errorf("%d keys of one generator are a user's and an order's", shared)
	}
	a, b := newSequence(t, newRegister(), 10), newSequence(t, newRegister(), 10)
	if shared := keysOfTwo(t, a, b); shared == 0 {
		t.Error("two counters share no number: is one the other's?")
	}
}

// keysOfTwo counts the keys that two entities have in common, which are minted at the same time.
func keysOfTwo[S idtype.ID](t *testing.T, users, orders generator.Source[S]) (shared int) {
	var taken [2][]S
	var wg sync.WaitGroup
	for i, g := range []generator.Source[S]{users, orders} {
		wg.Go(func() {
			for n := range 200 {
				ids := make([]S, 1+n%3)
				if _, err := g.Fill(ctx, ids); err != nil {
					t.Error(err)
				}
				id, err := g.Next(ctx)
				if err != nil {
					t.Error(err)
				}
				taken[i] = append(append(taken[i], ids...), id)
			}
		})
	}
	wg.Wait()
	of := map[string]bool{}
	for _, id := range taken[0] {
		of[id.String()] = true
	}
	for _, id := range taken[1] {
		if of[id.String()] {
			shared++
		}
	}
	return shared
}
