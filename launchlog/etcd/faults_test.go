package etcd

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/idmint/idmint/internal/storesuite"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
	"github.com/idmint/idmint/launchlog/storetest"
)

// behindProxies puts a proxy in front of each node.
func behindProxies(t *testing.T, endpoints []string) (all []*proxy, config Config) {
	t.Helper()
	var addresses []string
	for _, endpoint := range endpoints {
		p := newProxy(t, endpoint)
		all, addresses = append(all, p), append(addresses, p.address())
	}
	return all, place(addresses...)
}

// A node keeps quiet, each in turn. Every step goes on at the others: the proxy keeps quiet until
// all steps are done. No step is in doubt.
func TestQuietNode(t *testing.T) {
	endpoints := clusters(t)["ThreeNodes"]
	if endpoints == nil {
		t.Skip("IDMINT_KV_ETCD3 names no cluster")
	}
	proxies, config := behindProxies(t, endpoints)
	s := open(t, config)
	longest := time.Duration(0)
	for i, p := range proxies {
		ref := launchlog.Ref{Namespace: "n", Launch: i + 1}
		counter := launchlog.CounterRef{Namespace: "n", Name: "c"}
		var value int64
		for name, step := range map[string]func() error{
			"start": func() error {
				_, err := s.StartLaunch(ctx, launchlog.Start{
					Namespace: "n", Request: storetest.Request(fmt.Sprint(i)),
				})
				return err
			},
			"reserve": func() error {
				last, err := s.ReserveNumbers(ctx, counter, 0, 1)
				value = last
				return err
			},
			"last": func() error { _, err := s.LastNumber(ctx, counter); return err },
			"list": func() error {
				_, err := s.Launches(ctx, "n", launchlog.Filter{Limit: 10})
				return err
			},
		} {
			s.engine.preferred.Store(int64(i))
			if _, err := s.LastNumber(ctx, counter); err != nil { // so that there is a connection
				t.Fatal(err)
			}
			s.engine.preferred.Store(int64(i))
			p.set(true, false)
			began := time.Now()
			if err := step(); err != nil {
				t.Errorf("%s, with node %d quiet: %v", name, i, err)
			}
			longest = max(longest, time.Since(began))
			if now := s.engine.preferred.Load(); now == int64(i) {
				t.Errorf("%s: node %d is quiet, and asked first", name, i)
			}
			p.set(false, false)
		}
		raised, err := s.RaiseCounter(ctx, counter, launchlog.Raise{
			From: value, To: value + 5, Note: fmt.Sprint("note ", i),
		})
		if err != nil || raised.Value != value+5 {
			t.Errorf("raise: %+v, %v", raised, err)
		}
		if _, err := s.ClaimGenerator(ctx, launchlog.Take{Ref: ref, Token: "t"}); err != nil {
			t.Errorf("claim: %v", err)
		}
	}
	t.Logf("a node that keeps quiet costs a step %v at most", longest.Round(time.Millisecond))
}

// The answer to a commit is lost after the node got it. The next node is sent the same, and the
// rows tell that it was carried out: no number is burnt.
func TestLostAnswerIsSettled(t *testing.T) {
	endpoints := clusters(t)["ThreeNodes"]
	if endpoints == nil {
		t.Skip("IDMINT_KV_ETCD3 names no cluster")
	}
	proxies, config := behindProxies(t, endpoints)
	s := open(t, config)
	counter := launchlog.CounterRef{Namespace: "n", Name: "c"}
	commit := func(e *engine, version int64, value string) (bool, error) {
		return e.Commit(ctx, "n/p", kv.Change{Name: "a", Version: version, Value: []byte(value)})
	}
	for i, p := range proxies {
		want := int64(2*i + 1)
		s.engine.preferred.Store(int64(i))
		if first, err := s.ReserveNumbers(ctx, counter, 0, 1); err != nil || first != want {
			t.Fatalf("reserve: %d, %v, want %d", first, err, want)
		}
		s.engine.preferred.Store(int64(i))
		p.set(false, true)
		if done, err := commit(s.engine, int64(i), fmt.Sprint("value ", i)); err != nil || !done {
			t.Errorf("node %d: %t, %v", i, done, err)
		}
		p.cut()
		p.set(false, false)
		if first, err := s.ReserveNumbers(ctx, counter, 0, 1); err != nil || first != want+1 {
			t.Fatalf("reserve: %d, %v, want %d", first, err, want+1)
		}
	}
}

