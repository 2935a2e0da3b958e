// Package serversuite has the tests that launch logs in database servers share, whichever server
// it is. A [Server] says what differs. Package storetest has the tests of every store.
package serversuite

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/internal/storesuite"
	"github.com/idmint/idmint/internal/subprocess"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/storetest"
	"github.com/idmint/idmint/migrations"
)

var ctx = context.Background()

// A Store is the store of a server's launch log.
type Store interface {
	comparable
	launchlog.Store
	Close() error
}

// A Server is a kind of database server and the store for it.
type Server[S Store] struct {
	Kind    databases.Kind
	Dialect migrations.Dialect
	Open    func(ctx context.Context, source string) (S, error)

	// OnlyReads is the setting of a session that does not write.
	OnlyReads string
	// FindsByReading says that such a session can start a launch under a key that has one.
	FindsByReading bool
	// InDoubt says that a call which is cut off in mid-call may have been carried out.
	InDoubt bool
	// Kill ends some of the other sessions in the database, or their statements. It is called again
	// and again, with another n each time, and says how many have ended.
	Kill func(db *sql.DB, n int) (ended int, err error)
	// Trip returns statements which make, and drop, a trigger "trip" that refuses new rows of the
	// table with the message "tripped".
	Trip func(table string) (create, drop string)
	// Refused are statements that change what was acknowledged, in the server's own SQL. Refuses
	// tells the error by which the tables refuse one.
	Refused []string
	Refuses func(error) bool
	// Unopened lists more sources that Open refuses: what it is, the source, and words of the
	// message. D names a database with a launch log.
	Unopened func(t *testing.T, d dsn.DSN) [][3]string
}

// Main runs the tests of a package, or what its tests run as processes.
func (s Server[S]) Main(m *testing.M) {
	subprocess.Work(storesuite.Workers(func(source string) (launchlog.Store, error) {
		return s.Open(ctx, source)
	}))
	dbtest.Main(m)
}

// Run runs the tests.
func (s Server[S]) Run(t *testing.T) {
	t.Run("Suite", s.Suite)
	t.Run("ManyProcesses", func(t *testing.T) {
		storesuite.ManyProcesses(t, func(t *testing.T) (string, launchlog.Store) {
			d := s.Database(t)
			return d.Source(), s.Store(t, d)
		}, 6, 50)
	})
	// The store is written for the tables that the migrations make, also where they upgrade a log
	// that is in use.
	t.Run("Upgrade", func(t *testing.T) {
		d := s.Database(t)
		db := dbtest.Open(t, d)
		storesuite.Upgrade(t, func() launchlog.Store { return s.Store(t, d) },
			func() error { return migrations.Down(ctx, db, s.Dialect, 1) },
			func() error { _, _, err := migrations.Up(ctx, db, s.Dialect); return err })
	})
	t.Run("Killed", s.killed)
	t.Run("EndInMidCall", s.endInMidCall)
	t.Run("OnlyReads", s.onlyReads)
	t.Run("NothingHalfDone", s.nothingHalfDone)
	t.Run("RowsStay", s.rowsStay)
	t.Run("OpenErrors", s.openErrors)
}

// Suite runs the tests of every store.
func (s Server[S]) Suite(t *testing.T) {
	opened := map[launchlog.Store]*sql.DB{}
	storetest.Run(t, func(t *testing.T) launchlog.Store {
		d := s.Database(t)
		store := s.Store(t, d)
		opened[store] = dbtest.Open(t, d)
		return store
	}, func(store launchlog.Store, ref launchlog.Ref, next int) error {
		return Jump(opened[store], "idmint_launch", ref, next)
	})
}

// Database makes a database with an empty launch log.
func (s Server[S]) Database(t testing.TB) dsn.DSN {
	t.Helper()
	d := dbtest.New(t, s.Kind)
	if _, _, err := migrations.Up(ctx, dbtest.Open(t, d), s.Dialect); err != nil {
		t.Fatal(err)
	}
	return d
}

// Store opens the launch log of a database until the test ends.
func (s Server[S]) Store(t testing.TB, d dsn.DSN) S {
	t.Helper()
	store, err := s.Open(ctx, d.Source())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

// Log is the log of a store, with the budget of its calls, or the default for 0.
func Log(t testing.TB, store launchlog.Store, budget time.Duration) *launchlog.Log {
	t.Helper()
	l, err := launchlog.New(store, &launchlog.Options{Budget: budget})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// With adds settings, "name=value&…", to a database's name.
func With(t testing.TB, d dsn.DSN, settings string) dsn.DSN {
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

// Jump sets the next generator number of a launch, in the table of launches.
func Jump(db *sql.DB, table string, ref launchlog.Ref, next int) error {
	_, err := db.Exec(fmt.Sprintf(
		"UPDATE %s SET next_generator_id = %d WHERE namespace = '%s' AND launch_id = %d",
		table, next, ref.Namespace, ref.Launch))
	return err
}

// An operator ends connections, and statements, while they are at work.
func (s Server[S]) killed(t *testing.T) {
	d := s.Database(t)
	db, ended := dbtest.Open(t, d), 0
	db.SetMaxOpenConns(1) // which is not killed
	storesuite.Disturb(t, s.Store(t, d), 30, func(_ *launchlog.Log, n int) error {
		more, err := s.Kill(db, n)
		ended += more
		return err
	})
	t.Logf("%d connections and statements killed", ended)
	if ended < 20 {
		t.Errorf("%d killed: the test shows too little", ended)
	}
}
