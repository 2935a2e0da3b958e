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
	"github.com/idmint/idmint/launchlog"
)

var errReadOnly = errors.New("the server only reads: it is a replica, or its read_only is on")

const (
	duplicate = 1062
	deadlock  = 1213
)

// classify says which errors a launchlog.Log may try again after. A transaction whose commit was
// not sent has changed nothing.
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
		case cause == dialect.ReadOnly: // in a failover it may be another server soon
			return &launchlog.AttemptError{Err: fmt.Errorf("%w: %w", errReadOnly, err)}
		case cause.Passes() || cause == dialect.CutOff || isBrokenTrigger(err):
			return &launchlog.AttemptError{Err: err}
		}
		return err
	case errors.Is(err, driver.ErrBadConn), errors.Is(err, mysql.ErrInvalidConn), errors.As(err, &network), errors.Is(err, io.EOF),
		errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &launchlog.AttemptError{Err: err}
	}
	return err
}

func causeOf(e *mysql.MySQLError) dialect.Cause {
	return dialect.MySQL.Cause(strconv.Itoa(int(e.Number)))
}

// isBrokenTrigger reports whether MariaDB finds a syntax error in a trigger, as it says of one that
// KILL QUERY interrupted it over.
func isBrokenTrigger(err error) bool {
	var e *mysql.MySQLError
	return errors.As(err, &e) && e.Number == 1064 && strings.Contains(e.Message, "has an error in its body")
}

// classifyCommit is for the error of a commit. Only a deadlock, which is how a Galera node says
// that another one was faster, and a connection that was of no use to begin with tell what became
// of it.
func classifyCommit(err error) error {
	var server *mysql.MySQLError
	known := errors.Is(err, driver.ErrBadConn) || errors.As(err, &server) && server.Number == deadlock
	return &launchlog.AttemptError{Ambiguous: !known, Err: err}
}

// lostRace reports whether another process made the row first: all of the transaction was rolled
// back, the number as well.
func lostRace(err error) bool {
	var e *mysql.MySQLError
	return errors.As(err, &e) && e.Number == duplicate
}
