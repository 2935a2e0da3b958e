package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/internal/named"
	"github.com/idmint/idmint/launchlog"
)

var errReadOnly = errors.New("the server only reads: it is a replica, or its read_only is on")

const deadlock = 1213

// failed is what leaves the package. The errors of steps get launchlog's name instead.
func failed(err error) error { return named.Failed("launchlog/mysql", err) }

// classify puts those errors into an AttemptError after which a launchlog.Log may try again. A
// transaction whose commit was not sent has changed nothing.
func classify(err error) error {
	var server *mysql.MySQLError
	var attempt *launchlog.AttemptError
	var network net.Error
	switch {
	case err == nil || errors.As(err, &attempt):
		return err
	case errors.As(err, &server):
		cause := causeOf(server)
		switch {
		case cause == dialect.ReadOnly && !isOption(server): // it may be another server soon
			return &launchlog.AttemptError{Err: fmt.Errorf("%w: %w", errReadOnly, err)}
		case cause == dialect.Absent:
			return fmt.Errorf("%w: %w", launchlog.ErrOtherLog, err)
		case cause.Passes() || cause == dialect.CutOff:
			return &launchlog.AttemptError{Err: err}
		}
		return err
	case errors.Is(err, driver.ErrBadConn), errors.Is(err, mysql.ErrInvalidConn),
		errors.As(err, &network), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, net.ErrClosed), errors.Is(err, context.Canceled),
		errors.Is(err, context.DeadlineExceeded):
		return &launchlog.AttemptError{Err: err}
	}
	return err
}

func causeOf(e *mysql.MySQLError) dialect.Cause {
	return dialect.CauseOfCode(dialect.MySQL, strconv.Itoa(int(e.Number)))
}

// isOption reports whether an option of the server other than those that make it read-only forbids
// the statement, as MariaDB's max_session_mem_used does. The error has the same number for all.
func isOption(e *mysql.MySQLError) bool {
	return e.Number == 1290 && !strings.Contains(e.Message, "read-only") &&
		!strings.Contains(e.Message, "read_only")
}

// classifyCommit puts the error of a commit into an AttemptError. Two errors tell that nothing was
// committed. One is a deadlock: a Galera node says so where another node was faster. The other is a
// connection that was of no use to begin with.
func classifyCommit(err error) error {
	var server *mysql.MySQLError
	known := errors.Is(err, driver.ErrBadConn) ||
		errors.As(err, &server) && server.Number == deadlock
	return &launchlog.AttemptError{Ambiguous: !known, Err: err}
}
