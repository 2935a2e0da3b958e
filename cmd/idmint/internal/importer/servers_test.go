package importer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/databases"
)

// eachServer has a database on each server, which one fixture after the other uses.
func eachServer(t *testing.T) func(databases.Kind) prepared {
	t.Helper()
	at := map[databases.Kind]prepared{}
	for _, p := range places[1:] {
		at[p.kind] = p.prepare(t)
	}
	return func(kind databases.Kind) prepared { return at[kind] }
}

// A row that a server refuses spoils its batch, and no other. The error names it.
func TestRefusedByServer(t *testing.T) {
	long := strings.Repeat("x", 300)
	at := eachServer(t)
	for _, test := range []struct {
		kind   databases.Kind
		create string
		row    string // the 26th
		column string
		want   string
	}{
		{
			databases.Postgres, `id bigint PRIMARY KEY, n int CHECK (n <> 25), name text`,
			"25,name 25", "", "violates check constraint",
		},
		{
			databases.Postgres, `id bigint PRIMARY KEY, n int, name varchar(200)`, "25," + long,
			"name", "value too long for type character varying(200)",
		},
		{
			databases.Postgres, `id bigint PRIMARY KEY, n int, name text`, "twenty,x", "n",
			"invalid input syntax for type integer",
		},
		{
			databases.Postgres, `id bigint PRIMARY KEY, n int, name text`,
			"\"x, line 1: y\nCOPY t, line 2\",x", "n", "invalid input syntax for type integer",
		},
		{ // the place in the JSON text comes first
			databases.Postgres, `id bigint PRIMARY KEY, n json, name text`, "\"{\"\"a\"\":\n1\",x", "n",
			"invalid input syntax for type json",
		},
		{
			databases.Postgres,
			`id bigint PRIMARY KEY, n int, name text, must text NOT NULL DEFAULT repeat('x', 3)`,
			"25,name 25\n26", "", "1 fields",
		},
		{
			databases.MariaDB,
			`id BIGINT PRIMARY KEY, n INT CHECK (n <> 25), name TEXT`, "25,name 25",
			"", "CONSTRAINT",
		},
		{
			databases.MariaDB,
			`id BIGINT PRIMARY KEY, n INT, name VARCHAR(200)`, "25," + long, "name",
			"Data too long for column 'name'",
		},
		{
			databases.MariaDB, `id BIGINT PRIMARY KEY, n INT, name TEXT`, "twenty,x", "n",
			"Incorrect integer value",
		},
		{
			databases.MariaDB,
			`id BIGINT PRIMARY KEY, n INT, name TEXT, UNIQUE (n)`, "3,name 3", "",
			"Duplicate entry",
		},
	} {
		f := newFixtureIn(t, at(test.kind), t.TempDir()+"/app.db")
		f.exec("CREATE TABLE t (" + test.create + ")")
		_, err := f.run(ctx, strings.NewReader(numbered(25)+test.row+"\n26,name 26\n"), importing())
		var stopped *StoppedError
		var refused *RowError
		if !errors.As(err, &stopped) || stopped.Rows != 20 ||
			!strings.Contains(err.Error(), test.want) {
			t.Errorf("%s, %s: %v", test.kind, test.create, err)
		}
		if test.want != "1 fields" &&
			(!errors.As(err, &refused) || refused.Row != 26 || refused.Column != test.column) {
			t.Errorf("%s, %s: %+v, want row 26, column %s", test.kind, test.create, refused,
				test.column)
		}
		f.checkNumbered(20, 1)
		f.mustRun(numbered(25), importing(resume)) // the file was put right
		f.checkNumbered(25, 1)
	}
}

// Values as they are, whatever SQL or COPY would make of them.
func TestHardValues(t *testing.T) { everywhere(t, testHardValues) }

