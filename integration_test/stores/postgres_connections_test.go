package stores_test

import (
	"sync"
	"testing"
	"time"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
)

// TestPostgresConnections: a log that is opened by a DSN has two connections at most, however many
// goroutines ask it, unless the DSN allows more.
func TestPostgresConnections(t *testing.T) {
	t.Parallel()
	d := postgresServer.database(t)
	db := dbtest.Open(t, d)
	for settings, most := range map[string]int{
		"application_name=two": 2, "application_name=one&pool_max_conns=1": 1,
		"application_name=three&pool_max_conns=3": 3,
	} {
		store := open(t, with(t, d, settings))
		var callers sync.WaitGroup
		for range 16 {
			callers.Go(func() {
				for range 20 {
					if _, err := logOf(t, store).Counters(ctx, "", 1); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		callers.Wait()
		var sessions int
		err := db.QueryRow(`SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND application_name IN ('one', 'two', 'three')`,
		).Scan(&sessions)
		if err != nil || sessions < 1 || sessions > most {
			t.Errorf("%s: %d connections, %v; want up to %d", settings, sessions, err, most)
		}
		store.Close()
	}
}

// A log that is opened by a DSN closes its connections soon after their last use, so that others have
// them, and opens others when it is asked.
func TestIdleConnections(t *testing.T) {
	eachServer(t, func(t *testing.T, s server) {
		d := s.database(t)
		db := dbtest.Open(t, d)
		db.SetMaxOpenConns(1)
		query := `SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid()`
		if s.kind == databases.MariaDB {
			query = `SELECT count(*) FROM information_schema.processlist
				WHERE db = database() AND id <> connection_id()`
		}
		store := open(t, d)
		for range 2 {
			if _, err := logOf(t, store).Counters(ctx, "", 1); err != nil {
				t.Fatal(err)
			}
			for sessions := 1; sessions > 0; time.Sleep(50 * time.Millisecond) {
				if err := db.QueryRow(query).Scan(&sessions); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
