package kvtest

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/idmint/idmint/internal/faultnet"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
)

// A Client is an engine with separate connections.
type Client interface {
	kv.Engine
	Close()
}

// A Dial connects to a node.
type Dial = func(ctx context.Context, network, address string) (net.Conn, error)

// Faults tests an engine whose network loses and delays messages. Open opens a separate place that
// has a log, and returns a function that creates clients of it, with the given dial or, if that is
// nil, with their own.
func Faults(t *testing.T, open opening) {
	for name, test := range map[string]func(*testing.T, opening){
		"Lost": lostCommits, "Late": lateCommit, "NobodyAnswers": nobodyAnswers, "Close": closed,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // the other tests wait as well
			test(t, open)
		})
	}
}

type opening = func(t *testing.T) (client func(Dial) Client)

// lossy is an engine behind a wire, and one with a direct connection.
type lossy struct {
	e      Client
	direct kv.Engine
	wire   *faultnet.Wire
}

func newLossy(t *testing.T, open opening) *lossy {
	client, wire := open(t), faultnet.New(t)
	l := &lossy{client(wire.Dial), patient{client(nil)}, wire}
	commit(t, l.direct, "n/p", true, put("state", 0))
	l.versions(t, 1, 0)
	return l
}

// versions checks the two rows of the tests, through the engine behind the wire.
func (l *lossy) versions(t *testing.T, want ...int64) {
	t.Helper()
	rows, err := patient{l.e}.Read(ctx, "n/p", "state", "other")
	must(t, err)
	if rows[0].Version != want[0] || rows[1].Version != want[1] {
		t.Errorf("versions %d and %d, want %v", rows[0].Version, rows[1].Version, want)
	}
}

// spoiled begins a commit whose request or answer is lost, and returns once it is lost.
func (l *lossy) spoiled(
	t *testing.T, ctx context.Context, fate faultnet.Fate, changes ...kv.Change,
) (ended func() (bool, error)) {
	t.Helper()
	met := l.wire.Once(changes[0].Value, fate)
	var done bool
	var err error
	over := make(chan struct{})
	go func() {
		defer close(over)
		done, err = l.e.Commit(ctx, "n/p", changes...)
	}()
	<-met
	for fate == faultnet.Mute { // until the commit was carried out
		rows, err := l.direct.Read(t.Context(), "n/p", changes[0].Name)
		must(t, err)
		if rows[0].Version > changes[0].Version {
			break
		}
	}
	return func() (bool, error) {
		<-over
		return done, err
	}
}

func ambiguous(err error) bool {
	var attempt *launchlog.AttemptError
	return errors.As(err, &attempt) && attempt.Ambiguous
}

// gaveUp reports whether a commit that began at a time ended because the time for a call was over,
// which is 5 s or more. It is so where the process or the server stands still, and then shows
// nothing.
func gaveUp(began time.Time, err error) bool {
	return ambiguous(err) && time.Since(began) >= 5*time.Second
}

// lostCommits tests that a commit whose request or answer is lost is settled: it is sent again, and
// the rows show who was first.
func lostCommits(t *testing.T, open opening) {
	const lose, mute = faultnet.Lose, faultnet.Mute
	cut, deliver := (*faultnet.Wire).Cut, (*faultnet.Wire).Deliver
	state, both := put("state", 1), []kv.Change{put("state", 1), put("other", 0)}
	for name, test := range map[string]struct {
		fate    faultnet.Fate
		others  int64                // commits of others to the first row, before it is sent again
		then    func(*faultnet.Wire) // nil: the engine notices that nothing arrives
		changes []kv.Change
		done    bool
		doubt   bool
		want    []int64
	}{
		"request":            {lose, 0, cut, []kv.Change{state}, true, false, []int64{2, 0}},
		"answer":             {mute, 0, cut, []kv.Change{state}, true, false, []int64{2, 0}},
		"answer, in silence": {mute, 0, nil, both, true, false, []int64{2, 1}},
		"late request":       {lose, 1, deliver, both, false, false, []int64{2, 0}},
		"overtaken request":  {lose, 2, cut, both, false, false, []int64{3, 0}},
		"answer, and others overwrote one row": {
			mute, 2, cut, both, true, false, []int64{4, 1},
		},
		"answer, and others overwrote the only row": {
			mute, 1, cut, []kv.Change{state}, false, true, []int64{3, 0},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var l *lossy
			var done bool
			var err error
			for again := true; again; {
				l = newLossy(t, open)
				began := time.Now()
				ended := l.spoiled(t, ctx, test.fate, test.changes...)
				for range test.others {
					rows, err := l.direct.Read(ctx, "n/p", "state")
					must(t, err)
					commit(t, l.direct, "n/p", true, put("state", rows[0].Version))
				}
				if test.then != nil {
					test.then(l.wire)
				}
				done, err = ended()
				again = !test.doubt && gaveUp(began, err)
			}
			if done != test.done || ambiguous(err) != test.doubt || err != nil && !test.doubt {
				t.Errorf("commit: %t, %v, want %t", done, err, test.done)
			}
			l.versions(t, test.want...)
		})
	}
}

// lateCommit tests a request that arrives after the same one was sent again and carried out.
func lateCommit(t *testing.T, open opening) {
	l, began := newLossy(t, open), time.Now()
	done, err := l.spoiled(t, ctx, faultnet.Lose, put("state", 1))()
	if gaveUp(began, err) {
		lateCommit(t, open)
		return
	}
	if !done || err != nil {
		t.Fatalf("%t, %v", done, err)
	}
	commit(t, patient{l.e}, "n/p", true, put("state", 2))
	l.wire.Deliver()
	for version := range int64(9) {
		commit(t, l.direct, "n/p", true, put("other", version))
	}
	l.versions(t, 3, 9)
}

// nobodyAnswers tests that calls end with their context. A commit that was sent is in doubt.
func nobodyAnswers(t *testing.T, open opening) {
	l, began := newLossy(t, open), time.Now()
	calling, cancel := context.WithCancel(ctx)
	ended := l.spoiled(t, calling, faultnet.Lose, put("state", 1))
	l.wire.Hook(func([]byte) faultnet.Fate { return faultnet.Lose })
	cancel()
	_, err := ended()
	is := errors.Is(err, context.Canceled)
	if !is && gaveUp(began, err) {
		nobodyAnswers(t, open)
		return
	}
	if !ambiguous(err) || !is {
		t.Errorf("commit: %v", err)
	}
	short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	if _, err := l.e.Read(short, "n/p", "state"); ambiguous(err) ||
		!errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("read: %v", err)
	}
	l.wire.Hook(nil)
	l.wire.Cut()
	l.versions(t, 1, 0)
}

// closed tests that Close ends a call that waits.
func closed(t *testing.T, open opening) {
	l, began := newLossy(t, open), time.Now()
	ended := l.spoiled(t, ctx, faultnet.Lose, put("state", 1))
	l.e.Close()
	_, err := ended()
	is := errors.Is(err, kv.ErrClosed)
	if !is && gaveUp(began, err) {
		closed(t, open)
		return
	}
	if !ambiguous(err) || !is {
		t.Errorf("the call that waits: %v", err)
	}
	if _, err := l.e.Read(ctx, "n/p", "state"); !errors.Is(err, kv.ErrClosed) {
		t.Errorf("a call after it: %v", err)
	}
}
