package servers_test

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/integration_test/findings"
	"github.com/idmint/idmint/launchlog/checks"
	"github.com/idmint/idmint/migrations"
)

// as is the database's name for another user, whose password is "app".
func as(t *testing.T, d dsn.DSN, user string) dsn.DSN {
	t.Helper()
	return changed(t, d, func(u *url.URL, _ url.Values) { u.User = url.UserPassword(user, "app") })
}

// Settings of a whole server are found while they are wrong, and not before nor after. Package
// stores has those of a database and of a role.
func TestDoctorPostgresSettings(t *testing.T) {
	server := dbtest.Run(t, databases.Postgres)
	admin := dbtest.Open(t, migrate(t, server.DSN))
	app := as(t, server.DSN, "app")
	dbtest.Exec(t, admin, "CREATE ROLE app LOGIN PASSWORD 'app'",
		"GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA public TO app")
	// The image's clusters have no checksums.
	well := map[string]string{"postgres.checksums": "note: data_checksums is off"}
	for _, c := range []struct{ setting, code, text string }{
		{"fsync = off", "postgres.fsync", "finding: fsync is off"},
		{
			"full_page_writes = off", "postgres.full_page_writes",
			"finding: full_page_writes is off",
		},
		{
			"synchronous_standby_names = 'away'", "postgres.standbys",
			`finding: synchronous_standby_names is "away", and none`,
		},
	} {
		name, _, _ := strings.Cut(c.setting, " ")
		reload(t, server.DSN, "ALTER SYSTEM SET "+c.setting)
		findings.SQL(t, c.setting, app, findings.With(well, c.code, c.text))
		reload(t, server.DSN, "ALTER SYSTEM RESET "+name)
	}
	findings.SQL(t, "in the end", app, well)
}

// reload runs a statement that sets what the server goes by, and waits until it does.
func reload(t *testing.T, d dsn.DSN, statement string) {
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
	for _, text := range []string{
		"SET synchronous_commit = local", // no standby answers a commit
		statement, "SELECT pg_reload_conf()",
	} {
		if _, err := conn.ExecContext(ctx, text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	for loaded().Equal(before) {
	}
}

// A server that becomes a standby, and then the primary of another timeline: its identity differs,
// and the log's tables are those of before. Package stores has a dump that is loaded again.
func TestDoctorPostgresStandby(t *testing.T) {
	server := dbtest.Run(t, databases.Postgres)
	migrate(t, server.DSN)
	identity := func() map[string]string {
		t.Helper()
		id, err := doctor.Identity(ctx, dbtest.Open(t, server.DSN), migrations.Postgres)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	before := identity()
	if before["timeline"] != "1" || before["system_identifier"] == "" || before["table"] == "" {
		t.Errorf("%v", before)
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
		"postgres.checksums": "note", "rights": "note: the role postgres is a superuser",
		"writable": "finding: the server is a standby",
	}
	findings.SQL(t, "as a standby", server.DSN, standby)
	if id := identity(); !maps.Equal(before, id) {
		t.Errorf("as a standby it is %v, and was %v", id, before)
	}
	db := dbtest.Open(t, server.DSN)
	var promoted bool
	if err := db.QueryRow("SELECT pg_promote()").Scan(&promoted); err != nil || !promoted {
		t.Fatalf("promoted %v, %v", promoted, err)
	}
	delete(standby, "writable")
	findings.SQL(t, "as the primary", server.DSN, standby)
	promotedTo := identity()
	if promotedTo["timeline"] != "2" {
		t.Errorf("after the promotion: %v", promotedTo)
	}
	promotedTo["timeline"] = before["timeline"]
	if !maps.Equal(promotedTo, before) {
		t.Errorf("after the promotion: %v, before %v", promotedTo, before)
	}
}

// Standbys that are connected: an asynchronous one is noted, a synchronous one passes.
func TestDoctorPostgresStandbys(t *testing.T) {
	server := dbtest.Run(t, databases.Postgres)
	migrate(t, server.DSN)
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
		for n := 0; n == 0; time.Sleep(10 * time.Millisecond) {
			if err := db.QueryRow(query).Scan(&n); err != nil {
				t.Fatalf("%s: %v", query, err)
			}
		}
	}
	until("SELECT count(*) FROM pg_stat_replication")
	well := map[string]string{
		"postgres.checksums": "note: ", "rights": "note: the role postgres is a superuser",
	}
	findings.SQL(t, "asynchronous", server.DSN, findings.With(well, "postgres.standbys",
		"note: 1 standbys are connected, and none is synchronous"))
	reload(t, server.DSN, "ALTER SYSTEM SET synchronous_standby_names = 'near'")
	until("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'")
	findings.SQL(t, "synchronous", server.DSN, well)
	// Who may not see the state is told so.
	dbtest.Exec(t, db, "CREATE ROLE app LOGIN PASSWORD 'app'",
		"GRANT SELECT ON idmint_schema TO app")
	results, err := doctor.SQL(ctx, dbtest.Open(t, as(t, server.DSN, "app")), migrations.Postgres)
	if err != nil || !slices.ContainsFunc(results, func(r checks.Result) bool {
		return r.Check == "postgres.standbys" && r.Level == checks.Unknown
	}) {
		t.Errorf("%+v, %v", results, err)
	}
}
