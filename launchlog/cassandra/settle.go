package cassandra

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/launchlog/internal/kv"
)

// keep is how many of a row's last versions have their tokens in it. The slots are reused in turn,
// so that no token is ever deleted.
const keep = 128

// slot is where a version's token lies.
func slot(version int64) int8 { return int8(version % keep) }

// longestPause is between two looks at a commit in doubt.
const longestPause = 200 * time.Millisecond

var (
	errOvertaken = errors.New("the answer was lost, and the row has been overwritten so often " +
		"since that nothing tells whether the commit was carried out")
	errPending = errors.New("the answer was lost, and the commit has not been carried out yet")
)

// A token names a commit: 128 random bits, the same in each of its reruns.
type token [16]byte

// A commit is a batch of conditional statements. It compares and bumps the version of each row that
// it writes. So its statements can be carried out once at most, however often and late they arrive.
type commit struct {
	part    string
	changes []kv.Change
	token   token
}

// inserts reports whether the commit compares no row that is there.
func (c *commit) inserts() bool {
	return !slices.ContainsFunc(c.changes, func(ch kv.Change) bool { return ch.Version != 0 })
}

// A state is what a row tells of the commits that wrote it.
type state struct {
	version int64           // 0: there is no such row
	made    []byte          // the token of version 1, which is never overwritten
	tokens  map[int8][]byte // those of the last versions, by their slots
}

// An executor carries out commits. After an error it is not known whether it did, unless unsent
// says so.
type executor interface {
	apply(ctx context.Context, c *commit) (bool, error)
	// find returns the states of the commit's rows in one snapshot, which is linearizable.
	find(ctx context.Context, c *commit) ([]state, error)
}

// settle carries the commit out. After a lost answer it looks what became of it, and runs it again
// as it is while it may yet be carried out.
func (c *commit) settle(ctx context.Context, x executor) (bool, error) {
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	within, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	applied, err := x.apply(within, c)
	switch {
	case err == nil:
		return applied, nil
	case unsent(err):
		return false, attempt(false, err)
	case !passes(err):
		return false, err
	}
	// From here on nothing but a row's token tells. A copy of the statements may be under way, and
	// its success may be why the next copy is not applied.
	again := false
	for range dialect.Attempts(within, longestPause) {
		if again {
			if applied, _ = x.apply(within, c); applied {
				return true, nil
			}
		}
		states, lost := x.find(within, c)
		if lost != nil {
			err, again = lost, false
			if !passes(lost) {
				break
			}
			continue
		}
		done, known := c.fate(states)
		switch {
		case known:
			return done, nil
		case c.overtaken(states):
			return false, attempt(true, fmt.Errorf("%w: %w", errOvertaken, err))
		}
		again = true
	}
	err = ended(ctx, err)
	if again {
		err = fmt.Errorf("%w: %w", errPending, err)
	}
	return false, attempt(true, err)
}

// fate tells from a snapshot whether the commit was carried out. Any of its rows tells, since all
// are written or none. A row tells by the token of the version that the commit makes, if that is
// still kept. A row that stays, beside one that has moved on, tells that it never will be.
func (c *commit) fate(states []state) (done, known bool) {
	stays, moved := false, false
	for i, change := range c.changes {
		s := states[i]
		if s.version <= change.Version {
			stays = true
			continue
		}
		moved = true
		switch {
		case change.Version == 0:
			return bytes.Equal(s.made, c.token[:]), true
		case s.version-change.Version <= keep:
			return bytes.Equal(s.tokens[slot(change.Version+1)], c.token[:]), true
		}
	}
	return false, stays && moved
}

// overtaken reports whether no row will ever tell.
func (c *commit) overtaken(states []state) bool {
	for i, change := range c.changes {
		if states[i].version <= change.Version {
			return false
		}
	}
	return true
}
