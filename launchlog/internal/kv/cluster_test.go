package kv

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/launchlog"
)

var (
	errRefused = errors.New("refused")
	errLost    = errors.New("lost")
	errDenied  = errors.New("denied")
)

// script says what a node does with a call: how long it takes, and the error it ends with.
type script struct {
	takes time.Duration
	err   error
}

// scripted makes a cluster of which the second node is asked first, and says which nodes were.
func scripted(nodes []script) (
	c *Cluster[string], asked *[]int, call func(context.Context, string) (int, error),
) {
	var names []string
	for i := range nodes {
		names = append(names, fmt.Sprint("node", i))
	}
	c = NewCluster(Driver[string]{
		Connect: func(_ context.Context, node string) (string, error) { return node, nil },
		Usable:  func(string) bool { return true },
		Close:   func(string) {},
		Judge: func(err error) Verdict {
			switch {
			case errors.Is(err, errRefused):
				return Refused
			case errors.Is(err, errDenied):
				return Final
			}
			return Unsure
		},
		Patience: time.Second, CallTime: 5 * time.Second,
	}, names)
	c.preferred.Store(int64(min(1, len(nodes)-1)))
	asked = new([]int)
	return c, asked, func(ctx context.Context, client string) (int, error) {
		node := slices.Index(names, client)
		*asked = append(*asked, node)
		select {
		case <-time.After(nodes[node].takes + 1):
			return node, nodes[node].err
		case <-ctx.Done():
			return node, ctx.Err()
		}
	}
}

func TestAsk(t *testing.T) {
	const ms = time.Millisecond
	hang, late := script{takes: time.Hour}, script{takes: 1500 * ms}
	refuse, lose, deny := script{err: errRefused}, script{err: errLost}, script{err: errDenied}
	for name, test := range map[string]struct {
		nodes  []script
		asked  []int // nodes, in the order in which they were asked
		took   time.Duration
		answer int // the node whose answer it is, or -1
		doubt  bool
		err    error
	}{
		"answers":           {[]script{{}, {}, {}}, []int{1}, 0, 1, false, nil},
		"in time":           {[]script{{}, {takes: 900 * ms}, {}}, []int{1}, 900 * ms, 1, false, nil},
		"hangs":             {[]script{{}, hang, {}}, []int{1, 2}, 1000 * ms, 2, true, nil},
		"two hang":          {[]script{{}, hang, hang}, []int{1, 2, 0}, 2000 * ms, 0, true, nil},
		"all are late":      {[]script{late, late, late}, []int{1, 2, 0, 1}, 4500 * ms, 1, true, nil},
		"all hang":          {[]script{hang, hang, hang}, []int{1, 2, 0, 1}, 5000 * ms, -1, true, nil},
		"refuses":           {[]script{{}, refuse, {}}, []int{1, 2}, 0, 2, false, nil},
		"loses":             {[]script{{}, lose, {}}, []int{1, 2}, 0, 2, true, nil},
		"two refuse":        {[]script{{}, refuse, refuse}, []int{1, 2, 0}, 0, 0, false, nil},
		"denies":            {[]script{{}, deny, {}}, []int{1}, 0, -1, false, errDenied},
		"hangs, and denies": {[]script{{}, hang, deny}, []int{1, 2}, 1000 * ms, -1, true, errDenied},
		"one node, late":    {[]script{late}, []int{0}, 1500 * ms, 0, false, nil},
		"one node hangs":    {[]script{hang}, []int{0}, 5000 * ms, -1, true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, asked, call := scripted(test.nodes)
				defer c.Close()
				began := time.Now()
				answer, doubt, err := Ask(t.Context(), c, call)
				// Pauses between attempts are of some milliseconds.
				if took := time.Since(began) - test.took; took < 0 || took > 100*ms {
					t.Errorf("it took %v more than %v", took, test.took)
				}
				if !slices.Equal(*asked, test.asked) || doubt != test.doubt {
					t.Errorf("asked %v, doubt %t; want %v, %t", *asked, doubt, test.asked, test.doubt)
				}
				if test.answer >= 0 {
					if err != nil || answer != test.answer || c.preferred.Load() != int64(answer) {
						t.Errorf("node %d, %v, preferred %d", answer, err, c.preferred.Load())
					}
					return
				}
				var attempt *launchlog.AttemptError
				if passes := errors.As(err, &attempt); test.err != nil && !errors.Is(err, test.err) ||
					passes != (test.doubt || test.err == nil) || passes && attempt.Ambiguous != doubt {
					t.Errorf("%v, want %v", err, test.err)
				}
			})
		})
	}
}

// Where another node would do no better, the first one stays so. Otherwise another one is asked
// first for a while, also after a call that was cut off when it had waited for some time.
func TestHome(t *testing.T) {
	hang := script{takes: time.Hour}
	for name, test := range map[string]struct {
		node      script
		patience  time.Duration // of the caller
		preferred int64
	}{
		"no better":         {script{err: errRefused}, time.Hour, 1},
		"lost":              {script{err: errLost}, time.Hour, 2},
		"caller in haste":   {hang, impatience - 1, 1},
		"caller had waited": {hang, impatience, 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			c, _, call := scripted([]script{{}, test.node, {}})
			defer c.Close()
			c.driver.Home = func(err error) bool { return errors.Is(err, errRefused) }
			calling, cancel := context.WithTimeout(t.Context(), test.patience)
			defer cancel()
			_, _, err := Ask(calling, c, call)
			if (err != nil) != (test.node == hang) || c.preferred.Load() != test.preferred {
				t.Errorf("%s: node %d is asked first, %v", name, c.preferred.Load(), err)
			}
			time.Sleep(homeTime + 1)
			if home := c.preferred.Load() == 0; home != (test.preferred == 2) {
				t.Errorf("%s: node %d is asked first in the end", name, c.preferred.Load())
			}
		})
	}
}

// A call ends with its context or with the cluster, and says what was in the way.
func TestAskEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, asked, call := scripted([]script{{takes: time.Hour}, {err: errRefused}})
		calling, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		_, doubt, err := Ask(calling, c, call)
		if !doubt || !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, errRefused) {
			t.Errorf("its context: %v, doubt %t", err, doubt)
		}
		_, doubt, err = Ask(calling, c, call)
		if doubt || err != context.DeadlineExceeded || len(*asked) != 2 {
			t.Errorf("a context that had ended: %v, doubt %t, asked %v", err, doubt, *asked)
		}
		time.AfterFunc(time.Second, c.Close)
		began := time.Now()
		_, doubt, err = Ask(t.Context(), c, call)
		if took := time.Since(began); took != time.Second || !doubt || !errors.Is(err, ErrClosed) {
			t.Errorf("closed: %v after %v, doubt %t", err, took, doubt)
		}
		synctest.Wait()
		if _, doubt, err = Ask(t.Context(), c, call); doubt || !errors.Is(err, ErrClosed) {
			t.Errorf("after that: %v, doubt %t", err, doubt)
		}
	})
}

// A process may stand still until the time for a call is over. Then no node was asked, and the call
// has no answer.
func TestAskTooLate(t *testing.T) {
	c, asked, call := scripted([]script{{}})
	defer c.Close()
	c.driver.CallTime = 0
	_, doubt, err := Ask(t.Context(), c, call)
	var attempt *launchlog.AttemptError
	if !errors.As(err, &attempt) || attempt.Ambiguous || doubt || len(*asked) != 0 {
		t.Errorf("%v, doubt %t, asked %v; want an AttemptError", err, doubt, *asked)
	}
}
