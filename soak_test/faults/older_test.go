package faults_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mattn/go-sqlite3"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/sqlite"
	"github.com/idmint/idmint/launchlog/storetest"
	"github.com/idmint/idmint/migrations"
)

// An older is a database that an older copy of itself is put in the place of, under two apps that
// run on: a fast one and a slow one.
type older struct {
	*testing.T
	open            func(context.Context) (store, error)
	backup, restore func()
	gate            sync.RWMutex // steps hold it to be read, so none is under way while it is restored
}

// gated is the store of an app. Its steps wait while the database is restored.
type gated struct {
	launchlog.Store
	gate *sync.RWMutex
}

func (g gated) ReserveNumbers(
	ctx context.Context, ref launchlog.CounterRef, floor, n int64,
) (int64, error) {
	g.gate.RLock()
	defer g.gate.RUnlock()
	return g.Store.ReserveNumbers(ctx, ref, floor, n)
}

func (g gated) RaiseCounter(
	ctx context.Context, ref launchlog.CounterRef, raise launchlog.Raise,
) (launchlog.CounterState, error) {
	g.gate.RLock()
	defer g.gate.RUnlock()
	return g.Store.RaiseCounter(ctx, ref, raise)
}

func (g gated) Order(
	ctx context.Context, look launchlog.Look,
) (value, looks int64, err error) {
	g.gate.RLock()
	defer g.gate.RUnlock()
	return g.Store.Order(ctx, look)
}

// A series is a generator of IDs of one kind.
type series struct {
	kind    string
	next    func(context.Context) (string, error)
	ids     map[string]bool
	count   atomic.Int64
	stopped atomic.Bool // it has said that numbers were lost
}

// An olderApp mints IDs of all kinds, one after another.
type olderApp struct {
	pace   time.Duration
	kinds  []*series
	rounds atomic.Int64
}

// seriesOf are the IDs that a generator mints.
func seriesOf[ID any](kind string, next func(context.Context) (ID, error)) *series {
	m := &series{kind: kind, ids: map[string]bool{}}
	m.next = func(ctx context.Context) (string, error) {
		id, err := next(ctx)
		return fmt.Sprint(id), err
	}
	return m
}

// app starts an app.
func (o *older) app(name string, pace time.Duration) *olderApp {
	o.Helper()
	must := func(err error) {
		o.Helper()
		if err != nil {
			o.Fatal(err)
		}
	}
	s, err := o.open(o.Context())
	must(err)
	o.Cleanup(func() { s.Close() })
	l, err := launchlog.New(gated{s, &o.gate},
		&launchlog.Options{Budget: time.Hour, Host: name})
	must(err)
	launch, err := l.Start(o.Context(), storetest.Request("one"))
	must(err)
	numbers, err := l.Join(o.Context(),
		launchlog.App{Service: "shop", Environment: "test", Launch: launch.ID})
	must(err)
	decimal, err := generator.NewDecimal(numbers)
	must(err)
	counter, err := l.Counter("orders")
	must(err)
	// The next block is asked for with the last ID of one, and the call after that waits for it.
	sequence, err := generator.NewSequence(counter, 5)
	must(err)
	lent, err := claims.Partitions(l, &claims.Options{Length: 2 * time.Second, Holder: name})
	must(err)
	sno, err := generator.NewSno(lent, nil)
	must(err)
	return &olderApp{pace: pace, kinds: []*series{
		seriesOf("sequence", sequence.Next), seriesOf("decimal", decimal.Next),
		seriesOf("sno", sno.Next),
	}}
}

// run mints until ctx ends. What has stopped once mints nothing more.
func (a *olderApp) run(ctx context.Context, t *testing.T) {
	for ctx.Err() == nil {
		for _, m := range a.kinds {
			stopped := m.stopped.Load()
			id, err := m.next(ctx)
			switch {
			case err == nil && (stopped || m.ids[id]):
				t.Errorf("%s ID %s: minted twice, or by an app that has seen the older copy", m.kind, id)
			case err == nil:
				m.ids[id] = true
				m.count.Add(1)
			case errors.Is(err, generator.ErrRepeated) && errors.Is(err, launchlog.ErrBehind):
				m.stopped.Store(true)
			case ctx.Err() == nil:
				t.Errorf("%s: %v", m.kind, err)
			}
		}
		a.rounds.Add(1)
		time.Sleep(a.pace)
	}
}

// look is a look at the register of the apps' decimal IDs.
func look(reached int64) launchlog.Look {
	return launchlog.Look{
		Ref: launchlog.Ref{Namespace: launchlog.DefaultNamespace, Launch: 1}, Service: "shop",
		Reached: reached,
	}
}

