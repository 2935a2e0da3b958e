package cassandra

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
)

// A partition is a table's partition as nodes keep it, with a network in front that loses answers.
type partition struct {
	mu    sync.Mutex
	rows  map[string]state
	made  map[token]int // how often a commit was carried out
	seen  []commit      // what was sent
	looks int
	// apply and find stand in for the network: they call carry and snapshot as they like.
	onApply func(n int, c *commit) (bool, error)
	onFind  func(n int) error
}

func newPartition() *partition {
	return &partition{rows: map[string]state{}, made: map[token]int{}}
}

func (p *partition) apply(ctx context.Context, c *commit) (bool, error) {
	p.mu.Lock()
	p.seen = append(p.seen, *c)
	n := len(p.seen)
	p.mu.Unlock()
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if p.onApply != nil {
		return p.onApply(n, c)
	}
	return p.carry(c), nil
}

func (p *partition) find(ctx context.Context, c *commit) ([]state, error) {
	p.mu.Lock()
	p.looks++
	n := p.looks
	p.mu.Unlock()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if p.onFind != nil {
		if err := p.onFind(n); err != nil {
			return nil, err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	states := make([]state, len(c.changes))
	for i, change := range c.changes {
		states[i] = p.rows[change.Name]
	}
	return states, nil
}

// carry carries out a batch as nodes do: all of its conditions hold, or nothing is written.
func (p *partition) carry(c *commit) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, change := range c.changes {
		if p.rows[change.Name].version != change.Version {
			return false
		}
	}
	for _, change := range c.changes {
		row := p.rows[change.Name]
		row.version = change.Version + 1
		row.tokens = maps.Clone(row.tokens)
		if change.Version == 0 {
			row.made = c.token[:]
		} else {
			if row.tokens == nil {
				row.tokens = map[int8][]byte{}
			}
			row.tokens[slot(row.version)] = c.token[:]
		}
		p.rows[change.Name] = row
	}
	p.made[c.token]++
	return true
}

// write makes n commits of others to a row.
func (p *partition) write(name string, n int) {
	for range n {
		p.mu.Lock()
		version := p.rows[name].version
		p.mu.Unlock()
		if !p.carry(newCommit(kv.Change{Name: name, Version: version})) {
			panic("another's commit failed")
		}
	}
}

func newCommit(changes ...kv.Change) *commit {
	c := &commit{part: "p", changes: changes}
	for i := range c.token {
		c.token[i] = byte(rand.Uint32())
	}
	return c
}

var errLost = errors.New("the connection was lost")

// A commit whose answer is lost is settled by what the rows tell, and by nothing else.
func TestLostAnswerIsSettled(t *testing.T) {
	const yes, no, doubtful = "done", "not done", "in doubt"
	counter := []kv.Change{{Name: "counter", Version: 5}}
	both := []kv.Change{{Name: "counter", Version: 5}, {Name: "new"}}
	for name, test := range map[string]struct {
		changes []kv.Change
		carried bool               // the first copy is carried out before its answer is lost
		then    func(p *partition) // what others do before anybody looks
		want    string
		sent    int // how often the statements are sent
	}{
		"carried out":         {counter, true, nil, yes, 1},
		"on its way for ever": {counter, false, nil, yes, 2},
		"another was first": {
			counter, false, func(p *partition) { p.write("counter", 1) }, no, 1,
		},
		"carried out, and another after it": {
			counter, true, func(p *partition) { p.write("counter", 1) }, yes, 1,
		},
		"carried out, and as many others as tokens are kept": {
			counter, true, func(p *partition) { p.write("counter", keep-1) }, yes, 1,
		},
		"as many others as tokens are kept": {
			counter, false, func(p *partition) { p.write("counter", keep) }, no, 1,
		},
		"carried out, and too many others": {
			counter, true, func(p *partition) { p.write("counter", keep) }, doubtful, 1,
		},
		"too many others": {
			counter, false, func(p *partition) { p.write("counter", keep+1) }, doubtful, 1,
		},
		"a new row decides for ever": {
			both, true, func(p *partition) {
				p.write("counter", 3*keep)
				p.write("new", 3*keep)
			}, yes, 1,
		},
		"another's new row decides for ever": {
			both, false, func(p *partition) {
				p.write("new", 1)
				p.write("counter", 3*keep)
				p.write("new", 3*keep)
			}, no, 1,
		},
		"a new row that is not there": {
			both, false, func(p *partition) { p.write("counter", 3*keep) }, no, 1,
		},
		"a row that stays beside one that moved": {
			[]kv.Change{{Name: "other", Version: 2}, {Name: "counter", Version: 5}},
			false,
			func(p *partition) { p.write("other", keep+1) }, no, 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPartition()
				p.write("counter", 5)
				p.write("other", 2)
				c := newCommit(test.changes...)
				p.onApply = func(n int, c *commit) (bool, error) {
					if n > 1 {
						return p.carry(c), nil
					}
					if test.carried && !p.carry(c) {
						t.Error("the first copy was not carried out")
					}
					if test.then != nil {
						test.then(p)
					}
					return false, errLost
				}
				done, err := c.settle(t.Context(), p)
				got := map[bool]string{true: yes, false: no}[done]
				var attempt *launchlog.AttemptError
				if errors.As(err, &attempt) && attempt.Ambiguous && !done {
					got = doubtful
					if !errors.Is(err, errLost) || !errors.Is(err, errOvertaken) {
						t.Errorf("%v does not say why", err)
					}
				} else if err != nil {
					t.Errorf("error %v", err)
				}
				if got != test.want || len(p.seen) != test.sent {
					t.Errorf("%s after %d copies, want %s after %d",
						got, len(p.seen), test.want, test.sent)
				}
				if want := test.carried || test.want == yes; (p.made[c.token] == 1) != want {
					t.Errorf("carried out %d times", p.made[c.token])
				}
			})
		})
	}
}

