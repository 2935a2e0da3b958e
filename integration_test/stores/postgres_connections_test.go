package stores_test

import (
	"net/url"
	"sync"
	"testing"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/postgres"
	"github.com/idmint/idmint/migrations"
)

// TestPostgresConnections: a log that is opened by a DSN has two connections at most, however many
// goroutines ask it, unless the DSN allows more.
func TestPostgresConnections(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, databases.Postgres)
	owner := dbtest.Open(t, d)
	if _, _, err := migrations.Up(t.Context(), owner, migrations.Postgres); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		conns string // of the DSN
		most  int
	}{"default": {"", 2}, "one": {"1", 1}, "three": {"3", 3}} {
		source, err := url.Parse(d.Source())
		if err != nil {
			t.Fatal(err)
		}
		settings := source.Query()
		settings.Set("application_name", name)
		if tt.conns != "" {
			settings.Set("pool_max_conns", tt.conns)
		}
		source.RawQuery = settings.Encode()
		store, err := postgres.Open(t.Context(), source.String())
		if err != nil {
			t.Fatal(err)
		}
		log, err := launchlog.New(store, nil)
		if err != nil {
			t.Fatal(err)
		}
		counter, err := log.Counter("orders")
		if err != nil {
			t.Fatal(err)
		}
		var callers sync.WaitGroup
		for range 16 {
			callers.Go(func() {
				for range 20 {
					if _, err := counter.Reserve(t.Context(), 1, 1); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		callers.Wait()
		var sessions int
		if err := owner.QueryRow("SELECT count(*) FROM pg_stat_activity WHERE application_name = $1",
			name).Scan(&sessions); err != nil {
			t.Fatal(err)
		}
		if sessions < 1 || sessions > tt.most {
			t.Errorf("%s: %d connections, want up to %d", name, sessions, tt.most)
		}
		store.Close()
	}
}
