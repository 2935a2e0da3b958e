package telemetry_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/telemetry"
)

// newEvents makes events that are written down, without their times.
func newEvents() (*telemetry.Events, *strings.Builder) {
	var heard strings.Builder
	return telemetry.NewEvents(newLogger(&heard)), &heard
}

func newLogger(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))
}

// wantHeard fails where other lines were written than those that begin so: "LEVEL text" and the
// attributes, without quotes. It forgets them.
func wantHeard(t *testing.T, heard *strings.Builder, want ...string) {
	t.Helper()
	text := strings.NewReplacer("level=", "", "msg=", "", "idmint: ", "", `"`, "").Replace(
		heard.String())
	heard.Reset()
	got := slices.Collect(strings.Lines(text))
	if !slices.EqualFunc(got, want, strings.HasPrefix) {
		t.Errorf("heard\n%s\nwant beginnings of\n%s", text, strings.Join(want, "\n"))
	}
}

// TestStepLevels: a log that does not answer is told once, and that it answers again. Who gave up
// waiting says nothing about the store.
func TestStepLevels(t *testing.T) {
	events, heard := newEvents()
	step := func(err error) { events.Step(ctx, launchlog.Step{Op: "claim", Attempt: 1, Err: err}) }
	cut := &launchlog.AttemptError{Ambiguous: true, Err: errors.New("cut")}
	const debug = "DEBUG launch log step namespace="
	for _, c := range []struct {
		err  error
		want string
	}{
		{context.Canceled, debug + ` op=claim attempt=1 duration=0s error_type=canceled`},
		{launchlog.ErrNotFound, debug},
		{cut, "WARN launch log does not answer namespace= op=claim attempt=1 duration=0s " +
			"error_type=answer_lost error=cut"},
		{context.Canceled, debug},
		{context.DeadlineExceeded, debug},
		{launchlog.ErrNotFound, "INFO launch log answers again"}, // an answer too
		{nil, debug},
		{launchlog.ErrBehind, "ERROR launch log has lost numbers"},
		{launchlog.ErrOtherLog, "ERROR launch log has lost numbers"},
	} {
		step(c.err)
		wantHeard(t, heard, c.want)
	}
}

// TestLevelsOfShares are those of doctor: notes are warnings, and findings are errors.
func TestLevelsOfShares(t *testing.T) {
	events, heard := newEvents()
	events.Taken(launchlog.Usage{Namespace: "n", Used: 7, Max: 99_999})
	events.Taken(launchlog.Usage{Namespace: "n", Counter: "orders", Used: 100, Max: 1 << 62})
	for _, used := range []int64{79_999, 80_000, 90_000, 95_000} {
		events.Taken(launchlog.Usage{Namespace: "n", Launch: 7, Used: used, Max: 100_000})
	}
	events.Share("n", doctor.Share{Of: doctor.Claims, Name: "sno", Used: 95, Max: 100})
	wantHeard(t, heard,
		"INFO launch number taken namespace=n launch=7 used=7 max=99999",
		"DEBUG numbers taken namespace=n counter=orders used=100",
		"INFO generator number taken namespace=n launch=7 generator=79998 used=79999 max=100000\n",
		"WARN generator number taken namespace=n launch=7 generator=79999 used=80000 max=100000 "+
			"over_percent=80",
		"ERROR generator number taken", "ERROR generator number taken",
		"ERROR numbers used up namespace=n of=claims name=sno used=95 max=100 over_percent=95")
}

// TestEventsOfGenerators have the level that the clock's jump deserves.
func TestEventsOfGenerators(t *testing.T) {
	events, heard := newEvents()
	for _, by := range []time.Duration{
		time.Second - 1, time.Second, 30*time.Second - 1, 30 * time.Second,
	} {
		events.Generator(generator.Event{
			Kind: generator.ClockRegressed, Scheme: "sno", Number: 7, Behind: by,
		})
	}
	wantHeard(t, heard,
		"INFO clock regressed scheme=sno number_bits=7 behind=999.999999ms",
		"WARN clock regressed scheme=sno number_bits=7 behind=1s",
		"WARN clock regressed", "ERROR clock regressed")
	at := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	began := generator.Event{Kind: generator.WindowBegan, Scheme: "sno", Number: 7, From: at}
	events.Generator(began)
	began.Renewed, began.Until = true, at.Add(time.Second)
	events.Generator(began)
	events.Generator(generator.Event{Kind: generator.WindowMissed, Err: errors.New("away")})
	later := fmt.Errorf("in it: %w", &generator.NotBeforeError{From: 1, Unit: time.Second})
	events.Generator(generator.Event{Kind: generator.WindowMissed, Err: later})
	wantHeard(t, heard,
		"INFO window began scheme=sno number_bits=7 from=2026-03-14T12:00:00.000Z\n",
		"DEBUG window began scheme=sno number_bits=7 from=2026-03-14T12:00:00.000Z "+
			"until=2026-03-14T12:00:01.000Z",
		"WARN window missed scheme= number_bits=0 error=away",
		"INFO window missed scheme= number_bits=0 error=in it: there is no window before")
}

func TestEventsOfClaims(t *testing.T) {
	events, heard := newEvents()
	for kind, level := range map[claims.EventKind]string{
		claims.Taken: "INFO", claims.Back: "INFO", claims.Lost: "WARN", claims.Freed: "WARN",
		claims.Away: "WARN", claims.Lent: "ERROR", claims.Refused: "ERROR",
		claims.Behind: "ERROR", "new": "WARN",
	} {
		events.Claim(claims.Event{
			Kind: kind, Scheme: "sno", Number: "7", Holder: "a", Err: io.EOF,
		})
		wantHeard(t, heard, fmt.Sprintf(
			"%s claim %s scheme=sno number=7 holder=a until=0001-01-01T00:00:00.000Z error=EOF",
			level, kind))
	}
}

// TestSilence: without a logger nothing is said, by any method.
func TestSilence(t *testing.T) {
	before := slog.Default()
	defer slog.SetDefault(before)
	var heard strings.Builder
	slog.SetDefault(newLogger(&heard))
	events := telemetry.NewEvents(nil)
	events.Step(ctx, launchlog.Step{Err: launchlog.ErrBehind})
	events.Taken(launchlog.Usage{Used: 9, Max: 9})
	events.Claim(claims.Event{Kind: claims.Behind})
	events.Generator(generator.Event{Kind: generator.ClockRegressed, Behind: time.Hour})
	events.Share("n", doctor.Share{Used: 9, Max: 9})
	wantHeard(t, &heard)
}

// TestSteps hands a step to all, in their order.
func TestSteps(t *testing.T) {
	var heard []string
	observer := func(name string) func(context.Context, launchlog.Step) {
		return func(_ context.Context, s launchlog.Step) { heard = append(heard, name+s.Op) }
	}
	telemetry.Steps(observer("a "), nil, observer("b "))(ctx, launchlog.Step{Op: "claim"})
	if want := []string{"a claim", "b claim"}; !slices.Equal(heard, want) {
		t.Errorf("heard %q, want %q", heard, want)
	}
}
