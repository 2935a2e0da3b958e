// Package exhaustion_test uses launch logs up: all launches of a namespace, all generator numbers
// of a launch, and all numbers of a pool. In memory and in SQLite it takes them one by one. To take
// 99,999 launches of a server's log takes up to hours: there it takes the last ones alone.
package exhaustion_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/cassandra"
	"github.com/idmint/idmint/launchlog/checks"
	"github.com/idmint/idmint/launchlog/etcd"
	"github.com/idmint/idmint/launchlog/memory"
	"github.com/idmint/idmint/launchlog/mysql"
	"github.com/idmint/idmint/launchlog/postgres"
	"github.com/idmint/idmint/launchlog/sqlite"
	"github.com/idmint/idmint/launchlog/storetest"
	"github.com/idmint/idmint/launchlog/zookeeper"
	"github.com/idmint/idmint/migrations"
)

func TestMain(m *testing.M) {
	path := os.Getenv(yearLog)
	if path == "" {
		dbtest.Main(m)
	}
	if err := live(ctx, path, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

var ctx = context.Background()

type closer interface {
	launchlog.Store
	Close() error
}

// stores opens an empty log of each kind.
var stores = []struct {
	name  string
	whole bool // all numbers are taken, one by one
	open  func(*testing.T) launchlog.Store
}{
	{"memory", true, func(*testing.T) launchlog.Store { return memory.New(nil) }},
	{"SQLite", true, func(t *testing.T) launchlog.Store {
		path := filepath.Join(t.TempDir(), "log.db")
		migrate(t, "sqlite3", sqlite.DSN(path, sqlite.Create), migrations.SQLite)
		return closed(t)(sqlite.Open(ctx, path))
	}},
	{"PostgreSQL", false, func(t *testing.T) launchlog.Store {
		d := dbtest.New(t, databases.Postgres)
		migrate(t, d.Driver(), d.Source(), migrations.Postgres)
		return closed(t)(postgres.Open(ctx, d.Source()))
	}},
	{"MariaDB", false, func(t *testing.T) launchlog.Store {
		d := dbtest.New(t, databases.MariaDB)
		migrate(t, d.Driver(), d.Source(), migrations.MySQL)
		return closed(t)(mysql.Open(ctx, d.Source()))
	}},
	{"etcd", false, keyValue(databases.Etcd, func(d dsn.DSN) etcd.Config {
		return etcd.Config{Endpoints: d.Nodes(), Prefix: d.Prefix()}
	}, etcd.Migrate, etcd.Open)},
	{"ZooKeeper", false, keyValue(databases.ZooKeeper, func(d dsn.DSN) zookeeper.Config {
		return zookeeper.Config{Servers: d.Nodes(), Path: d.Prefix()}
	}, zookeeper.Migrate, zookeeper.Open)},
	{"Cassandra", false, keyValue(databases.Cassandra, func(d dsn.DSN) cassandra.Config {
		return cassandra.Config{
			Hosts: d.Nodes(), Keyspace: strings.TrimPrefix(d.Prefix(), "/"),
			Replication: map[string]string{"class": "SimpleStrategy", "replication_factor": "1"},
		}
	}, cassandra.Migrate, cassandra.Open)},
}

func keyValue[C any, S closer](
	kind databases.Kind, config func(dsn.DSN) C,
	migrate func(context.Context, C) (int, int, error), open func(context.Context, C) (S, error),
) func(*testing.T) launchlog.Store {
	return func(t *testing.T) launchlog.Store {
		c := config(dbtest.New(t, kind))
		if _, _, err := migrate(ctx, c); err != nil {
			t.Fatal(err)
		}
		s, err := open(ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
}

func migrate(t *testing.T, driver, source string, dialect migrations.Dialect) {
	t.Helper()
	db := dbtest.OpenSource(t, driver, source)
	if _, _, err := migrations.Up(ctx, db, dialect); err != nil {
		t.Fatal(err)
	}
}

func closed(t *testing.T) func(closer, error) launchlog.Store {
	return func(s closer, err error) launchlog.Store {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
}

// TestExhausted uses up what a log has, on each store. The last generator numbers of a launch are
// taken by a case of storetest, where the store is brought there past the log.
func TestExhausted(t *testing.T) {
	for _, store := range stores {
		parts := map[string]func(*testing.T, *launchlog.Log, bool){
			"Launches": launches, "Pool": pool,
		}
		if store.whole {
			parts["Generators"] = generators
		}
		t.Run(store.name, func(t *testing.T) {
			for name, part := range parts {
				t.Run(name, func(t *testing.T) {
					log, err := launchlog.New(store.open(t), nil)
					if err != nil {
						t.Fatal(err)
					}
					began := time.Now()
					part(t, log, store.whole)
					t.Logf("%s: %s in %v, by %d goroutines", store.name, name,
						time.Since(began).Round(100*time.Millisecond), clients)
				})
			}
		})
	}
}

// clients is how many take numbers at once.
const clients = 16

// taken has clients take n numbers, and checks that first ..= end−1 were given once each. Take is
// told how many were asked for before.
func taken(t *testing.T, n, first, end int, take func(i int) (int, error)) {
	t.Helper()
	seen := make([]atomic.Int32, end)
	var next atomic.Int64
	var group sync.WaitGroup
	for range clients {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && !t.Failed(); i = int(next.Add(1)) - 1 {
				number, err := take(i)
				if err != nil || number < first || number >= end {
					t.Errorf("after %d numbers: %d, %v", i, number, err)
					return
				}
				seen[number].Add(1)
			}
		})
	}
	group.Wait()
	for number := first; number < end && !t.Failed(); number++ {
		if n := seen[number].Load(); n != 1 {
			t.Errorf("number %d was given %d times", number, n)
		}
	}
}

// finding checks that doctor warns.
func finding(t *testing.T, log *launchlog.Log, code, text string) {
	t.Helper()
	results, err := doctor.Log(ctx, log)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Check == code {
			if r.Level != checks.Finding || !strings.Contains(r.Message, text) {
				t.Errorf("doctor: %+v, want a finding with %q", r, text)
			}
			return
		}
	}
	t.Errorf("doctor says nothing of %s", code)
}

// All digits are had by launches. The next launch takes over those of the first one.
func launches(t *testing.T, log *launchlog.Log, whole bool) {
	first := 1
	if !whole {
		first = launchlog.Lap - 9
		if _, err := log.Advance(ctx, first-1, "operator"); err != nil {
			t.Fatal(err)
		}
	}
	start := func(i int) (int, error) {
		launch, err := log.Start(ctx, storetest.Request(fmt.Sprint("deploy-", i)))
		return launch.ID, err
	}
	n := launchlog.Lap - first
	taken(t, n, first, launchlog.Lap, start)
	if c, err := log.Claim(ctx, launchlog.Lap-1); err != nil || c.Generator != 0 {
		t.Errorf("a generator of the last launch: %+v, %v", c, err)
	}
	if id, err := start(n); err != nil || id != first+launchlog.Lap {
		t.Errorf("one launch more: %d, %v", id, err)
	}
	if launch, err := start(0); err != nil || launch < first {
		t.Errorf("the first key again: %d, %v", launch, err)
	}
	list, err := log.List(ctx, launchlog.Filter{Limit: launchlog.Lap + 1})
	if err != nil || len(list) != n+1 || list[0].ID != first+launchlog.Lap ||
		list[n].ID != first {
		t.Errorf("a list of all: %d launches, %v", len(list), err)
	}
}

// All generator numbers of a launch are claimed.
func generators(t *testing.T, log *launchlog.Log, _ bool) {
	launch, err := log.Start(ctx, storetest.Request("deploy"))
	if err != nil {
		t.Fatal(err)
	}
	claim := func(int) (int, error) {
		c, err := log.Claim(ctx, launch.ID)
		return c.Generator, err
	}
	taken(t, launchlog.MaxGenerators, 0, launchlog.MaxGenerators, claim)
	for range 2 {
		if _, err := claim(0); !errors.Is(err, launchlog.ErrGeneratorsExhausted) {
			t.Errorf("one number more: %v", err)
		}
	}
	all, err := log.Claims(ctx, launch.ID, 0, launchlog.MaxGenerators+1)
	if err != nil || len(all) != launchlog.MaxGenerators || all[70_000].Generator != 70_000 {
		t.Errorf("a list of all: %d, %v", len(all), err)
	}
	finding(t, log, "generators", "100000")
	if next, err := log.Start(ctx, storetest.Request("next")); err != nil {
		t.Error(err)
	} else if c, err := log.Claim(ctx, next.ID); err != nil || c.Generator != 0 {
		t.Errorf("a generator of the next launch: %+v, %v", c, err)
	}
}

// All pairs of generator and cluster are lent: those of all clusters, or the 64 of the older layout
// in one.
func pool(t *testing.T, log *launchlog.Log, whole bool) {
	pools := claims.Pools()
	pairs := pools[slices.IndexFunc(pools, func(p claims.Pool) bool {
		return p.Scheme() == idtype.SchemeEightByte
	})]
	part, size := &generator.Pool{Max: 63}, 64
	if whole {
		part, size = nil, 16*2048
		clusters := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
		if err := pairs.SetClusters(ctx, log, []int{0}, clusters, "operator"); err != nil {
			t.Fatal(err)
		}
	}
	source := func(name string) *claims.Source[generator.EightBytePair] {
		s, err := claims.Pairs(log, &claims.Options{
			Part: part, FailWhenLent: true, Length: time.Hour, Holder: name,
		})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	window := func(s *claims.Source[generator.EightBytePair]) (generator.EightBytePair, error) {
		w, err := s.NextWindow(ctx, time.Now().UnixMilli(), time.Millisecond)
		return w.Number, err
	}
	// As sources do, without their looking for a number: each would read all the others'.
	until := time.Now().Add(2 * time.Hour).UnixMilli()
	const last = 3 // are taken by sources
	taken(t, size-last, 0, size-last, func(i int) (int, error) {
		counter, err := log.Counter(fmt.Sprintf("eightbyte/%d/%d", i/2048, i%2048))
		if err != nil {
			return 0, err
		}
		r := launchlog.Raise{To: until, Note: launchlog.NewNote(), Holder: fmt.Sprint("pod-", i)}
		row, err := counter.Raise(ctx, r)
		if err == nil && !r.Done(row) {
			err = fmt.Errorf("there is %+v", row)
		}
		return i, err
	})
	var holders []*claims.Source[generator.EightBytePair]
	taken(t, last, size-last, size, func(i int) (int, error) { // at once
		s := source(fmt.Sprint("source-", i))
		pair, err := window(s)
		if err == nil && i == 0 {
			holders = append(holders, s)
		}
		return pair.Cluster*2048 + pair.Generator, err
	})
	var lent *claims.LentError
	if _, err := window(source("late")); !errors.As(err, &lent) || lent.Numbers != size {
		t.Errorf("one source more: %v", err)
	}
	for _, s := range holders {
		if _, err := window(s); err != nil {
			t.Errorf("who has a number: %v", err)
		}
	}
	list, err := pairs.List(ctx, log, time.Now())
	if err != nil || len(list) != size {
		t.Errorf("a list of all: %d, %v", len(list), err)
	}
	if whole {
		finding(t, log, "claims", "32768 of 32768")
	}
}

// TestYear has a log in SQLite live through a year, and says how its file grows. Its rows are made
// older where time passes, without the triggers that refuse this, and with all others.
func TestYear(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	migrate(t, "sqlite3", sqlite.DSN(path, sqlite.Create), migrations.SQLite)
	db := dbtest.OpenSource(t, "sqlite3", sqlite.DSN(path, sqlite.Existing))
	dbtest.Exec(t, db, "DROP TRIGGER idmint_generator_update", "DROP TRIGGER idmint_launch_update")
	storetest.Year(t, closed(t)(sqlite.Open(ctx, path)), func(d time.Duration) {
		older := fmt.Sprintf("strftime('%%Y-%%m-%%dT%%H:%%M:%%fZ', $, '-%v seconds')", d.Seconds())
		for table, column := range map[string]string{
			"idmint_generator": "claimed_at", "idmint_launch": "started_at",
		} {
			set := column + " = " + strings.Replace(older, "$", column, 1)
			dbtest.Exec(t, db, "UPDATE "+table+" SET "+set)
		}
		var pages int
		err := db.QueryRow("SELECT page_count FROM pragma_page_count").Scan(&pages)
		t.Logf("before a trim the file has %d pages, %v", pages, err)
	})
}
