// Package stores_test has the tests of stores on real servers: what every launch log promises, its
// migrations, and doctor's checks. Each test has a database of its own on the servers that all
// tests share. What needs servers of its own, or clusters, is in soak_test.
package stores_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/storetest"
	"github.com/idmint/idmint/migrations"
)

var ctx = context.Background()

func TestMain(m *testing.M) { dbtest.Main(m) }

// store is a launchlog.Store that can be closed.
type store interface {
	launchlog.Store
	Close() error
}

// opener opens the launch log of a SQL database, by what the driver calls it.
type opener func(ctx context.Context, source string) (store, error)

// server is a kind of SQL server and the store for it.
type server struct {
	kind    databases.Kind
	dialect migrations.Dialect

	// onlyReads is the setting of a session that does not write.
	onlyReads string
	// findsByReading says that such a session can start a launch under a key that has one.
	findsByReading bool
	// inDoubt says that a call which is cut off in mid-call may have been carried out.
	inDoubt bool
	// locks takes what each step needs, and calls selects the sessions in the database that wait
	// for it.
	locks, calls string
	// trip returns statements which make, and drop, a trigger "trip" that refuses new rows of the
	// table with the message "tripped".
	trip func(table string) (create, drop string)
	// refused are statements that change what was acknowledged, in the server's own SQL. Refuses
	// tells the error by which the tables refuse one.
	refused []string
	refuses func(error) bool
	// unopened lists more sources that are not opened: what it is, the source, and words of the
	// message. D names a database with a launch log.
	unopened func(t *testing.T, d dsn.DSN) [][3]string

	objects string // a query of what the database holds
	whole   string // the setting by which the server takes a file of SQL at once
}

// eachServer runs a test on each kind of server, at the same time as others.
func eachServer(t *testing.T, run func(*testing.T, server)) {
	t.Helper()
	each(t, run, postgresServer, mysqlServer)
}

// eachSQL runs a test on SQLite as well.
func eachSQL(t *testing.T, run func(*testing.T, server)) {
	t.Helper()
	each(t, run, sqliteFiles, postgresServer, mysqlServer)
}

func each(t *testing.T, run func(*testing.T, server), servers ...server) {
	t.Parallel()
	for _, s := range servers {
		t.Run(string(s.kind), func(t *testing.T) {
			t.Parallel()
			run(t, s)
		})
	}
}

// database makes a database with an empty launch log.
func (s server) database(t testing.TB) dsn.DSN {
	t.Helper()
	return s.migrated(t, s.fresh(t))
}

// migrated makes the tables of a launch log.
func (s server) migrated(t testing.TB, d dsn.DSN) dsn.DSN {
	t.Helper()
	db := dbtest.Open(t, d)
	defer db.Close()
	if _, _, err := migrations.Up(ctx, db, s.dialect); err != nil {
		t.Fatal(err)
	}
	return d
}

// open opens the launch log of a database until the test ends.
func open(t testing.TB, d dsn.DSN) store {
	t.Helper()
	s, err := openers[d.Kind](ctx, d.Source())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// logOf is the log of a store.
func logOf(t testing.TB, s launchlog.Store) *launchlog.Log {
	t.Helper()
	l, err := launchlog.New(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// with adds settings, "name=value&…", to a database's name.
func with(t testing.TB, d dsn.DSN, settings string) dsn.DSN {
	t.Helper()
	u, err := url.Parse(d.URL())
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

// TestContract runs the tests of every store. Those of keys and values run them in their packages,
// which reach past the store to jump.
func TestContract(t *testing.T) {
	eachServer(t, func(t *testing.T, s server) {
		var tables sync.Map // of stores
		storetest.Run(t, func(t *testing.T) launchlog.Store {
			t.Parallel()
			d := s.database(t)
			log := open(t, d)
			tables.Store(log, dbtest.Open(t, d))
			return log
		}, func(log launchlog.Store, ref launchlog.Ref, next int) error {
			db, _ := tables.Load(log)
			return jump(db.(*sql.DB), ref, next)
		}, s.age(func(log launchlog.Store) *sql.DB { db, _ := tables.Load(log); return db.(*sql.DB) })...)
	})
}

// secret is the password of every name that server.unopened makes up: no message repeats it.
const secret = "secret"

func TestOpenErrors(t *testing.T) {
	eachServer(t, func(t *testing.T, s server) {
		older, newer := s.database(t), s.database(t)
		dbtest.Exec(t, dbtest.Open(t, newer), "INSERT INTO idmint_schema (version) VALUES (1000)")
		if err := migrations.Down(ctx, dbtest.Open(t, older), s.dialect, 1); err != nil {
			t.Fatal(err)
		}
		for _, test := range append(s.unopened(t, newer), [][3]string{
			{"no tables", dbtest.New(t, s.kind).Source(), "create it with `idmint migrate`"},
			{"older", older.Source(), "upgrade it with `idmint migrate`"},
			{"newer", newer.Source(), "newer"},
			{"nobody there", newer.WithHost("127.0.0.1:1").Source(), "refused"},
		}...) {
			t.Run(test[0], func(t *testing.T) {
				t.Parallel()
				log, err := openers[newer.Kind](ctx, test[1])
				if err == nil || !strings.Contains(err.Error(), test[2]) ||
					strings.Contains(err.Error(), secret) || !reflect.ValueOf(log).IsNil() {
					t.Errorf("%v, want a message with %q", err, test[2])
				}
				storetest.BeginsWith(t, err, fmt.Sprintf("launchlog/%s: ", s.dialect))
				var schema *launchlog.SchemaError
				if test[0] == "older" && (!errors.As(err, &schema) || schema.Have != 1 ||
					schema.Want != 7) {
					t.Errorf("%v, want a SchemaError", err)
				}
			})
		}
	})
}
