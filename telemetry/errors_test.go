package telemetry_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/telemetry"
)

// TestErrorType: a word for each kind of failure, also deep within other errors.
func TestErrorType(t *testing.T) {
	cut := errors.New("connection reset")
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{launchlog.ErrNotFound, "not_found"},
		{launchlog.ErrEnded, "ended"},
		{launchlog.ErrLaunchesExhausted, "exhausted"},
		{launchlog.ErrGeneratorsExhausted, "exhausted"},
		{launchlog.ErrCounterExhausted, "exhausted"},
		{launchlog.ErrBehind, "behind"},
		{launchlog.ErrOtherLog, "other_log"},
		{&launchlog.SchemaError{Have: 1, Want: 2}, "schema"},
		{&launchlog.AttemptError{Ambiguous: true, Err: cut}, "answer_lost"},
		{&launchlog.AttemptError{Ambiguous: true, Err: context.DeadlineExceeded}, "answer_lost"},
		{&launchlog.AttemptError{Err: cut}, "unavailable"},
		{&launchlog.AttemptError{Err: context.DeadlineExceeded}, "timeout"},
		{context.DeadlineExceeded, "timeout"},
		{context.Canceled, "canceled"},
		{&launchlog.UnresolvedError{Cause: context.Canceled}, "canceled"},
		{cut, "_OTHER"},
	} {
		if got := telemetry.ErrorType(c.err); got != c.want {
			t.Errorf("%v: %q, want %q", c.err, got, c.want)
		}
		if c.err != nil {
			wrapped := fmt.Errorf("step: %w", c.err)
			if got := telemetry.ErrorType(wrapped); got != c.want {
				t.Errorf("%v: %q, want %q", wrapped, got, c.want)
			}
		}
	}
}
