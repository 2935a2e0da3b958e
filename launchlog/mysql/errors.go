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

var errReadOnly = errors.New("the server is read-only: it is a replica, or its read_only is on")

const deadlock = 1213

// failed adds the package's name to errors that leave the package. Errors of steps begin with
// launchlog's name instead.
func failed(err error) error { return named.Failed("launchlog/mysql", err) }

// classify wraps an error in an AttemptError if a launchlog.Log may try again after it. A
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
		case cause == dialect.ReadOnly && !isOption(server): // another server may answer soon
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

// isOption reports whether the statement is forbidden by an option of the server that does not make
// it read-only, such as MariaDB's max_session_mem_used. The error number is the same for all of
// them.
func isOption(e *mysql.MySQLError) bool {
	return e.Number == 1290 && !strings.Contains(e.Message, "read-only") &&
		!strings.Contains(e.Message, "read_only")
}

// classifyCommit wraps the error of a commit in an AttemptError. Nothing was committed in two
// cases: a deadlock, which a Galera node reports if another node was faster, and a connection that
// was unusable from the beginning.
func classifyCommit(err error) error {
	var server *mysql.MySQLError
	known := errors.Is(err, driver.ErrBadConn) ||
		errors.As(err, &server) && server.Number == deadlock
	return &launchlog.AttemptError{Ambiguous: !known, Err: err}
}
