package importer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/internal/formats"
)

// A row that a server refuses spoils its batch, and no other. The error names it.
func TestRefusedByServer(t *testing.T) { inPlaces(t, onServers, testRefusedByServer) }

func testRefusedByServer(t *testing.T, newFixture func(testing.TB) *fixture) {
	long := strings.Repeat("x", 300)
	kind := newFixture(t).at.kind
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
		if test.kind != kind {
			continue
		}
		f := newFixture(t)
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

func TestExistingOnServers(t *testing.T) { inPlaces(t, places[1:], testExistingOnServers) }

func testExistingOnServers(t *testing.T, newFixture func(testing.TB) *fixture) {
	kind := newFixture(t).at.kind
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
		if test.kind != kind {
			continue
		}
		f := newFixture(t)
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
	if kind != databases.Postgres {
		return
	}
	f := newFixture(t)
	_, err := f.run(ctx, strings.NewReader(strings.Repeat("x", 64)+"\n1\n"), importing())
	if err == nil || !strings.Contains(err.Error(), "has 64 bytes: the database takes 63") {
		t.Errorf("a long name: %v", err)
	}
}

// A cutter is a network in front of a server that loses connections, each after some bytes: before
// a request arrives, or after it, with the answer.
type cutter struct {
	net.Listener
	server string

	mu    sync.Mutex
	after []int         // bytes until the next ones are lost, of all connections; guarded by mu
	sent  int           // since the last one was lost; guarded by mu
	down  chan struct{} // if not nil, the next COMMIT closes it, and nothing gets through any more; guarded by mu
}

var commit = regexp.MustCompile(`COMMIT\b`)

func newCutter(t *testing.T, server string, after ...int) *cutter {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{Listener: l, server: server, after: after}
	t.Cleanup(func() { l.Close() })
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

// left is how many connections are still to be lost.
func (c *cutter) left() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.after)
}

// downAtCommit lets the network go down when it has passed on the next COMMIT. The channel is
// closed then.
func (c *cutter) downAtCommit() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.down = make(chan struct{})
	return c.down
}

// fate is what becomes of a request: whether its connection is lost, and whether it arrives.
func (c *cutter) fate(request []byte) (lost, arrives bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.down != nil && commit.Match(request) {
		select {
		case <-c.down:
			return true, false
		default:
			close(c.down)
			return true, true
		}
	}
	if c.sent += len(request); len(c.after) == 0 || c.sent < c.after[0] {
		return false, true
	}
	c.sent, c.after = 0, c.after[1:]
	return true, len(c.after)%2 == 0
}

func (c *cutter) isDown() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.down: // of nil, never
		return true
	default:
		return false
	}
}

