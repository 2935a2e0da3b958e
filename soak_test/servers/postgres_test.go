package servers_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/storetest"
)

// What is acknowledged is on disk, whether the step made it or found it: the log is flushed as far
// as it is written.
func TestPostgresOnDisk(t *testing.T) {
	server := dbtest.Run(t, databases.Postgres)
	hasty := changed(t, migrate(t, server.DSN), func(_ *url.URL, query url.Values) {
		query.Set("synchronous_commit", "off")
	})
	db := dbtest.Open(t, hasty)
	dbtest.Exec(t, db, "ALTER SYSTEM SET wal_writer_delay = '10s'",
		"ALTER SYSTEM SET wal_writer_flush_after = '1GB'",
		"ALTER SYSTEM SET autovacuum = off", "SELECT pg_reload_conf()",
		"CREATE TABLE other (n int)")
	written := func() (at string) {
		if err := db.QueryRow("SELECT pg_current_wal_insert_lsn()").Scan(&at); err != nil {
			t.Fatal(err)
		}
		return at
	}
	onDisk := func(at string) (done bool) {
		err := db.QueryRow("SELECT pg_current_wal_flush_lsn() >= $1::text::pg_lsn", at).Scan(&done)
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	s := openPostgres(t, hasty)
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
	// Until the log was behind often enough: the server writes its own now and then.
	behind := 0
	for round := 0; behind < 80; round++ {
		for i, step := range []func() error{
			func() error { return begin(fmt.Sprint(round)) },
			func() error { return begin("0") },
			func() error { return claim(fmt.Sprint(round)) },
			func() error { return claim("0") },
		} {
			dbtest.Exec(t, db, "INSERT INTO other VALUES (1)") // which does not wait for the disk
			before := written()
			if !onDisk(before) {
				behind++
			}
			if err := step(); err != nil {
				t.Fatalf("step %d: %v", i, err)
			}
			if !onDisk(before) {
				t.Fatalf("step %d: it is not on disk", i)
			}
		}
	}
}

// The standby is away, and an operator cancels the commit's wait for it. The launch is in doubt
// until the standby is no more waited for.
func TestPostgresSynchronousStandby(t *testing.T) {
	server := dbtest.Run(t, databases.Postgres)
	db := dbtest.Open(t, migrate(t, server.DSN))
	s := openPostgres(t, server.DSN)
	dbtest.Exec(t, db, "SET synchronous_commit = local",
		"ALTER SYSTEM SET synchronous_standby_names = 'away'", "SELECT pg_reload_conf()")
	waiting := make(chan error, 1)
	id := 0
	starting, giveUp := context.WithCancel(ctx)
	defer giveUp()
	l := logOf(t, s)
	go func() {
		for { // the server may take a moment to go by its configuration
			id++
			if _, err := l.Start(starting, storetest.Request(fmt.Sprint(id))); err != nil {
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
			if canceled += n; canceled > 2 {
				giveUp()
			}
		}
	}
	var u *launchlog.UnresolvedError
	if !errors.As(err, &u) || !u.Uncertain {
		t.Fatalf("with %d waits cancelled: %v, want it uncertain", canceled, err)
	}
	if found, err := s.Launch(ctx, launchlog.Ref{Namespace: "default", Launch: id}); err != nil ||
		found.Key != fmt.Sprint(id) {
		t.Errorf("the launch that is in doubt: %+v, %v", found, err)
	}
	dbtest.Exec(t, db, "ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()")
	t.Logf("%d waits cancelled, %d attempts: %v", canceled, u.Attempts, err)
	launch, err := l.Start(ctx, storetest.Request(fmt.Sprint(id)))
	if err != nil || launch.ID != id {
		t.Errorf("without the standby: %+v, %v", launch, err)
	}
}