// A copy that was slow may be carried out right before the one that was sent again, whose answer is
// then "not applied".
func TestLateCopyCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPartition()
		p.write("counter", 5)
		c := newCommit(kv.Change{Name: "counter", Version: 5, Value: []byte("6")})
		p.onApply = func(n int, c *commit) (bool, error) {
			if n == 1 {
				return false, errLost
			}
			if !p.carry(&p.seen[0]) {
				t.Error("the late copy was not carried out")
			}
			return p.carry(c), nil
		}
		done, err := c.settle(t.Context(), p)
		if !done || err != nil || p.made[c.token] != 1 {
			t.Errorf("done %v, error %v, carried out %d times", done, err, p.made[c.token])
		}
		first, second := p.seen[0], p.seen[1]
		if len(p.seen) != 2 || first.token != second.token || first.token != c.token ||
			fmt.Sprint(first.changes) != fmt.Sprint(second.changes) {
			t.Errorf("the copies differ: %+v", p.seen)
		}
	})
}

// What was never sent, or was refused, changed nothing. Nobody needs to look.
func TestErrorsThatDecide(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"no node":        {gocql.ErrNoConnections, "again"},
		"no free stream": {gocql.ErrNoStreams, "again"},
		"no such table":  {serverError(gocql.ErrCodeInvalid), "final"},
		"no right":       {serverError(gocql.ErrCodeUnauthorized), "final"},
		"closed":         {gocql.ErrSessionClosed, "final"},
	} {
		p := newPartition()
		p.onApply = func(int, *commit) (bool, error) { return false, test.err }
		done, err := newCommit(kv.Change{Name: "x"}).settle(t.Context(), p)
		got := "final"
		var attempt *launchlog.AttemptError
		if errors.As(err, &attempt) && !attempt.Ambiguous {
			got = "again"
		}
		if done || got != test.want || !errors.Is(err, test.err) {
			t.Errorf("%s: done %v, error %v, %s", name, done, err, got)
		}
		if p.looks != 0 || len(p.seen) != 1 {
			t.Errorf("%s: sent %d times, looked %d times", name, len(p.seen), p.looks)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	p := newPartition()
	_, err := newCommit(kv.Change{Name: "x"}).settle(ended, p)
	if err != context.Canceled || len(p.seen) != 0 { //nolint:errorlint // bare
		t.Errorf("an ended context: %v, sent %d times", err, len(p.seen))
	}
}

// What the driver says of a request that may have been sent tells nothing of whether it was carried
// out. Nor does what a node says that had begun. The rows tell.
func TestErrorsThatDoNotDecide(t *testing.T) {
	for _, lost := range []error{
		gocql.ErrFrameTooBig, // of the answer
		gocql.ErrConnectionClosed, gocql.ErrTimeoutNoResponse, io.EOF, io.ErrUnexpectedEOF,
		gocql.NewErrProtocol("unexpected protocol version in response"),
		context.DeadlineExceeded, context.Canceled, errors.New("what is this"),
		serverError(gocql.ErrCodeWriteTimeout), serverError(gocql.ErrCodeCASWriteUnknown),
		serverError(gocql.ErrCodeWriteFailure), serverError(gocql.ErrCodeUnavailable),
		serverError(gocql.ErrCodeOverloaded), serverError(gocql.ErrCodeServer),
		serverError(gocql.ErrCodeTruncate), serverError(gocql.ErrCodeReadTimeout),
	} {
		p := newPartition()
		p.onApply = func(_ int, c *commit) (bool, error) {
			p.carry(c)
			return false, fmt.Errorf("node 1: %w", lost)
		}
		c := newCommit(kv.Change{Name: "x"})
		if done, err := c.settle(t.Context(), p); !done || err != nil || p.made[c.token] != 1 {
			t.Errorf("%v: done %v, error %v, carried out %d times", lost, done, err, p.made[c.token])
		}
	}
}

// Where nobody can tell in time, the error says so, whoever ended the call.
func TestDoubtAtTheEnd(t *testing.T) {
	for name, test := range map[string]struct {
		timeout time.Duration // of the caller; 0 is none
		find    error         // of each look
		want    error
		took    time.Duration
	}{
		"nodes do not answer":      {0, errLost, errLost, callTime},
		"the caller ends":          {time.Second, errLost, context.DeadlineExceeded, time.Second},
		"never carried out":        {0, nil, errPending, callTime},
		"the caller ends, pending": {time.Second, nil, context.DeadlineExceeded, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPartition()
				p.onApply = func(int, *commit) (bool, error) { return false, errLost }
				p.onFind = func(int) error { return test.find }
				ctx := t.Context()
				if test.timeout != 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, test.timeout)
					defer cancel()
				}
				start := time.Now()
				done, err := newCommit(kv.Change{Name: "x"}).settle(ctx, p)
				var attempt *launchlog.AttemptError
				if done || !errors.As(err, &attempt) || !attempt.Ambiguous {
					t.Errorf("done %v, error %v", done, err)
				}
				if !errors.Is(err, test.want) || time.Since(start) != test.took {
					t.Errorf("error %v after %v", err, time.Since(start))
				}
				if ended := errors.Is(err, context.DeadlineExceeded); ended != (test.timeout != 0) {
					t.Errorf("the caller's context has not ended: %v", err)
				}
			})
		})
	}
}

