package faults_test

import (
	"bytes"
	"encoding/json"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/storetest"
)

// A call is what the records say of a call of a worker.
type call struct {
	record               // as it ended; without a result if the worker was killed
	began  time.Duration // when its first attempt did
	tries  []try
	// its attempts that may have changed something without the call's having the result
	doubts int
	// its error says what the test did to the server, and nothing is to be tried again
	told bool
}

// isOver reports whether the launch has ended before the call's last attempt. An answer that was
// lost before that stays in doubt.
func (c *call) isOver() bool {
	return len(c.tries) != 0 && c.tries[len(c.tries)-1].Event == over
}

// A try is an attempt of a call.
type try struct {
	record
	began, ended time.Duration // ended is never where the outcome is not known
}

const never = time.Duration(math.MaxInt64)

// A history is what workers wrote down.
type history struct {
	calls    []*call
	attempts map[event]int
	// fleeting says that the server was killed, and shows rows before their commit is on disk. Then
	// what was only read may be gone: nothing follows from it. What a step that writes returned is
	// on disk, also where the step found it there.
	fleeting bool
}

// remember reads the files of workers in a folder.
func remember(t *testing.T, dir string) *history {
	t.Helper()
	h := &history{attempts: map[event]int{}}
	names, err := filepath.Glob(filepath.Join(dir, "worker-*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		byName := map[string]*call{}
		for line := range bytes.Lines(text) {
			var r record
			if !bytes.HasSuffix(line, []byte{'\n'}) {
				// the worker was killed over it, before it did what it wrote down or used what it
				// was told
				break
			}
			if err := json.Unmarshal(line, &r); err != nil {
				t.Fatalf("%s has %q: %v", name, line, err)
			}
			h.add(byName, r)
		}
	}
	return h
}

// add adds the next record of a worker, whose calls are in byName.
func (h *history) add(byName map[string]*call, r record) {
	c := byName[r.Call]
	if c == nil {
		c = &call{began: r.At}
		byName[r.Call] = c
		h.calls = append(h.calls, c)
	}
	c.record = r
	if r.Op == mint { // which has no attempts
		return
	}
	h.attempts[r.Event]++
	switch r.Event {
	case sent:
		c.doubts++
		c.tries = append(c.tries, try{r, r.At, never})
	case won, doubtful, refused, over:
		t := &c.tries[len(c.tries)-1]
		t.record = r
		if r.Event != doubtful {
			t.ended = r.At
		}
		if r.Event == refused || r.Event == over {
			c.doubts--
		}
	case acknowledged: // by the last attempt
		c.doubts--
	}
}

// all are the attempts of all calls.
func (h *history) all() iter.Seq[*try] {
	return func(yield func(*try) bool) {
		for _, c := range h.calls {
			for i := range c.tries {
				if !yield(&c.tries[i]) {
					return
				}
			}
		}
	}
}

// A place is a launch, or all launches of a namespace.
type place struct {
	space  string
	launch int
}

// span are the numbers first ..= last.
type span struct{ first, last int64 }

// Rows are what the log holds.
type rows struct {
	last     map[string]int           // launch number by namespace
	launches map[place]launchRow      //
	over     map[place]bool           // launches that have ended
	claims   map[place]map[int]string // the token by generator number
	counters map[[2]string]int64      // the value by namespace and name
	notes    map[[2]string]string     // what the counter's last raise left, where there is one
	// numbers that were passed over, by namespace and counter; "" for launch numbers
	advanced     map[[2]string][]span
	began, ended time.Duration // of the reading
}

type launchRow struct {
	key  string
	next int
}

func newRows() *rows {
	return &rows{
		last: map[string]int{}, launches: map[place]launchRow{}, over: map[place]bool{},
		claims: map[place]map[int]string{}, counters: map[[2]string]int64{},
		notes: map[[2]string]string{}, advanced: map[[2]string][]span{}, began: now(),
	}
}

// advancedTo reports whether a counter, or with "" the launches, were advanced to a number.
func (r *rows) advancedTo(name [2]string, to int64) bool {
	return slices.ContainsFunc(r.advanced[name], func(s span) bool { return s.last == to })
}

// load reads a launch log by a store of its own. What clients have sent before their end may still
// be carried out meanwhile. What is read first, a namespace's last launch, a launch's next
// generator and a counter's value, bounds what counts of the rest.
func load(a *arena) *rows {
	a.Helper()
	s, r := a.openStore(), newRows()
	check := func(err error) {
		a.Helper()
		if err != nil {
			a.Fatal(err)
		}
	}
	for _, space := range namespaces {
		l, err := launchlog.New(s, &launchlog.Options{Namespace: space, Budget: ample})
		check(err)
		// The store tells the last launch only to who starts one.
		next, err := l.Start(a.Context(), storetest.Request("audit"))
		check(err)
		r.last[space] = next.ID - 1
		launches, err := l.List(a.Context(), launchlog.Filter{
			Before: next.ID, Limit: launchlog.MaxLaunch,
		})
		check(err)
		for _, launch := range launches {
			p := place{space, launch.ID}
			r.launches[p] = launchRow{launch.Key, launch.NextGenerator}
			r.over[p] = !launch.Running()
			if launch.NextGenerator == 0 {
				continue
			}
			claims, err := l.Claims(a.Context(), launch.ID, 0, launch.NextGenerator)
			check(err)
			r.claims[p] = map[int]string{}
			for _, c := range claims {
				if c.Generator < launch.NextGenerator {
					r.claims[p][c.Generator] = c.Token
				}
			}
		}
		counters, err := l.Counters(a.Context(), "", 1_000_000)
		check(err)
		for _, c := range counters {
			r.counters[[2]string{space, c.Name}] = c.Value
			r.notes[[2]string{space, c.Name}] = c.Note
		}
		r.ended = now()
		events, err := s.Events(a.Context(), launchlog.Ref{Namespace: space})
		check(err)
		for _, e := range events {
			check(r.pass(space, e.Detail))
		}
	}
	for name, spans := range r.advanced {
		most := r.counters[name]
		if name[1] == "" {
			most = int64(r.last[name[0]])
		}
		r.advanced[name] = slices.DeleteFunc(spans, func(s span) bool { return s.last > most })
	}
	return r
}

// pass adds the span of an event of a namespace.
func (r *rows) pass(space string, detail []byte) error {
	var d struct {
		Counter  string
		From, To json.RawMessage // numbers of launches, and texts with numbers of counters
	}
	if err := json.Unmarshal(detail, &d); err != nil {
		return err
	}
	from, err := numberOf(d.From)
	if err != nil {
		return err
	}
	to, err := numberOf(d.To)
	name := [2]string{space, d.Counter}
	r.advanced[name] = append(r.advanced[name], span{from + 1, to})
	return err
}

func numberOf(text json.RawMessage) (int64, error) {
	if unquoted, err := strconv.Unquote(string(text)); err == nil {
		text = json.RawMessage(unquoted)
	}
	return strconv.ParseInt(string(text), 10, 64)
}
