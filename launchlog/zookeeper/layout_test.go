package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/idmint/idmint/launchlog/internal/kv"
)

// A launch has all its generator numbers, and its namespace all launches. The names of a znode's
// children take less than a quarter of jute.maxbuffer. They are counted by a sample.
func TestChildrenOfAFullLaunch(t *testing.T) {
	const sample = 10 // one of so many
	e := engine{config: Config{Path: "/idmint"}, root: "/idmint"}
	seen, sizes := map[string]bool{}, map[string]int{}
	add := func(part, name string) {
		for path := e.rowPath(part, name); path != e.root && !seen[path]; path = above(path) {
			seen[path] = true
			sizes[above(path)] += 4 + len(path) - len(above(path)+"/")
		}
	}
	for i := 0; i < 100_000; i += sample {
		add("some.namespace/launch/00007", fmt.Sprintf("claim-%05d", i))
		add("some.namespace/launch/00007", fmt.Sprintf("token-%032x", i*7919))
		add("some.namespace/launches", fmt.Sprintf("launch-%05d", i))
		add("some.namespace/launches", fmt.Sprintf("key-%064d", i))
		add(fmt.Sprintf("some.namespace/launch/%05d", i), "state")
	}
	for i := 0; i < 1<<15; i += sample { // pairs of the scheme eightbyte
		add(fmt.Sprintf("some.namespace/counter/pool.~eightbyte.~%05d", i), "state")
		add("some.namespace/counters", fmt.Sprintf("pool.~eightbyte.~%05d", i))
	}
	most, where := 0, ""
	for path, size := range sizes {
		if size > most {
			most, where = size, path
		}
	}
	if most *= sample; most > 1<<20/4 {
		t.Errorf("the names below %s take %d bytes", where, most)
	}
	t.Logf("the longest answer has %d bytes: that of %s", most, where)
}

// What a span chooses among znodes leaves out no name that it has.
func TestSpan(t *testing.T) {
	names := []string{
		"a", "state", "claim-00000", "claim-00999", "claim-01000", "claim-99999", "claim-000",
		"claim-1", "claim-x0000", "claim-000000", "event-000001", "event-00001", "key-00001",
		"launch-00007", "token-1", "A", "0", "Zz9", "stateful0", "claim", "claims",
		"abcdefgh", "abcdefghi",
	}
	bounds := append([]string{"", "claim-", "claim.", "event.", "claim-00998", "b", "zz"}, names...)
	for _, after := range bounds {
		for _, before := range bounds {
			s := span{after, before}
			for _, name := range names {
				child := parent(name)
				if child == "" {
					child = name
				}
				rows, buckets, blocks := s.sort([]string{child})
				if s.has(name) && len(rows)+len(buckets)+len(blocks) != 1 {
					t.Errorf("%q is between %q and %q, and %q is left out",
						name, after, before, child)
				}
			}
		}
	}
	// Pages of claims read one block or two, and no token.
	_, buckets, blocks := span{"claim-00998", "claim."}.sort([]string{
		"~claim-00", "~claim-01", "%t00", "%t1f", "%k00", "state",
	})
	if len(buckets) != 0 || !slices.Equal(blocks, []string{"~claim-00", "~claim-01"}) {
		t.Errorf("claims: %q and %q", buckets, blocks)
	}
}

// A znode's version has 32 bits.
func TestMaxVersion(t *testing.T) {
	e := engine{config: Config{Path: "/idmint"}, root: "/idmint"}
	last := kv.Change{Name: "state", Version: maxVersion}
	if _, err := e.Commit(t.Context(), "n/p", last); err == nil ||
		!strings.Contains(err.Error(), "2147483647 times") {
		t.Errorf("a row of the last version: %v", err)
	}
	last.Version++
	if done, err := e.Commit(t.Context(), "n/p", last); done || err != nil {
		t.Errorf("a version that no row has: %t, %v", done, err)
	}
}

// What package zk and servers say of a request, and what it means for the call.
func TestJudge(t *testing.T) {
	for want, errs := range map[kv.Verdict][]error{
		kv.Final: {
			zk.ErrBadVersion, zk.ErrNodeExists, zk.ErrNoNode, zk.ErrNotEmpty, zk.ErrNoAuth,
			zk.ErrAuthFailed, zk.ErrInvalidACL, errors.New("unknown error: -125"),
			fmt.Errorf("x: %w", zk.ErrNoNode),
		},
		kv.Unsure: {
			zk.ErrConnectionClosed, zk.ErrSessionExpired, zk.ErrSessionMoved, zk.ErrClosing,
			zk.ErrUnknown, zk.ErrAPIError, errors.New("broken pipe"), errors.New("unknown error: -1"),
			errors.New("unknown error: -4"), errors.New("unknown error: -5"),
			errors.New("unknown error: -7"), fmt.Errorf("x: %w", zk.ErrClosing),
			context.DeadlineExceeded,
		},
		kv.Refused: {
			zk.ErrNoServer, errors.New("unknown error: -127"),
		},
	} {
		for _, err := range errs {
			if got := judge(explained(err)); got != want {
				t.Errorf("%v: %d, want %d", err, got, want)
			}
		}
	}
}
