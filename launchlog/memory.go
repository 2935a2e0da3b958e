package launchlog

import (
	"fmt"
	"sync"
)

// A memory keeps the last numbers that a store has acknowledged to a log. A store that falls below
// them has lost rows, for example because it was replaced by an older copy. It may then give others
// what this process has, so the log takes no more numbers from it.
type memory struct {
	mu   sync.Mutex      // guards the fields below; not held during a store's operation
	last map[Usage]int64 // by the log counter or launch of the number; nil before the first
	lost error           // wraps ErrBehind; nil until a loss was seen
}

// remembered is how many numbers are kept, in about a megabyte, because an app may have a log
// counter for each of its customers.
const remembered = 10_000

// before returns the last number of a kind, or 0, for an operation that begins. The error says why
// no operation may begin any more.
func (l *Log) before(kind Usage) (int64, error) {
	if l == nil || l.store == nil {
		return 0, errNotMade
	}
	m := &l.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last[kind], m.lost
}

// lose records why no more numbers are taken.
func (m *memory) lose(err error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lost == nil {
		m.lost = err
	}
	return m.lost
}

// tookGenerator calls took for a generator number, for which the count is one higher.
func (m *memory) tookGenerator(c Claim, before int64) error {
	count := int64(c.Generator)
	return m.took(Usage{Launch: c.Launch}, before, count, count+1)
}

// took records the last number that an operation has taken. From is the number at which the store
// was, which is at least before unless the store has lost rows.
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
		for other := range m.last { // any: its loss goes unnoticed until its next use
			if other.Counter != "" {
				delete(m.last, other)
				break
			}
		}
	}
	m.last[kind] = max(m.last[kind], last)
	return m.lost
}