// Somebody else has overwritten the row since. Then what came of a commit is not known, and the
// engine does not guess.
func TestLostAnswerInDoubt(t *testing.T) {
	endpoints := clusters(t)["ThreeNodes"]
	if endpoints == nil {
		t.Skip("IDMINT_KV_ETCD3 names no cluster")
	}
	proxies, config := behindProxies(t, endpoints)
	s := open(t, config)
	direct := newEngine(Config{Endpoints: endpoints, Prefix: config.Prefix})
	defer direct.close()
	commit := func(e *engine, version int64, value string) (bool, error) {
		return e.Commit(ctx, "n/p", kv.Change{Name: "a", Version: version, Value: []byte(value)})
	}
	if done, err := commit(s.engine, 0, "first"); err != nil || !done {
		t.Fatalf("%t, %v", done, err)
	}
	for _, p := range proxies { // the answer of whoever is asked first is lost
		p.set(false, true)
	}
	ended := make(chan error)
	go func() {
		_, err := commit(s.engine, 1, "ours")
		ended <- err
	}()
	for { // until it was carried out, and then overwritten, before another node is asked
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
		if int64(i) != s.engine.preferred.Load() {
			p.set(false, false)
		}
	}
	var attempt *launchlog.AttemptError
	if err := <-ended; !errors.As(err, &attempt) || !attempt.Ambiguous {
		t.Errorf("got %v, want it ambiguous", err)
	}
}

// Connections are cut, and nodes keep quiet, while the log works. Nothing is handed out twice,
// nothing that was acknowledged is lost.
func TestDisturbed(t *testing.T) {
	for name, endpoints := range clusters(t) {
		t.Run(name, func(t *testing.T) {
			proxies, config := behindProxies(t, endpoints)
			s := open(t, config)
			random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
			storesuite.Disturb(t, s, 12, func(_ *launchlog.Log, n int) error {
				p := proxies[random.IntN(len(proxies))]
				switch n % 3 {
				case 0: // answers are lost
					p.set(false, true)
					time.Sleep(time.Duration(random.IntN(20)) * time.Millisecond)
					p.cut()
				case 1:
					p.cut()
				case 2:
					p.set(true, false)
					time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
				}
				p.set(false, false)
				if len(proxies) == 1 { // there is no other one that could answer meanwhile
					time.Sleep(100 * time.Millisecond)
				}
				return nil
			})
		})
	}
}

// Nobody answers. Every call ends with its context, and says whether it may have been carried out.
func TestNobodyAnswers(t *testing.T) {
	for name, endpoints := range clusters(t) {
		t.Run(name, func(t *testing.T) {
			proxies, config := behindProxies(t, endpoints)
			s := open(t, config)
			for _, p := range proxies {
				p.set(true, false)
			}
			calling, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
			defer cancel()
			_, err := s.engine.Commit(calling, "n/p", kv.Change{Name: "a", Value: []byte("1")})
			var attempt *launchlog.AttemptError
			if !errors.As(err, &attempt) || !attempt.Ambiguous ||
				!errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("commit: %v", err)
			}
			if _, err := s.engine.Read(calling, "n/p", "a"); err != context.DeadlineExceeded {
				t.Errorf("read: %v", err)
			}
			for _, p := range proxies {
				p.set(false, false)
			}
			if _, err := s.engine.Read(ctx, "n/p", "a"); err != nil {
				t.Errorf("afterwards: %v", err)
			}
			for _, p := range proxies { // nobody is there
				p.listener.Close()
				p.cut()
			}
			_, err = s.engine.Commit(ctx, "n/p", kv.Change{Name: "b", Value: []byte("1")})
			if !errors.As(err, &attempt) {
				t.Errorf("commit, with nobody there: %v", err)
			}
		})
	}
}
