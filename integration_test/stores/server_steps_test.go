package stores_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/mysql"
	"github.com/idmint/idmint/launchlog/postgres"
	"github.com/idmint/idmint/launchlog/storetest"
)

var (
	firstLaunch = launchlog.Ref{Namespace: "default", Launch: 1}
	aCounter    = launchlog.CounterRef{Namespace: "default", Name: "c"}
	failed      = launchlog.Ending{Outcome: launchlog.Failed, Actor: "a"}
)

// a step of a store.
type step struct {
	name string
	run  func(context.Context) error
}

// steps are those that write. What they start is launch "b", what they change is launch 1.
func steps(s launchlog.Store) []step {
	return []step{
		{"start", func(ctx context.Context) error { return start(ctx, s, "b") }},
		{"claim", func(ctx context.Context) error {
			_, err := s.ClaimGenerator(ctx, launchlog.Claim{
				Namespace: "default", Launch: 1, Token: "t", Host: "h",
			})
			return err
		}},
		{"end", func(ctx context.Context) error {
			_, err := s.EndLaunch(ctx, firstLaunch, failed)
			return err
		}},
	}
}

func start(ctx context.Context, s launchlog.Store, key string) error {
	_, err := s.StartLaunch(ctx, launchlog.Launch{
		Namespace: "default", Request: storetest.Request(key), RequestHash: "x",
	})
	return err
}

// tour takes every step once, straight from the store: none is to be tried again. The launch has
// the number id.
func tour(t *testing.T, s launchlog.Store, key string, id int) {
	t.Helper()
	start := launchlog.Launch{
		Namespace: "default", Request: storetest.Request(key), RequestHash: "x", Host: "h",
	}
	start.Data, start.Reason = []byte(`{"a":"é"}`), "é"
	began := time.Now()
	isNow := func(at time.Time) bool {
		const off = time.Minute // that the server's clock may be
		return at.After(began.Add(-off)) && at.Before(time.Now().Add(off))
	}
	launch, err := s.StartLaunch(ctx, start)
	if err != nil || launch.ID != id || !isNow(launch.StartedAt) ||
		launch.StartedAt.Location() != time.UTC {
		t.Fatalf("start: %+v, %v; want launch %d", launch, err, id)
	}
	ref := launchlog.Ref{Namespace: "default", Launch: id}
	counter := launchlog.CounterRef{Namespace: "default", Name: key}
	var group sync.WaitGroup
	for i := range 10 {
		group.Go(func() {
			take := launchlog.Claim{
				Namespace: "default", Launch: id, Token: key + fmt.Sprint(i), Host: "h", PID: i,
			}
			if _, err := s.ClaimGenerator(ctx, take); err != nil {
				t.Errorf("claim: %v", err)
			}
			if _, err := s.ReserveNumbers(ctx, counter, 0, 5); err != nil {
				t.Errorf("reserve: %v", err)
			}
		})
	}
	group.Wait()
	ended, err := s.EndLaunch(ctx, ref, failed)
	if err != nil || ended.NextGenerator != 10 || !isNow(ended.EndedAt) {
		t.Errorf("end: %+v, %v", ended, err)
	}
	if shown, err := s.Launch(ctx, ref); err != nil || shown.EndedAt != ended.EndedAt ||
		string(shown.Data) != `{"a":"é"}` {
		t.Errorf("shown: %+v, %v", shown, err)
	}
	last := launchlog.Filter{Service: "shop", Before: id + 1, Limit: 1}
	if list, err := s.Launches(ctx, "default", last); err != nil || len(list) != 1 ||
		list[0].ID != id {
		t.Errorf("list: %+v, %v", list, err)
	}
	if claims, err := s.Claims(ctx, ref, 9, 5); err != nil || len(claims) != 1 ||
		claims[0].Generator != 9 {
		t.Errorf("claims: %+v, %v", claims, err)
	}
	if events, err := s.Events(ctx, ref); err != nil || len(events) != 2 {
		t.Errorf("events: %+v, %v", events, err)
	}
	if now, err := s.AdvanceCounter(ctx, counter, 60, "a"); err != nil || now != 60 {
		t.Errorf("advance the counter: %d, %v", now, err)
	}
	if now, _, err := s.AdvanceLaunches(ctx, "other", id, failed); err != nil || now != id {
		t.Errorf("advance: %d, %v", now, err)
	}
	if events, err := s.Events(ctx, launchlog.Ref{Namespace: "other"}); err != nil ||
		len(events) != id {
		t.Errorf("events of the namespace: %+v, %v", events, err)
	}
}

