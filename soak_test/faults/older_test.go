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

// A watcher is the store of one app, and knows without the code under test what the app can see: an
// answer that does not go on from what the app was given before.
type watcher struct {
	launchlog.Store
	of *older

	mu    sync.Mutex
	given map[string]int64 // the last number that the app was given of each counter
	acks  map[string]int   // how often it was given some
	saw   map[string]bool  // counters that were lower
}

func (w *watcher) note(counter string, before, from, last int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.saw[counter] = w.saw[counter] || from < before
	w.given[counter] = max(w.given[counter], last)
	w.acks[counter]++
}

// step waits while the database is restored. It returns what the app was given of a counter before.
func (w *watcher) step(counter string) (before int64, done func()) {
	w.of.gate.RLock()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.given[counter], w.of.gate.RUnlock
}

func (w *watcher) ReserveNumbers(
	ctx context.Context, ref launchlog.CounterRef, floor, n int64,
) (int64, error) {
	before, done := w.step(ref.Name)
	defer done()
	first, err := w.Store.ReserveNumbers(ctx, ref, floor, n)
	if err == nil {
		w.note(ref.Name, before, first-1, first+n-1)
	}
	return first, err
}

func (w *watcher) RaiseCounter(
	ctx context.Context, ref launchlog.CounterRef, raise launchlog.Raise,
) (launchlog.CounterState, error) {
	before, done := w.step(ref.Name)
	defer done()
	row, err := w.Store.RaiseCounter(ctx, ref, raise)
	if err == nil && raise.Done(row) {
		w.note(ref.Name, before, row.Value, row.Value)
	}
	return row, err
}

func (w *watcher) LastNumber(ctx context.Context, ref launchlog.CounterRef) (int64, error) {
	_, done := w.step(ref.Name)
	defer done()
	return w.Store.LastNumber(ctx, ref)
}

// A series is a generator of IDs of one kind.
type series struct {
	kind string
	next func(context.Context) (string, error)
	told func() bool // whether the generator has heard that numbers were lost

	ids     map[string]bool
	count   atomic.Int64
	stopped atomic.Bool
	late    int // IDs that were minted after told
}

// An olderApp mints IDs of all kinds, one after another.
type olderApp struct {
	watcher *watcher
	pace    time.Duration
	kinds   []*series
	rounds  atomic.Int64
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
	w := &watcher{
		Store: s, of: o, given: map[string]int64{}, acks: map[string]int{}, saw: map[string]bool{},
	}
	l, err := launchlog.New(w, &launchlog.Options{Budget: time.Hour, Host: name})
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
	var missed atomic.Bool
	sno, err := generator.NewSno(lent, &generator.Options{Notify: func(e generator.Event) {
		if e.Kind == generator.WindowMissed && errors.Is(e.Err, launchlog.ErrBehind) {
			missed.Store(true)
		}
	}})
	must(err)
	a := &olderApp{watcher: w, pace: pace, kinds: []*series{
		{
			kind: "sequence",
			next: func(ctx context.Context) (string, error) {
				id, err := sequence.Next(ctx)
				return fmt.Sprint(id), err
			},
			told: func() bool {
				w.mu.Lock()
				defer w.mu.Unlock()
				return w.saw["orders"]
			},
		},
		{
			kind: "decimal",
			next: func(ctx context.Context) (string, error) {
				id, err := decimal.Next(ctx)
				return fmt.Sprint(id), err
			},
			told: func() bool { return errors.Is(decimal.Stats().Hints.Err, launchlog.ErrBehind) },
		},
		{
			kind: "sno",
			next: func(ctx context.Context) (string, error) {
				id, err := sno.Next(ctx)
				return id.String(), err
			},
			told: missed.Load,
		},
	}}
	for _, m := range a.kinds {
		m.ids = map[string]bool{}
	}
	return a
}

// run mints until ctx ends.
func (a *olderApp) run(ctx context.Context, t *testing.T) {
	for ctx.Err() == nil {
		for _, m := range a.kinds {
			told, stopped := m.told(), m.stopped.Load()
			id, err := m.next(ctx)
			switch {
			case err == nil && (told || stopped):
				m.late++
			case err == nil:
				if m.ids[id] {
					t.Errorf("%s ID %s: an app minted it twice", m.kind, id)
				}
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

// minted waits until each app has minted more of each kind, and the first one has reported how far
// its decimal IDs have come. The slow one moves up to that, and may never report.
func (o *older) minted(apps []*olderApp) {
	const more = 60
	type state struct {
		ids   []int64
		hints int
	}
	look := func(a *olderApp) (s state) {
		for _, m := range a.kinds {
			s.ids = append(s.ids, m.count.Load())
		}
		a.watcher.mu.Lock()
		defer a.watcher.mu.Unlock()
		s.hints = a.watcher.acks[launchlog.HintCounter(0)]
		return s
	}
	for i, a := range apps {
		before := look(a)
		for {
			now, enough := look(a), true
			for k := range now.ids {
				enough = enough && now.ids[k] >= before.ids[k]+more
			}
			if enough && (i > 0 || now.hints > before.hints) || o.Failed() {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// test has the apps run on an older copy. Each sees it at its next step, and mints nothing after
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
	o.minted(apps)
	exclusive(o.backup)
	o.minted(apps)
	exclusive(o.restore)
	for _, a := range apps {
		for _, m := range a.kinds {
			for !m.stopped.Load() && !o.Failed() {
				time.Sleep(10 * time.Millisecond)
			}
		}
	}
	s, err := o.open(o.Context())
	if err != nil {
		o.Fatal(err)
	}
	defer s.Close()
	for _, name := range []string{"orders", launchlog.HintCounter(0)} {
		ref := launchlog.CounterRef{Namespace: launchlog.DefaultNamespace, Name: name}
		if _, err := s.ReserveNumbers(o.Context(), ref, 0, 1e6); err != nil {
			o.Fatal(err)
		}
	}
	for _, a := range apps { // each kind is asked at least twice again
		a.asked(o.T)
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
		late := m.late + apps[1].kinds[i].late
		o.Logf("%s: %d and %d IDs; %d are the same, of before an app could see it; %d after that",
			m.kind, len(m.ids), len(apps[1].kinds[i].ids), repeats, late)
		if late != 0 {
			o.Errorf("%d %s IDs were minted by an app that had seen the older copy", late, m.kind)
		}
	}
}

// asked waits until the app has gone around twice more.
func (a *olderApp) asked(t *testing.T) {
	before := a.rounds.Load()
	for a.rounds.Load() < before+2 && !t.Failed() {
		time.Sleep(a.pace)
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
