package importer

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/idtype/formats"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/integration_test/pgbouncer"
	sqldialect "github.com/idmint/idmint/internal/dialect"
)

func TestMain(m *testing.M) {
	// Most of the time they wait. The command line may say otherwise.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	code := dbtest.Code(m)
	if code == 0 { // tests that fail leave some behind themselves
		if err := leftBehind(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// leftBehind looks for goroutines that imports have left behind when all tests have ended. What
// ends takes its time, on a busy machine.
func leftBehind() (err error) {
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); {
		err = goleak.Find(
			// connections to the Docker engine, which started PgBouncer
			goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
			goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
		if err == nil {
			break
		}
	}
	return err
}

// An import of SQLite waits for a lock as long as its budget, and loses nothing where that is not
// enough.
func TestLocked(t *testing.T) {
	t.Parallel()
	// On a busy machine a short budget may be over before SQLite has said that the file is locked.
	for budget := time.Second; ; budget *= 4 {
		cause, err := testLocked(t, budget)
		if cause == sqldialect.Contended {
			break
		} else if budget > time.Minute {
			t.Fatal(err)
		}
	}
}

func testLocked(t *testing.T, budget time.Duration) (cause sqldialect.Cause, err error) {
	f := newFixture(t)
	db, holder := f.database(patience), f.open()
	im := importing()
	im.Progress = func(rows, _ int64) {
		if rows == 20 {
			holder.SetMaxOpenConns(1)
			if _, err := holder.Exec("BEGIN IMMEDIATE"); err != nil {
				t.Error(err)
			}
			db.(*table).budget = budget
		}
	}
	began := time.Now()
	_, err = Run(ctx, db, f.log, strings.NewReader(numbered(50)), im)
	_, cause = sqldialect.CauseOf(err)
	var stopped *StoppedError
	if !errors.As(err, &stopped) || stopped.Rows != 20 || stopped.InDoubt != 0 ||
		cause == sqldialect.Contended && !strings.Contains(err.Error(), budget.String()) ||
		time.Since(began) < budget/2 {
		t.Error(err)
	}
	holder.Close() // which ends its transaction
	f.checkNumbered(20, 1)
	f.mustRun(numbered(50), importing(resume))
	f.checkNumbered(50, 1)
	return cause, err
}

// proxy is a network in front of a server, by another address. What clients send goes through fate,
// one request at a time. It may change the request, and says whether the connection is lost, and
// whether the request arrives before.
func proxy(
	t testing.TB, server string, fate func(first bool, request []byte) (lost, arrives bool),
) (host string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	var mu sync.Mutex // guards calls of fate
	serve := func(client net.Conn) {
		defer client.Close()
		server, err := net.Dial("tcp", server)
		if err != nil {
			return
		}
		defer server.Close()
		go func() {
			buffer := make([]byte, 4<<10)
			for first := true; ; first = false {
				n, err := client.Read(buffer)
				if err != nil {
					server.Close()
					return
				}
				mu.Lock()
				lost, arrives := fate(first, buffer[:n])
				mu.Unlock()
				if lost { // before the server may answer
					client.Close()
				}
				if arrives {
					_, _ = server.Write(buffer[:n])
				}
				if lost { // it does what it was told, and then hears of the end
					_ = server.(*net.TCPConn).CloseWrite()
					return
				}
			}
		}()
		_, _ = io.Copy(client, server)
	}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go serve(client)
		}
	}()
	return l.Addr().String()
}

// Connections that are lost, with requests and with answers, also in the middle of COPY and LOAD
// DATA, are made again: one run stores each row once.
func TestLostConnections(t *testing.T) {
	inPlaces(t, places[1:], func(f *fixture) {
		direct := f.target
		for batch, rows := range map[int]int{10: 500, 0: 30_000} {
			f = f.fresh()
			after := []int{100_000, 200_000} // bytes until the next connection is lost
			if batch > 0 {
				after = []int{2000, 2300, 2600, 2900, 3200, 3500, 3800, 4100, 4400, 4700}
			}
			var left atomic.Int64
			left.Store(int64(len(after)))
			sent := 0
			f.target = direct.WithHost(proxy(f, direct.Host(), func(_ bool, request []byte) (bool, bool) {
				if sent += len(request); len(after) == 0 || sent < after[0] {
					return false, true
				}
				sent, after = 0, after[1:]
				return true, left.Add(-1)%2 == 0
			}))
			result, err := f.run(ctx, strings.NewReader(numbered(rows)),
				importing(func(im *Import) { im.Batch = batch }))
			if err != nil || result.Rows != int64(rows) {
				f.Fatalf("%+v, %v", result, err)
			}
			f.target = direct
			f.checkNumbered(rows, 1)
			if n := left.Load(); n > 0 {
				f.Errorf("%d connections were not lost: the test shows too little", n)
			}
		}
	})
}

// A batch may be stored whose COMMIT was sent and not answered before the import ended.
func TestCommitInDoubt(t *testing.T) {
	inPlaces(t, onServers, func(f *fixture) {
		direct := f.target
		commit := regexp.MustCompile(`COMMIT\b`)
		ending, end := context.WithCancelCause(ctx)
		var goesDown atomic.Bool
		down := false
		f.target = direct.WithHost(proxy(f, direct.Host(), func(_ bool, request []byte) (bool, bool) {
			if !down && goesDown.Load() && commit.Match(request) {
				down = true
				end(errStop)
				return true, true
			}
			return down, !down
		}))
		im := importing()
		im.Progress = func(rows, _ int64) { goesDown.Store(rows == 20) }
		_, err := f.run(ending, strings.NewReader(numbered(50)), im)
		var stopped *StoppedError
		if !errors.As(err, &stopped) || stopped.Rows != 20 || stopped.InDoubt != 10 ||
			!strings.Contains(err.Error(), "20 rows are stored, the next 10 are in doubt") {
			f.Error(err)
		}
		for f.count(`SELECT count(*) FROM t`) < 30 { // the server is about to store them
			time.Sleep(time.Millisecond)
		}
		f.target = direct
		f.mustRun(numbered(50), importing(resume))
		f.checkNumbered(50, 1)
	})
}

// A batch whose COMMIT was carried out, and not answered, is stored again: it finds itself there.
func TestAnswerLost(t *testing.T) {
	inPlaces(t, places[:3], func(f *fixture) { // of ClickHouse see TestDoubt
		f.stopAfter(20, numbered(40), importing())
		db := f.database(patience)
		im := importing(func(im *Import) { im.IDColumn = "id" })
		s, err := db.last(ctx, im)
		if err != nil {
			f.Fatal(err)
		}
		rec, err := openRecords(strings.NewReader(numbered(40)), CSV)
		if err != nil {
			f.Fatal(err)
		}
		if err := skip(rec, s); err != nil {
			f.Fatal(err)
		}
		next := s.ranges[0][1]
		batches, _ := read(ctx, rec, 10, s.position)
		for b := range batches {
			ids := make([]idtype.DecimalID, b.rows)
			for i := range ids {
				next += formats.DecimalStep
				ids[i] = idtype.DecimalID(next)
			}
			before := *s
			for range 2 {
				*s = before
				if err := db.store(ctx, im, rec.columns(), s, ids, b); err != nil {
					f.Fatalf("%d rows: %v", b.end.rows, err)
				}
			}
			if b.err != nil {
				break
			}
		}
		f.checkNumbered(40, 1)
		if n := f.count(`SELECT count(*) FROM idmint_import
			WHERE state = 'finished' AND stored_rows = 40`); n != 1 {
			f.Errorf("%d imports are finished", n)
		}
	})
}

// Whoever waits for a lock of a server obeys the context, and nothing of the batch is stored.
func TestInterruptedOnServer(t *testing.T) {
	inPlaces(t, onServers, func(f *fixture) {
		lock, unlock := `BEGIN; LOCK TABLE t`, `ROLLBACK`
		waiting := `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND ` +
			`wait_event_type = 'Lock'`
		if f.kind == databases.MariaDB {
			lock, unlock = `LOCK TABLES t WRITE`, `UNLOCK TABLES`
			waiting = `SELECT count(*) FROM information_schema.processlist WHERE db = DATABASE() AND ` +
				`state LIKE 'Waiting for table%'`
		}
		locked, err := f.db.Conn(ctx)
		if err != nil {
			f.Fatal(err)
		}
		ending, cancel := context.WithCancelCause(ctx)
		im := importing()
		im.Progress = func(rows, _ int64) {
			if rows != 20 {
				return
			}
			if _, err := locked.ExecContext(ctx, lock); err != nil {
				f.Error(err)
			}
			go func() {
				for n := 0; n == 0; time.Sleep(time.Millisecond) {
					if err := f.db.QueryRow(waiting).Scan(&n); err != nil {
						f.Error(err)
						break
					}
				}
				cancel(errStop)
			}()
		}
		_, err = f.run(ending, strings.NewReader(numbered(50)), im)
		var stopped *StoppedError
		if !errors.As(err, &stopped) || !errors.Is(err, errStop) || stopped.Rows != 20 {
			f.Error(err)
		}
		if _, err := locked.ExecContext(ctx, unlock); err != nil {
			f.Error(err)
		}
		locked.Close()
		f.checkNumbered(20, 1)
		f.mustRun(numbered(50), importing(resume))
		f.checkNumbered(50, 1)
	})
}

// What another client of a pooler has left behind, a search_path, a role and temporary tables,
// leads no row elsewhere.
func TestLeakedSearchPath(t *testing.T) {
	t.Parallel()
	f := newFixtureIn(t, places[1])
	f.target = pgbouncer.New(t, f.target)
	const columns = " (id bigint PRIMARY KEY, n text, name text)"
	f.exec("CREATE SCHEMA other; CREATE TABLE other.t" + columns)
	pgbouncer.Leak(t, f.target, "SET search_path = other")
	pgbouncer.Leak(t, f.target, "SET ROLE pg_monitor") // which may not write
	pgbouncer.Leak(t, f.target, "CREATE TEMP TABLE t"+columns)
	f.mustRun(numbered(25), importing())
	f.checkNumbered(25, 1) // in the schema public, by a connection past the pooler
	const others = "pg_tables WHERE schemaname = 'other' AND tablename <> 't'"
	for _, table := range []string{"other.t", others} {
		if n := f.count("SELECT count(*) FROM " + table); n != 0 {
			t.Errorf("%s: %d", table, n)
		}
	}
}

// The row of a COPY is found in whatever the server says of the place.
func TestCopyPlace(t *testing.T) {
	t.Parallel()
	columns := []string{"n", "name", "na: me", "naïve"}
	for _, test := range []struct {
		where  string
		row    int
		column string
	}{
		{`COPY t, line 26: "25	x"`, 26, ""},
		{`COPY t, line 26, column name: null input`, 26, "name"},
		{`COPY t, line 26, column na: me: "x"`, 26, "na: me"},
		{"COPY t, line 26, column n: \"x\nCOPY t, line 1: y\"", 26, "n"},
		{"JSON data, line 1: {\"a\":\nCOPY t, line 26, column n: \"{\"", 26, "n"},
		{`COPY t, Zeile 26, Spalte n: »twenty«`, 26, "n"},
		{"COPY t, ligne 26, colonne naïve\u00a0: «\u00a0twenty\u00a0»", 26, "naïve"},
		{`COPY t, 行 26, 列 name: "x"`, 26, "name"},
		{`SQL statement "COPY t, line 26"`, 0, ""},
	} {
		row, column := copyPlace(test.where, "t", columns)
		if row != test.row || column != test.column {
			t.Errorf("%q: row %d, column %q, want %d, %q", test.where, row, column, test.row,
				test.column)
		}
	}
}

// A driver that reads on, after a connection was lost, gets nothing more of the block, which may be
// filled again.
func TestTextReaderClosed(t *testing.T) {
	t.Parallel()
	b := newBlock()
	b.add([]byte("value"))
	r := newTextReader(rows{columns: []string{"v"}, ids: []idtype.DecimalID{1}, fields: b}, func() {})
	if n, err := r.Read(make([]byte, 3)); n != 3 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	r.close()
	if n, err := r.Read(make([]byte, 3)); n != 0 || !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("it reads on: %d bytes, %v", n, err)
	}
}
