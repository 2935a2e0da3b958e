package generator_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

type account struct{}

// TestKeys: typed keys of each scheme and form are the generator's IDs, one by one and many.
func TestKeys(t *testing.T) {
	still := &generator.Options{Clock: generator.NewTestClock(noon)}
	trace := made(generator.NewTrace(generator.Given(7), still))
	short := made(generator.NewShort(generator.Given(struct{}{}), still))
	sno := made(generator.NewSno(generator.Given(7), still))
	eightbyte := made(generator.NewEightByte(idtype.EightByteSpread,
		generator.Given(generator.EightBytePair{Generator: 7, Cluster: 2}), still))
	wantKeys[idtype.Decimal[account]](t, newDecimal(t, newSource(92, 17)))
	wantKeys[idtype.Sequence[account]](t, newSequence(t, newRegister(), 7))
	wantKeys[idtype.Trace[account]](t, trace)
	wantKeys[idtype.Short[account]](t, short)
	wantKeys[idtype.EightByte[account]](t, eightbyte)
	wantKeys[idtype.EightByte[idtype.AsBigint[account]]](t, eightbyte)
	wantKeys[idtype.Sno[account]](t, sno)
	wantKeys[idtype.Sno[idtype.AsText[account]]](t, sno.With(0xa5))
	wantKeys[idtype.Sno[idtype.AsUUID[account]]](t, sno)
}

// made panics, because Go takes two results as parameters only if they are all of them.
func made[G any](g G, err error) G {
	if err != nil {
		panic(err)
	}
	return g
}

// A recorder keeps what a generator mints.
type recorder[S idtype.ID] struct {
	generator.Minter[S]
	minted []S
}

func (r *recorder[S]) Next(ctx context.Context) (S, error) {
	id, err := r.Minter.Next(ctx)
	r.minted = append(r.minted, id)
	return id, err
}

func (r *recorder[S]) Fill(ctx context.Context, dst []S) (int, error) {
	n, err := r.Minter.Fill(ctx, dst)
	r.minted = append(r.minted, dst[:n]...)
	return n, err
}

func wantKeys[T, S idtype.ID](t *testing.T, m generator.Minter[S]) {
	t.Helper()
	r := &recorder[S]{Minter: m}
	keys := made(generator.For[T](r))
	var got []T
	for range 3 {
		key, err := keys.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, key)
	}
	many, err := keys.Many(ctx, 20)
	if len(many) != 20 || err != nil {
		t.Errorf("%v, %v", many, err)
	}
	got = append(got, many...)
	for i, key := range got {
		bytes, err := key.AppendBinary(nil)
		want, _ := r.minted[i].AppendBinary(nil)
		if err != nil || !slices.Equal(bytes, want) || key.String() != r.minted[i].String() ||
			key.IsZero() {
			t.Fatalf("key %v, %v, is not the ID %v", key, err, r.minted[i])
		}
	}
	if len(r.minted) != len(got) {
		t.Errorf("%d IDs for %d keys", len(r.minted), len(got))
	}
	for _, n := range []int{0, -1} {
		if none, err := keys.Many(ctx, n); len(none) != 0 || err != nil {
			t.Errorf("%d keys: %v, %v", n, none, err)
		}
	}
}

// TestKeysFail: errors are the generator's, beside the keys that were minted.
func TestKeysFail(t *testing.T) {
	keys := made(
		generator.For[idtype.Decimal[account]](newDecimal(t, newSource())))
	key, err := keys.Next(ctx)
	wantNumberError(t, err, errNoNumber)
	if !key.IsZero() {
		t.Errorf("%v beside the error", key)
	}
	register := newRegister()
	some := made(
		generator.For[idtype.Sequence[account]](newSequence(t, register, 5)))
	if _, err := some.Next(ctx); err != nil {
		t.Fatal(err)
	}
	register.fail(errAway)
	if got, err := some.Many(ctx, 9); len(got) != 4 || got[3] != 5 || !errors.Is(err, errAway) {
		t.Errorf("%v, %v", got, err)
	}
	var none generator.Keys[idtype.Decimal[account]]
	if _, err := none.Next(ctx); !errors.Is(err, generator.ErrNotMade) {
		t.Error(err)
	}
	if got, err := none.Many(ctx, 1); len(got) != 0 || !errors.Is(err, generator.ErrNotMade) {
		t.Error(got, err)
	}
}

