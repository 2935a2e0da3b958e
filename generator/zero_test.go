package generator_test

import (
	"context"
	"errors"
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
		trace     generator.Trace
		eightbyte generator.EightByte
		short     generator.Short
		sno       generator.Sno
		meta      generator.SnoMeta
		backdated generator.BackdatedSno
		buffer    generator.Buffer[idtype.SnoID]
		owned     generator.OwnedDecimal
		ownTrace  generator.OwnedTrace
	)
	ways := map[string]func() error{
		"OwnedDecimal":       func() error { return unminted(owned.Next(ctx)) },
		"Decimal.Owned":      func() error { return unminted(decimal.Owned(100).Next(ctx)) },
		"OwnedTrace":         func() error { return unminted(ownTrace.Next(ctx)) },
		"Trace.Owned":        func() error { return unminted(trace.Owned().Next(ctx)) },
		"BackdatedSno":       func() error { return unminted(backdated.At(noon, 0)) },
		"Decimal.Ready":      func() error { return decimal.Ready(ctx) },
		"Sequence.Ready":     func() error { return sequence.Ready(ctx) },
		"Trace.Ready":        func() error { return trace.Ready(ctx) },
		"EightByte.Ready":    func() error { return eightbyte.Ready(ctx) },
		"Short.Ready":        func() error { return short.Ready(ctx) },
		"Sno.Ready":          func() error { return sno.Ready(ctx) },
		"NewTestDecimal nil": func() error { return unminted(generator.NewTestDecimal(nil).Next(ctx)) },
	}
	addWays(ways, "Decimal", &decimal)
	addWays(ways, "Sequence", &sequence)
	addWays(ways, "Trace", &trace)
	addWays(ways, "EightByte", &eightbyte)
	addWays(ways, "Short", &short)
	addWays(ways, "Sno", &sno)
	addWays(ways, "SnoMeta", meta)
	addWays(ways, "Sno.With", sno.With(1))
	addWays(ways, "Buffer", &buffer)
	for name, mint := range ways {
		for range 3 { // the first call may not make the next one mint
			err := mint()
			var e *generator.NumberError
			if !errors.As(err, &e) || !errors.Is(err, generator.ErrNotMade) || strings.Contains(err.Error(), "  ") {
				t.Errorf("%s: %v, want a NumberError of ErrNotMade", name, err)
			}
		}
	}
	// These say nothing, and are no more than asked.
	if decimal.Stats().Taken+sequence.Stats().Taken+trace.Stats().Issued+sno.Stats().Issued != 0 {
		t.Error("they have minted")
	}
	if trace.Snapshot().Slot+sno.Snapshot().Slot+short.Snapshot().Slot+eightbyte.Snapshot().Slot != 0 {
		t.Error("they have come somewhere")
	}
}

// unminted is the error of a call that may not mint.
func unminted[T idtype.ID](id T, err error) error {
	if err == nil || !id.IsZero() {
		return errors.Join(errors.New("minted "+id.String()), err)
	}
	return err
}

func addWays[T idtype.ID](ways map[string]func() error, name string, g interface {
	generator.Source[T]
	Next(context.Context) (T, error)
},
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

// TestNilSources: one that holds a nil pointer or function is refused, as nil itself is.
func TestNilSources(t *testing.T) {
	refused := func(made bool, err error) {
		t.Helper()
		var e *generator.OptionError
		if made || !errors.As(err, &e) || e.Value != "nil" {
			t.Errorf("made: %t, %v", made, err)
		}
	}
	decimal, err := generator.NewDecimal((*source)(nil))
	refused(decimal != nil, err)
	decimal, err = generator.NewDecimal(numbersFunc(nil))
	refused(decimal != nil, err)
	sequence, err := generator.NewSequence((*register)(nil), 10)
	refused(sequence != nil, err)
	sno, err := generator.NewSno((*claims)(nil), nil)
	refused(sno != nil, err)
	sno, err = generator.NewSno(generator.Ceiling(1, (*register)(nil), time.Second), nil)
	refused(sno != nil, err)
	buffer, err := generator.NewBuffer((*generator.Sno)(nil), 10)
	refused(buffer != nil, err)
}
