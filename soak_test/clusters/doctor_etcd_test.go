package clusters_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/integration_test/findings"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/checks"
	"github.com/idmint/idmint/launchlog/etcd"
	"github.com/idmint/idmint/launchlog/etcd/etcddoctor"
)

func etcdClient(t *testing.T, config etcd.Config) *clientv3.Client {
	t.Helper()
	client, err := config.Client(ctx, config.Endpoints[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

func inPlace(t *testing.T, config etcd.Config) {
	t.Helper()
	if _, _, err := etcd.Migrate(ctx, config); err != nil {
		t.Fatal(err)
	}
}

// Three members: well, one that is stopped, one that is not named, and one of another cluster.
func TestDoctorEtcdMembers(t *testing.T) {
	t.Parallel()
	c := dbtest.RunCluster(t, databases.Etcd, 3)
	config := etcd.Config{Endpoints: c.Addresses(), Prefix: "/members"}
	well := map[string]string{
		"etcd.rights": "note: authentication is off: anyone who reaches the cluster may delete",
	}
	before := findings.Checked(t, "before migrate", config, etcddoctor.Check, well)
	inPlace(t, config)
	after := findings.Checked(t, "well", config, etcddoctor.Check, findings.With(well,
		"etcd.members", "passed: 3 voting members, and all of them answer",
		"etcd.version", "passed: etcd 3.",
		"etcd.alarms", "passed: ",
		"etcd.quota", "passed: the database has 1 MB of a quota of 2048 MB"))
	if before["log"] != "" || after["log"] == "" || after["cluster"] != before["cluster"] ||
		strings.Count(after["members"], " ") != 2 {
		t.Errorf("%v, %v", before, after)
	}

	two := config
	two.Endpoints = config.Endpoints[:2]
	findings.Checked(t, "two are named", two, etcddoctor.Check,
		findings.With(well, "etcd.members",
			"note: 1 of 3 voting members are not named, and are not asked if others do not answer"))
	other := dbtest.Server(t, databases.Etcd)
	more := config
	more.Endpoints = append(slices.Clone(config.Endpoints), other.Addresses...)
	findings.Checked(t, "another cluster", more, etcddoctor.Check,
		findings.With(well, "etcd.members",
			"finding: "+other.Addresses[0]+" belongs to another cluster"))
	more.Endpoints = append(slices.Clone(config.Endpoints), "127.0.0.1:1")
	findings.Checked(t, "a name that leads nowhere", more, etcddoctor.Check,
		findings.With(well, "etcd.members",
			"note: addresses do not answer: 127.0.0.1:1. 0 of 3 voting members are down"))

	signal(t, c.Nodes[0], "STOP")
	findings.Checked(t, "one is stopped", config, etcddoctor.Check,
		findings.With(well, "etcd.members",
			"finding: 1 of 3 voting members do not answer, and if one more fails, the log stops: "+
				config.Endpoints[0]))
	signal(t, c.Nodes[1], "STOP")
	_, _, err := etcddoctor.Check(ctx, config)
	if again := (*launchlog.AttemptError)(nil); !errors.As(err, &again) {
		t.Errorf("two are stopped: %v", err)
	}
}

// A database that fills up is told before it is full, and the alarm when it is. Revisions are
// counted from the last compaction.
func TestDoctorEtcdQuota(t *testing.T) {
	t.Parallel()
	server := dbtest.Run(t, databases.Etcd, "--quota-backend-bytes=16777216",
		"--auto-compaction-retention=0")
	config := etcd.Config{Endpoints: server.Addresses}
	well := map[string]string{"etcd.rights": "note: ", "etcd.members": "note: "}
	inPlace(t, config)
	client := etcdClient(t, config)
	fill := func(megabytes int) (err error) {
		for range megabytes {
			if err == nil {
				_, err = client.Put(ctx, "/other", strings.Repeat("x", 1<<20))
			}
		}
		return err
	}
	if err := fill(5); err != nil {
		t.Fatal(err)
	}
	findings.Checked(t, "5 MB", config, etcddoctor.Check, findings.With(well,
		"etcd.compaction", "passed: 6 revisions are kept, from 1 to 7",
		"etcd.quota", "passed: the database has "))
	if _, err := client.Compact(ctx, 5); err != nil {
		t.Fatal(err)
	}
	findings.Checked(t, "compacted", config, etcddoctor.Check, findings.With(well,
		"etcd.compaction", "passed: 2 revisions are kept, from 5 to 7"))
	var levels string
	for range 15 {
		err := fill(1)
		results, _, wrong := etcddoctor.Check(ctx, config)
		if wrong != nil {
			t.Fatal(wrong)
		}
		for _, r := range results {
			if r.Check == "etcd.quota" && !strings.HasSuffix(levels, string(r.Level)+" ") {
				levels += string(r.Level) + " "
			}
		}
		if err != nil {
			break
		}
	}
	if levels != "passed note finding " && levels != "passed finding " {
		t.Errorf("%q", levels)
	}
	findings.Checked(t, "full", config, etcddoctor.Check, findings.With(well,
		"etcd.quota", "finding: the database has 1", "etcd.alarms", "finding: member ",
		"etcd.members", "note: "))
	results, _, err := etcddoctor.Check(ctx, config)
	if err != nil || !slices.ContainsFunc(results, func(r checks.Result) bool {
		return r.Check == "etcd.alarms" &&
			strings.HasSuffix(r.Message, "the alarm NOSPACE: the cluster accepts no writes")
	}) {
		t.Errorf("%+v, %v", results, err)
	}
}

// What the user may do.
func TestDoctorEtcdRights(t *testing.T) {
	t.Parallel()
	server := dbtest.RunSecure(t, databases.Etcd)
	tls, err := server.Access.TLS()
	if err != nil {
		t.Fatal(err)
	}
	root := etcd.Config{
		Endpoints: server.Addresses, TLS: tls, Prefix: "/app",
		User: server.Access.User, Password: server.Access.Password,
	}
	one := map[string]string{"etcd.members": "note: "}
	inPlace(t, root)
	findings.Checked(t, "root", root, etcddoctor.Check,
		findings.With(one, "etcd.rights", "note: the user idmint is root"))
	client := etcdClient(t, root)
	try := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	try(client.RoleAdd(ctx, "app"))
	try(client.UserAdd(ctx, "app", "app"))
	try(client.UserGrantRole(ctx, "app", "app"))
	app := root
	app.User, app.Password = "app", "app"
	grant := func(prefix string, right clientv3.PermissionType) {
		t.Helper()
		try(client.RoleGrantPermission(ctx, "app", prefix, clientv3.GetPrefixRangeEnd(prefix), right))
	}
	grant("/app:", clientv3.PermissionType(clientv3.PermRead))
	findings.Checked(t, "only to read", app, etcddoctor.Check, findings.With(one,
		"etcd.rights", "finding: the user app may not write all keys of /app:"))
	grant("/app:", clientv3.PermissionType(clientv3.PermReadWrite))
	findings.Checked(t, "well", app, etcddoctor.Check, findings.With(one,
		"etcd.rights", "passed: the user app may read and write the keys of /app:"))
	app.Prefix = "/application"
	findings.Checked(t, "another prefix", app, etcddoctor.Check, findings.With(one,
		"etcd.rights", "finding: the user app may not read all keys of /application:. finding: "+
			"the user app may not write all keys of /application:. ",
		"etcd.compaction", "unknown: the check could not be made: etcdserver: permission denied"))
	app.Password = "wrong"
	_, _, err = etcddoctor.Check(ctx, app)
	if again := (*launchlog.AttemptError)(nil); err == nil || errors.As(err, &again) ||
		!strings.HasPrefix(err.Error(), "etcddoctor: ") {
		t.Errorf("a wrong password: %v", err)
	}
}
