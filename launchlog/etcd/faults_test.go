package etcd

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
	"github.com/idmint/idmint/launchlog/storetest"
)

// behindProxies makes a place whose nodes are behind proxies. There are three, which may lead to the
// same node.
func behindProxies(t *testing.T) (all []*proxy, config Config) {
	t.Helper()
	config = place(t)
	nodes := config.Endpoints
	config.Endpoints = nil
	for i := range 3 {
		p := newProxy(t, nodes[i%len(nodes)])
		all, config.Endpoints = append(all, p), append(config.Endpoints, p.address())
	}
	return all, config
}

// A node keeps quiet. A step goes on at another one, and the proxy keeps quiet until it is done.
func TestQuietNode(t *testing.T) {
	t.Parallel() // to others that wait as well
	proxies, config := behindProxies(t)
	s := open(t, config)
	l, err := launchlog.New(s, &launchlog.Options{Budget: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	quiet := s.engine.preferred.Load() // which has a connection
	proxies[quiet].set(true, false)
	launch, err := l.Start(ctx, storetest.Request("a"))
	if err != nil || launch.ID != 1 {
		t.Errorf("with node %d quiet: launch %d, %v", quiet, launch.ID, err)
	}
	if s.engine.preferred.Load() == quiet {
		t.Errorf("node %d is quiet, and asked first", quiet)
	}
}

// The answer to a commit is lost after the node got it. The next node is sent the same, and the
// rows tell that it was carried out: no number is burnt.
func TestLostAnswerIsSettled(t *testing.T) {
	t.Parallel() // to others that wait as well
	proxies, config := behindProxies(t)
	s := open(t, config)
	p := proxies[s.engine.preferred.Load()]
	p.set(false, true)
	done, err := s.engine.Commit(ctx, "n/p", kv.Change{Name: "a", Value: []byte("1")})
	if err != nil || !done {
		t.Errorf("%t, %v", done, err)
	}
	p.cut()
	p.set(false, false)
	counter := launchlog.CounterRef{Namespace: "n", Name: "c"}
	s.engine.preferred.Store(0)
	if first, err := s.ReserveNumbers(ctx, counter, 0, 1); err != nil || first != 1 {
		t.Errorf("after that: %d, %v", first, err)
	}
}

// Somebody else has overwritten the row since. Then what came of a commit is not known, and the
// engine does not guess.
func TestLostAnswerInDoubt(t *testing.T) {
	t.Parallel() // to others that wait as well
	proxies, config := behindProxies(t)
	s := open(t, config)
	direct := newEngine(Config{Endpoints: place(t).Endpoints, Prefix: config.Prefix})
	defer direct.close()
	commit := func(e *engine, version int64, value string) (bool, error) {
		return e.Commit(ctx, "n/p", kv.Change{Name: "a", Version: version, Value: []byte(value)})
	}
	if done, err := commit(s.engine, 0, "first"); err != nil || !done {
		t.Fatalf("%t, %v", done, err)
	}
	first := s.engine.preferred.Load()
	for i, p := range proxies { // the answer of the first is lost, and the others get nothing yet
		p.set(int64(i) != first, int64(i) == first)
	}
	ended := make(chan error)
	go func() {
		_, err := commit(s.engine, 1, "ours")
		ended <- err
	}()
	for { // until it was carried out, and then overwritten, before another node gets it
		rows, err := direct.Read(ctx, "n/p", "a")
		if err != nil {
			t.Fatal(err)
		}
		if rows[0].Version == 2 {
			break
		}
	}
	if done, err := commit(direct, 2, "others"); err != nil || !done {
		t.Fatalf("%t, %v", done, err)
	}
	for i, p := range proxies {
		if int64(i) != first {
			p.set(false, false)
		}
	}
	var attempt *launchlog.AttemptError
	if err := <-ended; !errors.As(err, &attempt) || !attempt.Ambiguous {
		t.Errorf("got %v, want it ambiguous", err)
	}
}

// Nobody answers. Every call ends with its context, and says whether it may have been carried out.
func TestNobodyAnswers(t *testing.T) {
	t.Parallel() // to others that wait as well
	proxies, config := behindProxies(t)
	s := open(t, config)
	for _, p := range proxies {
		p.set(true, false)
	}
	for {
		calling, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		defer cancel()
		_, err := s.engine.Commit(calling, "n/p", kv.Change{Name: "a", Value: []byte("1")})
		if err == context.DeadlineExceeded { // it ended before anything was sent
			continue
		}
		var attempt *launchlog.AttemptError
		if !errors.As(err, &attempt) || !attempt.Ambiguous ||
			!errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("commit: %v", err)
		}
		if _, err := s.engine.Read(calling, "n/p", "a"); err != context.DeadlineExceeded {
			t.Errorf("read: %v", err)
		}
		return
	}
}
