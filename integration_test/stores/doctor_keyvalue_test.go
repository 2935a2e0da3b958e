package stores_test

import (
	"context"
	"errors"
	"path"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/integration_test/findings"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/cassandra"
	"github.com/idmint/idmint/launchlog/cassandra/cassandradoctor"
	"github.com/idmint/idmint/launchlog/checks"
	"github.com/idmint/idmint/launchlog/etcd"
	"github.com/idmint/idmint/launchlog/etcd/etcddoctor"
	"github.com/idmint/idmint/launchlog/zookeeper"
	"github.com/idmint/idmint/launchlog/zookeeper/zookeeperdoctor"
)

// checked makes the checks of a store, compares what they say with what is wanted, and returns what
// they say of the store itself.
type checked func(t *testing.T, when string, wanted map[string]string) (identity map[string]string)

// checking is [checked] by the doctor of a store.
func checking[C any](
	config C, check func(context.Context, C) ([]checks.Result, map[string]string, error),
) checked {
	return func(t *testing.T, when string, wanted map[string]string) map[string]string {
		t.Helper()
		return findings.Checked(t, when, config, check, wanted)
	}
}

// refuses checks what a check says of a configuration that is none, and of a context that ended.
func refuses[C any, E error](
	t *testing.T, bad, good C,
	check func(context.Context, C) ([]checks.Result, map[string]string, error),
) {
	t.Helper()
	_, _, err := check(ctx, bad)
	if wrong := *new(E); !errors.As(err, &wrong) {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, _, err := check(ended, good); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestDoctorEtcd(t *testing.T) {
	t.Parallel()
	config := etcdConfig(keyValues[databases.Etcd].database(t, databases.Etcd))
	client, err := config.Client(ctx, config.Endpoints[0])
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	well := map[string]string{
		"etcd.rights":  "note: authentication is off: anyone who reaches the cluster may delete",
		"etcd.members": "note: there are 1 voting members: if one of them fails, the log stops",
		"etcd.version": "passed: etcd 3.",
	}
	check := checking(config, etcddoctor.Check)
	first := check(t, "well", well)
	if _, err := client.Delete(ctx, config.Prefix+":", clientv3.WithPrefix()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := etcd.Migrate(ctx, config); err != nil {
		t.Fatal(err)
	}
	second := check(t, "made anew", well)
	store, err := etcd.Open(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	// The servers of the tests have etcd's default quota, of 2 GiB.
	if room, err := store.Room(ctx); err != nil || room < 1_000_000 || room > 2<<30/690 {
		t.Errorf("room for %d claims, %v", room, err)
	}
	if first["log"] == "" || second["log"] == first["log"] ||
		second["cluster"] != first["cluster"] {
		t.Errorf("%v, %v", first, second)
	}
	refuses[etcd.Config, *launchlog.RequestError](t, etcd.Config{Prefix: "/a"}, config,
		etcddoctor.Check)
}

// The words that are asked of the server are refused, but srvr and mntr.
func TestDoctorZooKeeper(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, databases.ZooKeeper)
	above := zookeeperConfig(d)
	config := above
	config.Path += "/log" // a quota may be above it
	if _, _, err := zookeeper.Migrate(ctx, config); err != nil {
		t.Fatal(err)
	}
	conn, _, err := zk.Connect(config.Servers, 10*time.Second, zk.WithLogger(quiet{}))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	well := map[string]string{
		"zookeeper.acl": "note: anybody who reaches the ensemble may change or delete " +
			config.Path + ". ",
		"zookeeper.servers": "note: there are 1 voting members: if one of them fails, the log stops",
		"zookeeper.failover": "unknown: " + config.Servers[0] + " refuses the word conf: add it " +
			"to 4lw.commands.whitelist",
		"zookeeper.memory":  "unknown: ",
		"zookeeper.version": "passed: ZooKeeper 3.",
	}
	check := checking(config, zookeeperdoctor.Check)
	first := check(t, "well", well)
	quota := "/zookeeper/quota" + above.Path
	for _, znode := range [][2]string{
		{"", ""},
		{"/zookeeper_limits", "count=5,bytes=-1"},
		{"/zookeeper_stats", "count=0,bytes=0"},
	} {
		_, err := conn.Create(quota+znode[0], []byte(znode[1]), 0, zk.WorldACL(zk.PermAll))
		if err != nil {
			t.Fatal(quota+znode[0], err)
		}
	}
	check(t, "a quota", findings.With(well, "zookeeper.quota", "finding: "+above.Path+" has "))
	for _, znode := range []string{"/zookeeper_limits", "/zookeeper_stats", ""} {
		if err := conn.Delete(quota+znode, -1); err != nil {
			t.Fatal(err)
		}
	}
	check(t, "without the quota", well)

	removeAll(t, conn, config.Path)
	if made := check(t, "gone", findings.With(well, "zookeeper.acl", "passed: ")); made != nil {
		t.Errorf("%v", made)
	}
	if _, _, err := zookeeper.Migrate(ctx, config); err != nil {
		t.Fatal(err)
	}
	if second := check(t, "anew", well); first["log"] == "" || second["log"] == first["log"] {
		t.Errorf("%v, %v", first, second)
	}
	refuses[zookeeper.Config, *launchlog.RequestError](t, zookeeper.Config{Path: "/a"}, config,
		zookeeperdoctor.Check)
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

func removeAll(t *testing.T, conn *zk.Conn, znode string) {
	t.Helper()
	children, _, err := conn.Children(znode)
	for _, child := range children {
		removeAll(t, conn, path.Join(znode, child))
	}
	if err == nil {
		err = conn.Delete(znode, -1)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestDoctorCassandra(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, databases.Cassandra)
	config := cassandraConfig(d)
	session, err := config.Session(ctx, config.Hosts[0])
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	cql := func(text string) {
		t.Helper()
		if err := session.Query(text).ExecContext(ctx); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	well := map[string]string{"cassandra.rights": "note: there is no authorizer: "}
	check := checking(config, cassandradoctor.Check)
	check(t, "before migrate", well)
	if _, _, err := cassandra.Migrate(ctx, config); err != nil {
		t.Fatal(err)
	}
	well = findings.With(well, "cassandra.version", "passed: Cassandra 5.",
		"cassandra.replication", "note: there is one node, and one copy of the log",
		"cassandra.commitlog", "passed: ", "cassandra.paxos", "passed: ",
		"cassandra.table", "passed: rows of the log's tables never expire")
	if is := check(t, "well", well); is["log"] == "" {
		t.Errorf("%v", is)
	}
	table := config.Keyspace + ".idmint_log"
	for _, c := range []struct{ do, undo, code, text string }{
		{
			"ALTER KEYSPACE " + config.Keyspace + " WITH durable_writes = false",
			"ALTER KEYSPACE " + config.Keyspace + " WITH durable_writes = true",
			"cassandra.replication",
			"note: there is one node, and one copy of the log: with its disk the log is lost. " +
				"finding: durable_writes is false",
		},
		{
			"ALTER TABLE " + table + " WITH default_time_to_live = 60",
			"ALTER TABLE " + table + " WITH default_time_to_live = 0", "cassandra.table",
			"finding: rows of the table idmint_log expire after 60 s",
		},
	} {
		cql(c.do)
		check(t, c.do, findings.With(well, c.code, c.text))
		cql(c.undo)
	}
	check(t, "in the end", well)
	refuses[cassandra.Config, *launchlog.RequestError](t, cassandra.Config{Hosts: config.Hosts},
		config, cassandradoctor.Check)
}
