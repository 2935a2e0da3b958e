package doctor_test

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/migrations"
)

var ctx = context.Background()

func TestMain(m *testing.M) { dbtest.Main(m) }

// seen are the results that did not pass: their levels and messages, by code.
func seen(t *testing.T, d dsn.DSN) map[string]string {
	t.Helper()
	results, err := doctor.SQL(ctx, dbtest.Open(t, d), d.Kind)
	if err != nil {
		t.Fatalf("%v: %v", d, err)
	}
	got := map[string]string{}
	for _, r := range results {
		if (r.Remedy == "") != (r.Level == doctor.Passed || r.Level == doctor.Unknown) ||
			r.Message == "" {
			t.Errorf("%+v", r)
		}
		if r.Level != doctor.Passed {
			got[r.Check] += fmt.Sprintf("%s: %s. ", r.Level, r.Message)
		}
	}
	return got
}

// want compares what did not pass with what is wanted: by code, what the text has.
func want(t *testing.T, when string, d dsn.DSN, wanted map[string]string) {
	t.Helper()
	got := seen(t, d)
	for code, text := range wanted {
		if got[code] == "" || !strings.Contains(got[code], text) {
			t.Errorf("%s: %s: %q, want %q", when, code, got[code], text)
		}
		delete(got, code)
	}
	for code, text := range got {
		t.Errorf("%s: %s: %q, want nothing", when, code, text)
	}
}

// migrated makes the tables.
func migrated(t *testing.T, d dsn.DSN) {
	t.Helper()
	if _, _, err := migrations.Up(ctx, dbtest.Open(t, d), d.Kind); err != nil {
		t.Fatal(err)
	}
}

// as is the database's name for another user, whose password is "app".
func as(t *testing.T, d dsn.DSN, user string) dsn.DSN {
	t.Helper()
	u, err := url.Parse(d.URL())
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(user, "app")
	named, err := dsn.Parse(u.String())
	if err != nil {
		t.Fatal(err)
	}
	return named
}

func with(wanted map[string]string, more ...string) map[string]string {
	wanted = maps.Clone(wanted)
	for i := 0; i < len(more); i += 2 {
		wanted[more[i]] = more[i+1]
	}
	return wanted
}

