package generator_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

// TestZeroGenerators mint nothing, say so in every way, and do not end the process.
func TestZeroGenerators(t *testing.T) {
	var (
		decimal   generator.Decimal
		sequence  generator.Sequence
		sno       generator.Sno
		backdated generator.BackdatedSno
		owned     generator.OwnedDecimal
	)
	ways := map[string]func() error{
		"OwnedDecimal":   func() error { return unminted(owned.Next(ctx)) },
		"Decimal.Owned":  func() error { return unminted(decimal.Owned(100).Next(ctx)) },
		"BackdatedSno":   func() error { return unminted(backdated.At(noon, 0)) },
		"Decimal.Ready":  func() error { return decimal.Ready(ctx) },
		"Sequence.Ready": func() error { return sequence.Ready(ctx) },
	}
	addWays(ways, "Decimal", &decimal)
	addWays(ways, "Sequence", &sequence)
	addWays(ways, "Sno.With", sno.With(1))
	for _, s := range schemes {
		ways[s.name+".Next"] = func() error { _, err := s.zero.next(ctx); return err }
		ways[s.name+".Fill"] = func() error { _, err := s.zero.fill(ctx, 3); return err }
		ways[s.name+".Ready"] = func() error { return s.zero.ready(ctx) }
		if s.zero.stats().Issued != 0 || s.zero.snapshot().Slot != 0 {
			t.Errorf("%s: it has minted", s.name)
		}
	}
	for name, mint := range ways {
		for range 3 { // the first call may not make the next one mint
			err := mint()
			var e *generator.NumberError
			if !errors.As(err, &e) || !strings.Contains(err.Error(), "no number source") ||
				strings.Contains(err.Error(), "  ") {
				t.Errorf("%s: %v, want a NumberError about its source", name, err)
			}
		}
	}
	if decimal.Stats().Taken+sequence.Stats().Taken != 0 {
		t.Error("they have minted")
	}
}

// unminted is the error of a call that may not mint.
func unminted[T idtype.ID](id T, err error) error {
	if err == nil || !id.IsZero() {
		return errors.Join(errors.New("minted "+id.String()), err)
	}
	return err
}

func addWays[T idtype.ID](
	ways map[string]func() error, name string, g generator.Source[T],
) {
	ways[name+".Next"] = func() error { return unminted(g.Next(ctx)) }
	ways[name+".Fill"] = func() error {
		ids := make([]T, 3)
		n, err := g.Fill(ctx, ids)
		if n != 0 {
			return errors.Join(errors.New("minted some"), err)
		}
		return unminted(ids[0], err)
	}
}

// TestNilSources: a source that is not there is refused before a goroutine asks it and ends the
// process. So is one that holds a nil pointer or function.
func TestNilSources(t *testing.T) {
	ceilingOf := func(c generator.Counter) generator.Windows[int] {
		return generator.Ceiling(1, c, time.Second)
	}
	for i, tt := range []struct {
		option string
		err    error
	}{
		{"numbers", errOf(generator.NewDecimal(nil))},
		{"numbers", errOf(generator.NewDecimal((*source)(nil)))},
		{"numbers", errOf(generator.NewDecimal(numbersFunc(nil)))},
		{"counter", errOf(generator.NewSequence(nil, 100))},
		{"counter", errOf(generator.NewSequence((*register)(nil), 10))},
		{"windows", errOf(generator.NewTrace(nil, nil))},
		{"windows", errOf(generator.NewEightByte(idtype.EightByteSpread, nil, nil))},
		{"windows", errOf(generator.NewShort(nil, nil))},
		{"windows", errOf(generator.NewSno(nil, nil))},
		{"windows", errOf(generator.NewSno((*claims)(nil), nil))},
		{"counter", errOf(generator.NewSno(ceilingOf(nil), nil))},
		{"counter", errOf(generator.NewSno(ceilingOf((*register)(nil)), nil))},
	} {
		var e *generator.OptionError
		if !errors.As(tt.err, &e) || e.Option != tt.option || e.Value != "nil" {
			t.Errorf("case %d: error is %v, want an *OptionError of %s", i, tt.err, tt.option)
		}
	}
	// Within other windows a counter is not seen before it is asked.
	hidden, err := generator.NewSno(struct{ generator.Windows[int] }{ceilingOf(nil)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := hidden.Ready(ctx); !errors.As(err, new(*generator.NumberError)) {
		t.Errorf("in other windows: %v", err)
	}
}

// errOf is the error of a call, which may give nothing beside it.
func errOf[T comparable](got T, err error) error {
	if none := *new(T); err != nil && got != none {
		panic(fmt.Sprintf("%v beside the error %v", got, err))
	}
	return err
}
