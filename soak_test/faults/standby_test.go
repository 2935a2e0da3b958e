package faults_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/postgres"
	"github.com/idmint/idmint/launchlog/storetest"
)

// A PostgreSQL standby is promoted that lacks the newest rows. Apps mint before that, while it
// falls behind, and on it. One namespace has an operator who runs idmint advance in between, and
// repeats nothing. The other one has none, and repeats IDs of every kind.
func TestStandbyPromoted(t *testing.T) {
	program := filepath.Join(t.TempDir(), "idmint")
	build := exec.Command("go", "build", "-o", program, "../../cmd/idmint")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	primary := dbtest.Run(t, databases.Postgres)
	standby := standbyOf(t, primary)
	d, _, err := primary.Create(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	leader := migrated(t, targets[databases.Postgres], d)
	follower := dbtest.Open(t, standby.DSN)

	spaces := map[string]*space{}
	first := openStore(t, d.Source())
	for _, name := range []string{"careful", "careless"} {
		s := &space{T: t, name: name, busy: 2 * time.Second, ids: map[string]map[string]int{}}
		spaces[name] = s
		s.deploy(first, "first", numbers/2, time.Now())
	}
	all(spaces, (*space).mint)

	// The standby has all so far, and hears of nothing more.
	var at string
	one(t, leader, &at, "SELECT pg_current_wal_lsn()::text")
	await(t, follower, "SELECT pg_last_wal_replay_lsn() >= '"+at+"'::pg_lsn")
	dbtest.Exec(t, follower, "ALTER SYSTEM SET primary_conninfo = ''", "SELECT pg_reload_conf()")
	await(t, follower, "SELECT NOT EXISTS (SELECT FROM pg_stat_wal_receiver)")

	lost := time.Now()
	for _, s := range spaces {
		s.deploy(first, "lost", numbers/2, time.Now())
	}
	all(spaces, (*space).mint) // those of the first deployment too
	if err := primary.Signal(t.Context(), "KILL"); err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	for _, s := range spaces {
		s.apps = nil // they died with the machine
	}
	dbtest.Exec(t, follower, "SELECT pg_promote()")
	await(t, follower, "SELECT NOT pg_is_in_recovery()")

	promoted := standby.DSN.WithDatabase(d.Database())
	s := spaces["careful"]
	advance := exec.Command(program, "advance", "--namespace", s.name, "--launch",
		strconv.Itoa(s.launch), "--counter", "orders="+strconv.FormatInt(s.order, 10),
		"--ahead", "5s") // windows are of 3 s at most
	advance.Env = append(os.Environ(), "IDMINT_DB="+promoted.URL())
	out, err := advance.CombinedOutput()
	if err != nil {
		t.Fatalf("idmint advance: %v\n%s", err, out)
	}
	t.Logf("idmint advance:\n%s", out)

	// Clocks show the time of what was lost, and apps mint over all of it.
	second := openStore(t, promoted.Source())
	for _, s := range spaces {
		s.busy += killed.Sub(lost)
		s.restart(second)
		s.deploy(second, "second", numbers, lost)
	}
	all(spaces, (*space).mint)
	for kind := range spaces["careless"].ids {
		careful, careless := spaces["careful"].count(kind), spaces["careless"].count(kind)
		t.Logf("%s: after idmint advance %v; without it %v", kind, careful, careless)
		if careful.repeats != 0 {
			t.Errorf("%s: %d IDs repeat", kind, careful.repeats)
		}
		if careless.repeats == 0 {
			t.Errorf("%s: nothing repeats without the operator's step: the test shows nothing", kind)
		}
	}
}

// standbyOf starts a server that follows another one, and does not hold it up.
func standbyOf(t *testing.T, primary *databases.Server) *databases.Server {
	t.Helper()
	db := dbtest.Open(t, primary.DSN)
	_, err := primary.Exec(t.Context(), "sh", "-c",
		`echo "host replication all all scram-sha-256" >>"$PGDATA/pg_hba.conf"`)
	if err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, db, "SELECT pg_reload_conf()")
	var address string // within the network of containers
	one(t, db, &address, "SELECT host(inet_server_addr())")
	s := dbtest.Run(t, databases.Postgres, "sh", "-c", fmt.Sprintf(`
		rm -rf "$PGDATA"/*
		pg_basebackup -d 'host=%s user=postgres password=idmint' -D "$PGDATA" -R -X stream -c fast || exit
		[ "$(id -u)" != 0 ] || exec docker-entrypoint.sh postgres
		exec postgres`, address))
	await(t, db, "SELECT EXISTS (SELECT FROM pg_stat_replication WHERE sync_state = 'async')")
	return s
}