func testHardValues(t *testing.T, newFixture func(testing.TB) *fixture) {
	f := newFixture(t)
	hard := []string{
		`\`, `\N`, `\.`, "a\tb", "a\nb", "\r", `\n`, `'"`, "`", "ü 😀", " ", "",
		"\x01\x7f", `\\`, "a\\\tb", "$1 ? %s", strings.Repeat("é", 70_000),
	}
	file := "n,name\n"
	for i, v := range hard {
		file += fmt.Sprintf("%d,\"%s\"\n", i, strings.ReplaceAll(v, `"`, `""`))
	}
	f.mustRun(file, importing())
	_, values := f.table(`SELECT id, name FROM t ORDER BY id`)
	for i, v := range hard {
		if values[i][0] != v {
			t.Errorf("%.40q is stored as %.40q", v, values[i][0])
		}
	}
}

func TestExistingOnServers(t *testing.T) {
	at := eachServer(t)
	const engine = ` ENGINE = MergeTree ORDER BY id`
	const window = ` SETTINGS non_replicated_deduplication_window = 100`
	for _, test := range []struct {
		kind         databases.Kind
		create, want string
	}{
		{
			databases.Postgres,
			`CREATE TABLE t (name text, n int, id bigint PRIMARY KEY, extra text)`,
			"",
		},
		{
			databases.Postgres,
			`CREATE TABLE t (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, n text, name ` +
				`text) PARTITION BY RANGE (id); CREATE TABLE t1 PARTITION OF t DEFAULT`, "",
		},
		{
			databases.Postgres, `CREATE TABLE t (id bigint PRIMARY KEY, n text)`,
			`has no column "name"`,
		},
		{
			databases.Postgres, `CREATE TABLE t (id bigint PRIMARY KEY, n text, "NAME" text)`,
			`has no column "name"`,
		},
		{
			databases.Postgres, `CREATE TABLE t (id int PRIMARY KEY, n text, name text)`,
			`its key "id" is integer: want bigint`,
		},
		{
			databases.Postgres, `CREATE TABLE t (id text PRIMARY KEY, n text, name text)`,
			`its key "id" is text: want bigint`,
		},
		{
			databases.Postgres, `CREATE TABLE t (id bigint UNIQUE, n text, name text)`,
			`"id" is not its primary key`,
		},
		{
			databases.Postgres,
			`CREATE TABLE t (id bigint, n text, name text, PRIMARY KEY (id, n))`,
			`"id" is not its primary key`,
		},
		{
			databases.Postgres, `CREATE VIEW t AS SELECT 1::bigint AS id, '' AS n, '' AS name`,
			`"id" is not its primary key`,
		},
		{
			databases.MariaDB, `CREATE TABLE t (NAME TEXT, n INT, ID BIGINT UNSIGNED PRIMARY KEY)`,
			"",
		},
		{
			databases.MariaDB, `CREATE TABLE t (id BIGINT PRIMARY KEY, n BIT(20), name TEXT)`,
			`its column "n" is bit(20), which changes any text`,
		},
		{
			databases.MariaDB, `CREATE TABLE t (id INT PRIMARY KEY, n TEXT, name TEXT)`,
			`its key "id" is int(11): want bigint`,
		},
		{
			databases.MariaDB, `CREATE TABLE t (id BIGINT, n INT, name TEXT, PRIMARY KEY (id, n))`,
			`"id" is not its primary key`,
		},
		{
			databases.MariaDB,
			`CREATE TABLE t (id BIGINT PRIMARY KEY, n TEXT, name TEXT) ENGINE = MyISAM`,
			`its engine is MyISAM: want InnoDB`,
		},
		{
			databases.MariaDB, `CREATE VIEW t AS SELECT 1 AS id, '' AS n, '' AS name`,
			`its engine is none: want InnoDB`,
		},
		{
			databases.ClickHouse,
			`CREATE TABLE t (name Nullable(String), id UInt64, n String, extra Int8 DEFAULT 7)` +
				engine + window, "",
		},
		{
			databases.ClickHouse,
			`CREATE TABLE t (id Int64, n String, name String) ENGINE = MergeTree PARTITION BY id ` +
				`% 7 ORDER BY id` + window, "",
		},
		{
			databases.ClickHouse, `CREATE TABLE t (id Int64, n String)` + engine + window,
			`has no column "name"`,
		},
		{
			databases.ClickHouse,
			`CREATE TABLE t (id Int32, n String, name String)` + engine + window,
			`its column "id" is Int32: want Int64 or UInt64`,
		},
		{
			databases.ClickHouse,
			`CREATE TABLE t (id Int64, n Int32, name String)` + engine + window,
			`its column "n" is Int32: want String or Nullable(String)`,
		},
		{
			databases.ClickHouse, `CREATE TABLE t (id Int64, n String, name String)` + engine,
			"ALTER TABLE `t` MODIFY SETTING non_replicated_deduplication_window = 10000 first",
		},
		{
			databases.ClickHouse, `CREATE TABLE t (id Int32, n Int32)` + engine,
			"does not fit: it takes a batch twice that is sent twice: ALTER TABLE `t` MODIFY " +
				"SETTING non_replicated_deduplication_window = 10000 first; " +
				`its column "id" is Int32: want Int64 or UInt64; its column "n" is Int32: want ` +
				`String or Nullable(String); it has no column "name": want String or ` +
				`Nullable(String)`,
		},
		{
			databases.ClickHouse, `CREATE TABLE t (id Int64, n Date, name String) ENGINE = Memory`,
			"its engine is Memory: want MergeTree with SETTINGS " +
				"non_replicated_deduplication_window = 10000; its column \"n\" is Date",
		},
		{
			databases.ClickHouse,
			`CREATE TABLE t (id Int64, n String, name String) ENGINE = Memory`,
			"its engine is Memory: want MergeTree",
		},
		{
			databases.ClickHouse,
			`CREATE TABLE t (id Int64, n String, name String) ENGINE = ReplacingMergeTree ` +
				`ORDER BY id` + window,
			"its engine is ReplacingMergeTree: want MergeTree",
		},
	} {
		f := newFixtureIn(t, at(test.kind), t.TempDir()+"/app.db")
		f.exec(test.create)
		_, err := f.run(ctx, strings.NewReader(numbered(25)), importing())
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s, %s: %v", test.kind, test.create, err)
		case test.want == "":
			f.checkNumbered(25, 1)
		case err == nil || !strings.Contains(err.Error(), test.want) ||
			errors.As(err, new(*StoppedError)):
			t.Errorf("%s, %s: %v, want %q", test.kind, test.create, err, test.want)
		case f.count(`SELECT count(*) FROM idmint_launch`) != 0:
			t.Errorf("%s, %s: a launch was started", test.kind, test.create)
		}
		if strings.HasPrefix(test.create, "CREATE VIEW") {
			f.exec("DROP VIEW t")
		}
	}
	// PostgreSQL would cut such names off by itself, and two of them might become one.
	f := newFixtureIn(t, at(databases.Postgres), t.TempDir()+"/app.db")
	_, err := f.run(ctx, strings.NewReader(strings.Repeat("x", 64)+"\n1\n"), importing())
	if err == nil || !strings.Contains(err.Error(), "has 64 bytes: the database takes 63") {
		t.Errorf("a long name: %v", err)
	}
}