func (c *cutter) serve(client net.Conn) {
	defer client.Close()
	if c.isDown() {
		return
	}
	server, err := net.Dial("tcp", c.server)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		buffer := make([]byte, 4<<10)
		for {
			n, err := client.Read(buffer)
			if err != nil {
				server.Close()
				return
			}
			lost, arrives := c.fate(buffer[:n])
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

// Connections that are lost, with requests and with answers, are made again: one run stores each
// row once.
func TestLostConnections(t *testing.T) { inPlaces(t, places[1:], testLostConnections) }

func testLostConnections(t *testing.T, newFixture func(testing.TB) *fixture) {
	const rows = 500
	f := newFixture(t)
	losses := make([]int, 10)
	for i := range losses {
		losses[i] = 2_000 + 300*i
	}
	network := newCutter(t, f.at.target.Host(), losses...)
	f.at.target = f.at.target.WithHost(network.Addr().String())
	result, err := f.run(ctx, strings.NewReader(numbered(rows)), importing())
	if err != nil || result.Rows != rows {
		t.Fatalf("%+v, %v", result, err)
	}
	f.checkNumbered(rows, 1)
	if n := network.left(); n > 0 {
		t.Errorf("%d connections were not lost: the test shows too little", n)
	}
}

// Connections are lost in the middle of COPY and LOAD DATA.
func TestLostConnectionsInTheMidst(t *testing.T) {
	inPlaces(t, onServers, func(t *testing.T, newFixture func(testing.TB) *fixture) {
		const rows = 30_000
		f := newFixture(t)
		f.exec(`CREATE TABLE t (id BIGINT NOT NULL PRIMARY KEY, n INT, name TEXT)`)
		network := newCutter(t, f.at.target.Host(), 100_000, 200_000)
		f.at.target = f.at.target.WithHost(network.Addr().String())
		result, err := f.run(ctx, strings.NewReader(numbered(rows)),
			importing(func(im *Import) { im.Batch = 0 }))
		if err != nil || result.Rows != rows {
			t.Fatalf("%+v, %v", result, err)
		}
		f.checkNumbered(rows, 1)
		if n := network.left(); n > 0 {
			t.Errorf("%d connections were not lost: the test shows too little", n)
		}
	})
}

// A batch may be stored whose COMMIT was sent and not answered before the import ended.
func TestCommitInDoubt(t *testing.T) { inPlaces(t, onServers, testCommitInDoubt) }

func testCommitInDoubt(t *testing.T, newFixture func(testing.TB) *fixture) {
	f := newFixture(t)
	at := f.at
	network := newCutter(t, at.target.Host())
	f.at.target = at.target.WithHost(network.Addr().String())
	ending, end := context.WithCancelCause(ctx)
	im := importing()
	im.Progress = func(rows, _ int64) {
		if rows == 20 {
			down := network.downAtCommit()
			go func() {
				<-down
				end(errStop)
			}()
		}
	}
	_, err := f.run(ending, strings.NewReader(numbered(50)), im)
	var stopped *StoppedError
	if !errors.As(err, &stopped) || stopped.Rows != 20 || stopped.InDoubt != 10 ||
		!strings.Contains(err.Error(), "20 rows are stored, the next 10 are in doubt") {
		t.Error(err)
	}
	for f.count(`SELECT count(*) FROM t`) < 30 { // the server is about to store them
		time.Sleep(time.Millisecond)
	}
	f.at = at
	f.mustRun(numbered(50), importing(resume))
	f.checkNumbered(50, 1)
}

// Whoever waits for a lock obeys the context, and nothing of the batch is stored.
func TestInterruptedOnServer(t *testing.T) { inPlaces(t, onServers, testInterruptedOnServer) }

func testInterruptedOnServer(t *testing.T, newFixture func(testing.TB) *fixture) {
	f := newFixture(t)
	lock, unlock := `BEGIN; LOCK TABLE t`, `ROLLBACK`
	waiting := `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND ` +
		`wait_event_type = 'Lock'`
	if f.at.kind == databases.MariaDB {
		lock, unlock = `LOCK TABLES t WRITE`, `UNLOCK TABLES`
		waiting = `SELECT count(*) FROM information_schema.processlist WHERE db = DATABASE() AND ` +
			`state LIKE 'Waiting for table%'`
	}
	locked, err := f.db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	ending, cancel := context.WithCancelCause(ctx)
	im := importing()
	im.Progress = func(rows, _ int64) {
		if rows != 20 {
			return
		}
		if _, err := locked.ExecContext(ctx, lock); err != nil {
			t.Error(err)
		}
		go func() {
			for n := 0; n == 0; time.Sleep(time.Millisecond) {
				if err := f.db.QueryRow(waiting).Scan(&n); err != nil {
					t.Error(err)
					break
				}
			}
			cancel(errStop)
		}()
	}
	_, err = f.run(ending, strings.NewReader(numbered(50)), im)
	var stopped *StoppedError
	if !errors.As(err, &stopped) || !errors.Is(err, errStop) || stopped.Rows != 20 {
		t.Error(err)
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
		db := f.database(patience)
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
				next += formats.DecimalStep
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
