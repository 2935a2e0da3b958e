package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/internal/storesuite"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/postgres"
	"github.com/idmint/idmint/launchlog/storetest"
	"github.com/idmint/idmint/migrations"
)

// with adds settings, "name=value&…", to a database's name.
func with(t testing.TB, d dsn.DSN, settings string) dsn.DSN {
	t.Helper()
	u, err := url.Parse(d.Source())
	if err != nil {
		t.Fatal(err)
	}
	more, err := url.ParseQuery(settings)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	for name, values := range more {
		query[name] = values
	}
	u.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20") // as libpq reads it
	changed, err := dsn.Parse(u.String())
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

func newLog(t testing.TB, store launchlog.Store, budget time.Duration) *launchlog.Log {
	t.Helper()
	l, err := launchlog.New(store, &launchlog.Options{Budget: budget})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func exec(t testing.TB, db *sql.DB, statements ...string) {
	t.Helper()
	for _, text := range statements {
		if _, err := db.Exec(text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
}

// Whatever the connection is set to, the steps run READ COMMITTED, wait for the disk, but for those
// of TestOnDisk, and mean the same times.
func TestSettings(t *testing.T) {
	d := newDatabase(t)
	db := openDB(t, d)
	exec(t, db,
		"CREATE TABLE saw (level text, commit text)",
		`CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			INSERT INTO saw VALUES (current_setting('transaction_isolation'), current_setting('synchronous_commit')); RETURN NULL; END $$`,
	)
	for table, when := range map[string]string{
		"idmint_launch":       "UPDATE OF ended_at",
		"idmint_launch_event": "INSERT", "idmint_counter": "INSERT OR UPDATE",
	} {
		exec(t, db, "CREATE TRIGGER see AFTER "+when+" ON "+table+
			" FOR EACH STATEMENT EXECUTE FUNCTION see()")
	}
	rest := "&default_transaction_isolation=serializable&TimeZone=Asia/Kathmandu&DateStyle=SQL,DMY&IntervalStyle=iso_8601"
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
		stores := []*postgres.Store{open(t, with(t, d, test.settings+rest)), nil}
		if stores[1], err = postgres.New(ctx, pool); err != nil {
			t.Fatal(err)
		}
		for j, store := range stores {
			key := fmt.Sprint(i, " ", j)
			tour(t, store, key, 2*i+j+1)
			var seen string
			if err := db.QueryRow(
				"SELECT string_agg(DISTINCT level || ' ' || commit, ', ') FROM saw").Scan(&seen); err != nil || seen != "read committed off, read committed "+test.commit {
				t.Errorf("%s: saw %s, %v", test.settings, seen, err)
			}
			exec(t, db, "DELETE FROM saw")
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
	hasty := with(t, server.DSN, "synchronous_commit=off")
	db := openDB(t, hasty)
	if _, _, err := migrations.Up(ctx, db, migrations.Postgres); err != nil {
		t.Fatal(err)
	}
	exec(t, db, "ALTER SYSTEM SET wal_writer_delay = '10s'",
		"ALTER SYSTEM SET wal_writer_flush_after = '1GB'",
		"ALTER SYSTEM SET autovacuum = off", "SELECT pg_reload_conf()", "SELECT pg_sleep(1)",
		"CREATE TABLE other (n int)")
	onDisk := func() (done bool) {
		if err := db.QueryRow(
			"SELECT pg_current_wal_flush_lsn() >= pg_current_wal_insert_lsn()").Scan(&done); err != nil {
			t.Fatal(err)
		}
		return done
	}
	s := open(t, hasty)
	start := launchlog.Start{
		Namespace: "default", Request: storetest.Request("a"),
		RequestHash: "x",
	}
	take := launchlog.Take{Ref: launchlog.Ref{Namespace: "default", Launch: 1}, Token: "t"}
	behind := 0
	for round := range 20 {
		for i, step := range []func() error{
			func() error { start.Key = fmt.Sprint(round); _, err := s.StartLaunch(ctx, start); return err },
			func() error { start.Key = "0"; _, err := s.StartLaunch(ctx, start); return err },
			func() error { take.Token = fmt.Sprint(round); _, err := s.ClaimGenerator(ctx, take); return err },
			func() error { take.Token = "0"; _, err := s.ClaimGenerator(ctx, take); return err },
		} {
			for try := 0; ; try++ { // the server writes its own now and then
				exec(t, db, "INSERT INTO other VALUES (1)")
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
	d := newDatabase(t)
	db, s := openDB(t, d), open(t, d)
	if _, err := newLog(t, s, 0).Start(ctx, storetest.Request("a")); err != nil {
		t.Fatal(err)
	}
	role := "poor_" + d.Database()
	exec(t, db, "CREATE ROLE "+role, "GRANT SELECT ON idmint_schema, idmint_launch TO "+role,
		"GRANT INSERT, SELECT (token) ON idmint_generator TO "+role,
		"GRANT UPDATE ON idmint_launch TO "+role)
	defer exec(t, db, "DROP OWNED BY "+role, "DROP ROLE "+role)
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
			exec(t, db, right)
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

// tour takes every step once, straight from the store: none is to be tried again. The launch has
// the number id.
func tour(t *testing.T, s *postgres.Store, key string, id int) {
	t.Helper()
	start := launchlog.Start{
		Namespace: "default", Request: storetest.Request(key),
		RequestHash: "x", Host: "h",
	}
	start.Data, start.Reason = []byte(`{"a":"é"}`), "é"
	launch, err := s.StartLaunch(ctx, start)
	if err != nil || launch.ID != id || time.Since(launch.StartedAt).Abs() > time.Minute ||
		launch.StartedAt.Location() != time.UTC {
		t.Fatalf("start: %+v, %v; want launch %d", launch, err, id)
	}
	ref := launchlog.Ref{Namespace: "default", Launch: id}
	var group sync.WaitGroup
	for i := range 10 {
		group.Go(func() {
			if _, err := s.ClaimGenerator(ctx,
				launchlog.Take{Ref: ref, Token: key + fmt.Sprint(i), Host: "h", PID: i}); err != nil {
				t.Errorf("claim: %v", err)
			}
			if _, err := s.ReserveNumbers(ctx,
				launchlog.CounterRef{Namespace: "default", Name: key}, 0, 5); err != nil {
				t.Errorf("reserve: %v", err)
			}
		})
	}
	group.Wait()
	ended, err := s.EndLaunch(ctx, ref, launchlog.Ending{Outcome: launchlog.Failed, Actor: "a"})
	if err != nil || ended.NextGenerator != 10 || time.Since(ended.EndedAt).Abs() > time.Minute {
		t.Errorf("end: %+v, %v", ended, err)
	}
	if shown, err := s.Launch(ctx, ref); err != nil || shown.EndedAt != ended.EndedAt ||
		string(shown.Data) != `{"a":"é"}` {
		t.Errorf("shown: %+v, %v", shown, err)
	}
	if list, err := s.Launches(ctx, "default",
		launchlog.Filter{Service: "shop", Before: id + 1, Limit: 1}); err != nil ||
		len(list) != 1 || list[0].ID != id {
		t.Errorf("list: %+v, %v", list, err)
	}
	if claims, err := s.Claims(ctx, ref, 9, 5); err != nil || len(claims) != 1 ||
		claims[0].Generator != 9 {
		t.Errorf("claims: %+v, %v", claims, err)
	}
	if events, err := s.Events(ctx, ref); err != nil || len(events) != 2 {
		t.Errorf("events: %+v, %v", events, err)
	}
	if now, err := s.AdvanceCounter(ctx, launchlog.CounterRef{Namespace: "default", Name: key}, 60,
		"a"); err != nil || now != 60 {
		t.Errorf("advance the counter: %d, %v", now, err)
	}
	if now, err := s.AdvanceLaunches(ctx, "other", id,
		launchlog.Ending{Outcome: launchlog.Failed, Actor: "a"}); err != nil || now != id {
		t.Errorf("advance: %d, %v", now, err)
	}
	if events, err := s.Events(ctx, launchlog.Ref{Namespace: "other"}); err != nil ||
		len(events) != id {
		t.Errorf("events of the namespace: %+v, %v", events, err)
	}
}

// An operator ends connections while they are at work.
func TestTerminated(t *testing.T) {
	d := newDatabase(t)
	db, ended := openDB(t, d), 0
	storesuite.Disturb(t, open(t, d), 30, func(*launchlog.Log, int) error {
		var n int
		err := db.QueryRow(`SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid() AND random() < 0.3`).Scan(&n)
		ended += n
		return err
	})
	t.Logf("%d backends terminated", ended)
	if ended < 20 {
		t.Errorf("%d backends terminated: the test shows too little", ended)
	}
}

// A call whose context ends while another transaction has the row ends soon, and does not say that
// nothing happened.
func TestEndInMidCall(t *testing.T) {
	d := newDatabase(t)
	s := open(t, d)
	launch, err := newLog(t, s, 0).Start(ctx, storetest.Request("a"))
	if err != nil {
		t.Fatal(err)
	}
	tx, err := openDB(t, d).Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec("SELECT 1 FROM idmint_launch, idmint_namespace FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	ref := launchlog.Ref{Namespace: "default", Launch: launch.ID}
	for name, call := range map[string]func(context.Context) error{
		"start": func(ctx context.Context) error {
			_, err := s.StartLaunch(ctx, launchlog.Start{Namespace: "default", Request: storetest.Request("b"), RequestHash: "x"})
			return err
		},
		"claim": func(ctx context.Context) error {
			_, err := s.ClaimGenerator(ctx, launchlog.Take{Ref: ref, Token: "t", Host: "h"})
			return err
		},
		"end": func(ctx context.Context) error {
			_, err := s.EndLaunch(ctx, ref, launchlog.Ending{Outcome: launchlog.Failed})
			return err
		},
	} {
		if _, err := s.Launch(ctx, ref); err != nil { // there is a connection, and no time goes into making one
			t.Fatal(err)
		}
		began := time.Now()
		ending, cancel := context.WithTimeout(ctx, 2*time.Second)
		err := call(ending)
		cancel()
		var attempt *launchlog.AttemptError
		if d := time.Since(began); !errors.As(err, &attempt) || !attempt.Ambiguous ||
			!errors.Is(err, context.DeadlineExceeded) || d > 20*time.Second {
			t.Errorf("%s: %v after %v, want a deadline that leaves it in doubt", name, err, d)
		}
		dead, cancel := context.WithCancel(ctx)
		cancel()
		if err := call(dead); err != context.Canceled {
			t.Errorf("%s, before anything was sent: %v", name, err)
		}
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if c, err := newLog(t, s, 0).Claim(ctx, launch.ID); err != nil &&
		!errors.Is(err, launchlog.ErrEnded) {
		t.Errorf("afterwards: %+v, %v", c, err)
	}
}

// A standby can be read; what is to be written says why it is not.
func TestReadOnly(t *testing.T) {
	d := newDatabase(t)
	if _, err := newLog(t, open(t, d), 0).Start(ctx, storetest.Request("a")); err != nil {
		t.Fatal(err)
	}
	s := open(t, with(t, d, "default_transaction_read_only=on"))
	ref := launchlog.Ref{Namespace: "default", Launch: 1}
	if shown, err := s.Launch(ctx, ref); err != nil || shown.Key != "a" {
		t.Errorf("show: %+v, %v", shown, err)
	}
	for name, run := range map[string]func() error{
		"start": func() error {
			_, err := s.StartLaunch(ctx, launchlog.Start{Namespace: "default", Request: storetest.Request("b")})
			return err
		},
		"again": func() error {
			_, err := s.StartLaunch(ctx, launchlog.Start{Namespace: "default", Request: storetest.Request("a")})
			return err
		},
		"claim": func() error {
			_, err := s.ClaimGenerator(ctx, launchlog.Take{Ref: ref, Token: "t"})
			return err
		},
		"end": func() error {
			_, err := s.EndLaunch(ctx, ref, launchlog.Ending{Outcome: launchlog.Failed, Actor: "a"})
			return err
		},
		"counter": func() error {
			_, err := s.ReserveNumbers(ctx, launchlog.CounterRef{Namespace: "default", Name: "c"},
				0, 1)
			return err
		},
	} {
		var attempt *launchlog.AttemptError
		if err := run(); !errors.As(err, &attempt) || attempt.Ambiguous ||
			!strings.Contains(err.Error(), "the server only reads") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The standby is away, and an operator cancels the commit's wait for it: the launch is in doubt
// until the standby is no more waited for.
func TestSynchronousStandby(t *testing.T) {
	server := dbtest.Run(t, databases.Postgres)
	db := openDB(t, server.DSN)
	if _, _, err := migrations.Up(ctx, db, migrations.Postgres); err != nil {
		t.Fatal(err)
	}
	s := open(t, server.DSN)
	exec(t, db, "SET synchronous_commit = local",
		"ALTER SYSTEM SET synchronous_standby_names = 'away'", "SELECT pg_reload_conf()")
	waiting := make(chan error, 1)
	id := 0
	go func() {
		l := newLog(t, s, 4*time.Second)
		for { // the server may take a moment to go by its configuration
			id++
			if _, err := l.Start(ctx, storetest.Request(fmt.Sprint(id))); err != nil ||
				id == 10_000 {
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
			if err := db.QueryRow(
				"SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'").Scan(&n); err != nil {
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
	exec(t, db, "ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()")
	if launch, err := newLog(t, s, 0).Start(ctx, storetest.Request(fmt.Sprint(id))); err != nil ||
		launch.ID != id {
		t.Errorf("without the standby: %+v, %v", launch, err)
	}
	t.Logf("%d waits cancelled, %d attempts: %v", canceled, u.Attempts, err)
}

func TestOpenErrors(t *testing.T) {
	older, newer := newDatabase(t), newDatabase(t)
	exec(t, openDB(t, newer), "INSERT INTO idmint_schema (version) VALUES (1000)")
	if err := migrations.Down(ctx, openDB(t, older), migrations.Postgres, 1); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name    string
		d       string
		message string
	}{
		{
			"no tables", dbtest.New(t, databases.Postgres).Source(),
			"create it with `idmint migrate`",
		},
		{"older", older.Source(), "upgrade it with `idmint migrate`"},
		{"newer", newer.Source(), "newer"},
		{
			"another schema", with(t, newer, "search_path=pg_temp").Source(),
			"create it with `idmint migrate`",
		},
		{"no database", newer.WithDatabase("none").Source(), `database "none" does not exist`},
		{"not a DSN", "postgres://me:secret@[bad", "cannot parse"},
		{"nobody there", newer.WithHost("127.0.0.1:1").Source(), "refused"},
	} {
		opening, cancel := context.WithTimeout(ctx, time.Minute)
		s, err := postgres.Open(opening, test.d)
		cancel()
		if err == nil || !strings.Contains(err.Error(), test.message) ||
			strings.Contains(err.Error(), "secret") || s != nil {
			t.Errorf("%s: got %v, want a message with %q", test.name, err, test.message)
		}
		storesuite.BeginsWith(t, err, "launchlog/postgres: ")
	}
	var schema *launchlog.SchemaError
	if _, err := postgres.Open(ctx, older.Source()); !errors.As(err, &schema) || schema.Have != 1 ||
		schema.Want != 2 {
		t.Errorf("older: got %v, want a SchemaError", err)
	}
}

// A step that fails after its first write changes nothing: the number is not burnt, the event is
// not there.
func TestNothingHalfDone(t *testing.T) {
	d := newDatabase(t)
	db, s := openDB(t, d), open(t, d)
	l := newLog(t, s, 0)
	c, err := l.Counter("c")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Start(ctx, storetest.Request("good")); err != nil {
		t.Fatal(err)
	}
	exec(t, db, `CREATE FUNCTION trip() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'tripped'; END $$`)
	start := func() error { _, err := l.Start(ctx, storetest.Request("bad")); return err }
	advance := func() error { _, err := c.Advance(ctx, 9, "operator"); return err }
	for _, test := range []struct {
		table string
		run   func() error
	}{
		{"idmint_launch", start},
		{"idmint_launch_event", start},
		{"idmint_launch_event", func() error {
			_, err := l.End(ctx, 1, launchlog.Ending{Outcome: launchlog.Failed})
			return err
		}},
		{"idmint_launch_event", func() error {
			_, err := l.Advance(ctx, 9, "operator")
			return err
		}},
		{"idmint_generator", func() error { _, err := l.Claim(ctx, 1); return err }},
		{"idmint_counter", func() error { _, err := c.Reserve(ctx, 0, 1); return err }},
		{"idmint_counter", advance},
		{"idmint_launch_event", advance},
	} {
		before := dump(t, db)
		exec(t, db, "CREATE TRIGGER trip BEFORE INSERT ON "+test.table+
			" FOR EACH ROW EXECUTE FUNCTION trip()")
		if err := test.run(); err == nil || !strings.Contains(err.Error(), "tripped") {
			t.Errorf("%s: got %v", test.table, err)
		}
		if after := dump(t, db); after != before {
			t.Errorf("%s: before\n%s\nafter\n%s", test.table, before, after)
		}
		exec(t, db, "DROP TRIGGER trip ON "+test.table)
	}
	if claim, err := l.Claim(ctx, 1); err != nil || claim.Generator != 0 {
		t.Errorf("after a claim that failed: %+v, %v", claim, err)
	}
}

// dump is what the log's tables hold.
func dump(t *testing.T, db *sql.DB) (s string) {
	t.Helper()
	err := db.QueryRow(`SELECT concat((SELECT json_agg(n) FROM idmint_namespace n), (SELECT json_agg(l) FROM idmint_launch l),
		(SELECT json_agg(e.kind) FROM idmint_launch_event e), (SELECT count(*) FROM idmint_generator), (SELECT json_agg(c) FROM idmint_counter c))`).Scan(&s)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What was acknowledged is not deleted or changed, even by somebody with the SQL shell.
func TestRowsStay(t *testing.T) {
	d := newDatabase(t)
	db, l := openDB(t, d), newLog(t, open(t, d), 0)
	storesuite.Fill(t, l)
	before := dump(t, db)
	for _, text := range append(storesuite.Refused(),
		"INSERT INTO idmint_generator (namespace, launch_id, generator_id, token, host, pid) VALUES ('default', 9, 0, 'x', 'h', 1)",
		"INSERT INTO idmint_counter (namespace, name, value) VALUES ('nowhere', 'd', 1)",
		"TRUNCATE idmint_namespace CASCADE", "TRUNCATE idmint_launch CASCADE",
		"TRUNCATE idmint_generator", "TRUNCATE idmint_launch_event",
		"TRUNCATE idmint_counter",
		"INSERT INTO idmint_counter (namespace, name, value) VALUES ('default', 'c', 0) ON CONFLICT (namespace, name) DO UPDATE SET value = 0",
		"INSERT INTO idmint_launch_event (event_id, namespace, kind, actor) VALUES (1, 'default', 'x', 'y')",
		"UPDATE idmint_launch SET data = '{'",
	) {
		_, err := db.Exec(text)
		var refused *pgconn.PgError
		if !errors.As(err, &refused) || !strings.HasPrefix(refused.Code, "2") &&
			refused.Code != "428C9" {
			t.Errorf("%s: got %v, want it refused", text, err)
		}
		if after := dump(t, db); after != before {
			t.Fatalf("%s: before\n%s\nafter\n%s", text, before, after)
		}
	}
}
