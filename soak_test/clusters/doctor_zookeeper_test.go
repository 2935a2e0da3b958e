package clusters_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/integration_test/findings"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/zookeeper"
	"github.com/idmint/idmint/launchlog/zookeeper/zookeeperdoctor"
)

// words are all that the checks ask.
const words = "4lw.commands.whitelist=srvr,mntr,conf,envi"

const anybody = "note: anybody who reaches the ensemble may change or delete /idmint. "

// Three servers that are set well, one that is not named, and one that is stopped.
func TestDoctorZooKeeperServers(t *testing.T) {
	t.Parallel()
	c := dbtest.RunCluster(t, databases.ZooKeeper, 3, words, "tickTime=500", "syncLimit=4")
	config := zookeeper.Config{Servers: c.Addresses()}
	findings.Checked(t, "before migrate", config, zookeeperdoctor.Check, nil)
	if _, _, err := zookeeper.Migrate(ctx, config); err != nil {
		t.Fatal(err)
	}
	well := map[string]string{"zookeeper.acl": anybody}
	findings.Checked(t, "well", config, zookeeperdoctor.Check, findings.With(well,
		"zookeeper.servers", "passed: 3 voting members, and all of them answer",
		"zookeeper.version", "passed: ZooKeeper 3.",
		"zookeeper.force_sync", "passed: ",
		"zookeeper.failover", "passed: servers notice within 2s",
		"zookeeper.memory", "passed: "+config.Servers[0]+": "))
	two := config
	two.Servers = config.Servers[1:]
	findings.Checked(t, "two are named", two, zookeeperdoctor.Check,
		findings.With(well, "zookeeper.servers",
			"note: 1 of 3 voting members are not named, and are not asked if others do not answer"))
	signal(t, c.Nodes[2], "STOP")
	inZooKeeperEventually(t, config, findings.With(well, "zookeeper.servers",
		"finding: 1 of 3 voting members do not answer, and if one more fails, the log stops: "+
			config.Servers[2]))
	signal(t, c.Nodes[1], "STOP")
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
	if _, err := logOf(t, store).Now(ctx); err != nil { // which takes a majority
		t.Fatal(err)
	}
	findings.Checked(t, "one is stopped", config, zookeeperdoctor.Check, wanted)
}

// Servers that do not sync, and take long to elect a leader. What they refuse to say is unknown.
func TestDoctorZooKeeperSettings(t *testing.T) {
	t.Parallel()
	c := dbtest.RunCluster(t, databases.ZooKeeper, 3, "forceSync=no",
		"4lw.commands.whitelist=srvr,mntr,conf")
	config := zookeeper.Config{Servers: c.Addresses(), Path: "/log"}
	for range 3 {
		if _, _, err := zookeeper.Migrate(ctx, config); err != nil {
			t.Fatal(err)
		}
	}
	findings.Checked(t, "wrong", config, zookeeperdoctor.Check, map[string]string{
		"zookeeper.acl":        "note: ",
		"zookeeper.force_sync": "finding: " + config.Servers[0] + " has written ",
		"zookeeper.failover": "note: " + config.Servers[0] + " takes 10s to notice that its leader " +
			"is gone: tickTime is 2000, and syncLimit 5. ",
		"zookeeper.memory": "unknown: ",
	})
}

// What users may do, by TLS.
func TestDoctorZooKeeperACL(t *testing.T) {
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
	findings.Checked(t, "well", config, zookeeperdoctor.Check,
		findings.With(well, "zookeeper.acl",
			`passed: only the user "idmint" may change the log's znodes`))
	config.Password = "another"
	findings.Checked(t, "another", config, zookeeperdoctor.Check,
		findings.With(well, "zookeeper.acl", "finding: the user "))
}
