package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/idmint/idmint/launchlog"
)

func TestClassify(t *testing.T) {
	number := func(n uint16) error { return &mysql.MySQLError{Number: n, Message: "m"} }
	network := &net.OpError{Op: "dial", Err: errors.New("refused")}
	const final, again, doubtful = "final", "again", "in doubt"
	for _, test := range []struct {
		err            error
		before, commit string // a commit's error, or one before it
	}{
		{number(1213), again, again},
		{number(1205), again, doubtful},
		{number(1020), again, doubtful},
		{number(1317), again, doubtful},
		{&mysql.MySQLError{
			Number: 1290, Message: "The MariaDB server is running with the --read-only option " +
				"so it cannot execute this statement",
		}, again, doubtful},
		{&mysql.MySQLError{
			Number: 1290, Message: "The MariaDB server is running with the " +
				"--max-session-mem-used=8192 option so it cannot execute this statement",
		}, final, doubtful},
		{number(1792), again, doubtful},
		{number(1927), again, doubtful},
		{number(1062), final, doubtful}, // which is the step's own affair
		{number(1045), final, doubtful},
		{number(4025), final, doubtful},
		{number(1064), final, doubtful},
		{mysql.ErrInvalidConn, again, doubtful},
		{driver.ErrBadConn, again, again}, // nothing was sent
		{io.EOF, again, doubtful},
		{network, again, doubtful},
		{context.DeadlineExceeded, again, doubtful},
		{errors.New("cannot encode"), final, doubtful},
	} {
		for i, err := range []error{classify(test.err), classify(classifyCommit(test.err))} {
			got, want := final, []string{test.before, test.commit}[i]
			if attempt := (*launchlog.AttemptError)(nil); errors.As(err, &attempt) {
				got = map[bool]string{true: doubtful, false: again}[attempt.Ambiguous]
			}
			if got != want || !errors.Is(err, test.err) {
				t.Errorf("%v, of a commit %v: %s, want %s: %v", test.err, i == 1, got, want, err)
			}
		}
	}
}
