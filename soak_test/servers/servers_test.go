package servers_test

import (
	"context"
	"net/url"
	"testing"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/mysql"
	"github.com/idmint/idmint/launchlog/postgres"
	"github.com/idmint/idmint/migrations"
)

var ctx = context.Background()

func TestMain(m *testing.M) { dbtest.Main(m) }

// migrate makes the tables of a launch log.
func migrate(t *testing.T, d dsn.DSN) dsn.DSN {
	t.Helper()
	if _, _, err := migrations.Up(ctx, dbtest.Open(t, d), d.Kind); err != nil {
		t.Fatal(err)
	}
	return d
}

// openPostgres opens the launch log of a database until the test ends.
func openPostgres(t *testing.T, d dsn.DSN) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(ctx, d.Source())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func openMySQL(t *testing.T, d dsn.DSN) *mysql.Store {
	t.Helper()
	s, err := mysql.Open(ctx, d.Source())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func logOf(t *testing.T, store launchlog.Store) *launchlog.Log {
	t.Helper()
	l, err := launchlog.New(store, nil)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// changed is a database's name with some of its parts changed.
func changed(t *testing.T, d dsn.DSN, change func(*url.URL, url.Values)) dsn.DSN {
	t.Helper()
	u, err := url.Parse(d.URL())
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	change(u, query)
	u.RawQuery = query.Encode()
	if d, err = dsn.Parse(u.String()); err != nil {
		t.Fatal(err)
	}
	return d
}
