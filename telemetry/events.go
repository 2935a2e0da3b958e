package telemetry

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/launchlog"
)

// A clock that goes back by less than regression is logged at level Info, and one that goes back by
// leap or more at level Error.
const (
	regression = time.Second
	leap       = 30 * time.Second
)

// Events logs events to a logger of the caller. Each method is a callback of the library. The
// levels follow package doctor: Warn corresponds to its notes, and Error to its findings.
//
//	Debug  a step, a block or a window that was renewed
//	Info   a number was taken; the launch log answers again
//	Warn   80 % are used; a number was lost; the clock went back; the launch log does not answer
//	Error  90 % are used; all numbers are lent; the launch log has lost numbers
//
// Events are safe for use by many goroutines. A process with one launch log needs only one.
type Events struct {
	log  *slog.Logger // immutable
	away atomic.Bool  // the launch log did not answer the last step
}

// NewEvents returns Events for a logger. A nil logger discards all events.
func NewEvents(logger *slog.Logger) *Events {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &Events{log: logger}
}

// ofShare returns the level for a share in percent. Doctor notes a share from 80 % on, and reports
// it as a finding from 90 % on.
func ofShare(percent int, normal slog.Level) slog.Level {
	switch {
	case percent >= 90:
		return slog.LevelError
	case percent >= 80:
		return slog.LevelWarn
	}
	return normal
}

// Step is for launchlog.Options.Observe. If the log does not answer, Step logs that once, until the
// log answers again. Steps in between are logged at level Debug.
func (e *Events) Step(ctx context.Context, s launchlog.Step) {
	level, text := slog.LevelDebug, "idmint: launch log step"
	kind := ErrorType(s.Err)
	switch {
	case kind == "behind" || kind == "other_log":
		level, text = slog.LevelError, "idmint: launch log has lost numbers"
	case unanswered(s.Err):
		if !e.away.Swap(true) {
			level, text = slog.LevelWarn, "idmint: launch log does not answer"
		}
	case kind != "canceled" && e.away.Load() && e.away.Swap(false):
		level, text = slog.LevelInfo, "idmint: launch log answers again"
	}
	if !e.log.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("namespace", s.Namespace), slog.String("op", s.Op),
		slog.Int("attempt", s.Attempt), slog.Duration("duration", s.Duration),
	}
	if s.Err != nil {
		attrs = append(attrs, slog.String("error_type", kind), slog.Any("error", s.Err))
	}
	e.log.LogAttrs(ctx, level, text, attrs...)
}

// Taken is for launchlog.Options.Taken.
func (e *Events) Taken(u launchlog.Usage) {
	attrs := []slog.Attr{slog.String("namespace", u.Namespace)}
	level, text := slog.LevelInfo, "idmint: launch number taken"
	switch {
	case u.Counter != "":
		level, text = slog.LevelDebug, "idmint: numbers taken"
		attrs = append(attrs, slog.String("counter", u.Counter))
	case u.Launch != 0:
		text = "idmint: generator number taken"
		attrs = append(attrs, slog.Int("launch", u.Launch),
			slog.Int64("generator", u.Used-1)) // generator numbers begin at 0
	default:
		attrs = append(attrs, slog.Int64("launch", u.Used))
	}
	e.share(level, text, u.Used, u.Max, u.Level(), attrs)
}

// Share is for [WatchOptions].Warn.
func (e *Events) Share(namespace string, s doctor.Share) {
	e.share(slog.LevelInfo, "idmint: numbers used up", s.Used, s.Max, s.Level(), []slog.Attr{
		slog.String("namespace", namespace), slog.String("of", string(s.Of)),
		slog.String("name", s.Name),
	})
}

// share logs a share that has reached a level in percent, or 0.
func (e *Events) share(
	normal slog.Level, text string, used, most int64, percent int, attrs []slog.Attr,
) {
	attrs = append(attrs, slog.Int64("used", used), slog.Int64("max", most))
	if percent > 0 {
		attrs = append(attrs, slog.Int("over_percent", percent))
	}
	e.log.LogAttrs(context.Background(), ofShare(percent, normal), text, attrs...)
}

// Claim is for claims.Options.Notify.
func (e *Events) Claim(c claims.Event) {
	levels := map[claims.EventKind]slog.Level{
		claims.Taken: slog.LevelInfo, claims.Back: slog.LevelInfo, claims.Lost: slog.LevelWarn,
		claims.Freed: slog.LevelWarn, claims.Away: slog.LevelWarn, claims.Lent: slog.LevelError,
		claims.Refused: slog.LevelError, claims.Behind: slog.LevelError,
	}
	level, known := levels[c.Kind]
	if !known {
		level = slog.LevelWarn
	}
	attrs := []slog.Attr{
		slog.String("scheme", string(c.Scheme)), slog.String("number", c.Number),
		slog.String("holder", c.Holder), slog.Time("until", c.Until),
	}
	if c.Err != nil {
		attrs = append(attrs, slog.Any("error", c.Err))
	}
	e.log.LogAttrs(context.Background(), level, "idmint: claim "+string(c.Kind), attrs...)
}

// Generator is for generator.Options.Notify.
func (e *Events) Generator(g generator.Event) {
	attrs := []slog.Attr{
		slog.String("scheme", string(g.Scheme)), slog.Uint64("number_bits", g.Number),
	}
	level := slog.LevelWarn
	switch g.Kind {
	case generator.WindowBegan:
		level = slog.LevelInfo
		if g.Renewed {
			level = slog.LevelDebug
		}
		attrs = append(attrs, slog.Time("from", g.From))
		if !g.Until.IsZero() {
			attrs = append(attrs, slog.Time("until", g.Until))
		}
	case generator.WindowMissed:
		if later := (*generator.NotBeforeError)(nil); errors.As(g.Err, &later) {
			level = slog.LevelInfo // a start that waits for its turn
		}
		attrs = append(attrs, slog.Any("error", g.Err))
	case generator.ClockRegressed:
		switch {
		case g.Behind < regression:
			level = slog.LevelInfo
		case g.Behind >= leap:
			level = slog.LevelError
		}
		attrs = append(attrs, slog.Duration("behind", g.Behind))
	}
	e.log.LogAttrs(context.Background(), level, "idmint: "+string(g.Kind), attrs...)
}

// Steps returns a function for launchlog.Options.Observe that passes each step to several observers
// in turn. Nil observers are ignored.
func Steps(
	observers ...func(context.Context, launchlog.Step),
) func(context.Context, launchlog.Step) {
	return func(ctx context.Context, s launchlog.Step) {
		for _, observe := range observers {
			if observe != nil {
				observe(ctx, s)
			}
		}
	}
}
