package pool

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// passing is an error of a database that is away.
type passing string

func (e passing) Error() string { return string(e) }
func (passing) Passes() bool    { return true }

var (
	errWrong   = errors.New("wrong password")
	errStopped = errors.New("stopped")
)

// Await says what was in the way of the database, and where nothing was, that it did not answer.
func TestAwait(t *testing.T) {
	silent := func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}
	early := func(ctx context.Context) error { // as a net.Conn with ctx's deadline does
		end, _ := ctx.Deadline()
		time.Sleep(time.Until(end))
		return passing("i/o timeout")
	}
	inTurn := func(steps ...func(context.Context) error) func(context.Context) error {
		return func(ctx context.Context) error {
			step := steps[0]
			if len(steps) > 1 {
				steps = steps[1:]
			}
			return step(ctx)
		}
	}
	say := func(err error) func(context.Context) error {
		return func(context.Context) error { return err }
	}
	const short, long = 50 * time.Millisecond, time.Minute
	for _, c := range []struct {
		name string
		wait time.Duration
		f    func(context.Context) error
		want string
	}{
		{"it answers", long, say(nil), ""},
		{"it answers later", long, inTurn(say(passing("refused")), say(nil)), ""},
		{"it will never let us in", long, say(errWrong), "wrong password"},
		{
			"nobody is there", short, say(passing("refused")),
			"refused: it was busy or away for 50ms",
		},
		{"nobody answers", short, silent, "the server did not answer within 50ms"},
		{
			"it was refused, and nobody answers", 2 * time.Second,
			inTurn(say(passing("refused")), silent), "refused: it was busy or away for 2s",
		},
		{
			"it was refused, and a connection sees the end first", short,
			inTurn(say(passing("refused")), early), "refused: it was busy or away for 50ms",
		},
		{"there was no time", 0, silent, "the server did not answer within 0s"},
	} {
		synctest.Test(t, func(t *testing.T) {
			got, began := "", time.Now()
			if err := Await(t.Context(), c.wait, c.f); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("%s: %q, want %q", c.name, got, c.want)
			}
			if took := time.Since(began); took > c.wait {
				t.Errorf("%s: it took %v", c.name, took)
			}
		})
	}
}

// Whoever is waiting is told why to stop, in a run and between two.
func TestInterrupted(t *testing.T) {
	for name, f := range map[string]func(context.Context, func()) error{
		"in a run": func(ctx context.Context, stop func()) error {
			stop()
			<-ctx.Done()
			return ctx.Err()
		},
		"between two runs": func(_ context.Context, stop func()) error {
			stop()
			return passing("refused")
		},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		run := func(ctx context.Context) error { return f(ctx, func() { cancel(errStopped) }) }
		if err := Await(ctx, time.Minute, run); !errors.Is(err, errStopped) {
			t.Errorf("Await, %s: %v", name, err)
		}
	}
	for _, runs := range []int{0, 1, 2} { // before the end
		ctx, cancel := context.WithCancelCause(t.Context())
		retried := func() error {
			if runs--; runs <= 0 {
				cancel(errStopped)
			}
			return passing("refused")
		}
		if runs == 0 {
			cancel(errStopped)
		}
		if err := Retry(ctx, time.Minute, retried); !errors.Is(err, errStopped) {
			t.Errorf("Retry: %v", err)
		}
	}
}
