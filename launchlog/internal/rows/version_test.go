package rows_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/rows"
)

// Where a context ends in mid-call, the error also says what was in the way before.
func TestAwaitSaysWhatWasInTheWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over := fmt.Errorf("2 s are over: %w", context.DeadlineExceeded)
		ctx, cancel := context.WithTimeoutCause(t.Context(), 2*time.Second, over)
		defer cancel()
		refused := errors.New("refused")
		calls := 0
		err := rows.Await(ctx, rows.ServerTime, func(ctx context.Context) (int, error) {
			if calls++; calls < 3 {
				return 0, &launchlog.AttemptError{Err: refused}
			}
			<-ctx.Done()
			return 0, ctx.Err()
		})
		if !errors.Is(err, over) || !errors.Is(err, refused) || calls != 3 {
			t.Errorf("after %d calls: %v", calls, err)
		}
	})
}

// Where the wait ends in mid-call, the driver may call that a timeout of its own: the error says
// what was in the way before.
func TestAwaitIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := errors.New("refused")
		calls := 0
		err := rows.Await(t.Context(), rows.ServerTime, func(ctx context.Context) (int, error) {
			if calls++; calls < 3 {
				return 0, &launchlog.AttemptError{Err: refused}
			}
			<-ctx.Done()
			cut := &net.OpError{Op: "dial", Err: &net.DNSError{IsTimeout: true}}
			return 0, &launchlog.AttemptError{Err: cut}
		})
		if !errors.Is(err, refused) || calls < 3 {
			t.Errorf("after %d calls: %v", calls, err)
		}
	})
}

// An attempt without an answer is given up, for another one.
func TestAwaitTriesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		err := rows.Await(t.Context(), rows.ServerTime, func(ctx context.Context) (int, error) {
			if calls++; calls < 4 {
				<-ctx.Done()
				return 0, ctx.Err()
			}
			return rows.SchemaVersion, nil
		})
		if err != nil {
			t.Errorf("after %d calls: %v", calls, err)
		}
	})
}

// A name that nobody knows is mistyped, and is told at once.
func TestAwaitUnknownHost(t *testing.T) {
	unknown := &net.DNSError{Err: "no such host", Name: "nosuch.invalid", IsNotFound: true}
	calls := 0
	err := rows.Await(t.Context(), rows.ServerTime, func(context.Context) (int, error) {
		calls++
		return 0, &launchlog.AttemptError{Err: unknown}
	})
	if !errors.Is(err, unknown) || calls != 1 {
		t.Errorf("after %d calls: %v", calls, err)
	}
}
