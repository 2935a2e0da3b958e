package cassandradoctor

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/idmint/idmint/launchlog/checks"
)

// A keyspace describes how the log's keyspace is stored.
type keyspace struct {
	durable  bool
	replicas map[string]int // by data center, or by "" for SimpleStrategy; nil: no such keyspace
}

// newKeyspace parses a row of system_schema.keyspaces.
func newKeyspace(row map[string]any) keyspace {
	k := keyspace{replicas: map[string]int{}}
	k.durable, _ = row["durable_writes"].(bool)
	replication, _ := row["replication"].(map[string]string)
	for name, value := range replication {
		n, err := strconv.Atoi(value)
		if err != nil { // the class
			continue
		}
		if name == "replication_factor" {
			name = ""
		}
		k.replicas[name] = n
	}
	return k
}

// deciding counts the replicas that decide: those in all data centers, or in the one that decides
// alone.
func (k *keyspace) deciding(alone string) (n int) {
	for name, replicas := range k.replicas {
		if alone == "" || name == "" || name == alone {
			n += replicas
		}
	}
	return n
}

// alone returns the data center that decides alone, if any.
func (c *cluster) alone() string {
	if c.config.LocalSerial {
		return c.config.DataCenter
	}
	return ""
}

func replication(_ context.Context, c *cluster, r *checks.Reporter) error {
	nodes := map[string]int{"": len(c.members)}
	for _, m := range c.members {
		nodes[m.dataCenter]++
	}
	if c.keys.replicas != nil {
		judgeReplication(r, c.keys, nodes, c.alone())
	}
	r.Pass("there is no keyspace %s", c.config.Keyspace)
	return nil
}

// judgeReplication expects the number of nodes by data center, and of all nodes under "".
func judgeReplication(r *checks.Reporter, k keyspace, nodes map[string]int, alone string) {
	replicas := k.deciding(alone)
	switch {
	case replicas >= 3:
	case nodes[""] == 1:
		r.Note("there is one node, and one copy of the log: with its disk the log is lost")
	default:
		r.Finding("there are %d replicas on %d nodes: without one of them the log stops or is lost",
			replicas, nodes[""])
	}
	if !k.durable {
		r.Finding("durable_writes is false: a node that crashes loses what was in its memory")
	}
	if centres := len(nodes) - 1; k.replicas[""] > 0 && centres > 1 {
		r.Finding("SimpleStrategy places replicas anywhere in %d data centers", centres)
	}
	for _, name := range slices.Sorted(maps.Keys(k.replicas)) {
		if has, wants := nodes[name], k.replicas[name]; has < wants {
			r.Finding("there are %d nodes for %d replicas %s: the missing ones count as lost",
				has, wants, name)
		}
	}
	r.Pass("%d replicas decide, on %d nodes", replicas, nodes[""])
}
