package rows_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/rows"
	"github.com/idmint/idmint/launchlog/sqlite"
	"github.com/idmint/idmint/launchlog/storetest"
	"github.com/idmint/idmint/migrations"
)

// split is what a proxy does that sends statements which only read to a replica.
type split struct {
	*sql.DB
	replica *sql.DB
}

func (s split) QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row {
	return s.replica.QueryRowContext(ctx, text, args...)
}

// TestLateReplica: a look that a replica has answered, which has not heard of the claim yet, is not
// taken for one at an older copy. One is where the server that writes has no such claim.
func TestLateReplica(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	open := func(name string) *sql.DB {
		db, err := sql.Open("sqlite3", sqlite.DSN(filepath.Join(dir, name), sqlite.Create))
		ok(err)
		t.Cleanup(func() { db.Close() })
		return db
	}
	primary := open("primary")
	_, _, err := migrations.Up(ctx, primary, migrations.SQLite)
	ok(err)
	store, err := sqlite.Open(ctx, filepath.Join(dir, "primary"))
	ok(err)
	defer store.Close()
	log, err := launchlog.New(store, nil)
	ok(err)
	launch, err := log.Start(ctx, storetest.Request("a"))
	ok(err)
	look := launchlog.Look{
		Ref: launchlog.Ref{Namespace: launch.Namespace, Launch: launch.ID}, Service: "shop",
	}
	_, _, err = store.Order(ctx, look)
	ok(err)
	_, err = primary.ExecContext(ctx, `VACUUM INTO ?`, filepath.Join(dir, "replica"))
	ok(err)
	replica := open("replica")
	claim, err := log.Claim(ctx, launch.ID)
	ok(err)

	word, err := rows.ScanOne[string](primary.QueryRowContext(ctx, rows.Word))
	ok(err)
	on := func(tx rows.Tx) rows.Runner {
		return func(ctx context.Context, step rows.Step) (any, error) { return step(ctx, tx) }
	}
	steps := rows.NewSteps(rows.Words{
		Look: `INSERT INTO idmint_order (namespace, service, value, looks) VALUES (?, ?, ?, 1)
			ON CONFLICT DO UPDATE SET value = max(value, excluded.value), looks = looks + 1`,
	}, word, on(primary), nil, on(split{primary, replica}))
	look.Generator, look.Token, look.Reached = claim.Generator, claim.Token, 7
	if is, _, err := steps.Order(ctx, look); err != nil || is != 7 {
		t.Errorf("a replica that is late: %d, %v", is, err)
	}
	look.Token = "another"
	if _, _, err := steps.Order(ctx, look); !errors.Is(err, launchlog.ErrBehind) {
		t.Errorf("no such claim: %v, want ErrBehind", err)
	}
}
