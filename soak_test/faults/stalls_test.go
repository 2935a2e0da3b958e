package faults_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/launchlog"
)

// clients is how many take numbers of counters of their own. Contention is not what is measured.
const clients = 4

// stalls has each node be away until all clients have gone on without it, and looks for the longest
// step. It begins with a node that leads, where one does. How long a step may take depends on the
// machine: the page has it, and nothing is asserted of it.
func stalls(a *arena) {
	a.openDB()
	ways := []struct {
		name string
		ill  func(*databases.Server) (cure func())
	}{
		{"stopped", func(node *databases.Server) func() {
			a.signal(node, "STOP")
			return func() { a.signal(node, "CONT") }
		}},
		{"cut off from clients", func(node *databases.Server) func() {
			a.cut(node, databases.Clients)
			return func() { a.heal(node) }
		}},
		{"cut off from the others", func(node *databases.Server) func() {
			a.cut(node, databases.Peers)
			return func() { a.heal(node) }
		}},
	}
	began := time.Now()
	c := startCounting(a)
	var did []string
	for _, way := range ways {
		for i := range a.cluster.Nodes {
			leader, err := a.cluster.Leader(a.Context())
			if err != nil { // Cassandra has none
				leader = 0
			}
			c.longest() // while all is well
			cure := way.ill(a.cluster.Nodes[(leader+i)%len(a.cluster.Nodes)])
			c.goOn()
			longest := c.longest()
			cure()
			a.awaitCluster()
			did = append(did, fmt.Sprintf("%.1f s (%s)", longest.Seconds(), way.name))
		}
	}
	calls, longest := c.end()
	a.Logf("%s: longest steps with a node away: %s; %d steps", a.kind, strings.Join(did, ", "), calls)
	found := result{
		server: a.version(), fault: "Stalls", did: "longest steps: " + strings.Join(did, ", "),
		calls: calls, acknowledged: calls, longest: longest, took: time.Since(began),
		failed: a.Failed(),
	}
	if err := found.add(); err != nil {
		a.Error(err)
	}
}

// counting is clients that take numbers, one after the other.
type counting struct {
	a       *arena
	stop    context.CancelFunc
	running sync.WaitGroup

	mu    sync.Mutex // guards what follows
	began [clients]time.Time
	steps [clients]int  // that have ended
	most  time.Duration // of steps that have ended since longest was called
	ever  time.Duration
}

func startCounting(a *arena) *counting {
	a.Helper()
	ctx, stop := context.WithCancel(a.Context())
	c := &counting{a: a, stop: stop}
	for i := range clients {
		l, err := launchlog.New(a.openStore(), &launchlog.Options{Budget: ample})
		if err != nil {
			a.Fatal(err)
		}
		counter, err := l.Counter(fmt.Sprint("client-", i))
		if err != nil {
			a.Fatal(err)
		}
		c.running.Go(func() { c.count(ctx, i, counter) })
	}
	a.Cleanup(func() { c.end() })
	return c
}

// count takes numbers until the context ends. Each is above the one before.
func (c *counting) count(ctx context.Context, i int, counter *launchlog.Counter) {
	for last := int64(0); ; {
		c.mu.Lock()
		began := time.Now()
		c.began[i] = began
		c.mu.Unlock()
		n, err := counter.Reserve(ctx, 0, 1)
		if ctx.Err() != nil {
			return
		}
		if err != nil || n <= last {
			c.a.Errorf("after %d: %d, %v", last, n, err)
			return
		}
		last = n
		c.mu.Lock()
		c.most = max(c.most, time.Since(began))
		c.steps[i]++
		c.mu.Unlock()
		time.Sleep(10 * time.Millisecond)
	}
}

// goOn waits until each client has ended some more steps, of which all but one began meanwhile.
func (c *counting) goOn() {
	done := func() [clients]int {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.steps
	}
	for before := done(); !c.a.Failed(); time.Sleep(10 * time.Millisecond) {
		now, least := done(), 5
		for i := range now {
			least = min(least, now[i]-before[i])
		}
		if least == 5 {
			return
		}
	}
}

// longest is what a step took at most since it was called last. Steps that go on count.
func (c *counting) longest() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	longest := c.most
	for _, began := range c.began {
		longest = max(longest, time.Since(began))
	}
	c.most, c.ever = 0, max(c.ever, longest)
	return longest
}

func (c *counting) end() (calls int, longest time.Duration) {
	c.stop()
	c.running.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.steps {
		calls += n
	}
	return calls, max(c.ever, c.most)
}
