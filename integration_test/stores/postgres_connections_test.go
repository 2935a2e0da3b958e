package stores_test

import (
	"sync"
	"testing"

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