// A cutter is a network in front of a server that loses connections: before a request arrives, or
// after it, with the answer.
type cutter struct {
	net.Listener
	server string
	least  int   // bytes that a connection sends before it is lost
	spread int   // more of them, at most
	most   int64 // connections that are lost; 0 for all
	lost   atomic.Int64
	intact atomic.Bool
	commit atomic.Bool // the next COMMIT is the last thing that is sent, and is not answered
	down   atomic.Bool
}

var commit = regexp.MustCompile(`COMMIT\b`)

func newCutter(t *testing.T, server string, changes ...func(*cutter)) *cutter {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{Listener: l, server: server, least: 2_000, spread: 20_000}
	t.Cleanup(func() { l.Close() })
	for _, change := range changes {
		change(c)
	}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go c.serve(client)
		}
	}()
	return c
}

func (c *cutter) serve(client net.Conn) {
	defer client.Close()
	if c.down.Load() {
		return
	}
	server, err := net.Dial("tcp", c.server)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		defer server.Close()
		buffer := make([]byte, 4<<10)
		for left := c.least + rand.IntN(c.spread); ; {
			n, err := client.Read(buffer)
			if err != nil {
				return
			}
			cut := left < n && !c.intact.Load() && (c.most == 0 || c.lost.Load() < c.most)
			last := c.commit.Load() && commit.Match(buffer[:n])
			if last {
				c.down.Store(true)
				cut = true
			}
			if cut { // before the server may answer
				c.lost.Add(1)
				client.Close()
			}
			if left -= n; !cut || last || rand.IntN(2) == 0 {
				_, _ = server.Write(buffer[:n])
			}
			if cut {
				time.Sleep(20 * time.Millisecond) // in which the server does what it was told
				return
			}
		}
	}()
	_, _ = io.Copy(client, server)
}

