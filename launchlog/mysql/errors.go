package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/idmint/idmint/launchlog"
)

var errReadOnly = errors.New("the server only reads: it is a replica, or its read_only is on")

const duplicate = 1062

// classify says which errors a launchlog.Log may try again after. A transaction whose commit was not sent has changed nothing.
func classify(err error) error {
	var server *mysql.MySQLError
	var attempt *launchlog.AttemptError
	var network net.Error
	switch {
	case err == nil || errors.As(err, &attempt):
		return err
	case errors.As(err, &server):
		switch server.Number {
		case 1290, 1792, 1836: // read_only, a read-only transaction, read_only while it changes: in a failover it may be another server soon
			return &launchlog.AttemptError{Err: fmt.Errorf("%w: %w", errReadOnly, err)}
		case 1213, 1205, 1020, // deadlock, lock wait timeout, record has changed
			1040, 1203, 1226, // too many connections
			1047,                   // a Galera node that is not ready
			1053, 1077, 1079, 1927, // the server ends, the connection was killed
			1158, 1159, 1160, 1161, 4031, // the network, the connection's idle time
			1317, 1028, 1969, 3024: // the statement was interrupted, or took too long
			return &launchlog.AttemptError{Err: err}
		}
		if isBrokenTrigger(err) {
			return &launchlog.AttemptError{Err: err}
		}
		return err
	case errors.Is(err, driver.ErrBadConn), errors.Is(err, mysql.ErrInvalidConn), errors.As(err, &network), errors.Is(err, io.EOF),
		errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &launchlog.AttemptError{Err: err}
	}
	return err
}

// isBrokenTrigger reports whether MariaDB finds a syntax error in a trigger, as it says of one that KILL QUERY interrupted it over.
func isBrokenTrigger(err error) bool {
	var e *mysql.MySQLError
	return errors.As(err, &e) && e.Number == 1064 && strings.Contains(e.Message, "has an error in its body")
}

// classifyCommit is for the error of a commit. Only a deadlock, which is how a Galera node says that another one was faster, and a
// connection that was of no use to begin with tell what became of it.
func classifyCommit(err error) error {
	var server *mysql.MySQLError
	known := errors.Is(err, driver.ErrBadConn) || errors.As(err, &server) && server.Number == 1213
	return &launchlog.AttemptError{Ambiguous: !known, Err: err}
}

// lostRace reports whether another process made the row first: all of the transaction was rolled back, the number as well.
func lostRace(err error) bool {
	var e *mysql.MySQLError
	return errors.As(err, &e) && e.Number == duplicate
}
