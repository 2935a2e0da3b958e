package postgres_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/integration_test/launchlog/serversuite"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/postgres"
	"github.com/idmint/idmint/launchlog/storetest"
	"github.com/idmint/idmint/migrations"
)

// Whatever the connection is set to, the steps run READ COMMITTED, and mean the same times. They
// wait for the disk, except those of TestOnDisk.
func TestSettings(t *testing.T) {
	d := suite.Database(t)
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
		pool, err := pgxpool.New(ctx, serversuite.With(t, d, test.settings+rest).Source())
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		stores := []*postgres.Store{suite.Store(t, serversuite.With(t, d, test.settings+rest)), nil}
		if stores[1], err = postgres.New(ctx, pool); err != nil {
			t.Fatal(err)
		}
		for j, store := range stores {
			key := fmt.Sprint(i, " ", j)
			serversuite.Tour(t, store, key, 2*i+j+1)
			var seen string
			err := db.QueryRow(
				"SELECT string_agg(DISTINCT level || ' ' || commit, ', ') FROM saw").Scan(&seen)
			if err != nil || seen != "read committed off, read committed "+test.commit {
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

// What is acknowledged is on disk, whether the step made it or found it: the log is flushed as far
// as it is written.
func TestOnDisk(t *testing.T) {
	server := dbtest.Run(t, databases.Postgres)
	hasty := serversuite.With(t, server.DSN, "synchronous_commit=off")
	db := dbtest.Open(t, hasty)
	if _, _, err := migrations.Up(ctx, db, migrations.Postgres); err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, db, "ALTER SYSTEM SET wal_writer_delay = '10s'",
		"ALTER SYSTEM SET wal_writer_flush_after = '1GB'",
		"ALTER SYSTEM SET autovacuum = off", "SELECT pg_reload_conf()", "SELECT pg_sleep(1)",
		"CREATE TABLE other (n int)")
	onDisk := func() (done bool) {
		err := db.QueryRow(
			"SELECT pg_current_wal_flush_lsn() >= pg_current_wal_insert_lsn()").Scan(&done)
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	s := suite.Store(t, hasty)
	start := launchlog.Start{
		Namespace: "default", Request: storetest.Request("a"),
		RequestHash: "x",
	}
	take := launchlog.Take{Ref: launchlog.Ref{Namespace: "default", Launch: 1}, Token: "t"}
	begin := func(key string) error {
		start.Key = key
		_, err := s.StartLaunch(ctx, start)
		return err
	}
	claim := func(token string) error {
		take.Token = token
		_, err := s.ClaimGenerator(ctx, take)
		return err
	}
	behind := 0
	for round := range 20 {
		for i, step := range []func() error{
			func() error { return begin(fmt.Sprint(round)) },
			func() error { return begin("0") },
			func() error { return claim(fmt.Sprint(round)) },
			func() error { return claim("0") },
		} {
			for try := 0; ; try++ { // the server writes its own now and then
				dbtest.Exec(t, db, "INSERT INTO other VALUES (1)")
				if !onDisk() {
					behind++
				}
				if err := step(); err != nil {
					t.Fatalf("step %d: %v", i, err)
				}
				if onDisk() {
					break
				}
				if try == 3 {
					t.Fatalf("step %d: it is not on disk", i)
				}
			}
		}
	}
	if behind < 20 {
		t.Errorf("the log was behind %d times: the test shows too little", behind)
	}
}

// Who lacks a right that a step needs takes no number. One that was taken, and could not be read
// back, counts as uncertain.
func TestNotReadBack(t *testing.T) {
	d := suite.Database(t)
	db, s := dbtest.Open(t, d), suite.Store(t, d)
	if _, err := serversuite.Log(t, s, 0).Start(ctx, storetest.Request("a")); err != nil {
		t.Fatal(err)
	}
	role := "poor_" + d.Database()
	dbtest.Exec(t, db, "CREATE ROLE "+role, "GRANT SELECT ON idmint_schema, idmint_launch TO "+role,
		"GRANT INSERT, SELECT (token) ON idmint_generator TO "+role,
		"GRANT UPDATE ON idmint_launch TO "+role)
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
	ref := launchlog.Ref{Namespace: "default", Launch: 1}
	for taken, right := range []string{"", "GRANT UPDATE ON idmint_generator TO " + role} {
		if right != "" {
			dbtest.Exec(t, db, right)
		}
		_, err = poor.ClaimGenerator(ctx, launchlog.Take{Ref: ref, Token: "t"})
		var attempt *launchlog.AttemptError
		uncertain := errors.As(err, &attempt) && attempt.Ambiguous
		if uncertain != (taken == 1) || err == nil ||
			!strings.Contains(err.Error(), "permission denied for table idmint_generator") {
			t.Errorf("with %d numbers taken: %v", taken, err)
		}
		if claims, err := s.Claims(ctx, ref, 0, 9); err != nil || len(claims) != taken {
			t.Errorf("%d claims, %v: want %d", len(claims), err, taken)
		}
	}
}

// The standby is away, and an operator cancels the commit's wait for it. The launch is in doubt
// until the standby is no more waited for.
func TestSynchronousStandby(t *testing.T) {
	server := dbtest.Run(t, databases.Postgres)
	db := dbtest.Open(t, server.DSN)
	if _, _, err := migrations.Up(ctx, db, migrations.Postgres); err != nil {
		t.Fatal(err)
	}
	s := suite.Store(t, server.DSN)
	dbtest.Exec(t, db, "SET synchronous_commit = local",
		"ALTER SYSTEM SET synchronous_standby_names = 'away'", "SELECT pg_reload_conf()")
	waiting := make(chan error, 1)
	id := 0
	go func() {
		l := serversuite.Log(t, s, 4*time.Second)
		for { // the server may take a moment to go by its configuration
			id++
			if _, err := l.Start(ctx, storetest.Request(fmt.Sprint(id))); err != nil ||
				id == 1_000 {
				waiting <- err
				return
			}
		}
	}()
	canceled := 0
	var err error
	for ended := false; !ended; {
		select {
		case err = <-waiting:
			ended = true
		case <-time.After(20 * time.Millisecond):
			var n int
			err := db.QueryRow(`SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity
				WHERE wait_event = 'SyncRep'`).Scan(&n)
			if err != nil {
				t.Fatal(err)
			}
			canceled += n
		}
	}
	var u *launchlog.UnresolvedError
	if !errors.As(err, &u) || !u.Uncertain || canceled < 2 {
		t.Fatalf("with %d waits cancelled: %v, want it uncertain", canceled, err)
	}
	if found, err := s.Launch(ctx, launchlog.Ref{Namespace: "default", Launch: id}); err != nil ||
		found.Key != fmt.Sprint(id) {
		t.Errorf("the launch that is in doubt: %+v, %v", found, err)
	}
	dbtest.Exec(t, db, "ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()")
	launch, err := serversuite.Log(t, s, 0).Start(ctx, storetest.Request(fmt.Sprint(id)))
	if err != nil || launch.ID != id {
		t.Errorf("without the standby: %+v, %v", launch, err)
	}
	t.Logf("%d waits cancelled, %d attempts: %v", canceled, u.Attempts, err)
}
