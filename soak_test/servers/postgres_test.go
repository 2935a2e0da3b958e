package servers_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/storetest"
)

// The standby is away, and an operator cancels the commit's wait for it. The launch is in doubt
// until the standby is no more waited for.
func TestPostgresSynchronousStandby(t *testing.T) {
	server := dbtest.Run(t, databases.Postgres)
	db := dbtest.Open(t, migrate(t, server.DSN))
	s := openPostgres(t, server.DSN)
	dbtest.Exec(t, db, "SET synchronous_commit = local",
		"ALTER SYSTEM SET synchronous_standby_names = 'away'", "SELECT pg_reload_conf()")
	waiting := make(chan error, 1)
	var at atomic.Int64 // the launch that is being started
	starting, giveUp := context.WithCancel(ctx)
	defer giveUp()
	l := logOf(t, s)
	go func() {
		for { // the server may take a moment to go by its configuration
			key := fmt.Sprint(at.Add(1))
			if _, err := l.Start(starting, storetest.Request(key)); err != nil {
				waiting <- err
				return
			}
		}
	}()
	canceled, id := 0, 0 // id: the launch whose wait was cancelled first
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
			if canceled += n; canceled > 0 && id == 0 {
				id = int(at.Load())
			}
			if canceled > 2 {
				giveUp()
			}
		}
	}
	var u *launchlog.UnresolvedError
	if !errors.As(err, &u) || !u.Uncertain {
		t.Fatalf("with %d waits cancelled: %v, want it uncertain", canceled, err)
	}
	if last := int(at.Load()); last != id {
		t.Fatalf("launch %d was acknowledged without the standby, and %d begun", id, last)
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
