package stores_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/postgres"
	"github.com/idmint/idmint/launchlog/storetest"
)

// Whatever the connection is set to, the steps run READ COMMITTED, mean the same times, and wait
// for the disk.
func TestPostgresSettings(t *testing.T) {
	t.Parallel()
	d := postgresServer.database(t)
	db := dbtest.Open(t, d)
	dbtest.Exec(t, db,
		"CREATE TABLE saw (level text, commit text)",
		`CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			INSERT INTO saw VALUES (current_setting('transaction_isolation'),
				current_setting('synchronous_commit'));
			RETURN NULL; END $$`,
	)
	for table, when := range map[string]string{
		"idmint_launch":       "UPDATE OF ended_at",
		"idmint_launch_event": "INSERT", "idmint_counter": "INSERT OR UPDATE",
	} {
		dbtest.Exec(t, db, "CREATE TRIGGER see AFTER "+when+" ON "+table+
			" FOR EACH STATEMENT EXECUTE FUNCTION see()")
	}
	const rest = "&default_transaction_isolation=serializable&TimeZone=Asia/Kathmandu&" +
		"DateStyle=SQL,DMY&IntervalStyle=iso_8601"
	for i, test := range []struct{ settings, commit string }{
		{"default_query_exec_mode=exec&synchronous_commit=off", "on"},
		{"default_query_exec_mode=simple_protocol&synchronous_commit=local", "on"},
		{"default_query_exec_mode=cache_statement&synchronous_commit=remote_write", "on"},
		{"default_query_exec_mode=cache_describe&synchronous_commit=remote_apply", "remote_apply"},
		{"default_query_exec_mode=describe_exec&synchronous_commit=on", "on"},
		{"synchronous_commit=off", "on"},
	} {
		pool, err := pgxpool.New(ctx, with(t, d, test.settings+rest).Source())
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		stores := []store{open(t, with(t, d, test.settings+rest)), nil}
		if stores[1], err = postgres.New(ctx, pool); err != nil {
			t.Fatal(err)
		}
		for j, store := range stores {
			key := fmt.Sprint(i, " ", j)
			tour(t, store, key, 2*i+j+1)
			var seen string
			err := db.QueryRow(
				"SELECT string_agg(DISTINCT level || ' ' || commit, ', ') FROM saw").Scan(&seen)
			if err != nil || seen != "read committed "+test.commit {
				t.Errorf("%s: saw %s, %v", test.settings, seen, err)
			}
			dbtest.Exec(t, db, "DELETE FROM saw")
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := pool.Ping(ctx); err != nil {
			t.Errorf("the app's pool was closed: %v", err)
		}
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
	take := launchlog.Take{Ref: firstLaunch, Token: "t"}
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

// Who lacks a right that a step needs takes no number, also where it cannot be read back alone.
func TestPostgresNotReadBack(t *testing.T) {
	t.Parallel()
	d := postgresServer.database(t)
	db, s := dbtest.Open(t, d), open(t, d)
	if _, err := logOf(t, s).Start(ctx, storetest.Request("a")); err != nil {
		t.Fatal(err)
	}
	role := "poor_" + d.Database()
	dbtest.Exec(t, db, "CREATE ROLE "+role, "GRANT SELECT ON idmint_schema, idmint_launch TO "+role,
		"GRANT INSERT, SELECT (token) ON idmint_generator TO "+role,
		"GRANT UPDATE ON idmint_launch, idmint_generator TO "+role)
	defer dbtest.Exec(t, db, "DROP OWNED BY "+role, "DROP ROLE "+role)
	config, err := pgxpool.ParseConfig(d.Source())
	if err != nil {
		t.Fatal(err)
	}
	config.ConnConfig.RuntimeParams["role"] = role
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	poor, err := postgres.New(ctx, pool)
	if err != nil {
		t.Fatal(err)
	}
	_, err = poor.ClaimGenerator(ctx, launchlog.Take{Ref: firstLaunch, Token: "t"})
	var attempt *launchlog.AttemptError
	if err == nil || errors.As(err, &attempt) ||
		!strings.Contains(err.Error(), "permission denied for table idmint_generator") {
		t.Errorf("got %v, want it refused for good", err)
	}
	if claims, err := s.Claims(ctx, firstLaunch, 0, 9); err != nil || len(claims) != 0 {
		t.Errorf("%d claims, %v", len(claims), err)
	}
}