// TestKeysOfAnotherScheme: they are refused when they are made.
func TestKeysOfAnotherScheme(t *testing.T) {
	decimal := newDecimal(t, newSource(92))
	_, sequence := generator.For[idtype.Sequence[account]](decimal) // an int64 as well
	_, sno := generator.For[idtype.Sno[account]](decimal)
	for key, err := range map[string]error{"Sequence": sequence, "Sno": sno} {
		var wrong *generator.OptionError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), key) ||
			!strings.Contains(err.Error(), "is no key of decimal IDs") {
			t.Errorf("%s: %v", key, err)
		}
	}
	var wrong *generator.OptionError
	if _, err := generator.For[idtype.Decimal[account]]((*generator.Decimal)(nil)); !errors.As(err,
		&wrong) {
		t.Error(err)
	}
}

// A pointerMinter mints pointers, which are no IDs.
type pointerMinter struct {
	generator.Minter[*idtype.DecimalID]
}

// TestKeysOfNoIDs: what only has the methods of IDs is refused.
func TestKeysOfNoIDs(t *testing.T) {
	type (
		decimal  = idtype.Decimal[account]
		embedded struct{ decimal }
		pointing struct{ *decimal }
	)
	g := newDecimal(t, newSource(92))
	_, pointer := generator.For[*decimal](g)
	_, embeds := generator.For[embedded](g)
	_, points := generator.For[pointing](g)
	_, minted := generator.For[decimal](pointerMinter{})
	_, same := generator.For[*idtype.DecimalID](pointerMinter{})
	for value, err := range map[string]error{
		"*idtype.Decimal[": pointer, "generator_test.embedded": embeds,
		"generator_test.pointing": points, "*idtype.Decimal[interface": minted, "*idtype.D": same,
	} {
		var wrong *generator.OptionError
		if !errors.As(err, &wrong) || wrong.Option != "key" ||
			!strings.HasPrefix(wrong.Value, value) ||
			wrong.Reason != "is no ID: take the type that it points to or embeds" {
			t.Errorf("%s: %v", value, err)
		}
	}
}

func TestKeysAllocs(t *testing.T) {
	keys := made(
		generator.For[idtype.Decimal[account]](started(t, newSource(92))))
	dst := make([]idtype.Decimal[account], 1000)
	var key idtype.Decimal[account]
	var err error
	for name, call := range map[string]func(){
		"Next": func() { key, err = keys.Next(ctx) },
		"Fill": func() { _, err = keys.Fill(ctx, dst) },
	} {
		if got := testing.AllocsPerRun(1000, call); got != 0 || err != nil || key.IsZero() && name == "Next" {
			t.Errorf("%s: %v allocations, %v", name, got, err)
		}
	}
}

// Beside the same with a conversion by hand.
func BenchmarkKeys(b *testing.B) {
	g := started(b, newSource(92))
	keys, err := generator.For[idtype.Decimal[account]](g)
	if err != nil {
		b.Fatal(err)
	}
	var key idtype.Decimal[account]
	b.Run("Keys.Next", func(b *testing.B) {
		for b.Loop() {
			key, sinkErr = keys.Next(ctx)
		}
	})
	b.Run("conversion", func(b *testing.B) {
		for b.Loop() {
			sinkID, sinkErr = g.Next(ctx)
			key = idtype.Decimal[account](sinkID)
		}
	})
	_ = key
}
