package telemetry_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/telemetry"
)

// A recorder is a handler that keeps what it hears, as "LEVEL text key=value".
type recorder struct {
	mu    sync.Mutex // guards heard
	heard []string
}

func (*recorder) Enabled(context.Context, slog.Level) bool { return true }
func (r *recorder) WithAttrs([]slog.Attr) slog.Handler     { return r }
func (r *recorder) WithGroup(string) slog.Handler          { return r }

func (r *recorder) Handle(_ context.Context, record slog.Record) error {
	text := fmt.Sprint(record.Level, " ", strings.TrimPrefix(record.Message, "idmint: "))
	record.Attrs(func(a slog.Attr) bool {
		text += fmt.Sprint(" ", a)
		return true
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heard = append(r.heard, text)
	return nil
}

// hear returns what was heard from a level on, and forgets all.
func (r *recorder) hear(from slog.Level) (heard []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, text := range r.heard {
		level, _, _ := strings.Cut(text, " ")
		var l slog.Level
		if err := l.UnmarshalText([]byte(level)); err != nil || l >= from {
			heard = append(heard, text)
		}
	}
	r.heard = nil
	return heard
}

func newEvents() (*telemetry.Events, *recorder) {
	r := &recorder{}
	return telemetry.NewEvents(slog.New(r)), r
}

func wantHeard(t *testing.T, r *recorder, from slog.Level, want ...string) {
	t.Helper()
	got := r.hear(from)
	if !slices.EqualFunc(got, want, strings.HasPrefix) {
		t.Errorf("heard\n%s\nwant beginnings of\n%s", strings.Join(got, "\n"),
			strings.Join(want, "\n"))
	}
}

// TestEventsOfALog: a log tells of its numbers, of its absence once, and of its return.
func TestEventsOfALog(t *testing.T) {
	events, heard := newEvents()
	s := newScene(t, &launchlog.Options{
		Observe: events.Step, Taken: events.Taken,
	})
	wantHeard(t, heard, slog.LevelDebug,
		"DEBUG launch log step namespace=default op=start attempt=1 duration=",
		"INFO launch number taken namespace=default launch=1 used=1 max=99999",
	)
	if _, err := s.log.Claim(ctx, s.launch.ID); err != nil {
		t.Fatal(err)
	}
	wantHeard(t, heard, slog.LevelInfo,
		"INFO generator number taken namespace=default launch=1 generator=0 used=1 max=100000")
	if _, err := s.orders.Next(ctx); err != nil {
		t.Fatal(err)
	}
	wantHeard(t, heard, slog.LevelDebug,
		"DEBUG launch log step namespace=default op=reserve",
		"DEBUG numbers taken namespace=default counter=orders used=100")

	for range 2 {
		if _, err := s.cut.Claim(ctx, s.launch.ID); err == nil {
			t.Fatal("claimed while the store is away")
		}
	}
	wantHeard(t, heard, slog.LevelInfo,
		"WARN launch log does not answer namespace=default op=claim attempt=1 duration=")
	if _, err := s.log.Show(ctx, 77); !errors.Is(err, launchlog.ErrNotFound) { // an answer too
		t.Fatal(err)
	}
	wantHeard(t, heard, slog.LevelInfo, "INFO launch log answers again namespace=default op=show")
}

// TestStepLevels: who gave up waiting says nothing about the store.
func TestStepLevels(t *testing.T) {
	events, heard := newEvents()
	step := func(err error) { events.Step(ctx, launchlog.Step{Op: "claim", Attempt: 1, Err: err}) }
	step(context.Canceled)
	step(launchlog.ErrNotFound)
	wantHeard(t, heard, slog.LevelInfo)
	step(&launchlog.AttemptError{Ambiguous: true, Err: errors.New("cut")})
	wantHeard(t, heard, slog.LevelInfo, "WARN launch log does not answer namespace= op=claim "+
		"attempt=1 duration=0s error_type=answer_lost error=cut")
	step(context.Canceled)
	step(context.DeadlineExceeded)
	wantHeard(t, heard, slog.LevelInfo)
	step(nil)
	wantHeard(t, heard, slog.LevelInfo, "INFO launch log answers again")
	for _, err := range []error{launchlog.ErrBehind, launchlog.ErrOtherLog} {
		step(err)
		wantHeard(t, heard, slog.LevelInfo, "ERROR launch log has lost numbers")
	}
}

// TestLevelsOfShares are those of doctor: notes are warnings, and findings are errors.
func TestLevelsOfShares(t *testing.T) {
	events, heard := newEvents()
	for used, want := range map[int64]string{
		79_999: "INFO generator number taken namespace=n launch=7 generator=79998 used=79999 " +
			"max=100000",
		80_000: "WARN generator number taken namespace=n launch=7 generator=79999 used=80000 " +
			"max=100000 over_percent=80",
		90_000: "ERROR generator number taken", 95_000: "ERROR generator number taken",
	} {
		events.Taken(launchlog.Usage{Namespace: "n", Launch: 7, Used: used, Max: 100_000})
		wantHeard(t, heard, slog.LevelDebug, want)
	}
	events.Share("n", doctor.Share{Of: doctor.Claims, Name: "sno", Used: 95, Max: 100})
	events.Share("n", doctor.Share{Of: doctor.Claims, Name: "sno", Used: 80, Max: 100})
	events.Share("n", doctor.Share{Of: doctor.Decimal, Used: 95, Max: 100})
	wantHeard(t, heard, slog.LevelDebug,
		"ERROR numbers used up namespace=n of=claims name=sno used=95 max=100 over_percent=95",
		"WARN numbers used up namespace=n of=claims name=sno used=80",
		"WARN numbers used up namespace=n of=decimal")
}

// TestEventsOfGenerators have the level that the clock's jump deserves.
func TestEventsOfGenerators(t *testing.T) {
	events, heard := newEvents()
	regressed := func(by time.Duration) generator.Event {
		return generator.Event{
			Kind: generator.ClockRegressed, Scheme: "sno", Number: 7, Behind: by,
		}
	}
	events.Generator(regressed(time.Second - 1))
	events.Generator(regressed(time.Second))
	events.Generator(regressed(30*time.Second - 1))
	events.Generator(regressed(30 * time.Second))
	wantHeard(t, heard, slog.LevelDebug,
		"INFO clock regressed scheme=sno number_bits=7 behind=999.999999ms",
		"WARN clock regressed scheme=sno number_bits=7 behind=1s",
		"WARN clock regressed", "ERROR clock regressed")
	at := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	began := generator.Event{Kind: generator.WindowBegan, Scheme: "sno", Number: 7, From: at}
	events.Generator(began)
	began.Renewed, began.Until = true, at.Add(time.Second)
	events.Generator(began)
	away := errors.New("away")
	events.Generator(generator.Event{Kind: generator.WindowMissed, Err: away})
	later := fmt.Errorf("in it: %w", &generator.NotBeforeError{From: 1, Unit: time.Second})
	events.Generator(generator.Event{Kind: generator.WindowMissed, Err: later})
	wantHeard(t, heard, slog.LevelDebug,
		"INFO window began scheme=sno number_bits=7 from=2026-03-14 12:00:00 +0000 UTC",
		"DEBUG window began scheme=sno number_bits=7 from=2026-03-14 12:00:00 +0000 UTC "+
			"until=2026-03-14 12:00:01 +0000 UTC",
		"WARN window missed scheme= number_bits=0 error=away",
		"INFO window missed scheme= number_bits=0 error=in it: there is no window before")
}

// TestEventsOfClaims: a source whose number somebody else takes says so.
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
		wantHeard(t, heard, slog.LevelDebug, fmt.Sprintf(
			"%s claim %s scheme=sno number=7 holder=a until=0001-01-01 00:00:00 +0000 UTC error=EOF",
			level, kind))
	}
	s := newScene(t, nil)
	numbers, err := claims.Nodes(s.log, &claims.Options{Holder: "me", Notify: events.Claim})
	if err != nil {
		t.Fatal(err)
	}
	ids, err := generator.NewTrace(numbers, &generator.Options{Notify: events.Generator})
	if err != nil {
		t.Fatal(err)
	}
	if err := ids.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	if st := numbers.Stats(); st.Scheme != "trace" {
		t.Errorf("the scheme of %+v", st)
	}
	wantHeard(t, heard, slog.LevelInfo,
		"INFO claim taken scheme=trace number="+numbers.Stats().Number+" holder=me",
		"INFO window began scheme=trace number_bits=")
}

// TestSilence: without a logger nothing is said, by any method.
func TestSilence(t *testing.T) {
	before := slog.Default()
	defer slog.SetDefault(before)
	r := &recorder{}
	slog.SetDefault(slog.New(r))
	events := telemetry.NewEvents(nil)
	s := newScene(t, &launchlog.Options{Observe: events.Step, Taken: events.Taken})
	s.mint(t)
	events.Claim(claims.Event{Kind: claims.Behind})
	events.Generator(generator.Event{Kind: generator.ClockRegressed, Behind: time.Hour})
	events.Share("n", doctor.Share{Used: 9, Max: 9})
	wantHeard(t, r, slog.LevelDebug)
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
