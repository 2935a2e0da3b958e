package faults_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
)

// Faults of a cluster need one of their own. Where a majority of its nodes answers, or will soon,
// each call is to have a result within an ample budget.
var clusterFaults = []fault{
	{name: "ClientsKilled", budget: ample, hurry: 0.1, inflict: killClients},
	{name: "ClientsStopped", budget: 3 * time.Second, hurry: 0.1, inflict: stopClients},
	{name: "NodesKilled", budget: ample, inflict: nodesKilled},
	{name: "NodesStopped", budget: ample, inflict: nodesStopped},
	{name: "NodesCutOff", budget: ample, inflict: cutting("cut off from the others",
		databases.Peers, databases.FromPeers, databases.ToPeers)},
	{name: "ClientsCutOff", budget: ample, inflict: cutting("cut off from clients",
		databases.Clients)},
	{name: "AnswersLost", budget: ample, inflict: flapping("answers", databases.ToClients)},
	{name: "RequestsLate", budget: ample, inflict: flapping("requests", databases.FromClients)},
	{name: "AllKilled", budget: 10 * time.Second, inflict: allKilled},
}

// TestClusterFaults breaks clusters of three nodes: one cluster for each store, and one fault after
// the other.
func TestClusterFaults(t *testing.T) {
	for _, kind := range databases.Stores() {
		t.Run(string(kind), func(t *testing.T) { // one cluster at a time: they take all processors
			cluster := dbtest.RunCluster(t, kind, 3, targets[kind].args...)
			for _, f := range clusterFaults {
				t.Run(f.name, func(t *testing.T) {
					d, err := cluster.Place(fmt.Sprint("t_", rand.Uint64()))
					if err != nil {
						t.Fatal(err)
					}
					f.test(&arena{
						T: t, kind: kind, target: targets[kind], cluster: cluster, dsn: d,
					})
				})
			}
		})
	}
}

// openStore opens the store past the fleet.
func (a *arena) openStore() store {
	a.Helper()
	s, err := a.open(a.Context(), a.dsn)
	if err != nil {
		a.Fatal(err)
	}
	a.Cleanup(func() { _ = s.Close() })
	return s
}

// disturb has a node be ill and well again, over and over, least times at least: the one that
// leads, and another one, by turns. It returns how many nodes were ill, and how many of them led.
func disturb(
	a *arena, least int, ill func(*databases.Server) (cure func()),
) (nodes, leaders int) {
	for ; nodes < least || a.more(); nodes++ {
		a.rest(500 * time.Millisecond)
		i := rand.IntN(len(a.cluster.Nodes))
		if leader, err := a.cluster.Leader(a.Context()); err == nil {
			if nodes%2 == 1 {
				leader = (leader + 1 + rand.IntN(2)) % len(a.cluster.Nodes)
			} else {
				leaders++
			}
			i = leader
		}
		cure := ill(a.cluster.Nodes[i])
		// longer than a client waits before it asks another node
		time.Sleep(2*time.Second + rand.N(2*time.Second))
		cure()
		a.awaitCluster()
	}
	wait(a)
	return nodes, leaders
}

// awaitCluster waits until all nodes run and answer.
func (a *arena) awaitCluster() {
	a.Helper()
	if err := a.cluster.Restart(a.Context()); err != nil {
		a.Fatal(err)
	}
}

func (a *arena) signal(node *databases.Server, name string) {
	a.Helper()
	if err := node.Signal(a.Context(), name); err != nil {
		a.Fatal(err)
	}
}

func nodesKilled(a *arena) string {
	least := 2
	if a.kind == databases.Cassandra { // which has no leader, and is slow to start
		least = 1
	}
	nodes, leaders := disturb(a, least, func(node *databases.Server) func() {
		a.signal(node, "KILL")
		return func() {}
	})
	return a.led(nodes, leaders, "killed")
}

func nodesStopped(a *arena) string {
	nodes, leaders := disturb(a, 2, func(node *databases.Server) func() {
		a.signal(node, "STOP")
		return func() { a.signal(node, "CONT") }
	})
	return a.led(nodes, leaders, "stopped")
}

// led says what was done to how many nodes.
func (a *arena) led(nodes, leaders int, what string) string {
	text := fmt.Sprintf("%d nodes %s", nodes, what)
	if a.kind != databases.Cassandra { // which has no leader
		text += fmt.Sprintf(", %d of them leading", leaders)
	}
	return text
}

// cutting cuts off nodes, in one of the ways at a time.
func cutting(what string, ways ...databases.Links) func(*arena) string {
	return func(a *arena) string {
		i := 0
		nodes, leaders := disturb(a, 2, func(node *databases.Server) func() {
			a.cut(node, ways[i%len(ways)])
			i++
			return func() { a.heal(node) }
		})
		return a.led(nodes, leaders, what)
	}
}

func (a *arena) cut(node *databases.Server, links databases.Links) {
	a.Helper()
	dbtest.Cut(a.T, node, links)
}

func (a *arena) heal(node *databases.Server) {
	a.Helper()
	if err := node.Heal(a.Context()); err != nil {
		a.Fatal(err)
	}
}

// flapping drops what goes one way between clients and nodes, of a node or of all. It does so for
// less time than a client waits, or for more. TCP delivers late what was not lost: an answer to who
// has tried again, a request that others have overtaken.
func flapping(what string, links databases.Links) func(*arena) string {
	return func(a *arena) string {
		times := 0
		for ; times < 4 || a.more(); times++ {
			a.rest(300 * time.Millisecond)
			nodes, lasts := a.cluster.Nodes, 200*time.Millisecond+rand.N(2500*time.Millisecond)
			switch {
			case times%8 == 0:
				lasts = 7 * time.Second // calls that no node answers are given up
				if a.kind == databases.ZooKeeper {
					lasts = 12 * time.Second // and sessions expire
				}
			case rand.IntN(2) == 0:
				i := rand.IntN(len(nodes))
				nodes = nodes[i : i+1]
			}
			for _, node := range nodes {
				a.cut(node, links)
			}
			time.Sleep(lasts)
			for _, node := range nodes {
				a.heal(node)
			}
		}
		a.awaitCluster()
		wait(a)
		return fmt.Sprintf("%s lost or late %d times", what, times)
	}
}

// allKilled kills all nodes in the middle of what they do, and starts them again.
func allKilled(a *arena) string {
	times := 0
	for ; times < 1 || a.more(); times++ {
		a.rest(2 * time.Second)
		for _, node := range a.cluster.Nodes {
			a.signal(node, "KILL")
		}
		a.awaitCluster()
	}
	wait(a)
	return fmt.Sprintf("all nodes killed %d times", times)
}
