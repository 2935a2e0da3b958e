package simulations_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/idmint/idmint/launchlog/sqlite"
	"github.com/idmint/idmint/launchlog/storetest"
	"github.com/idmint/idmint/migrations"
)

// TestYear has a log in SQLite live through a year, and says how its file grows. All its rows are
// made older where time passes: without the triggers that refuse this, and with all others.
func TestYear(t *testing.T) {
	ctx, path := context.Background(), filepath.Join(t.TempDir(), "log.db")
	db, err := sql.Open("sqlite3", sqlite.DSN(path, sqlite.Create))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, _, err := migrations.Up(ctx, db, migrations.SQLite); err != nil {
		t.Fatal(err)
	}
	const mayAge = "DROP TRIGGER idmint_generator_update; DROP TRIGGER idmint_launch_update"
	if _, err := db.ExecContext(ctx, mayAge); err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	storetest.Year(t, store, func(d time.Duration) {
		var claims int
		_, err := db.ExecContext(ctx, `
			UPDATE idmint_generator
				SET claimed_at = strftime('%Y-%m-%dT%H:%M:%fZ', claimed_at, ? || ' seconds');
			UPDATE idmint_launch
				SET started_at = strftime('%Y-%m-%dT%H:%M:%fZ', started_at, ? || ' seconds')`,
			-d.Seconds(), -d.Seconds())
		if err == nil {
			err = db.QueryRowContext(ctx, `SELECT count(*) FROM idmint_generator`).Scan(&claims)
		}
		file, stat := os.Stat(path)
		if err != nil || stat != nil {
			t.Fatal(err, stat)
		}
		t.Logf("before a trim: %d claims, %d bytes", claims, file.Size())
	})
}