// Each setting is found while it is wrong, and not before nor after.
func TestPostgres(t *testing.T) {
	server := dbtest.Run(t, databases.Postgres)
	admin := dbtest.Open(t, server.DSN)
	app := as(t, server.DSN, "app")
	dbtest.Exec(t, admin, "CREATE ROLE app LOGIN PASSWORD 'app'")
	// The image's clusters have no checksums.
	well := map[string]string{"postgres.checksums": "note: data_checksums is off"}
	want(t, "before migrate", app, with(well, "schema", "finding: there is no launch log"))
	migrated(t, server.DSN)
	tables := "idmint_namespace, idmint_launch, idmint_generator, idmint_launch_event, " +
		"idmint_counter"
	dbtest.Exec(t, admin, "GRANT SELECT ON idmint_schema TO app",
		"GRANT SELECT, INSERT, UPDATE ON "+tables+" TO app")
	want(t, "after migrate", app, well)

	for _, c := range []struct{ do, undo, code, text string }{
		{
			"ALTER SYSTEM SET fsync = off", "ALTER SYSTEM RESET fsync",
			"postgres.fsync", "finding: fsync is off",
		},
		{
			"ALTER SYSTEM SET full_page_writes = off", "ALTER SYSTEM RESET full_page_writes",
			"postgres.full_page_writes", "finding: full_page_writes is off",
		},
		{
			"ALTER SYSTEM SET synchronous_commit = off", "ALTER SYSTEM RESET synchronous_commit",
			"postgres.synchronous_commit", "note: synchronous_commit is off",
		},
		{
			"ALTER SYSTEM SET synchronous_standby_names = 'away'",
			"ALTER SYSTEM RESET synchronous_standby_names",
			"postgres.standbys", `finding: synchronous_standby_names is "away", and none`,
		},
		{
			"ALTER ROLE app SET default_transaction_read_only = on",
			"ALTER ROLE app RESET default_transaction_read_only",
			"writable", "finding: transactions are read-only",
		},
		{
			"REVOKE UPDATE ON idmint_counter FROM app", "GRANT UPDATE ON idmint_counter TO app",
			"rights", "finding: the role app lacks UPDATE on idmint_counter",
		},
		{
			"REVOKE INSERT ON idmint_launch FROM app", "GRANT INSERT ON idmint_launch TO app",
			"rights", "finding: the role app lacks INSERT on idmint_launch",
		},
		{
			"GRANT DELETE, TRUNCATE ON idmint_launch TO app",
			"REVOKE DELETE, TRUNCATE ON idmint_launch FROM app",
			"rights",
			"note: the role app needs no DELETE on idmint_launch, TRUNCATE on idmint_launch",
		},
		{"ALTER ROLE app SUPERUSER", "ALTER ROLE app NOSUPERUSER", "rights", "app is a superuser"},
		{
			"ALTER TABLE idmint_launch_event OWNER TO app",
			"ALTER TABLE idmint_launch_event OWNER TO postgres; " +
				"GRANT SELECT, INSERT, UPDATE ON idmint_launch_event TO app",
			"rights", "app owns the tables",
		},
		{
			"ALTER TABLE idmint_counter DISABLE TRIGGER idmint_counter_update",
			"ALTER TABLE idmint_counter ENABLE TRIGGER idmint_counter_update",
			"triggers", "finding: triggers are disabled: idmint_counter_update",
		},
		{
			"ALTER TABLE idmint_counter RENAME TO counter",
			"ALTER TABLE counter RENAME TO idmint_counter",
			"tables", "finding: 1 of 6 tables are missing: idmint_counter",
		},
		{
			"ALTER TABLE idmint_counter SET UNLOGGED", "ALTER TABLE idmint_counter SET LOGGED",
			"tables", "finding: tables are UNLOGGED, and empty after a crash: idmint_counter",
		},
		{
			"ALTER TRIGGER idmint_launch_delete ON idmint_launch RENAME TO other",
			"ALTER TRIGGER other ON idmint_launch RENAME TO idmint_launch_delete",
			"triggers", "of 17 triggers are missing: idmint_launch_delete",
		},
		{
			"ALTER ROLE app SET session_replication_role = replica",
			"ALTER ROLE app RESET session_replication_role",
			"triggers", "finding: session_replication_role is replica",
		},
		{
			"INSERT INTO idmint_schema (version) VALUES (99)",
			"DELETE FROM idmint_schema WHERE version = 99",
			"schema", "finding: the tables have version 99, newer than",
		},
		{
			"DELETE FROM idmint_schema WHERE version = 3",
			"INSERT INTO idmint_schema (version) VALUES (3)",
			"schema", "finding: the tables have version 2, older than 3",
		},
	} {
		reload(t, server.DSN, c.do)
		want(t, c.do, app, with(well, c.code, c.text))
		reload(t, server.DSN, c.undo)
	}
	want(t, "in the end", app, well)
}

