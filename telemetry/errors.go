package telemetry

import (
	"context"
	"errors"

	"github.com/idmint/idmint/launchlog"
)

// ErrorType returns why a step of a launch log failed, as a label with few values. It is "" for
// nil. If the store returned an error, the label is "not_found", "ended", "exhausted", "behind",
// "other_log" or "schema". If the store did not answer, it is "timeout", "canceled", "answer_lost"
// or "unavailable"; after "answer_lost" the step may have been carried out. Other errors are
// "_OTHER".
func ErrorType(err error) string {
	if err == nil {
		return ""
	}
	for _, answer := range []struct {
		err  error
		word string
	}{
		{launchlog.ErrNotFound, "not_found"},
		{launchlog.ErrEnded, "ended"},
		{launchlog.ErrLaunchesExhausted, "exhausted"},
		{launchlog.ErrGeneratorsExhausted, "exhausted"},
		{launchlog.ErrCounterExhausted, "exhausted"},
		{launchlog.ErrBehind, "behind"},
		{launchlog.ErrOtherLog, "other_log"},
	} {
		if errors.Is(err, answer.err) {
			return answer.word
		}
	}
	var schema *launchlog.SchemaError
	var attempt *launchlog.AttemptError
	switch {
	case errors.As(err, &schema):
		return "schema"
	case errors.As(err, &attempt) && attempt.Ambiguous:
		return "answer_lost"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(err, context.Canceled):
		return "canceled"
	case attempt != nil:
		return "unavailable"
	}
	return "_OTHER"
}

// unanswered reports whether an attempt failed because the store did not answer. A caller that gave
// up waiting does not count, because that says nothing about the store.
func unanswered(err error) bool {
	switch ErrorType(err) {
	case "answer_lost", "timeout", "unavailable":
		return true
	}
	return false
}
