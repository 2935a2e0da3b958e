package doctor_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/zookeeper"
	"github.com/idmint/idmint/launchlog/zookeeper/zookeeperdoctor"
)

// inZooKeeper makes the checks.
func inZooKeeper(
	t *testing.T, when string, config zookeeper.Config, wanted map[string]string,
) (identity map[string]string) {
	t.Helper()
	results, identity, err := zookeeperdoctor.Check(ctx, config)
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	told(t, when, results, wanted)
	return identity
}

type noLog struct{}

func (noLog) Printf(string, ...any) {}

func zooKeeperClient(t *testing.T, config zookeeper.Config) *zk.Conn {
	t.Helper()
	conn, _, err := zk.Connect(config.Servers, 10*time.Second, zk.WithLogger(noLog{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

// words are all that the checks ask.
const words = "4lw.commands.whitelist=srvr,mntr,conf,envi"

const anybody = "note: anybody who reaches the ensemble may change or delete /idmint. "

// Three servers that are set well, one that is not named, and one that is stopped.
func TestZooKeeperServers(t *testing.T) {
	t.Parallel()
	c := dbtest.RunCluster(t, databases.ZooKeeper, 3, words, "tickTime=500", "syncLimit=4")
	config := zookeeper.Config{Servers: c.Addresses()}
	inZooKeeper(t, "before migrate", config, nil)
	if _, _, err := zookeeper.Migrate(ctx, config); err != nil {
		t.Fatal(err)
	}
	well := map[string]string{"zookeeper.acl": anybody}
	inZooKeeper(t, "well", config, with(well,
		"zookeeper.servers", "passed: 3 voting members, and all of them answer",
		"zookeeper.version", "passed: ZooKeeper 3.",
		"zookeeper.force_sync", "passed: ",
		"zookeeper.failover", "passed: servers notice within 2s",
		"zookeeper.memory", "passed: "+config.Servers[0]+": "))
	two := config
	two.Servers = config.Servers[1:]
	inZooKeeper(t, "two are named", two, with(well, "zookeeper.servers",
		"note: 1 of 3 voting members are not named, and not asked where others are away"))
	if err := c.Nodes[2].Signal(ctx, "STOP"); err != nil {
		t.Fatal(err)
	}
	inZooKeeperEventually(t, config, with(well, "zookeeper.servers",
		"finding: 1 of 3 voting members do not answer, and without one more the log stops: "+
			config.Servers[2]))
	if err := c.Nodes[1].Signal(ctx, "STOP"); err != nil {
		t.Fatal(err)
	}
	away := zookeeper.Config{Servers: config.Servers[1:]}
	_, _, err := zookeeperdoctor.Check(ctx, away)
	if again := (*launchlog.AttemptError)(nil); !errors.As(err, &again) ||
		!strings.HasPrefix(err.Error(), "zookeeperdoctor: ") {
		t.Errorf("two are stopped: %v", err)
	}
}

// inZooKeeperEventually makes the checks once the ensemble has another leader, if it needs one.
func inZooKeeperEventually(t *testing.T, config zookeeper.Config, wanted map[string]string) {
	t.Helper()
	store, err := zookeeper.Open(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	log, err := launchlog.New(store, nil)
	if err == nil {
		_, err = log.Now(ctx) // which takes a majority
	}
	if err != nil {
		t.Fatal(err)
	}
	inZooKeeper(t, "one is stopped", config, wanted)
}

// Servers that do not sync, and take long to elect a leader. What they refuse to say is unknown.
func TestZooKeeperSettings(t *testing.T) {
	t.Parallel()
	c := dbtest.RunCluster(t, databases.ZooKeeper, 3, "forceSync=no",
		"4lw.commands.whitelist=srvr,mntr,conf")
	config := zookeeper.Config{Servers: c.Addresses(), Path: "/log"}
	for range 3 {
		if _, _, err := zookeeper.Migrate(ctx, config); err != nil {
			t.Fatal(err)
		}
	}
	inZooKeeper(t, "wrong", config, map[string]string{
		"zookeeper.acl":        "note: ",
		"zookeeper.force_sync": "finding: " + config.Servers[0] + " has written ",
		"zookeeper.failover": "note: " + config.Servers[0] + " notices after 10s that its leader " +
			"has gone: tickTime is 2000, and syncLimit 5. ",
		"zookeeper.memory": "unknown: ",
	})
}

// One server: its znodes, its quotas, and a log that was made anew. The words that are asked are
// refused, but srvr and mntr.
func TestZooKeeperPath(t *testing.T) {
	t.Parallel()
	server := dbtest.Server(t, databases.ZooKeeper)
	config := zookeeper.Config{Servers: server.Addresses, Path: "/doctor/log"}
	if _, _, err := zookeeper.Migrate(ctx, config); err != nil {
		t.Fatal(err)
	}
	well := map[string]string{
		"zookeeper.acl":     "note: anybody who reaches the ensemble may change or delete /doctor/log. ",
		"zookeeper.servers": "note: there are 1 voting members: without one of them the log stops",
		"zookeeper.failover": "unknown: " + config.Servers[0] + " refuses the word conf: add it to " +
			"4lw.commands.whitelist",
		"zookeeper.memory": "unknown: ",
	}
	first := inZooKeeper(t, "well", config, well)
	conn := zooKeeperClient(t, config)
	create := func(path, text string) {
		t.Helper()
		if _, err := conn.Create(path, []byte(text), 0, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(path, err)
		}
	}
	create("/zookeeper/quota/doctor", "")
	create("/zookeeper/quota/doctor/zookeeper_limits", "count=5,bytes=-1")
	create("/zookeeper/quota/doctor/zookeeper_stats", "count=0,bytes=0")
	text := "finding: /doctor has "
	inZooKeeper(t, "a quota", config, with(well, "zookeeper.quota", text))
	if err := conn.Delete("/zookeeper/quota/doctor/zookeeper_limits", -1); err != nil {
		t.Fatal(err)
	}
	inZooKeeper(t, "without the quota", config, well)

	drop(t, conn, config.Path)
	if made := inZooKeeper(t, "gone", config, with(well, "zookeeper.acl", "passed: ")); made != nil {
		t.Errorf("%v", made)
	}
	if _, _, err := zookeeper.Migrate(ctx, config); err != nil {
		t.Fatal(err)
	}
	if second := inZooKeeper(t, "anew", config, well); second["log"] == first["log"] ||
		first["log"] == "" {
		t.Errorf("%v, %v", first, second)
	}
	_, _, err := zookeeperdoctor.Check(ctx, zookeeper.Config{Path: "/a"})
	if wrong := (*zookeeper.ConfigError)(nil); !errors.As(err, &wrong) {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, _, err = zookeeperdoctor.Check(ended, config); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func drop(t *testing.T, conn *zk.Conn, path string) {
	t.Helper()
	children, _, err := conn.Children(path)
	for _, child := range children {
		drop(t, conn, path+"/"+child)
	}
	if err == nil {
		err = conn.Delete(path, -1)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// What users may do, by TLS.
func TestZooKeeperACL(t *testing.T) {
	t.Parallel()
	server := dbtest.RunSecure(t, databases.ZooKeeper)
	tls, err := server.Access.TLS()
	if err != nil {
		t.Fatal(err)
	}
	config := zookeeper.Config{
		Servers: server.Addresses, TLS: tls,
		User: server.Access.User, Password: server.Access.Password,
	}
	if _, _, err := zookeeper.Migrate(ctx, config); err != nil {
		t.Fatal(err)
	}
	well := map[string]string{
		"zookeeper.servers": "note: ", "zookeeper.failover": "unknown: ",
		"zookeeper.memory": "unknown: ",
	}
	inZooKeeper(t, "well", config, with(well, "zookeeper.acl",
		`passed: only the user "idmint" may change the log's znodes`))
	config.Password = "another"
	inZooKeeper(t, "another", config, with(well, "zookeeper.acl", "finding: the user "))
}