// minted waits until each app has minted more of each kind, and one has reported how far its
// decimal IDs have come. The slow one moves up to that, and may never report.
func (o *older) minted(s store, apps []*olderApp) {
	const more = 60
	register := func() int64 {
		for {
			is, _, err := s.Order(o.Context(), look(0))
			if err == nil {
				return is
			}
			if again := (*launchlog.AttemptError)(nil); !errors.As(err, &again) {
				o.Fatal(err)
			}
		}
	}
	before := register()
	for _, a := range apps {
		for _, m := range a.kinds {
			for least := m.count.Load() + more; m.count.Load() < least && !o.Failed(); {
				time.Sleep(10 * time.Millisecond)
			}
		}
	}
	for register() == before && !o.Failed() {
		time.Sleep(10 * time.Millisecond)
	}
}

// test has the apps run on an older copy. Each sees it when it asks next, and mints nothing after
// that, not even when the store has come beyond all that was ever given.
func (o *older) test() {
	apps := []*olderApp{o.app("fast", time.Millisecond), o.app("slow", 7*time.Millisecond)}
	ctx, end := context.WithCancel(o.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer end()
	for _, a := range apps {
		running.Go(func() { a.run(ctx, o.T) })
	}
	exclusive := func(f func()) {
		o.gate.Lock()
		defer o.gate.Unlock()
		f()
	}
	open := func() store {
		s, err := o.open(o.Context())
		if err != nil {
			o.Fatal(err)
		}
		o.Cleanup(func() { s.Close() })
		return s
	}
	before := open()
	o.minted(before, apps)
	exclusive(o.backup)
	o.minted(before, apps)
	exclusive(o.restore)
	for _, a := range apps {
		for _, m := range a.kinds {
			for !m.stopped.Load() && !o.Failed() {
				time.Sleep(10 * time.Millisecond)
			}
		}
	}
	after := open()
	orders := launchlog.CounterRef{Namespace: launchlog.DefaultNamespace, Name: "orders"}
	if _, err := after.ReserveNumbers(o.Context(), orders, 0, 1e6); err != nil {
		o.Fatal(err)
	}
	if _, _, err := after.Order(o.Context(), look(1e6)); err != nil {
		o.Fatal(err)
	}
	for _, a := range apps { // each kind is asked at least twice again
		for least := a.rounds.Load() + 2; a.rounds.Load() < least && !o.Failed(); {
			time.Sleep(a.pace)
		}
	}
	end()
	running.Wait()
	for i, m := range apps[0].kinds {
		repeats := 0
		for id := range m.ids {
			if apps[1].kinds[i].ids[id] {
				repeats++
			}
		}
		o.Logf("%s: %d and %d IDs; %d are the same, of before an app could see it", m.kind,
			len(m.ids), len(apps[1].kinds[i].ids), repeats)
	}
}

// TestOlderSQLite puts the older copy into the file that both apps have open, as SQLite's .restore
// does.
func TestOlderSQLite(t *testing.T) {
	path, copied := filepath.Join(t.TempDir(), "log.db"), filepath.Join(t.TempDir(), "copy.db")
	db, err := sql.Open("sqlite3", sqlite.DSN(path, sqlite.Create))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, _, err := migrations.Up(t.Context(), db, migrations.SQLite); err != nil {
		t.Fatal(err)
	}
	(&older{
		T:    t,
		open: func(ctx context.Context) (store, error) { return sqlite.Open(ctx, path) },
		backup: func() {
			if err := sqlite.Backup(t.Context(), path, copied); err != nil {
				t.Fatal(err)
			}
		},
		restore: func() { restoreSQLite(t, db, copied) },
	}).test()
}

// restoreSQLite copies the pages of a file over those of a database.
func restoreSQLite(t *testing.T, db *sql.DB, from string) {
	t.Helper()
	old, err := sql.Open("sqlite3", sqlite.DSN(from, sqlite.Existing))
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	raw := func(db *sql.DB, f func(*sqlite3.SQLiteConn) error) error {
		conn, err := db.Conn(t.Context())
		if err != nil {
			return err
		}
		defer conn.Close()
		return conn.Raw(func(c any) error { return f(c.(*sqlite3.SQLiteConn)) })
	}
	err = raw(db, func(to *sqlite3.SQLiteConn) error {
		return raw(old, func(from *sqlite3.SQLiteConn) error {
			b, err := to.Backup("main", from, "main")
			if err != nil {
				return err
			}
			done := false
			for !done && err == nil {
				done, err = b.Step(-1)
			}
			return errors.Join(err, b.Finish())
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// olderServer puts the older copy into the place of a server's database.
func olderServer(a *arena) {
	a.openDB()
	(&older{
		T:       a.T,
		open:    func(ctx context.Context) (store, error) { return a.open(ctx, a.dsn) },
		backup:  func() { a.shell(a.backup) },
		restore: func() { a.recreate(); a.shell(a.restore) },
	}).test()
}
