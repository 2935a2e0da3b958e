package launchfaults_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/launchlog"
)

// most is what a step may take while a node is away and a majority answers.
var most = map[databases.Kind]time.Duration{
	databases.Etcd: 3 * time.Second, databases.ZooKeeper: 6 * time.Second,
	databases.Cassandra: 6 * time.Second,
}

// clients is how many take numbers of counters of their own. Contention is not what is measured.
const clients = 4

// stalls has nodes be away for longer than a step may take, and looks for the longest one. It
// begins with a node that leads, where one does. Briefly, that node is stopped and no other is away.
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
	others := len(a.cluster.Nodes)
	if os.Getenv("IDMINT_TEST_SOAK") == "" {
		ways, others = ways[:1], 1
	}
	began := time.Now()
	c := startCounting(a)
	var did []string
	for _, way := range ways {
		for i := range others {
			leader, err := a.cluster.Leader(a.Context())
			if err != nil { // Cassandra has none
				leader = 0
			}
			c.longest() // while all is well
			cure := way.ill(a.cluster.Nodes[(leader+i)%len(a.cluster.Nodes)])
			time.Sleep(most[a.kind] + 2*time.Second)
			longest := c.longest()
			cure()
			a.awaitCluster()
			did = append(did, fmt.Sprintf("%.1f s (%s)", longest.Seconds(), way.name))
			if longest > most[a.kind]+late {
				a.Errorf("a node is %s: a step took %v, want at most %v", way.name, longest,
					most[a.kind])
			}
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
	most  time.Duration // of steps that have ended since longest was called
	ever  time.Duration
	calls int
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
		c.calls++
		c.mu.Unlock()
		time.Sleep(10 * time.Millisecond)
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
	return c.calls, max(c.ever, c.most)
}
