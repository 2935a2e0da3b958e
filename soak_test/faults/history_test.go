package faults_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"
)

// A call is what the records say of a call of a worker.
type call struct {
	record               // as it ended; without a result if the worker was killed
	began  time.Duration // when its first attempt did
	tries  []try
	// its attempts that may have changed something without the call's having the result
	doubts int
	old    bool // the database has forgotten it, as it was restored to an earlier time
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

// Rows are what the database holds.
type rows struct {
	last     map[string]int           // launch number by namespace
	launches map[place]launchRow      //
	claims   map[place]map[int]string // the token by generator number
	counters map[[2]string]int64      // the value by namespace and name
	notes    map[[2]string]string     // what the counter's last raise left, where there is one
	events   map[place]map[string]int // how many by kind
	// numbers that were passed over, by namespace and counter; "" for launch numbers
	advanced     map[[2]string][]span
	began, ended time.Duration // of the reading
}

func newRows() *rows {
	return &rows{
		last: map[string]int{}, launches: map[place]launchRow{},
		claims: map[place]map[int]string{}, counters: map[[2]string]int64{},
		notes:  map[[2]string]string{},
		events: map[place]map[string]int{}, advanced: map[[2]string][]span{}, began: now(),
	}
}

// advancedTo reports whether a counter, or with "" the launches, were advanced to a number.
func (r *rows) advancedTo(name [2]string, to int64) bool {
	return slices.ContainsFunc(r.advanced[name], func(s span) bool { return s.last == to })
}

// happened counts an event. What an event of a namespace says becomes a span.
func (r *rows) happened(p place, kind string, detail []byte) error {
	if r.events[p] == nil {
		r.events[p] = map[string]int{}
	}
	r.events[p][kind]++
	if p.launch != 0 {
		return nil
	}
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
	name := [2]string{p.space, d.Counter}
	r.advanced[name] = append(r.advanced[name], span{from + 1, to})
	return err
}

type launchRow struct {
	key  string
	next int
}

// load reads the tables past the store, all as of one moment: what clients have sent before their
// end may still be carried out.
func load(t *testing.T, db *sql.DB) *rows {
	t.Helper()
	r := newRows()
	tx, err := db.BeginTx(t.Context(),
		&sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	each := func(query string, scan func(*sql.Rows) error) {
		t.Helper()
		found, err := tx.QueryContext(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		defer found.Close()
		for err == nil && found.Next() {
			err = scan(found)
		}
		if err == nil {
			err = found.Err()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	each("SELECT namespace, last_launch_id FROM idmint_namespace", func(found *sql.Rows) error {
		var space string
		var last int
		err := found.Scan(&space, &last)
		r.last[space] = last
		return err
	})
	each("SELECT namespace, launch_id, idempotency_key, next_generator_id FROM idmint_launch",
		func(found *sql.Rows) error {
			var p place
			var l launchRow
			err := found.Scan(&p.space, &p.launch, &l.key, &l.next)
			r.launches[p] = l
			return err
		})
	each("SELECT namespace, launch_id, generator_id, token FROM idmint_generator",
		func(found *sql.Rows) error {
			var p place
			var generator int
			var token string
			err := found.Scan(&p.space, &p.launch, &generator, &token)
			if r.claims[p] == nil {
				r.claims[p] = map[int]string{}
			}
			r.claims[p][generator] = token
			return err
		})
	each("SELECT namespace, name, value, note FROM idmint_counter", func(found *sql.Rows) error {
		var name [2]string
		var value int64
		var note sql.NullString
		err := found.Scan(&name[0], &name[1], &value, &note)
		r.counters[name], r.notes[name] = value, note.String
		return err
	})
	each("SELECT namespace, coalesce(launch_id, 0), kind, detail FROM idmint_launch_event",
		func(found *sql.Rows) error {
			var p place
			var kind string
			var detail sql.NullString
			err := found.Scan(&p.space, &p.launch, &kind, &detail)
			if err != nil {
				return err
			}
			return r.happened(p, kind, []byte(detail.String))
		})
	r.ended = now()
	return r
}

func numberOf(text json.RawMessage) (int64, error) {
	if unquoted, err := strconv.Unquote(string(text)); err == nil {
		text = json.RawMessage(unquoted)
	}
	return strconv.ParseInt(string(text), 10, 64)
}

// String says how much was seen.
func (h *history) String() string {
	acknowledgements, doubts, interrupted := map[op]int{}, 0, 0
	beyond := time.Duration(0) // its limit, of the call that took longest so
	for _, c := range h.calls {
		beyond = max(beyond, c.Took-c.Limit)
		if c.Event == acknowledged {
			acknowledgements[c.Op]++
		}
		switch c.Event {
		case sent, won, refused, doubtful, over:
			interrupted++
		}
		doubts += c.doubts
	}
	return fmt.Sprintf(
		"%d launches and %d claims acknowledged, %d ranges; %d attempts refused, "+
			"%d of unknown outcome, "+
			"%d calls unresolved, %d cut short; none took more than %v beyond its limit",
		acknowledgements[start], acknowledgements[claim], acknowledgements[reserve],
		h.attempts[refused], doubts, h.attempts[unresolved], interrupted,
		beyond.Round(time.Millisecond))
}