func one(t *testing.T, db *sql.DB, to any, query string) {
	t.Helper()
	if err := db.QueryRow(query).Scan(to); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// await asks until the answer is yes.
func await(t *testing.T, db *sql.DB, query string) {
	t.Helper()
	for yes := (sql.NullBool{}); !yes.Bool; time.Sleep(20 * time.Millisecond) {
		if err := db.QueryRow(query).Scan(&yes); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
}

func openStore(t *testing.T, source string) launchlog.Store {
	t.Helper()
	store, err := postgres.Open(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

// A space is the apps of a namespace, and what they have minted.
type space struct {
	*testing.T
	name   string
	apps   []func(context.Context) error
	launch int           // the highest
	old    int           // the launch of the first deployment
	busy   time.Duration // for which an app mints, after its first ID

	mu    sync.Mutex                // guards what follows
	ids   map[string]map[string]int // how often, by their kind
	order int64                     // the highest
}

func (s *space) record(kind string, id any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ids[kind] == nil {
		s.ids[kind] = map[string]int{}
	}
	s.ids[kind][fmt.Sprint(id)]++
}

func (s *space) log(store launchlog.Store) *launchlog.Log {
	s.Helper()
	log, err := launchlog.New(store, &launchlog.Options{Namespace: s.name})
	if err != nil {
		s.Fatal(err)
	}
	return log
}

// A held clock shows one moment until it is let go. However long a number takes to be claimed, its
// app begins there.
type held struct {
	generator.WallClock
	from time.Time

	mu    sync.Mutex // guards what follows
	begun time.Time  // when it was let go
}

func (c *held) UnixNano() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.begun.IsZero() {
		return c.from.UnixNano()
	}
	return c.from.Add(time.Since(c.begun)).UnixNano()
}

// A holder lets the clock go once it has asked for a window.
type holder[N any] struct {
	generator.Windows[N]
	clock *held
}

func (h holder[N]) NextWindow(
	ctx context.Context, now int64, unit time.Duration,
) (generator.Window[N], error) {
	w, err := h.Windows.NextWindow(ctx, now, unit)
	h.clock.mu.Lock()
	defer h.clock.mu.Unlock()
	if h.clock.begun.IsZero() {
		h.clock.begun = time.Now()
	}
	return w, err
}

// timed has an app's windows and clock begin at a moment.
func timed[N any](w generator.Windows[N], from time.Time) (generator.Windows[N], *generator.Options) {
	clock := &held{from: from}
	return holder[N]{w, clock}, &generator.Options{Clock: clock, MaxWait: 2 * time.Minute}
}

// numbers is how many a pool has, as far as it is used. The first deployment takes the one half,
// and the second one, which the standby does not hear of, takes the other.
const numbers = 4

// deploy starts a launch with apps of all kinds, whose clocks begin at a moment.
func (s *space) deploy(store launchlog.Store, key string, apps int, from time.Time) {
	s.Helper()
	log := s.log(store)
	launch, err := log.Start(s.Context(), storetest.Request(key))
	if err != nil {
		s.Fatal(err)
	}
	s.launch = max(s.launch, launch.ID)
	if key == "first" {
		s.old = launch.ID
	}
	for range 2 {
		s.decimals(log, launch.ID)
	}
	orders, err := log.Counter("orders")
	add(s, "orders, of a sequence", func() (mints[idtype.SequenceID], error) {
		return generator.NewSequence(orders, 10)
	}, err)
	lending := &claims.Options{
		Length: 3 * time.Second, Quiet: 100 * time.Millisecond,
		Part: &claims.Range{Min: 0, Max: numbers - 1},
	}
	partition, err := log.Counter("sno/9")
	add(s, "sno, with a ceiling", func() (mints[idtype.SnoID], error) {
		return generator.NewSno(timed(generator.Ceiling(9, partition, time.Second), from))
	}, err)
	for range apps {
		nodes, err := claims.Nodes(log, lending)
		add(s, "trace, claimed", func() (mints[idtype.TraceID], error) {
			return generator.NewTrace(timed(nodes, from))
		}, err)
		partitions, err := claims.Partitions(log, lending)
		add(s, "sno, claimed", func() (mints[idtype.SnoID], error) {
			return generator.NewSno(timed(partitions, from))
		}, err)
		pairs, err := claims.Pairs(log, lending)
		add(s, "eightbyte, claimed", func() (mints[idtype.EightByteID], error) {
			windows, opts := timed(pairs, from)
			return generator.NewEightByte(idtype.EightByteSpread, windows, opts)
		}, err)
	}
}

// decimals adds an app with decimal IDs, of a generator number of its own.
func (s *space) decimals(log *launchlog.Log, launch int) {
	s.Helper()
	add(s, "decimal", func() (mints[idtype.DecimalID], error) {
		return generator.NewDecimal(generator.FromOne(log.Generators(launch)))
	}, nil)
}

// restart starts an app of the first deployment again. After the operator's step that launch has
// ended.
func (s *space) restart(store launchlog.Store) {
	s.Helper()
	log := s.log(store)
	if s.name == "careless" {
		s.decimals(log, s.old)
		return
	}
	if _, err := log.Claim(s.Context(), s.old); !errors.Is(err, launchlog.ErrEnded) {
		s.Errorf("a generator number of launch %d: %v", s.old, err)
	}
}

type mints[ID any] interface {
	Next(context.Context) (ID, error)
}

// add adds an app that mints.
func add[ID any](s *space, kind string, build func() (mints[ID], error), err error) {
	s.Helper()
	ids, wrong := build()
	if err := errors.Join(err, wrong); err != nil {
		s.Fatal(err)
	}
	var number [2]int // of a decimal generator, and its launch
	s.apps = append(s.apps, func(ctx context.Context) error {
		var end time.Time
		for n := 0; n < 100 || time.Now().Before(end); n++ {
			id, err := ids.Next(ctx)
			if err != nil {
				return fmt.Errorf("%s: %w", kind, err)
			}
			if end.IsZero() {
				end = time.Now().Add(s.busy)
			}
			s.record(kind, id)
			switch id := any(id).(type) {
			case idtype.SequenceID:
				s.mu.Lock()
				s.order = max(s.order, int64(id))
				s.mu.Unlock()
			case idtype.DecimalID:
				if pair := [2]int{id.Parts().Launch, id.Parts().Generator}; pair != number {
					number = pair
					s.record("generator numbers", pair)
				}
			}
			time.Sleep(500 * time.Microsecond) // a busy app would starve the others
		}
		return nil
	})
}

// mint has all apps mint at once.
func (s *space) mint() {
	var group sync.WaitGroup
	for _, app := range s.apps {
		group.Go(func() {
			if err := app(s.Context()); err != nil {
				s.Error(s.name, err)
			}
		})
	}
	group.Wait()
}

// all has all spaces do something at once.
func all(spaces map[string]*space, do func(*space)) {
	var group sync.WaitGroup
	for _, s := range spaces {
		group.Go(func() { do(s) })
	}
	group.Wait()
}

// A tally is how many IDs there are, and how many of them were minted before.
type tally struct{ ids, repeats int }

func (c tally) String() string { return fmt.Sprintf("%d IDs, %d repeats", c.ids, c.repeats) }

func (s *space) count(kind string) (c tally) {
	for _, n := range s.ids[kind] {
		c.ids += n
		c.repeats += n - 1
	}
	return c
}
