package clusters_test

import (
	"crypto/tls"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/integration_test/findings"
	"github.com/idmint/idmint/launchlog/cassandra"
	"github.com/idmint/idmint/launchlog/cassandra/cassandradoctor"
	"github.com/idmint/idmint/launchlog/storetest"
)

func inKeyspace(t *testing.T, config cassandra.Config) {
	t.Helper()
	if _, _, err := cassandra.Migrate(ctx, config); err != nil {
		t.Fatal(err)
	}
}

func cassandraSession(t *testing.T, config cassandra.Config) *cassandra.Session {
	t.Helper()
	session, err := config.Session(ctx, config.Hosts[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(session.Close)
	return session
}

// Three nodes that are set well, and one of them stopped.
func TestDoctorCassandraNodes(t *testing.T) {
	t.Parallel()
	c := dbtest.RunCluster(t, databases.Cassandra, 3)
	config := cassandra.Config{
		Hosts: c.Addresses(), Keyspace: "shop", Replication: map[string]string{
			"class": "NetworkTopologyStrategy", "datacenter1": "3",
		},
	}
	well := map[string]string{"cassandra.rights": "note: there is no authorizer: "}
	before := findings.Checked(t, "before migrate", config, cassandradoctor.Check, well)
	inKeyspace(t, config)
	after := findings.Checked(t, "well", config, cassandradoctor.Check, findings.With(well,
		"cassandra.replication", "passed: 3 replicas decide, on 3 nodes",
		"cassandra.nodes", "passed: 3 nodes, and all of them answer"))
	if before["log"] != "" || after["log"] == "" || after["cluster"] != "idmint" ||
		strings.Count(after["nodes"], " ") != 2 {
		t.Errorf("%v, %v", before, after)
	}
	signal(t, c.Nodes[1], "STOP")
	findings.Checked(t, "one is stopped", config, cassandradoctor.Check,
		findings.With(well, "cassandra.nodes",
			"finding: 1 of 3 nodes do not answer, and with one more the log stops in part: "+
				config.Hosts[1]))
}

// One node that acknowledges before it writes to the disk, with the older Paxos. Its keyspace wants
// more replicas than there are nodes.
func TestDoctorCassandraSettings(t *testing.T) {
	t.Parallel()
	server := dbtest.Run(t, databases.Cassandra, "commitlog_sync: periodic",
		"commitlog_sync_period: 10000ms", "paxos_variant: v1")
	config := cassandra.Config{
		Hosts: server.Addresses, Keyspace: "shop", Replication: map[string]string{
			"class": "SimpleStrategy", "replication_factor": "1",
		},
	}
	inKeyspace(t, config)
	err := cassandraSession(t, config).Query("ALTER KEYSPACE shop WITH replication = " +
		"{'class': 'NetworkTopologyStrategy', 'datacenter1': 2}").ExecContext(ctx)
	if err != nil {
		t.Fatal(err)
	}
	node := server.Addresses[0]
	findings.Checked(t, "wrong", config, cassandradoctor.Check, map[string]string{
		"cassandra.rights": "note: ",
		"cassandra.replication": "note: there is one node, and one copy of the log: with its disk " +
			"the log is lost. finding: there are 1 nodes for 2 replicas datacenter1: ",
		"cassandra.commitlog": "finding: commitlog_sync of " + node + " is periodic, and there are ",
		"cassandra.paxos":     "note: paxos_variant of " + node + " is v1",
	})
}

// A node that lets only those in who have its certificates and a password, and what they may do.
func TestCassandraSecure(t *testing.T) {
	t.Parallel()
	server := dbtest.RunSecure(t, databases.Cassandra)
	secure, err := server.Access.TLS()
	if err != nil {
		t.Fatal(err)
	}
	admin := cassandra.Config{
		Hosts: server.Addresses, Keyspace: "shop", TLS: secure,
		User: server.Access.User, Password: server.Access.Password,
		Replication: map[string]string{"class": "SimpleStrategy", "replication_factor": "1"},
	}
	inKeyspace(t, admin)
	store, err := cassandra.Open(t.Context(), admin)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	launch, err := logOf(t, store).Start(t.Context(), storetest.Request("a"))
	if err != nil || launch.ID != 1 {
		t.Fatalf("launch %d, %v", launch.ID, err)
	}
	var opening sync.WaitGroup
	for name, change := range map[string]func(c *cassandra.Config, secure *tls.Config){
		"a wrong password":      func(c *cassandra.Config, _ *tls.Config) { c.Password += "x" },
		"no encryption":         func(c *cassandra.Config, _ *tls.Config) { c.TLS = nil },
		"unknown authority":     func(_ *cassandra.Config, s *tls.Config) { s.RootCAs = nil },
		"no client certificate": func(_ *cassandra.Config, s *tls.Config) { s.Certificates = nil },
		"another server's name": func(_ *cassandra.Config, s *tls.Config) {
			s.ServerName, s.InsecureSkipVerify = "x.invalid", true // it is checked all the same
		},
	} {
		opening.Go(func() { // at once: some wait for 10 s
			c := admin
			c.TLS = secure.Clone()
			change(&c, c.TLS)
			s, err := cassandra.Open(t.Context(), c)
			if err == nil {
				_ = s.Close()
				t.Errorf("%s: opened", name)
				return
			}
			if text := err.Error(); !strings.HasPrefix(text, "launchlog/cassandra: ") ||
				!strings.Contains(text, server.Addresses[0]+": ") {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	opening.Wait()

	one := map[string]string{"cassandra.replication": "note: "}
	findings.Checked(t, "superuser", admin, cassandradoctor.Check, findings.With(one,
		"cassandra.rights", "note: the role idmint is a superuser"))
	session := cassandraSession(t, admin)
	cql := func(text string) {
		t.Helper()
		if err := session.Query(text).ExecContext(ctx); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	cql("CREATE ROLE app WITH LOGIN = true AND PASSWORD = 'app'")
	cql("GRANT SELECT ON KEYSPACE shop TO app")
	app := admin
	app.User, app.Password = "app", "app"
	findings.Checked(t, "no settings", app, cassandradoctor.Check, findings.With(one,
		"cassandra.paxos", "unknown: the check could not be made: ",
		"cassandra.commitlog", "unknown: the check could not be made: ",
		"cassandra.rights", "unknown: the check could not be made: "))
	cql("GRANT SELECT ON TABLE system_views.settings TO app")
	reader := cassandraSession(t, app)
	// A node keeps rights for 2 s.
	for reader.Query("SELECT value FROM system_views.settings LIMIT 1").Exec() != nil {
		time.Sleep(100 * time.Millisecond)
	}
	for _, step := range []struct{ grant, wanted string }{
		{"SELECT", "finding: the role app lacks MODIFY on the keyspace"},
		{"MODIFY", "passed: the role app has SELECT and MODIFY"},
		{"DROP", "note: the role app does not need DROP"},
	} {
		cql("GRANT " + step.grant + " ON KEYSPACE shop TO app")
		findings.Checked(t, step.grant, app, cassandradoctor.Check,
			findings.With(one, "cassandra.rights", step.wanted))
	}
}
