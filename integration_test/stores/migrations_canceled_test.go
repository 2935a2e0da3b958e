package stores_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/migrations"
)

// A counter counts the statements of a pool's connections, and calls before with the number of each
// before it is sent.
type counter struct {
	driver.Connector
	before func(statement int)
	n      int
}

// Connect implements driver.Connector.
func (c *counter) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &countedConn{conn.(mysqlConn), c}, nil
}

func (c *counter) next() {
	c.n++
	c.before(c.n)
}

// mysqlConn has the methods of the driver's connections that database/sql asks for.
type mysqlConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.NamedValueChecker
	driver.Pinger
	driver.QueryerContext
	driver.SessionResetter
	driver.Validator
}

type countedConn struct {
	mysqlConn
	counter *counter
}

// ExecContext implements driver.ExecerContext.
func (c *countedConn) ExecContext(
	ctx context.Context, query string, args []driver.NamedValue,
) (driver.Result, error) {
	c.counter.next()
	return c.mysqlConn.ExecContext(ctx, query, args)
}

// QueryContext implements driver.QueryerContext.
func (c *countedConn) QueryContext(
	ctx context.Context, query string, args []driver.NamedValue,
) (driver.Rows, error) {
	c.counter.next()
	return c.mysqlConn.QueryContext(ctx, query, args)
}

// Wherever a context ends a migration, before a statement or amid one, the pool's connections keep
// no lock that others wait for.
func TestMigrationCanceled(t *testing.T) {
	t.Parallel()
	// up migrates an empty database, and calls before with each statement's number.
	up := func(
		t *testing.T, before func(statement int, cancel func()),
	) (statements int, err error) {
		d := dbtest.New(t, mysqlServer.kind)
		config, err := mysql.ParseDSN(d.Source())
		if err != nil {
			t.Fatal(err)
		}
		connector, err := mysql.NewConnector(config)
		if err != nil {
			t.Fatal(err)
		}
		ending, cancel := context.WithCancel(ctx)
		defer cancel()
		counted := &counter{
			Connector: connector, before: func(statement int) { before(statement, cancel) },
		}
		db := sql.OpenDB(counted)
		defer db.Close()
		_, _, err = migrations.Up(ending, db, migrations.MySQL)
		statements = counted.n
		counted.before = func(int) {}
		noLock(t, d, db)
		return statements, err
	}
	all, err := up(t, func(int, func()) {})
	if err != nil {
		t.Fatal(err)
	}
	const step = 5
	canceled := 0
	for at := 1; at <= all; at += step {
		for when, end := range map[string]func(cancel func()){
			"before": func(cancel func()) { cancel() },
			"amid":   func(cancel func()) { go cancel() },
		} {
			if _, err := up(t, func(statement int, cancel func()) {
				if statement == at {
					end(cancel)
				}
			}); err != nil {
				canceled++
			} else if when == "before" && at < all/2 {
				t.Errorf("%s statement %d of %d: the migration goes on", when, at, all)
			}
		}
	}
	t.Logf("%d migrations of %d statements were canceled", canceled, all)
}

// noLock waits until nobody has the lock of migrators. The server takes it from a connection that
// was cut off as soon as it notices. One that the pool has kept would have it for ever.
func noLock(t *testing.T, d dsn.DSN, db *sql.DB) {
	t.Helper()
	var kept []int64
	for range db.Stats().Idle {
		conn, err := db.Conn(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		var id int64
		if err := conn.QueryRowContext(ctx, "SELECT connection_id()").Scan(&id); err != nil {
			t.Fatal(err)
		}
		kept = append(kept, id)
	}
	other := dbtest.Open(t, d)
	defer other.Close()
	for {
		var holder sql.NullInt64
		err := other.QueryRow(`SELECT is_used_lock(
			concat('idmint ', left(sha2(database(), 256), 40)))`).Scan(&holder)
		if err != nil {
			t.Fatal(err)
		}
		if !holder.Valid {
			return
		}
		for _, id := range kept {
			if id == holder.Int64 {
				t.Fatalf("connection %d of the pool keeps the migrators' lock", id)
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
}
