package launchlog

import (
	"fmt"
	"sync"
)

// A memory is the last numbers that a store has acknowledged to a log. A store that comes to a
// number below them has lost rows, as after an older copy was put in its place. It may give others
// what this process has, so the log takes no number from it any more.
type memory struct {
	mu   sync.Mutex      // guards what follows; not held while the store is asked
	last map[Usage]int64 // by the counter or the launch of the number; nil before the first
	lost error           // wraps ErrBehind; nil while nothing was seen
}

// remembered is how many numbers are kept, in about a megabyte: an app may have a counter for each
// of its customers.
const remembered = 10_000

// before returns the last number of a kind, or 0, for a step that begins. The error says that no
// step begins any more.
func (l *Log) before(kind Usage) (int64, error) {
	if l == nil || l.store == nil {
		return 0, errNotMade
	}
	m := &l.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last[kind], m.lost
}

// lose notes why no number is taken any more.
func (m *memory) lose(err error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lost == nil {
		m.lost = err
	}
	return m.lost
}

// tookGenerator is took for a generator number, of which the count is one more.
func (m *memory) tookGenerator(c Claim, before int64) error {
	count := int64(c.Generator)
	return m.took(Usage{Launch: c.Launch}, before, count, count+1)
}

// took notes the last number that a step has taken. From is where the store had come to, which is no
// lower than before, unless the store has lost rows.
func (m *memory) took(kind Usage, before, from, last int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lost == nil && from < before {
		what := "counter " + kind.Counter
		if kind.Launch != 0 {
			what = fmt.Sprintf("the count of generators of launch %d", kind.Launch)
		}
		m.lost = fmt.Errorf("%w: %s was at %d, and went on from %d", ErrBehind, what, before, from)
	}
	if m.last == nil {
		m.last = map[Usage]int64{}
	}
	if _, known := m.last[kind]; !known && len(m.last) >= remembered {
		for other := range m.last { // any one: that it goes back is not seen before its next step
			if other.Counter != "" {
				delete(m.last, other)
				break
			}
		}
	}
	m.last[kind] = max(m.last[kind], last)
	return m.lost
}