// Connections that are lost, with requests and with answers, are made again: one run stores each
// row once.
func TestLostConnections(t *testing.T) { inPlaces(t, places[1:], testLostConnections) }

func testLostConnections(t *testing.T, newFixture func(testing.TB) *fixture) {
	const rows = 3000
	f := newFixture(t)
	network := newCutter(t, f.at.target.Host())
	f.at.target = f.at.target.WithHost(network.Addr().String())
	result, err := f.run(ctx, strings.NewReader(numbered(rows)),
		importing(func(im *Import) { im.Batch = 50 }))
	network.intact.Store(true)
	t.Logf("%d connections lost while %d rows were stored", network.lost.Load(), result.Rows)
	if err != nil || result.Rows != rows {
		t.Fatalf("%+v, %v", result, err)
	}
	f.checkNumbered(rows, 1)
	if network.lost.Load() < 3 {
		t.Error("too few: the test shows nothing")
	}
}

// Connections are lost in the middle of COPY and LOAD DATA, some MiB after they began.
func TestLostConnectionsAtSpeed(t *testing.T) { inPlaces(t, onServers, testLostConnectionsAtSpeed) }

func testLostConnectionsAtSpeed(t *testing.T, newFixture func(testing.TB) *fixture) {
	const rows, losses = 300_000, 3
	f := newFixture(t)
	f.exec(`CREATE TABLE t (id BIGINT NOT NULL PRIMARY KEY, n INT, name TEXT)`)
	network := newCutter(t, f.at.target.Host(), func(c *cutter) {
		c.least, c.spread, c.most = 1<<20, 5<<20, losses
	})
	f.at.target = f.at.target.WithHost(network.Addr().String())
	result, err := f.run(ctx, strings.NewReader(numbered(rows)),
		importing(func(im *Import) { im.Batch = 0 }))
	if err != nil || result.Rows != rows {
		t.Fatalf("%+v, %v", result, err)
	}
	f.checkNumbered(rows, 1)
	if n := network.lost.Load(); n != losses {
		t.Errorf("%d connections were lost: the test shows too little", n)
	}
}

// A batch may be stored whose COMMIT was sent before the server was away for longer than the
// budget.
func TestCommitInDoubt(t *testing.T) { inPlaces(t, onServers, testCommitInDoubt) }

