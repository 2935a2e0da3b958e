package postgres

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idmint/idmint/launchlog"
)

// closed is the error of a connection that is closed, for which pgconn.SafeToRetry is true.
type closed struct{}

func (closed) Error() string { return "conn closed" }

func (closed) SafeToRetry() bool { return true }

func TestClassify(t *testing.T) {
	state := func(code string) error {
		return &pgconn.PgError{Severity: "ERROR", Code: code, Message: "m"}
	}
	fatal := &pgconn.PgError{Severity: "FATAL", SeverityUnlocalized: "FATAL", Code: "25P04"}
	dropped := &pgconn.PgError{Severity: "FATAL", SeverityUnlocalized: "FATAL", Code: "57P04"}
	key := &pgconn.PgError{Code: "23505", ConstraintName: "idmint_launch_key"}
	primary := &pgconn.PgError{Code: "23505", ConstraintName: "idmint_launch_pkey"}
	const final, again, doubtful = "final", "again", "in doubt"
	for _, test := range []struct {
		err          error
		sent, broken bool
		want         string
	}{
		{state("40001"), true, false, again},
		{state("40P01"), true, false, again},
		{state("55P03"), true, false, again},
		{state("57014"), true, false, again},
		{state("53300"), true, false, again},
		{state("25006"), true, false, again},
		{key, true, false, again},
		{primary, true, false, final}, // the counter is behind its rows
		{state("23514"), true, false, final},
		{state("42P01"), true, false, final},
		{state("53100"), true, false, final},
		{state("40003"), true, false, doubtful},
		{state("08006"), true, false, doubtful},
		{state("08P01"), true, false, doubtful},
		{state("57P01"), true, true, doubtful},
		{state("57P02"), true, true, doubtful},
		{fatal, true, true, doubtful}, // maybe after the commit
		{fatal, false, true, again},
		{state("57P03"), false, true, again},
		{state("57P03"), true, true, doubtful}, // a pooler's, which may not know
		{state("57P01"), false, true, again},
		{dropped, false, true, final},
		{dropped, true, true, doubtful}, // maybe after the commit
		{io.ErrUnexpectedEOF, true, true, doubtful},
		{io.ErrUnexpectedEOF, false, true, again},
		{closed{}, true, true, doubtful},
		{closed{}, false, false, again},
		{context.DeadlineExceeded, true, true, doubtful},
		{errors.New("cannot encode"), true, false, final},
		{errStandby, true, false, final}, // which write wraps itself
	} {
		got := final
		var attempt *launchlog.AttemptError
		if err := classify(test.err, test.sent, test.broken); errors.As(err, &attempt) {
			got = map[bool]string{true: doubtful, false: again}[attempt.Ambiguous]
			if !errors.Is(err, test.err) {
				t.Errorf("%v became %v", test.err, err)
			}
		}
		if got != test.want {
			t.Errorf("%v, sent %v, broken %v: %s, want %s",
				test.err, test.sent, test.broken, got, test.want)
		}
	}
	if !lostRace(classify(key, true, false)) || lostRace(classify(state("40001"), true, false)) {
		t.Error("only a key that is there is a lost race")
	}
}
