package pgxid_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/integration_test/pgbouncer"
	"github.com/idmint/idmint/internal/pgxsuite"
	"github.com/idmint/idmint/sqlid/pgxid"
)

// Through PgBouncer in transaction mode everything works in the modes that work there.
func TestPgBouncer(t *testing.T) {
	through := pgbouncer.New(t, dbtest.New(t, databases.Postgres)).Source()
	for _, mode := range []pgx.QueryExecMode{
		pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeExec,
		pgx.QueryExecModeSimpleProtocol,
	} {
		t.Run(strings.ReplaceAll(mode.String(), " ", "_"), func(t *testing.T) {
			pool := openPool(t, through, mode, pgxid.AfterConnect)
			for _, k := range kinds {
				t.Run(k.name, func(t *testing.T) { k.test(t, pool, nil) })
			}
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

// testClients has more clients at once than PgBouncer has connections, which the clients'
// transactions therefore change.
func testClients(t *testing.T, source string, mode pgx.QueryExecMode) {
	const clients, queries = 8, 12
	var backends sync.Map
	var group sync.WaitGroup
	for client := range clients {
		group.Go(func() {
			pool := openPool(t, source, mode, pgxid.AfterConnect)
			defer pool.Close()
			for i := range queries {
				err := ask(t.Context(), pool, pgxsuite.UserID(client*queries+i+1), &backends)
				if err != nil {
					t.Errorf("client %d, query %d: %v", client, i, err)
					return
				}
			}
		})
	}
	group.Wait()
	n := 0
	backends.Range(func(_, _ any) bool { n++; return true })
	t.Logf("%d clients, %d queries each, by %d connections", clients, queries, n)
	if n < 2 || n >= clients {
		t.Errorf("%d clients used %d connections to the server", clients, n)
	}
}

func ask(ctx context.Context, pool *pgxpool.Pool, id pgxsuite.UserID, backends *sync.Map) error {
	var backend uint32
	var got pgxsuite.UserID
	var all []pgxsuite.UserID
	const sleep = " AND pg_sleep(0.001) IS NOT NULL"
	// several statements
	query := fmt.Sprintf("SELECT pg_backend_pid(), $1::bigint, $2::bigint[] WHERE %d > 0"+sleep,
		id%7+1)
	err := pool.QueryRow(ctx, query, id, []pgxsuite.UserID{id, id + 1}).Scan(&backend, &got, &all)
	if err != nil {
		return err
	}
	if got != id || len(all) != 2 || all[1] != id+1 {
		return fmt.Errorf("got %v and %v, want %v", got, all, id)
	}
	backends.Store(backend, nil)
	return nil
}
