package stores_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/cassandra"
	"github.com/idmint/idmint/launchlog/etcd"
	"github.com/idmint/idmint/launchlog/storetest"
	"github.com/idmint/idmint/launchlog/zookeeper"
)

func etcdConfig(d dsn.DSN) etcd.Config {
	return etcd.Config{Endpoints: d.Nodes(), Prefix: d.Prefix()}
}

func zookeeperConfig(d dsn.DSN) zookeeper.Config {
	return zookeeper.Config{Servers: d.Nodes(), Path: d.Prefix()}
}

func cassandraConfig(d dsn.DSN) cassandra.Config {
	return cassandra.Config{
		Hosts: d.Nodes(), Keyspace: strings.TrimPrefix(d.Prefix(), "/"),
		Replication: map[string]string{"class": "SimpleStrategy", "replication_factor": "1"},
	}
}

// keyValue is a store of keys and values. Its package runs the tests of every store on the server
// that all tests share.
type keyValue struct {
	open    func(context.Context, dsn.DSN) (store, error)
	migrate func(context.Context, dsn.DSN) (from, to int, err error)
}

var keyValues = map[databases.Kind]keyValue{
	databases.Etcd: keyValueOf(etcdConfig, etcd.Open, etcd.Migrate),
	databases.ZooKeeper: keyValueOf(zookeeperConfig, zookeeper.Open,
		zookeeper.Migrate),
	databases.Cassandra: keyValueOf(cassandraConfig, cassandra.Open,
		cassandra.Migrate),
}

func keyValueOf[C any, S store](
	config func(dsn.DSN) C, open func(context.Context, C) (S, error),
	migrate func(context.Context, C) (from, to int, err error),
) keyValue {
	return keyValue{
		func(ctx context.Context, d dsn.DSN) (store, error) { return open(ctx, config(d)) },
		func(ctx context.Context, d dsn.DSN) (int, int, error) { return migrate(ctx, config(d)) },
	}
}

// database makes a place with an empty launch log, which was migrated twice.
func (k keyValue) database(t *testing.T, kind databases.Kind) dsn.DSN {
	t.Helper()
	d := dbtest.New(t, kind)
	first := 0
	for range 2 {
		from, to, err := k.migrate(ctx, d)
		if err != nil || from != first || to != 1 {
			t.Fatalf("migrated from %d to %d, %v", from, to, err)
		}
		first = to
	}
	return d
}

// A place without a log says so.
func TestKeyValueNoLog(t *testing.T) {
	eachKeyValue(t, func(t *testing.T, kind databases.Kind, k keyValue) {
		var schema *launchlog.SchemaError
		_, err := k.open(ctx, dbtest.New(t, kind))
		if !errors.As(err, &schema) || schema.Have != 0 {
			t.Errorf("%v, want a SchemaError", err)
		}
		storetest.BeginsWith(t, err, fmt.Sprintf("launchlog/%s: ", strings.ToLower(string(kind))))
	})
}

func eachKeyValue(t *testing.T, run func(*testing.T, databases.Kind, keyValue)) {
	t.Parallel()
	for kind, k := range keyValues {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			run(t, kind, k)
		})
	}
}
