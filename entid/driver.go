package entid

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"entgo.io/ent/dialect"

	"github.com/idmint/idmint/internal/keys"
	"github.com/idmint/idmint/internal/nilable"
)

// The reasons of an [*Error] for an upsert.
var (
	// ErrRewrites is for an upsert that gives the row that is there the new row's key. What refers
	// to that row would dangle. ent's UpdateNewValues leaves the key alone. ResolveWithNewValues by
	// itself does not.
	ErrRewrites = errors.New("entid: the upsert rewrites the stored key: take UpdateNewValues")

	// ErrNoReturning is for an upsert in a database that returns no keys, such as MySQL. ent would
	// keep the new key for a row that has an old one.
	ErrNoReturning = errors.New("entid: the database returns no stored keys: upserts are refused")
)

// Guard wraps ent's driver. It refuses upserts that would leave a wrong key in the table or in a
// struct, with an [*Error] that wraps [ErrRewrites] or [ErrNoReturning]. It looks at INSERTs whose
// key is an ID of package idtype, and at nothing else:
//
//	client := ent.NewClient(ent.Driver(entid.Guard(drv)))
func Guard(drv dialect.Driver) dialect.Driver { return guarded{drv} }

// guarded is a driver whose upserts are looked at.
type guarded struct{ dialect.Driver }

// Exec refuses, or is the driver's.
func (g guarded) Exec(ctx context.Context, query string, args, v any) error {
	if err := check(query, args); err != nil {
		return err
	}
	return g.Driver.Exec(ctx, query, args, v)
}

// Query refuses, or is the driver's.
func (g guarded) Query(ctx context.Context, query string, args, v any) error {
	if err := check(query, args); err != nil {
		return err
	}
	return g.Driver.Query(ctx, query, args, v)
}

// Tx begins a transaction whose upserts are looked at.
func (g guarded) Tx(ctx context.Context) (dialect.Tx, error) {
	tx, err := g.Driver.Tx(ctx)
	if err != nil {
		return nil, err
	}
	return guardedTx{tx}, nil
}

// BeginTx is Tx with options, for the method of that name of ent's client.
func (g guarded) BeginTx(ctx context.Context, opts *sql.TxOptions) (dialect.Tx, error) {
	drv, ok := g.Driver.(interface {
		BeginTx(context.Context, *sql.TxOptions) (dialect.Tx, error)
	})
	if !ok {
		return nil, fmt.Errorf("entid: the driver %T has no BeginTx", g.Driver)
	}
	tx, err := drv.BeginTx(ctx, opts)
	if err != nil {
		return nil, err
	}
	return guardedTx{tx}, nil
}

// ExecContext is the driver's, for SQL of the user's own.
func (g guarded) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return execContext(ctx, g.Driver, query, args)
}

// QueryContext is the driver's, for SQL of the user's own.
func (g guarded) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return queryContext(ctx, g.Driver, query, args)
}

type guardedTx struct{ dialect.Tx }

func (g guardedTx) Exec(ctx context.Context, query string, args, v any) error {
	if err := check(query, args); err != nil {
		return err
	}
	return g.Tx.Exec(ctx, query, args, v)
}

func (g guardedTx) Query(ctx context.Context, query string, args, v any) error {
	if err := check(query, args); err != nil {
		return err
	}
	return g.Tx.Query(ctx, query, args, v)
}

func (g guardedTx) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return execContext(ctx, g.Tx, query, args)
}

func (g guardedTx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return queryContext(ctx, g.Tx, query, args)
}

func execContext(ctx context.Context, to any, query string, args []any) (sql.Result, error) {
	drv, ok := to.(interface {
		ExecContext(context.Context, string, ...any) (sql.Result, error)
	})
	if !ok {
		return nil, fmt.Errorf("entid: the driver %T has no ExecContext", to)
	}
	return drv.ExecContext(ctx, query, args...)
}

func queryContext(ctx context.Context, to any, query string, args []any) (*sql.Rows, error) {
	drv, ok := to.(interface {
		QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	})
	if !ok {
		return nil, fmt.Errorf("entid: the driver %T has no QueryContext", to)
	}
	return drv.QueryContext(ctx, query, args...)
}

// check looks at a statement that ent wrote. All its values are parameters, so its text has the
// words of SQL and names alone.
func check(query string, args any) error {
	rest, ok := strings.CutPrefix(query, "INSERT INTO ")
	if !ok {
		return nil
	}
	before, action, upsert := strings.Cut(rest, " ON CONFLICT")
	if !upsert {
		if before, action, upsert = strings.Cut(rest, " ON DUPLICATE KEY"); !upsert {
			return nil
		}
	}
	table, columns, _ := strings.Cut(before, " (")
	columns, values, _ := strings.Cut(columns, ") VALUES (")
	row, _, _ := strings.Cut(values, "), (")
	action, key, returning := strings.Cut(action, " RETURNING ")
	if !returning {
		key = ""
	}
	_, set, _ := strings.Cut(action, " DO UPDATE SET")
	set, _, _ = strings.Cut(set, " WHERE ")
	switch {
	case !holdsID(columns, row, key, args):
	case !returning:
		return &Error{table, ErrNoReturning}
	case rewrites(set, table, key):
		return &Error{table, ErrRewrites}
	}
	return nil
}

// rewrites reports whether a SET gives the key another value than its own. That one ent writes as
// "users"."id", also where the table is "shop"."users".
func rewrites(set, table, key string) bool {
	for assignment := range strings.SplitSeq(set, ",") {
		to, value, _ := strings.Cut(strings.TrimSpace(assignment), " = ")
		of, own := strings.CutSuffix(value, "."+key)
		if to == key && (!own || of != table && !strings.HasSuffix(table, "."+of)) {
			return true
		}
	}
	return false
}

// holdsID reports whether the first row has an ID in a column. It does so for any ID of the
// statement where the column is not known, or an expression makes the places unclear.
func holdsID(columns, row, column string, args any) bool {
	list, _ := args.([]any)
	names, marks := strings.Split(columns, ", "), strings.Split(strings.TrimSuffix(row, ")"), ", ")
	if column == "" || len(names) != len(marks) {
		return slices.ContainsFunc(list, isID)
	}
	next := 0
	for i, mark := range marks {
		if mark == "NULL" { // ent's word for nil, which is no argument
			continue
		}
		if names[i] == column {
			return next < len(list) && isID(list[next])
		}
		next++
	}
	return false
}

// isID reports whether an argument is an ID, or a pointer to one: ent hands keys over so.
func isID(arg any) bool {
	_, ok := arg.(keys.ID)
	return ok && !nilable.IsNil(arg)
}