// reload runs statements, which may set what the server goes by, and waits until it does.
func reload(t *testing.T, d dsn.DSN, statements string) {
	t.Helper()
	db := dbtest.Open(t, d)
	db.SetMaxIdleConns(0) // a session takes the settings later than new ones do
	loaded := func() (at time.Time) {
		if err := db.QueryRow("SELECT pg_conf_load_time()").Scan(&at); err != nil {
			t.Fatal(err)
		}
		return at
	}
	before := loaded()
	conn, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	// No standby answers a commit.
	all := append([]string{"SET synchronous_commit = local"}, strings.Split(statements, "; ")...)
	for _, text := range append(all, "SELECT pg_reload_conf()") {
		if _, err := conn.ExecContext(ctx, text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	for loaded().Equal(before) {
	}
}

// A server that becomes a standby, and then the primary of another timeline: its identity differs,
// and the log's tables are those of before.
func TestPostgresStandby(t *testing.T) {
	server := dbtest.Run(t, databases.Postgres)
	migrated(t, server.DSN)
	identity := func() map[string]string {
		t.Helper()
		id, err := doctor.Identity(ctx, dbtest.Open(t, server.DSN), doctor.Postgres)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	before := identity()
	if before["timeline"] != "1" || before["system_identifier"] == "" || before["table"] == "" {
		t.Errorf("%v", before)
	}
	if again := identity(); !maps.Equal(before, again) {
		t.Errorf("%v, and again %v", before, again)
	}
	if _, err := server.Exec(ctx, "sh", "-c", `touch "$PGDATA/standby.signal"`); err != nil {
		t.Fatal(err)
	}
	if err := server.Signal(ctx, "KILL"); err != nil {
		t.Fatal(err)
	}
	if err := server.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	standby := map[string]string{
		"postgres.checksums": "note", "rights": "superuser",
		"writable": "finding: the server is a standby",
	}
	want(t, "as a standby", server.DSN, standby)
	if id := identity(); !maps.Equal(before, id) {
		t.Errorf("as a standby it is %v, and was %v", id, before)
	}
	db := dbtest.Open(t, server.DSN)
	var promoted bool
	if err := db.QueryRow("SELECT pg_promote()").Scan(&promoted); err != nil || !promoted {
		t.Fatalf("promoted %v, %v", promoted, err)
	}
	delete(standby, "writable")
	want(t, "as the primary", server.DSN, standby)
	promotedTo := identity()
	if promotedTo["timeline"] != "2" {
		t.Errorf("after the promotion: %v", promotedTo)
	}
	promotedTo["timeline"] = before["timeline"]
	if !maps.Equal(promotedTo, before) {
		t.Errorf("after the promotion: %v, before %v", promotedTo, before)
	}
	// A dump that is loaded again makes other tables, on the same server.
	if err := migrations.Down(ctx, db, doctor.Postgres, 0); err != nil {
		t.Fatal(err)
	}
	if id := identity(); id["table"] != "" {
		t.Errorf("without tables: %v", id)
	}
	migrated(t, server.DSN)
	if id := identity(); id["table"] == before["table"] {
		t.Errorf("with other tables: %v", id)
	}
}

// Standbys that are connected: an asynchronous one is noted, a synchronous one passes.
func TestPostgresStandbys(t *testing.T) {
	server := dbtest.Run(t, databases.Postgres)
	migrated(t, server.DSN)
	db := dbtest.Open(t, server.DSN)
	// It takes the write-ahead log as a standby does, and is one to the server.
	_, err := server.Exec(ctx, "sh", "-c", `mkdir /tmp/wal && PGPASSWORD="$POSTGRES_PASSWORD" \
		PGAPPNAME=near setsid pg_receivewal -h 127.0.0.1 -U postgres -D /tmp/wal --synchronous \
		>/dev/null 2>&1 </dev/null &`)
	if err != nil {
		t.Fatal(err)
	}
	until := func(query string) {
		t.Helper()
		var n int
		for deadline := time.Now().Add(time.Minute); n == 0; time.Sleep(10 * time.Millisecond) {
			if err := db.QueryRow(query).Scan(&n); err != nil || time.Now().After(deadline) {
				t.Fatalf("%s: %d, %v", query, n, err)
			}
		}
	}
	until("SELECT count(*) FROM pg_stat_replication")
	well := map[string]string{"postgres.checksums": "note", "rights": "superuser"}
	want(t, "asynchronous", server.DSN, with(well, "postgres.standbys",
		"note: 1 standbys are connected, and none is synchronous"))
	reload(t, server.DSN, "ALTER SYSTEM SET synchronous_standby_names = 'near'")
	until("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'")
	want(t, "synchronous", server.DSN, well)
	// Who may not see the state is told so.
	dbtest.Exec(t, db, "CREATE ROLE app LOGIN PASSWORD 'app'",
		"GRANT SELECT ON idmint_schema TO app")
	got := seen(t, as(t, server.DSN, "app"))
	if !strings.Contains(got["postgres.standbys"], "unknown: ") {
		t.Errorf("%v", got)
	}
}
