package generator_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

// limits are what package idtype says about the times of a scheme.
type limits struct {
	parts  func(unixMs int64) error                    // an ID of the time, made of parts
	bounds func(time.Time) (low, high string, _ error) // nil where IDs have no order by time
	// timestamps start again, so no time is refused
	endless bool
}

type bound = func(time.Time) (string, string, error)

func bounds[ID idtype.ID](low, high func(time.Time) (ID, error)) bound {
	return func(t time.Time) (string, string, error) {
		a, err := low(t)
		b, errHigh := high(t)
		if (err == nil) != (errHigh == nil) {
			panic(errors.Join(errors.New("one bound is refused, the other is not"), err, errHigh))
		}
		first, _ := a.AppendBinary(nil)
		last, _ := b.AppendBinary(nil)
		return string(first), string(last), err
	}
}

func limitsOf(s scheme) limits {
	switch s.name {
	case "trace":
		never := func(f func(time.Time) idtype.TraceID) func(time.Time) (idtype.TraceID, error) {
			return func(t time.Time) (idtype.TraceID, error) { return f(t), nil }
		}
		return limits{
			parts: func(ms int64) error {
				timestamp := idtype.TraceTimestamp(time.UnixMilli(ms))
				return errOf(idtype.TraceParts{Timestamp: timestamp, Bottom: 1}.ID())
			},
			bounds: bounds(never(idtype.MinTraceID), never(idtype.MaxTraceID)), endless: true,
		}
	case "eightbyte spread":
		return limits{parts: func(ms int64) error {
			return errOf(
				idtype.EightByteParts{Mode: idtype.EightByteSpread, UnixMs: ms, Sequence: 1}.ID(),
			)
		}}
	case "eightbyte sequential":
		return limits{
			parts: func(ms int64) error {
				return errOf(
					idtype.EightByteParts{Mode: idtype.EightByteTimeSequential, UnixMs: ms}.ID(),
				)
			},
			bounds: bounds(idtype.MinEightByteID, idtype.MaxEightByteID),
		}
	case "short":
		return limits{
			parts: func(ms int64) error {
				return errOf(idtype.ShortParts{UnixMs: ms, Sequence: 1}.ID())
			},
			bounds: bounds(idtype.MinShortID, idtype.MaxShortID),
		}
	case "sno", "sno with metabyte":
		return limits{
			parts: func(ms int64) error {
				return errOf(idtype.SnoParts{UnixMs: ms, Sequence: 1}.ID())
			},
			bounds: bounds(idtype.MinSnoID, idtype.MaxSnoID),
		}
	}
	panic("no limits of " + s.name)
}

// errOf is the error of a call, which may give nothing beside it.
func errOf[T comparable](got T, err error) error {
	if none := *new(T); err != nil && got != none {
		panic(fmt.Sprintf("%v beside the error %v", got, err))
	}
	return err
}

// TestLimits: at both ends of a layout, a generator mints at certain times. Parts make an ID of
// exactly these, and exactly these have bounds. Their errors name the same limits.
func TestLimits(t *testing.T) {
	eachScheme(t, func(t *testing.T, s scheme) {
		of := limitsOf(s)
		for _, end := range []time.Time{s.begin, s.end} {
			for ms := -12; ms <= 12; ms++ {
				for _, ns := range []time.Duration{0, time.Millisecond - 1} {
					testLimit(t, s, of, end, end.Add(time.Duration(ms)*time.Millisecond+ns))
				}
			}
		}
	})
}

// TestLimitsAreDocumented: the days that the documentation of Next names are those on which
// layouts end.
func TestLimitsAreDocumented(t *testing.T) {
	for name, span := range map[string]string{
		"trace": "1970-01-01..2242-03-16", "eightbyte sequential": "1970-01-01..2109-05-15",
		"short": "2018-03-01..2157-07-13", "sno": "2010-01-01..2079-09-07",
	} {
		i := slices.IndexFunc(schemes, func(s scheme) bool { return s.name == name })
		s := schemes[i]
		last := s.end.Add(-1).UTC()
		got := s.begin.UTC().Format(time.DateOnly) + ".." + last.Format(time.DateOnly)
		if got != span {
			t.Errorf("%s ends with %s, and the test says %s", name, got, span)
		}
		source, err := os.ReadFile(string(s.id) + ".go")
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(source), "\n//", "") // wherever its lines end
		if !strings.Contains(text, "for a clock outside "+span+".") {
			t.Errorf("the documentation of %s's Next does not say %s", name, span)
		}
	}
}

func testLimit(t *testing.T, s scheme, of limits, end, at time.Time) {
	t.Helper()
	clock := generator.NewTestClock(end.Add(-time.Minute))
	g := s.must(t, given(0), &generator.Options{Clock: clock})
	clock.Set(at)
	got, err := g.next(ctx)
	if within := !at.Before(s.begin) && at.Before(s.end); (err == nil) != within {
		t.Fatalf("at %v: %v, and the layout has the time: %v", at.UTC(), err, within)
	}
	var refused *idtype.RangeError
	if err != nil && !errors.As(err, &refused) {
		t.Fatalf("at %v: %#v, want a *idtype.RangeError", at.UTC(), err)
	}
	agrees := func(what string, other error) {
		t.Helper()
		switch {
		case err == nil && other != nil, err != nil && other == nil && !of.endless:
			t.Errorf("at %v: the generator says %v, %s %v", at.UTC(), err, what, other)
		case other != nil && other.Error() != err.Error():
			t.Errorf("at %v: the generator says %q, %s %q", at.UTC(), err, what, other)
		}
	}
	agrees("parts", of.parts(at.UnixMilli()))
	if of.bounds == nil {
		return
	}
	_, _, boundErr := of.bounds(at)
	agrees("bounds", boundErr)
	if err == nil { // in the first unit it waits for the second
		low, high, err := of.bounds(time.Unix(0, clock.UnixNano()))
		if err != nil || got.bytes < low || got.bytes > high {
			t.Errorf("at %v: minted %x, want %x..%x, %v", at.UTC(), got.bytes, low, high, err)
		}
	}
}
