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
	// ErrRewrites is for an upsert that would replace the key of an existing row by the new row's
	// key, so that references to the row would dangle. ent's UpdateNewValues does not change the
	// key, but ResolveWithNewValues alone does.
	ErrRewrites = errors.New("entid: the upsert rewrites the stored key: use UpdateNewValues")

	// ErrNoReturning is for an upsert in a database that returns no keys, such as MySQL. ent would
	// keep the new key in the struct of a row that has an old one.
	ErrNoReturning = errors.New("entid: upserts need a database that returns stored keys")
)

// Guard wraps ent's driver, and rejects upserts that would leave a wrong key in the table or in a
// struct, with an [*Error] that wraps [ErrRewrites] or [ErrNoReturning]. It only checks INSERTs
// whose key is an ID of package idtype:
//
//	client := ent.NewClient(ent.Driver(entid.Guard(drv)))
func Guard(drv dialect.Driver) dialect.Driver { return guarded{drv} }

// guarded is a driver that checks upserts.
type guarded struct{ dialect.Driver }

// Exec checks the query, and then calls the driver's Exec.
func (g guarded) Exec(ctx context.Context, query string, args, v any) error {
	if err := check(query, args); err != nil {
		return err
	}
	return g.Driver.Exec(ctx, query, args, v)
}

// Query checks the query, and then calls the driver's Query.
func (g guarded) Query(ctx context.Context, query string, args, v any) error {
	if err := check(query, args); err != nil {
		return err
	}
	return g.Driver.Query(ctx, query, args, v)
}

// Tx begins a transaction that checks upserts.
func (g guarded) Tx(ctx context.Context) (dialect.Tx, error) {
	tx, err := g.Driver.Tx(ctx)
	if err != nil {
		return nil, err
	}
	return guardedTx{tx}, nil
}

// BeginTx is Tx with options, for the method BeginTx of ent's client.
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

// ExecContext calls the driver's ExecContext, for the user's own SQL.
func (g guarded) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return execContext(ctx, g.Driver, query, args)
}

// QueryContext calls the driver's QueryContext, for the user's own SQL.
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

// check checks a statement that ent wrote. Its text consists only of SQL keywords and names,
// because all values are parameters.
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

// rewrites reports whether a SET assigns the key anything but the key itself, which ent writes as
// "users"."id", even if the table is "shop"."users".
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

// holdsID reports whether the first row has an ID in a column. If the column is unknown, or an
// expression makes the positions unclear, it reports whether the statement has any ID.
func holdsID(columns, row, column string, args any) bool {
	list, _ := args.([]any)
	names, marks := strings.Split(columns, ", "), strings.Split(strings.TrimSuffix(row, ")"), ", ")
	if column == "" || len(names) != len(marks) {
		return slices.ContainsFunc(list, isID)
	}
	next := 0
	for i, mark := range marks {
		if mark == "NULL" { // how ent writes nil, without an argument
			continue
		}
		if names[i] == column {
			return next < len(list) && isID(list[next])
		}
		next++
	}
	return false
}

// isID reports whether an argument is an ID or, as ent passes keys, a pointer to one.
func isID(arg any) bool {
	_, ok := arg.(keys.ID)
	return ok && !nilable.IsNil(arg)
}
