package cassandradoctor

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/idmint/idmint/doctor"
)

// A keyspace is how the log's is kept.
type keyspace struct {
	there   bool
	durable bool
	simple  bool           // SimpleStrategy
	factor  int            // of SimpleStrategy
	centres map[string]int // replicas by data centre, of NetworkTopologyStrategy
}

func (k *keyspace) read(ctx context.Context, c *cluster) error {
	var replication map[string]string
	err := one(ctx, c.asked, `SELECT replication, durable_writes FROM system_schema.keyspaces
		WHERE keyspace_name = ?`, []any{c.config.Keyspace}, &replication, &k.durable)
	if errors.Is(err, gocql.ErrNotFound) {
		return nil
	}
	if err == nil {
		k.there = true
		k.parse(replication)
	}
	return err
}

func (k *keyspace) parse(replication map[string]string) {
	k.simple = strings.HasSuffix(replication["class"], "SimpleStrategy")
	k.centres = map[string]int{}
	for name, value := range replication {
		// A transient replica, as in 3/1, is none of a lightweight transaction.
		full, transient, _ := strings.Cut(value, "/")
		n, err := strconv.Atoi(full)
		if less, wrong := strconv.Atoi(transient); wrong == nil {
			n -= less
		}
		switch {
		case err != nil: // the class
		case name == "replication_factor":
			k.factor = n
		default:
			k.centres[name] = n
		}
	}
}

// replicas are those that decide: of all data centres, or of one that decides alone.
func (k *keyspace) replicas(alone string) (n int) {
	if k.simple {
		return k.factor
	}
	for name, replicas := range k.centres {
		if alone == "" || name == alone {
			n += replicas
		}
	}
	return n
}

// alone is the data centre that decides alone, if one does.
func (c *cluster) alone() string {
	if c.config.LocalSerial {
		return c.config.DataCenter
	}
	return ""
}

// nodesOf counts the nodes by data centre.
func nodesOf(members []member) map[string]int {
	nodes := map[string]int{}
	for _, m := range members {
		nodes[m.dataCenter]++
	}
	return nodes
}

func replication(_ context.Context, c *cluster, r *doctor.Reporter) error {
	if c.keys.there {
		judgeReplication(r, c.keys, nodesOf(c.members), c.alone())
	}
	r.Pass("there is no keyspace %s", c.config.Keyspace)
	return nil
}

func judgeReplication(r *doctor.Reporter, k keyspace, nodes map[string]int, alone string) {
	all := 0
	for _, n := range nodes {
		all += n
	}
	replicas := k.replicas(alone)
	switch {
	case replicas >= 3:
	case all == 1:
		r.Note("there is one node, and one copy of the log: with its disk the log is lost")
	case replicas == 1:
		r.Finding("there is 1 replica on %d nodes: with a node a part of the log is away or lost",
			all)
	default:
		r.Finding("there are %d replicas: without one of them the log stops", replicas)
	}
	if !k.durable {
		r.Finding("durable_writes is false: a node that crashes loses what it had in memory")
	}
	if k.simple {
		if len(nodes) > 1 {
			r.Finding("SimpleStrategy places replicas anywhere in %d data centres", len(nodes))
		}
		short(r, "the cluster", k.factor, all)
	}
	for _, name := range slices.Sorted(maps.Keys(k.centres)) {
		short(r, name, k.centres[name], nodes[name])
	}
	r.Pass("%d replicas decide, on %d nodes", replicas, all)
}

// short reports more replicas than nodes.
func short(r *doctor.Reporter, where string, replicas, nodes int) {
	switch {
	case replicas <= nodes:
	case nodes < replicas/2+1:
		r.Finding("%s has %d nodes for %d replicas: they are no majority", where, nodes, replicas)
	default:
		r.Finding("%s has %d nodes for %d replicas: the log bears less than it says", where, nodes,
			replicas)
	}
}

func serial(_ context.Context, c *cluster, r *doctor.Reporter) error {
	judgeSerial(r, c.keys, c.alone())
	return nil
}

func judgeSerial(r *doctor.Reporter, k keyspace, alone string) {
	var centres []string
	for _, name := range slices.Sorted(maps.Keys(k.centres)) {
		if k.centres[name] > 0 {
			centres = append(centres, name)
		}
	}
	switch {
	case !k.there:
		r.Pass("there is no keyspace")
	case alone != "" && !k.simple && k.centres[alone] == 0:
		r.Finding("the data centre %s is to decide alone, and has no replicas", alone)
	case alone == "" && len(centres) > 1:
		r.Note("each step waits for a majority of the replicas in %s", strings.Join(centres, ", "))
	case alone != "":
		r.Pass("the data centre %s decides alone", alone)
	}
	r.Pass("the log is in one data centre")
}