// A call whose context ends while another session has the lock ends. It says that it may have
// been carried out where that is so.
func TestEndInMidCall(t *testing.T) { eachServer(t, endInMidCall) }

func endInMidCall(t *testing.T, s server) {
	d := s.database(t)
	store, db := open(t, d), dbtest.Open(t, d)
	if err := start(ctx, store, "a"); err != nil {
		t.Fatal(err)
	}
	other := dbtest.Open(t, d)
	tx, err := other.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(s.locks); err != nil {
		t.Fatal(err)
	}
	called := map[int64]bool{} // a server may go on for those that have left
	for _, step := range steps(store) {
		ending, cancel := context.WithCancel(ctx)
		ended := make(chan error, 1)
		go func() { ended <- step.run(ending) }()
		s.awaitCalled(t, db, called)
		cancel()
		err := <-ended
		var attempt *launchlog.AttemptError
		if !errors.As(err, &attempt) || attempt.Ambiguous != s.inDoubt ||
			!errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want it canceled, in doubt: %t", step.name, err, s.inDoubt)
		}
		if err := step.run(ending); err != context.Canceled {
			t.Errorf("%s, before anything was sent: %v", step.name, err)
		}
	}
	if err := errors.Join(tx.Rollback(), other.Close()); err != nil {
		t.Fatal(err)
	}
	c, err := logOf(t, store).Claim(ctx, 1)
	if s.inDoubt && (err == nil || errors.Is(err, launchlog.ErrEnded)) {
		return
	}
	if err != nil || c.Generator != 0 {
		t.Errorf("afterwards: %+v, %v", c, err)
	}
}

// awaitCalled waits until a session waits for a lock that has not done so before.
func (s server) awaitCalled(t *testing.T, db *sql.DB, called map[int64]bool) {
	t.Helper()
	for another := false; !another; time.Sleep(time.Millisecond) {
		rows, err := db.Query(s.calls)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var session int64
			if err := rows.Scan(&session); err != nil {
				t.Fatal(err)
			}
			another = another || !called[session]
			called[session] = true
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// A standby can be read. A step that writes says why it cannot.
func TestOnlyReads(t *testing.T) { eachServer(t, onlyReads) }

func onlyReads(t *testing.T, s server) {
	d := s.database(t)
	if err := start(ctx, open(t, d), "a"); err != nil {
		t.Fatal(err)
	}
	store := open(t, with(t, d, s.onlyReads))
	if shown, err := store.Launch(ctx, firstLaunch); err != nil || shown.Key != "a" {
		t.Errorf("show: %+v, %v", shown, err)
	}
	refused := func(name string, err error) {
		var attempt *launchlog.AttemptError
		if !errors.As(err, &attempt) || attempt.Ambiguous ||
			!strings.Contains(err.Error(), "the server is read-only") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, step := range steps(store) {
		refused(step.name, step.run(ctx))
	}
	_, err := store.ReserveNumbers(ctx, aCounter, 0, 1)
	refused("reserve", err)
	if err := start(ctx, store, "a"); err != nil || !s.findsByReading {
		refused("start again", err)
	}
}

// A step that waits in vain for a connection of an app's pool says what to do.
func TestAllConnectionsInUse(t *testing.T) {
	t.Parallel()
	config, err := pgxpool.ParseConfig(postgresServer.database(t).Source())
	if err != nil {
		t.Fatal(err)
	}
	config.MaxConns = 1
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	ofPostgres, err := postgres.New(ctx, pool)
	if err != nil {
		t.Fatal(err)
	}
	db := dbtest.Open(t, mysqlServer.database(t))
	db.SetMaxOpenConns(1)
	ofMySQL, err := mysql.New(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	held, err := pool.Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	conn, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, s := range []launchlog.Store{ofPostgres, ofMySQL} {
		ending, cancel := context.WithTimeout(ctx, time.Millisecond)
		_, reading := s.LastNumber(ending, aCounter)
		_, writing := s.ReserveNumbers(ending, aCounter, 0, 1)
		cancel()
		for _, err := range []error{reading, writing} {
			if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "Ready") {
				t.Errorf("%T: %v", s, err)
			}
		}
	}
}
