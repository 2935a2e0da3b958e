package stores_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog/postgres"
	"github.com/idmint/idmint/migrations"
)

// Whatever a database's defaults are, Open's connections do every step. Those of New do as well, or
// it names the setting.
func TestPostgresHostileDefaults(t *testing.T) {
	t.Parallel()
	const hasty = "synchronous_commit = off; client_min_messages = error"
	for _, test := range []struct{ settings, refused string }{
		{"client_encoding = 'LATIN1'", "client_encoding is LATIN1: set it to UTF8"},
		{
			"standard_conforming_strings = off; escape_string_warning = on; backslash_quote = off",
			"",
		},
		{"default_transaction_isolation = 'serializable'; default_transaction_deferrable = on", ""},
		{"default_transaction_isolation = 'repeatable read'", ""},
		{"statement_timeout = '30s'; lock_timeout = '30s'", ""},
		{"idle_in_transaction_session_timeout = '30s'", ""},
		{hasty, ""},
		{"DateStyle = 'SQL, DMY'; IntervalStyle = iso_8601; TimeZone = 'Asia/Kathmandu'", ""},
		{"row_security = off; session_replication_role = replica; check_function_bodies = off", ""},
		{
			"plan_cache_mode = force_generic_plan; enable_indexscan = off; enable_bitmapscan = off",
			"",
		},
		{"transform_null_equals = on; array_nulls = off; quote_all_identifiers = on", ""},
		{"bytea_output = escape; extra_float_digits = -15; xmloption = document", ""},
		{"exit_on_error = on", ""},
	} {
		t.Run(test.settings, func(t *testing.T) {
			t.Parallel()
			d := dbtest.New(t, databases.Postgres)
			admin := dbtest.Open(t, d)
			for setting := range strings.SplitSeq(test.settings, "; ") {
				dbtest.Exec(t, admin, "ALTER DATABASE "+d.Database()+" SET "+setting)
			}
			db := dbtest.Open(t, d)
			for range 2 {
				if _, to, err := migrations.Up(ctx, db, migrations.Postgres); err != nil ||
					to != migrations.Latest(migrations.Postgres) {
					t.Fatalf("up: to %d, %v", to, err)
				}
				if err := migrations.Down(ctx, db, migrations.Postgres, 0); err != nil {
					t.Fatalf("down: %v", err)
				}
			}
			if _, _, err := migrations.Up(ctx, db, migrations.Postgres); err != nil {
				t.Fatal(err)
			}
			tour(t, open(t, d), "own", 1)
			var reason string // as others read it
			others := dbtest.Open(t, with(t, d, "client_encoding=UTF8"))
			err := others.QueryRow("SELECT reason FROM idmint_launch").Scan(&reason)
			if err != nil || reason != "é" {
				t.Errorf("the reason is stored as %q, %v", reason, err)
			}
			pool, err := pgxpool.New(ctx, d.Source())
			if err != nil {
				t.Fatal(err)
			}
			defer pool.Close()
			s, err := postgres.New(ctx, pool)
			switch {
			case test.refused == "" && err == nil:
				tour(t, s, "app", 2)
			case test.refused == "" || err == nil || !strings.Contains(err.Error(), test.refused):
				t.Errorf("New: %v, want %q", err, test.refused)
			}
		})
	}
}
