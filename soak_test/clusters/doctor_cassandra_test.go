package clusters_test

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/integration_test/findings"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/cassandra"
	"github.com/idmint/idmint/launchlog/cassandra/cassandradoctor"
)

// inCassandra makes the checks.
func inCassandra(
	t *testing.T, when string, config cassandra.Config, wanted map[string]string,
) (identity map[string]string) {
	t.Helper()
	for { // a node answers within seconds, unless the machine is busy
		results, identity, err := cassandradoctor.Check(ctx, config)
		var again *launchlog.AttemptError
		switch {
		case errors.As(err, &again):
			continue
		case err != nil:
			t.Fatalf("%s: %v", when, err)
		}
		findings.Want(t, when, results, wanted)
		return identity
	}
}

// cql runs statements, which must succeed.
func cql(t *testing.T, session *cassandra.Session, statements ...string) {
	t.Helper()
	for _, text := range statements {
		if err := session.Query(text).ExecContext(ctx); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
}

func cassandraSession(t *testing.T, config cassandra.Config) *cassandra.Session {
	t.Helper()
	session, err := config.Session(ctx)
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
	before := inCassandra(t, "before migrate", config, well)
	if _, _, err := cassandra.Migrate(ctx, config); err != nil {
		t.Fatal(err)
	}
	after := inCassandra(t, "well", config, findings.With(well,
		"cassandra.version", "passed: Cassandra 5.",
		"cassandra.replication", "passed: 3 replicas decide, on 3 nodes",
		"cassandra.serial", "passed: ",
		"cassandra.nodes", "passed: 3 nodes, and all of them answer",
		"cassandra.paxos", "passed: ",
		"cassandra.commitlog", "passed: ",
		"cassandra.clocks", "passed: this machine's clock and that of ",
		"cassandra.table", "passed: rows of the log's tables never expire"))
	if before["log"] != "" || after["log"] == "" || after["cluster"] != "idmint" ||
		strings.Count(after["nodes"], " ") != 2 {
		t.Errorf("%v, %v", before, after)
	}
	signal(t, c.Nodes[1], "STOP")
	inCassandra(t, "one is stopped", config, findings.With(well, "cassandra.nodes",
		"finding: 1 of 3 nodes do not answer, and with one more the log stops in part: "+
			config.Hosts[1]))
}

// One node that acknowledges before it writes to the disk, with the older Paxos. Its keyspace and
// its table are set in ways that lose numbers.
func TestDoctorCassandraSettings(t *testing.T) {
	t.Parallel()
	server := dbtest.Run(t, databases.Cassandra, "commitlog_sync: periodic",
		"commitlog_sync_period: 10000ms", "paxos_variant: v1")
	config := cassandra.Config{
		Hosts: server.Addresses, Keyspace: "shop", Replication: map[string]string{
			"class": "SimpleStrategy", "replication_factor": "1",
		},
	}
	if _, _, err := cassandra.Migrate(ctx, config); err != nil {
		t.Fatal(err)
	}
	wrong := map[string]string{
		"cassandra.rights":      "note: ",
		"cassandra.replication": "note: there is one node, and one copy of the log",
		"cassandra.commitlog": "finding: commitlog_sync of " + server.Addresses[0] +
			" is periodic, and there are ",
		"cassandra.paxos": "note: paxos_variant of " + server.Addresses[0] + " is v1",
	}
	inCassandra(t, "wrong", config, wrong)
	admin := cassandraSession(t, config)
	const one = "ALTER KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', " +
		"'replication_factor': 1}"
	for _, c := range []struct{ do, undo, code, text string }{
		{
			"ALTER KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', " +
				"'datacenter1': 2}", one, "cassandra.replication",
			"note: there is one node, and one copy of the log: with its disk the log is lost. " +
				"finding: datacenter1 has 1 nodes for 2 replicas: they are no majority. ",
		},
		{
			"ALTER KEYSPACE shop WITH durable_writes = false",
			"ALTER KEYSPACE shop WITH durable_writes = true", "cassandra.replication",
			"note: there is one node, and one copy of the log: with its disk the log is lost. " +
				"finding: durable_writes is false",
		},
		{
			"ALTER TABLE shop.idmint_log WITH default_time_to_live = 60",
			"ALTER TABLE shop.idmint_log WITH default_time_to_live = 0", "cassandra.table",
			"finding: rows of the table idmint_log expire after 60 s",
		},
	} {
		cql(t, admin, c.do)
		inCassandra(t, c.do, config, findings.With(wrong, c.code, c.text))
		cql(t, admin, c.undo)
	}
	local := config
	local.DataCenter, local.LocalSerial = "datacenter1", true
	inCassandra(t, "one decides alone", local, findings.With(wrong, "cassandra.serial",
		"passed: the data centre datacenter1 decides alone"))
	_, _, err := cassandradoctor.Check(ctx, cassandra.Config{Hosts: server.Addresses})
	if refused := (*cassandra.ConfigError)(nil); !errors.As(err, &refused) {
		t.Error(err)
	}
}

// What the role may do.
func TestDoctorCassandraRights(t *testing.T) {
	t.Parallel()
	server := dbtest.RunSecure(t, databases.Cassandra)
	host, _, err := net.SplitHostPort(server.Addresses[0])
	if err != nil {
		t.Fatal(err)
	}
	admin := cassandra.Config{
		Hosts: []string{host}, Keyspace: "shop",
		User: server.Access.User, Password: server.Access.Password,
		TLS: &cassandra.TLS{
			CA: server.Access.CA, Cert: server.Access.Certificate, Key: server.Access.Key,
		},
		Replication: map[string]string{"class": "SimpleStrategy", "replication_factor": "1"},
	}
	one := map[string]string{"cassandra.replication": "note: "}
	if _, _, err := cassandra.Migrate(ctx, admin); err != nil {
		t.Fatal(err)
	}
	inCassandra(t, "superuser", admin, findings.With(one,
		"cassandra.rights", "note: the role idmint is a superuser"))
	session := cassandraSession(t, admin)
	cql(t, session, "CREATE ROLE app WITH LOGIN = true AND PASSWORD = 'app'",
		"GRANT SELECT ON KEYSPACE shop TO app")
	app := admin
	app.User, app.Password = "app", "app"
	inCassandra(t, "no settings", app, findings.With(one,
		"cassandra.paxos", "unknown: the check could not be made: ",
		"cassandra.commitlog", "unknown: the check could not be made: ",
		"cassandra.rights", "unknown: the check could not be made: "))
	cql(t, session, "GRANT SELECT ON TABLE system_views.settings TO app")
	reader := cassandraSession(t, app)
	// A node keeps rights for 2 s.
	for reader.Query("SELECT value FROM system_views.settings LIMIT 1").Exec() != nil {
		time.Sleep(100 * time.Millisecond)
	}
	inCassandra(t, "only to read", app, findings.With(one,
		"cassandra.rights", "finding: the role app lacks MODIFY on the keyspace"))
	cql(t, session, "GRANT MODIFY ON KEYSPACE shop TO app")
	inCassandra(t, "well", app, findings.With(one,
		"cassandra.rights", "passed: the role app has SELECT and MODIFY"))
	cql(t, session, "GRANT DROP ON KEYSPACE shop TO app")
	inCassandra(t, "more", app, findings.With(one,
		"cassandra.rights", "note: the role app needs no DROP"))
}