// Clients count together by a row whose answers get lost, and whose statements arrive late and more
// than once. Every number that was taken is somebody's, or was said to be in doubt.
func TestCountingInDoubt(t *testing.T) {
	const clients, numbers = 4, 200
	seeds, inDoubt, copies := 60, 0, 0
	for seed := range uint64(seeds) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			p := newPartition()
			var mu sync.Mutex // of random and late
			var late []commit
			draw := func(n int) int {
				mu.Lock()
				defer mu.Unlock()
				return random.IntN(n)
			}
			p.onApply = func(_ int, c *commit) (bool, error) {
				time.Sleep(time.Duration(draw(50)) * time.Millisecond)
				if draw(4) == 0 {
					mu.Lock()
					if len(late) != 0 {
						p.carry(&late[random.IntN(len(late))])
					}
					mu.Unlock()
				}
				fate := draw(6)
				applied := fate != 0 && p.carry(c)
				time.Sleep(time.Duration(draw(3000)*(fate/5)) * time.Millisecond)
				if fate < 2 {
					mu.Lock()
					late = append(late, *c) // this copy stays in the network for ever
					mu.Unlock()
					return false, errLost
				}
				return applied, nil
			}
			p.onFind = func(int) error {
				if draw(4) == 0 {
					return errLost
				}
				time.Sleep(time.Duration(draw(100)) * time.Millisecond)
				return nil
			}
			owner := map[int64]token{}
			var doubts []token
			var working sync.WaitGroup
			for range clients {
				working.Go(func() {
					for range numbers / clients {
						p.mu.Lock()
						version := p.rows["counter"].version
						p.mu.Unlock()
						c := newCommit(kv.Change{Name: "counter", Version: version})
						done, err := c.settle(t.Context(), p)
						p.mu.Lock()
						made := p.made[c.token]
						p.mu.Unlock()
						mu.Lock()
						switch {
						case err != nil:
							doubts = append(doubts, c.token)
						case !done && made != 0:
							t.Errorf("seed %d: %d was taken, and said not to be", seed, version+1)
						case done && made != 1:
							t.Errorf("seed %d: %d was not taken", seed, version+1)
						case done && owner[version+1] != (token{}):
							t.Errorf("seed %d: %d was taken twice", seed, version+1)
						case done:
							owner[version+1] = c.token
						}
						mu.Unlock()
					}
				})
			}
			working.Wait()
			taken := 0
			for _, c := range doubts {
				taken += p.made[c]
			}
			if last := p.rows["counter"].version; len(owner)+taken != int(last) {
				t.Errorf("seed %d: of %d numbers %d are known and %d in doubt",
					seed, last, len(owner), taken)
			}
			for c, n := range p.made {
				if n != 1 {
					t.Errorf("seed %d: %x was carried out %d times", seed, c, n)
				}
			}
			inDoubt += len(doubts)
			copies += len(late)
		})
	}
	if copies < seeds || inDoubt > copies/10 {
		t.Errorf("%d answers were lost, %d of them for good", copies, inDoubt)
	}
}
