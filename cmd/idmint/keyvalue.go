package main

import (
	"context"
	"strings"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/launchlog/cassandra"
	"github.com/idmint/idmint/launchlog/cassandra/cassandradoctor"
	"github.com/idmint/idmint/launchlog/checks"
	"github.com/idmint/idmint/launchlog/etcd"
	"github.com/idmint/idmint/launchlog/etcd/etcddoctor"
	"github.com/idmint/idmint/launchlog/zookeeper"
	"github.com/idmint/idmint/launchlog/zookeeper/zookeeperdoctor"
)

// A keyValue holds how the command uses a launch log in a database without tables.
type keyValue struct {
	open    func(context.Context, dsn.DSN) (store, error)
	migrate func(context.Context, dsn.DSN) (from, to int, err error)
	examine func(context.Context, dsn.DSN) ([]checks.Result, map[string]string, error)
}

var keyValues = map[dsn.Kind]keyValue{
	dsn.Etcd: newKeyValue(etcdConfig, etcd.Open, etcd.Migrate, etcddoctor.Check),
	dsn.ZooKeeper: newKeyValue(zooKeeperConfig, zookeeper.Open, zookeeper.Migrate,
		zookeeperdoctor.Check),
	dsn.Cassandra: newKeyValue(cassandraConfig, cassandra.Open, cassandra.Migrate,
		cassandradoctor.Check),
}

// newKeyValue adapts the functions of a store's package to names of databases.
func newKeyValue[C any, S store](
	config func(dsn.DSN) (C, error), open func(context.Context, C) (S, error),
	migrate func(context.Context, C) (from, to int, err error),
	check func(context.Context, C) ([]checks.Result, map[string]string, error),
) keyValue {
	return keyValue{
		open: func(ctx context.Context, d dsn.DSN) (store, error) {
			c, err := config(d)
			if err != nil {
				return nil, err
			}
			s, err := open(ctx, c)
			if err != nil { // s is a nil pointer, which is not a nil store
				return nil, err
			}
			return s, nil
		},
		migrate: func(ctx context.Context, d dsn.DSN) (from, to int, err error) {
			c, err := config(d)
			if err != nil {
				return 0, 0, err
			}
			return migrate(ctx, c)
		},
		examine: func(ctx context.Context, d dsn.DSN) (
			[]checks.Result, map[string]string, error,
		) {
			c, err := config(d)
			if err != nil {
				return nil, nil, err
			}
			return check(ctx, c)
		},
	}
}

func etcdConfig(d dsn.DSN) (c etcd.Config, err error) {
	c.Endpoints, c.Prefix = d.Nodes(), d.Prefix()
	c.User, c.Password = d.User()
	c.TLS, err = d.TLS()
	return c, err
}

func zooKeeperConfig(d dsn.DSN) (c zookeeper.Config, err error) {
	c.Servers, c.Path = d.Nodes(), d.Prefix()
	c.User, c.Password = d.User()
	if c.SessionTimeout, err = d.Session(); err == nil {
		c.TLS, err = d.TLS()
	}
	return c, err
}

func cassandraConfig(d dsn.DSN) (c cassandra.Config, err error) {
	c.Hosts, c.Keyspace = d.Nodes(), strings.TrimPrefix(d.Prefix(), "/")
	if c.Keyspace == "" {
		c.Keyspace = "idmint"
	}
	c.User, c.Password = d.User()
	c.DataCenter, c.LocalSerial = d.Setting("dc"), d.Setting("serial") == "local"
	if c.Replication, err = d.Replication(); err == nil {
		c.TLS, err = d.TLS()
	}
	return c, err
}
