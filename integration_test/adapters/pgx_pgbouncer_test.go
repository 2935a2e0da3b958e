package adapters_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/integration_test/pgbouncer"
	"github.com/idmint/idmint/sqlid/pgxid"
	"github.com/idmint/idmint/sqlid/pgxid/pgxsuite"
)

// Through PgBouncer in transaction mode everything works in the modes that work there.
func TestPgxByPgBouncer(t *testing.T) {
	t.Parallel()
	through := pgbouncer.New(t, dbtest.New(t, databases.Postgres)).Source()
	for _, mode := range []pgx.QueryExecMode{
		pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeExec,
		pgx.QueryExecModeSimpleProtocol,
	} {
		t.Run(strings.ReplaceAll(mode.String(), " ", "_"), func(t *testing.T) {
			testClients(t, through, mode)
		})
	}
	t.Run("describe_exec_in_a_transaction", func(t *testing.T) {
		pool := openPool(t, through, pgx.QueryExecModeDescribeExec, pgxid.AfterConnect)
		err := pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
			var got []pgxsuite.UserID
			err := tx.QueryRow(t.Context(), "SELECT $1::bigint[]",
				[]pgxsuite.UserID{7, 8}).Scan(&got)
			if err != nil || len(got) != 2 {
				return fmt.Errorf("%v, %w", got, err)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// testClients has a client whose every query runs on another connection to the server than the one
// before: others hold that one meanwhile.
func testClients(t *testing.T, source string, mode pgx.QueryExecMode) {
	client := openPool(t, source, mode, pgxid.AfterConnect)
	others := openPool(t, source, mode, pgxid.AfterConnect)
	last := ask(t, client, 1)
	for id := pgxsuite.UserID(2); id < 14; id++ {
		release := hold(t, others, last)
		backend := ask(t, client, id)
		release()
		if backend == last {
			t.Errorf("query %d ran on the connection of the query before", id)
		}
		last = backend
	}
}

// ask takes an ID and a list there and back, by one of several statements, and returns the process
// of the server that did it.
func ask(t *testing.T, pool *pgxpool.Pool, id pgxsuite.UserID) (backend uint32) {
	t.Helper()
	query := fmt.Sprintf("SELECT pg_backend_pid(), $1::bigint, $2::bigint[] WHERE %d > 0", id%4+1)
	var got pgxsuite.UserID
	var all []pgxsuite.UserID
	err := pool.QueryRow(t.Context(), query, id, []pgxsuite.UserID{id, id + 1}).Scan(&backend, &got, &all)
	if err != nil || got != id || len(all) != 2 || all[1] != id+1 {
		t.Fatalf("query %d: got %v and %v, %v", id, got, all, err)
	}
	return backend
}

// hold opens transactions until one has the connection to a process of the server. It keeps that
// one.
func hold(t *testing.T, pool *pgxpool.Pool, backend uint32) (release func()) {
	t.Helper()
	var more []pgx.Tx
	end := func(tx pgx.Tx) {
		try(t, tx.Rollback(t.Context()))
	}
	for {
		tx, err := pool.Begin(t.Context())
		try(t, err)
		var got uint32
		try(t, tx.QueryRow(t.Context(), "SELECT pg_backend_pid()").Scan(&got))
		if got == backend {
			for _, tx := range more {
				end(tx)
			}
			return func() { end(tx) }
		}
		more = append(more, tx)
	}
}
