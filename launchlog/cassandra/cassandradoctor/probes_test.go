package cassandradoctor

import (
	"strings"
	"testing"

	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/internal/doctorsuite"
)

// Each check of Cassandra that package doctor lists is made, and no other one.
func TestCodes(t *testing.T) { doctorsuite.Codes(t, "cassandra", probes) }

// Versions of servers that tests cannot start.
func TestVersion(t *testing.T) {
	for version, wanted := range map[string]string{
		"5.0.4": "passed: ", "4.1.0": "passed: ", "4.0.11": "finding: Cassandra 4.0.11 is older",
		"3.11.9": "finding: ", "new": "unknown: ",
	} {
		doctorsuite.Judge(t, version, func(r *doctor.Reporter) { judgeVersion(r, version) }, wanted)
	}
}

const (
	network = "org.apache.cassandra.locator.NetworkTopologyStrategy"
	simple  = "org.apache.cassandra.locator.SimpleStrategy"
)

// Data centres of several, which tests do not start.
func TestReplication(t *testing.T) {
	one, two := map[string]int{"a": 3}, map[string]int{"a": 3, "b": 3}
	for _, c := range []struct {
		replication map[string]string
		nodes       map[string]int
		alone, want string
	}{
		{map[string]string{"class": network, "a": "3"}, one, "", "passed: 3 replicas decide, on 3"},
		{map[string]string{"class": network, "a": "3"}, one, "a", "passed: 3 replicas decide"},
		{map[string]string{"class": simple, "replication_factor": "3"}, one, "", "passed: "},
		{
			map[string]string{"class": simple, "replication_factor": "1"},
			one, "",
			"finding: there is 1 replica on 3 nodes: ",
		},
		{
			map[string]string{"class": simple, "replication_factor": "1"},
			map[string]int{"a": 1},
			"",
			"note: there is one node, and one copy of the log",
		},
		{
			map[string]string{"class": network, "a": "2"},
			one, "",
			"finding: there are 2 replicas: without one of them the log stops. ",
		},
		{
			map[string]string{"class": network, "a": "3/1"},
			one, "",
			"finding: there are 2 replicas: without one of them the log stops. ",
		},
		{map[string]string{"class": network, "a": "2", "b": "2"}, two, "", "passed: 4 replicas"},
		{
			map[string]string{"class": network, "a": "2", "b": "3"},
			two, "a",
			"finding: there are 2 replicas",
		},
		{
			map[string]string{"class": simple, "replication_factor": "3"},
			two, "",
			"finding: SimpleStrategy places replicas anywhere in 2 data centres. ",
		},
		{
			map[string]string{"class": network, "a": "3"},
			map[string]int{"a": 1},
			"",
			"finding: a has 1 nodes for 3 replicas: they are no majority. ",
		},
		{
			map[string]string{"class": network, "a": "3"},
			map[string]int{"a": 2},
			"",
			"finding: a has 2 nodes for 3 replicas: the log bears less than it says. ",
		},
		{
			map[string]string{"class": network, "a": "3", "b": "3"},
			one, "",
			"finding: b has 0 nodes for 3 replicas: they are no majority. ",
		},
	} {
		k := keyspace{there: true, durable: true}
		k.parse(c.replication)
		doctorsuite.Judge(t, c, func(r *doctor.Reporter) { judgeReplication(r, k, c.nodes, c.alone) },
			c.want)
		k.durable = false
		text := doctorsuite.Judge(t, c, func(r *doctor.Reporter) {
			judgeReplication(r, k, c.nodes, c.alone)
		}, "")
		if !strings.Contains(text, "finding: durable_writes is false") {
			t.Errorf("%+v: %q", c, text)
		}
	}
}

func TestSerial(t *testing.T) {
	for _, c := range []struct {
		replication map[string]string
		alone, want string
	}{
		{map[string]string{"class": network, "a": "3"}, "", "passed: the log is in one data centre"},
		{map[string]string{"class": network, "a": "3", "b": "0"}, "", "passed: "},
		{
			map[string]string{"class": network, "a": "3", "b": "3"},
			"",
			"note: each step waits for a majority of the replicas in a, b. ",
		},
		{map[string]string{"class": network, "a": "3", "b": "3"}, "a", "passed: the data centre a"},
		{
			map[string]string{"class": network, "a": "3"},
			"b",
			"finding: the data centre b is to decide alone, and has no replicas. ",
		},
		{map[string]string{"class": simple, "replication_factor": "3"}, "b", "passed: "},
	} {
		k := keyspace{there: true, durable: true}
		k.parse(c.replication)
		doctorsuite.Judge(t, c, func(r *doctor.Reporter) { judgeSerial(r, k, c.alone) }, c.want)
	}
}

func TestNodes(t *testing.T) {
	for _, c := range []struct {
		replicas, nodes int
		away            []string
		want            string
	}{
		{3, 3, nil, "passed: 3 nodes, and all of them answer"},
		{3, 3, []string{"a"}, "finding: 1 of 3 nodes do not answer, and with one more"},
		{5, 5, []string{"a"}, "note: 1 of 5 nodes do not answer: a. "},
		{5, 5, []string{"a", "b"}, "finding: 2 of 5 nodes do not answer, and with one more"},
		{1, 3, []string{"a"}, "finding: "},
	} {
		k := keyspace{there: true, simple: true, factor: c.replicas}
		doctorsuite.Judge(t, c, func(r *doctor.Reporter) { judgeNodes(r, k, "", c.nodes, c.away) },
			c.want)
	}
}

func TestPaxos(t *testing.T) {
	for variant, wanted := range map[string]string{
		"v2": "passed: ", "v1": "note: paxos_variant of a is v1", "": "note: a has no paxos_variant",
		"v1_without_linearizable_reads_or_rejected_writes": "finding: paxos_variant of a is v1_with",
		"v2_without_linearizable_reads":                    "finding: paxos_variant of a is v2_with",
	} {
		doctorsuite.Judge(t, variant, func(r *doctor.Reporter) { judgePaxos(r, "a", variant) }, wanted)
	}
}

func TestCommitlog(t *testing.T) {
	for _, c := range []struct {
		sync     string
		replicas int
		want     string
	}{
		{"batch", 1, "passed: "},
		{"group", 3, "passed: "},
		{"periodic", 3, "note: commitlog_sync of a is periodic: a majority of machines"},
		{"periodic", 2, "finding: commitlog_sync of a is periodic, and there are 2 replicas"},
	} {
		doctorsuite.Judge(t, c, func(r *doctor.Reporter) {
			judgeCommitlog(r, "a", c.sync, c.replicas)
		}, c.want)
	}
}

func TestRights(t *testing.T) {
	for _, c := range []struct{ has, want string }{
		{"SELECT MODIFY", "passed: "},
		{"SELECT", "finding: the role app lacks MODIFY on the keyspace. "},
		{"MODIFY", "finding: the role app lacks SELECT on the keyspace. "},
		{"SELECT MODIFY DROP", "note: the role app needs no DROP. "},
	} {
		has := map[string]bool{}
		for right := range strings.FieldsSeq(c.has) {
			has[right] = true
		}
		doctorsuite.Judge(t, c, func(r *doctor.Reporter) { judgeRights(r, "app", has) }, c.want)
	}
	for resource, wanted := range map[string]bool{
		"<all keyspaces>": true, "<keyspace shop>": true, "<table shop.idmint_log>": true,
		"<all tables in shop>": true,
		"<keyspace shops>":     false, "<table shop.orders>": false, "<all roles>": false,
	} {
		if about(resource, "shop") != wanted {
			t.Error(resource)
		}
	}
}
