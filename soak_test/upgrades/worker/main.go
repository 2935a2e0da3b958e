// Command worker is an app for the tests of upgrades, which build it from two releases. It starts
// repeatedly on a launch log until its input ends, and prints each ID or number that it mints on a
// line.
//
//	worker migrate DSN
//	worker run DSN
package main

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/idmint/idmint"
	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/cassandra"
	"github.com/idmint/idmint/launchlog/etcd"
	"github.com/idmint/idmint/launchlog/mysql"
	"github.com/idmint/idmint/launchlog/postgres"
	"github.com/idmint/idmint/launchlog/sqlite"
	"github.com/idmint/idmint/launchlog/zookeeper"
	"github.com/idmint/idmint/migrations"
)

func main() {
	d, err := dsn.Parse(os.Args[2])
	if err == nil && os.Args[1] == "migrate" {
		err = migrate(context.Background(), d)
	} else if err == nil {
		err = run(context.Background(), d)
	}
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

type store interface {
	launchlog.Store
	io.Closer
}

func open(ctx context.Context, d dsn.DSN) (store, error) {
	switch d.Kind {
	case dsn.SQLite:
		return sqlite.Open(ctx, d.Path)
	case dsn.Postgres:
		return postgres.Open(ctx, d.Source())
	case dsn.MySQL:
		return mysql.Open(ctx, d.Source())
	case dsn.Etcd:
		return etcd.Open(ctx, etcd.Config{Endpoints: d.Nodes(), Prefix: d.Prefix()})
	case dsn.ZooKeeper:
		return zookeeper.Open(ctx, zookeeper.Config{Servers: d.Nodes(), Path: d.Prefix()})
	}
	return cassandra.Open(ctx, inCassandra(d))
}

func inCassandra(d dsn.DSN) cassandra.Config {
	return cassandra.Config{
		Hosts: d.Nodes(), Keyspace: strings.TrimPrefix(d.Prefix(), "/"),
		Replication: map[string]string{"class": "SimpleStrategy", "replication_factor": "1"},
	}
}

// migrate prints the versions before and after.
func migrate(ctx context.Context, d dsn.DSN) (err error) {
	var from, to int
	switch d.Kind {
	case dsn.Etcd:
		from, to, err = etcd.Migrate(ctx, etcd.Config{Endpoints: d.Nodes(), Prefix: d.Prefix()})
	case dsn.ZooKeeper:
		from, to, err = zookeeper.Migrate(ctx, zookeeper.Config{Servers: d.Nodes(), Path: d.Prefix()})
	case dsn.Cassandra:
		from, to, err = cassandra.Migrate(ctx, inCassandra(d))
	default:
		source := d.Source()
		if d.Kind == dsn.SQLite {
			source = sqlite.DSN(d.Path, sqlite.Create)
		}
		db, failed := sql.Open(d.Driver(), source)
		if failed != nil {
			return failed
		}
		defer db.Close()
		from, to, err = migrations.Up(ctx, db, d.Kind)
	}
	fmt.Println(from, to)
	return err
}

// run mints with a new start in each round, and with one that continues all the time.
func run(ctx context.Context, d dsn.DSN) error {
	told := make(chan struct{})
	go func() {
		bufio.NewReader(os.Stdin).ReadByte()
		close(told)
	}()
	lasting, err := open(ctx, d)
	if err != nil {
		return err
	}
	defer lasting.Close()
	ids, err := idmint.Open(ctx, lasting, idmint.App{Service: "shop", Deployment: "lasting"})
	if err != nil {
		return err
	}
	for {
		select {
		case <-told:
			return nil
		default:
		}
		if err := mint(ctx, ids); err != nil {
			return err
		}
		if err := round(ctx, d); err != nil {
			return err
		}
	}
}

func round(ctx context.Context, d dsn.DSN) (err error) {
	s, err := open(ctx, d)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	// All workers that start within a second share one launch.
	deployment := fmt.Sprint("at-", time.Now().Unix())
	ids, err := idmint.Open(ctx, s, idmint.App{Service: "shop", Deployment: deployment})
	if err != nil {
		return err
	}
	if err := mint(ctx, ids); err != nil {
		return err
	}
	orders, err := ids.Log().Counter("orders")
	if err != nil {
		return err
	}
	number, err := orders.Reserve(ctx, 0, 1)
	if err != nil {
		return err
	}
	fmt.Println("number", number)
	_ = ids.Close(ctx) // a failed report affects only the order
	return nil
}

func mint(ctx context.Context, ids *idmint.IDs) error {
	for range 3 {
		id, err := ids.Next(ctx)
		if err != nil {
			return err
		}
		fmt.Println("ID", id)
	}
	return nil
}
