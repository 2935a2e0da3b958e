package cassandradoctor

import (
	"strings"
	"testing"

	"github.com/idmint/idmint/launchlog/checks"
	"github.com/idmint/idmint/launchlog/internal/doctorsuite"
)

// Each check of Cassandra that package doctor lists is made, and no other one.
func TestCodes(t *testing.T) { doctorsuite.Codes(t, "cassandra", probes) }

// Versions and settings of servers that tests cannot start, or do not.
func TestSettings(t *testing.T) {
	for v, wanted := range map[string]string{
		"5.0.4": "passed: ", "4.1.0": "passed: ", "4.0.11": "finding: Cassandra 4.0.11 is older",
		"3.11.9": "finding: ", "new": "unknown: ",
	} {
		doctorsuite.Judge(t, v, func(r *checks.Reporter) {
			_ = version(t.Context(), &cluster{members: []member{{version: v}}}, r)
		}, wanted)
	}
	for variant, wanted := range map[string]string{
		"v2": "passed: ", "v1": "note: paxos_variant of a is v1", "": "note: a has no paxos_variant",
		"v1_without_linearizable_reads_or_rejected_writes": "finding: paxos_variant of a is v1_with",
		"v2_without_linearizable_reads":                    "finding: paxos_variant of a is v2_with",
	} {
		doctorsuite.Judge(t, variant, func(r *checks.Reporter) { judgePaxos(r, "a", variant) }, wanted)
	}
	for _, c := range []struct {
		sync     string
		replicas int
		want     string
	}{
		{"batch", 1, "passed: "},
		{"group", 3, "passed: "},
		{"periodic", 3, "note: commitlog_sync of a is periodic: if a majority of machines"},
		{"periodic", 2, "finding: commitlog_sync of a is periodic, and there are 2 replicas"},
	} {
		doctorsuite.Judge(t, c, func(r *checks.Reporter) {
			judgeCommitlog(r, "a", c.sync, c.replicas)
		}, c.want)
	}
}

// Data centres of several, which tests do not start.
func TestReplication(t *testing.T) {
	single, one := map[string]int{"": 1, "a": 1}, map[string]int{"": 3, "a": 3}
	two := map[string]int{"": 6, "a": 3, "b": 3}
	for _, c := range []struct {
		replication string // NAME:NUMBER each
		nodes       map[string]int
		alone, want string
	}{
		{"a:3", one, "", "passed: 3 replicas decide, on 3"},
		{"a:3", one, "a", "passed: 3 replicas decide"},
		{"a:3", one, "b", "finding: there are 0 replicas on 3 nodes: without one of them"},
		{"replication_factor:3", one, "b", "passed: 3 replicas"},
		{"replication_factor:1", one, "", "finding: there are 1 replicas on 3 nodes: "},
		{"replication_factor:1", single, "", "note: there is one node, and one copy of the log"},
		{"a:2", one, "", "finding: there are 2 replicas on 3 nodes: without one of them"},
		{"a:2 b:2", two, "", "passed: 4 replicas"},
		{"a:2 b:3", two, "a", "finding: there are 2 replicas"},
		{
			"replication_factor:3", two, "",
			"finding: SimpleStrategy places replicas anywhere in 2 data centers. ",
		},
		{"a:3", single, "", "finding: there are 1 nodes for 3 replicas a: "},
		{"a:3 b:3", one, "", "finding: there are 0 nodes for 3 replicas b: "},
	} {
		replication := map[string]string{"class": "NAME"}
		for field := range strings.FieldsSeq(c.replication) {
			name, number, _ := strings.Cut(field, ":")
			replication[name] = number
		}
		k := newKeyspace(map[string]any{"replication": replication, "durable_writes": true})
		judge := func(r *checks.Reporter) { judgeReplication(r, k, c.nodes, c.alone) }
		doctorsuite.Judge(t, c, judge, c.want)
		k.durable = false
		if text := doctorsuite.Judge(t, c, judge, ""); !strings.Contains(text,
			"finding: durable_writes is false") {
			t.Errorf("%+v: %q", c, text)
		}
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
		k := keyspace{replicas: map[string]int{"": c.replicas}}
		doctorsuite.Judge(t, c, func(r *checks.Reporter) { judgeNodes(r, k, "", c.nodes, c.away) },
			c.want)
	}
}

func TestRights(t *testing.T) {
	for has, wanted := range map[string]string{
		"SELECT MODIFY":      "passed: ",
		"SELECT":             "finding: the role app lacks MODIFY on the keyspace. ",
		"MODIFY":             "finding: the role app lacks SELECT on the keyspace. ",
		"SELECT MODIFY DROP": "note: the role app does not need DROP. ",
	} {
		rights := map[string]bool{}
		for right := range strings.FieldsSeq(has) {
			rights[right] = true
		}
		doctorsuite.Judge(t, has, func(r *checks.Reporter) { judgeRights(r, "app", rights) }, wanted)
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