func testCommitInDoubt(t *testing.T, newFixture func(testing.TB) *fixture) {
	f := newFixture(t)
	at := f.at
	network := newCutter(t, at.target.Host())
	network.intact.Store(true)
	f.at.target = at.target.WithHost(network.Addr().String())
	im := importing()
	im.Progress = func(rows, _ int64) {
		if rows == 20 {
			network.commit.Store(true)
		}
	}
	_, err := Run(ctx, f.database(6*time.Second), f.log, strings.NewReader(numbered(50)), im)
	var stopped *StoppedError
	if !errors.As(err, &stopped) || stopped.Rows != 20 || stopped.InDoubt != 10 ||
		!strings.Contains(err.Error(), "20 rows are stored, the next 10 are in doubt") {
		t.Error(err)
	}
	f.checkNumbered(30, 1)
	f.at = at
	f.mustRun(numbered(50), importing(resume))
	f.checkNumbered(50, 1)
}

// Whoever waits for a lock obeys the context, and nothing of the batch is stored.
func TestInterruptedOnServer(t *testing.T) { inPlaces(t, onServers, testInterruptedOnServer) }

func testInterruptedOnServer(t *testing.T, newFixture func(testing.TB) *fixture) {
	f := newFixture(t)
	lock, unlock := `BEGIN; LOCK TABLE t`, `ROLLBACK`
	if f.at.kind == databases.MariaDB {
		lock, unlock = `LOCK TABLES t WRITE`, `UNLOCK TABLES`
	}
	locked, err := f.db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	ending, cancel := context.WithCancelCause(ctx)
	im := importing()
	im.Progress = func(rows, _ int64) {
		if rows == 20 {
			if _, err := locked.ExecContext(ctx, lock); err != nil {
				t.Error(err)
			}
			time.AfterFunc(300*time.Millisecond, func() { cancel(errStop) })
		}
	}
	began := time.Now()
	_, err = f.run(ending, strings.NewReader(numbered(50)), im)
	var stopped *StoppedError
	if !errors.As(err, &stopped) || !errors.Is(err, errStop) || stopped.Rows != 20 ||
		time.Since(began) > 10*time.Second {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
	if _, err := locked.ExecContext(ctx, unlock); err != nil {
		t.Error(err)
	}
	locked.Close()
	f.checkNumbered(20, 1)
	f.mustRun(numbered(50), importing(resume))
	f.checkNumbered(50, 1)
}

// A batch whose COMMIT was carried out, and not answered, is stored again: it finds itself there.
func TestAnswerLost(t *testing.T) {
	everywhere(t, func(t *testing.T, newFixture func(testing.TB) *fixture) {
		f := newFixture(t)
		if f.at.kind == databases.ClickHouse { // see TestDoubt
			return
		}
		f.stopAfter(20, numbered(40), importing())
		db := f.database(5 * time.Second)
		im := importing(func(im *Import) { im.IDColumn = "id" })
		s, err := db.last(ctx, im)
		if err != nil {
			t.Fatal(err)
		}
		src := newSource(strings.NewReader(numbered(40)))
		rec, err := openRecords(src, CSV)
		if err != nil {
			t.Fatal(err)
		}
		if err := skip(rec, src, s); err != nil {
			t.Fatal(err)
		}
		next := s.ranges[0][1]
		batches, _ := read(ctx, rec, src, 10, s.position)
		for b := range batches {
			ids := make([]idtype.DecimalID, b.rows)
			for i := range ids {
				next += idtype.DecimalStep
				ids[i] = idtype.DecimalID(next)
			}
			before := *s
			for range 2 {
				*s = before
				if err := db.store(ctx, im, rec.columns(), s, ids, b); err != nil {
					t.Fatalf("%d rows: %v", b.end.rows, err)
				}
			}
			if b.err != nil {
				break
			}
		}
		f.checkNumbered(40, 1)
		n := f.count(`SELECT count(*) FROM idmint_import
			WHERE state = 'finished' AND stored_rows = 40`)
		if n != 1 {
			t.Errorf("%d imports are finished", n)
		}
	})
}
