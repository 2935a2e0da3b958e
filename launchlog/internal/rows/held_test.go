package rows_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/rows"
)

// Where no connection comes back, a step waits for a second until a step has written. A step that
// read has not. From then on a step waits for ten. It waits on where a connection comes back.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var given atomic.Int64
		q := rows.NewQueue(func() rows.Usage {
			return rows.Usage{Most: 4, Full: true, Given: given.Load()}
		})
		check := func(when string, want time.Duration, held bool) {
			t.Helper()
			began := time.Now()
			err := q.Acquire(t.Context(), func(ctx context.Context) error {
				<-ctx.Done()
				return ctx.Err()
			})
			var again *launchlog.AttemptError
			took := time.Since(began)
			if took != want || errors.Is(err, launchlog.ErrHeld) != held ||
				errors.As(err, &again) == held {
				t.Errorf("%s: %v after %v, want %v", when, err, took, want)
			}
		}
		check("at first", time.Second, true)
		err := q.Acquire(t.Context(), func(context.Context) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		q.Release()
		check("after a step that read", time.Second, true)
		time.AfterFunc(500*time.Millisecond, func() { given.Add(1) })
		check("at first, where one was given", 2*time.Second, false)
		time.AfterFunc(500*time.Millisecond, q.Worked)
		check("where another step writes meanwhile", 10*time.Second, true)
		check("at work", 10*time.Second, true)
		time.AfterFunc(4500*time.Millisecond, func() { given.Add(1) })
		check("at work, where one was given", 15*time.Second, false)
	})
}
