package stores_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/postgres"
	"github.com/idmint/idmint/migrations"
)

// Whatever a database's defaults are, Open's connections do every step. Those of New do as well, or
// it names the setting. Steps run READ COMMITTED, and wait for the disk.
func TestPostgresHostileDefaults(t *testing.T) {
	t.Parallel()
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
		{"synchronous_commit = off; client_min_messages = error", ""},
		{"synchronous_commit = local", ""},
		{"synchronous_commit = remote_write", ""},
		{"synchronous_commit = remote_apply", ""},
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
			dbtest.Exec(t, admin, "CREATE TABLE saw (level text, commit text)",
				`CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
					INSERT INTO saw VALUES (current_setting('transaction_isolation'),
						current_setting('synchronous_commit'));
					RETURN NULL; END $$`)
			for _, table := range []string{"launch", "launch_event", "generator", "counter"} {
				dbtest.Exec(t, admin, "CREATE TRIGGER see AFTER INSERT OR UPDATE ON idmint_"+table+
					" FOR EACH STATEMENT EXECUTE FUNCTION see()",
					"ALTER TABLE idmint_"+table+" ENABLE ALWAYS TRIGGER see")
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
			want := "read committed on"
			if strings.Contains(test.settings, "remote_apply") { // which waits for more
				want = "read committed remote_apply"
			}
			var saw string
			err = others.QueryRow(
				"SELECT string_agg(DISTINCT level || ' ' || commit, ', ') FROM saw").Scan(&saw)
			if err != nil || saw != want {
				t.Errorf("steps ran %s, %v; want %s", saw, err, want)
			}
			if err := pool.Ping(ctx); err != nil {
				t.Errorf("the app's pool was closed: %v", err)
			}
		})
	}
}

// What a step finds it locks in a transaction that waits for the disk, whether it made it or an
// earlier one did: such a transaction has something to write. Policies see what is locked. Package
// servers of soak_test looks at the disk itself.
func TestPostgresOnDisk(t *testing.T) {
	t.Parallel()
	d := postgresServer.database(t)
	db, role := dbtest.Open(t, d), newRole(t, d)
	dbtest.Exec(t, db, "GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA public TO "+role,
		"CREATE TABLE saw (commit text)",
		`CREATE FUNCTION see() RETURNS bool LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
			INSERT INTO saw VALUES (current_setting('synchronous_commit'));
			RETURN true; END $$`)
	s := open(t, as(t, d, role))
	take := launchlog.Claim{Namespace: "default", Launch: 1, Token: "t"}
	for _, step := range []struct {
		table string
		run   func() error
	}{
		{"idmint_launch", func() error { return start(ctx, s, "a") }},
		{"idmint_generator", func() error { _, err := s.ClaimGenerator(ctx, take); return err }},
	} {
		dbtest.Exec(t, db, "ALTER TABLE "+step.table+" ENABLE ROW LEVEL SECURITY",
			"CREATE POLICY reads ON "+step.table+" FOR SELECT USING (true)",
			"CREATE POLICY makes ON "+step.table+" FOR INSERT WITH CHECK (true)",
			"CREATE POLICY locks ON "+step.table+" FOR UPDATE USING (see())")
		for _, when := range []string{"made", "found"} {
			if err := step.run(); err != nil {
				t.Fatal(err)
			}
			var waits int
			err := db.QueryRow("SELECT count(*) FROM saw WHERE commit = 'on'").Scan(&waits)
			if err != nil || waits == 0 {
				t.Errorf("a row of %s that is %s: it is not locked, %v", step.table, when, err)
			}
			dbtest.Exec(t, db, "DELETE FROM saw")
		}
		dbtest.Exec(t, db, "ALTER TABLE "+step.table+" DISABLE ROW LEVEL SECURITY")
	}
}
