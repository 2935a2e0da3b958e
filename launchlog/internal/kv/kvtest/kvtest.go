// Package kvtest tests what an engine of package kv must do. An engine uses it like this:
//
//	func TestEngine(t *testing.T) {
//		kvtest.Run(t, func(t *testing.T) func() kv.Engine { … an empty place … })
//	}
//
// [Memory] is an engine in memory, for tests of the store, and is the model for other engines.
// [Faults] contains the tests of an engine over a network.
package kvtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idmint/idmint/launchlog/internal/kv"
)

var ctx = context.Background()

// NodesOf returns the nodes of the cluster that an environment variable names. If it is not set,
// the test is skipped, or fails in CI.
func NodesOf(t testing.TB, variable string) []string {
	t.Helper()
	nodes := os.Getenv(variable)
	switch {
	case nodes == "" && os.Getenv("CI") != "":
		t.Fatalf("%s names no cluster", variable)
	case nodes == "":
		t.Skipf("SKIPPED: %s names no cluster", variable)
	}
	return strings.Split(nodes, ",")
}

// Run runs the suite. Each test opens a separate place, which must be empty. The function that open
// returns creates clients of that place, which share nothing else. Open may call t.Parallel.
func Run(t *testing.T, open func(t *testing.T) (client func() kv.Engine)) {
	t.Helper()
	for _, test := range []struct {
		name string
		run  func(t *testing.T, client func() kv.Engine)
	}{
		{"Model", model},
		{"Values", values},
		{"ListPages", listPages},
		{"Each", each},
		{"Snapshot", snapshot},
		{"Contention", contention},
		{"CanceledContext", canceled},
		{"Clock", clock},
	} {
		t.Run(test.name, func(t *testing.T) {
			client := open(t)
			test.run(t, func() kv.Engine { return patient{client()} })
		})
	}
}

func want[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %+v, want %+v", what, got, want)
	}
}

// put is a change that writes a value which no other change writes.
func put(name string, version int64) kv.Change {
	value := fmt.Sprintf(`{"name":%q,"version":%d,"n":%d}`, name, version+1, numbers.Add(1))
	return kv.Change{Name: name, Version: version, Value: []byte(value)}
}

var numbers atomic.Int64

func commit(t *testing.T, e kv.Engine, part string, want bool, changes ...kv.Change) {
	t.Helper()
	done, err := e.Commit(ctx, part, changes...)
	if err != nil || done != want {
		t.Fatalf("commit to %s: %t, %v, want %t", part, done, err, want)
	}
}

// made is the row that a change creates.
func made(c kv.Change) kv.Row {
	return kv.Row{Name: c.Name, Value: c.Value, Version: c.Version + 1}
}

func wantRows(t *testing.T, e kv.Engine, part string, rows ...kv.Row) {
	t.Helper()
	var of []string
	for _, r := range rows {
		of = append(of, r.Name)
	}
	got, err := e.Read(ctx, part, of...)
	if err != nil {
		t.Fatalf("read %s: %v", part, err)
	}
	if !slices.Equal(lines(got), lines(rows)) {
		t.Errorf("%s: got %.300q, want %.300q", part, lines(got), lines(rows))
	}
}

// signs are all characters that a segment may have, in byte order.
const signs = "%-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~"

// model runs the same random steps on two clients and on a [Memory], and compares the answers.
func model(t *testing.T, client func() kv.Engine) {
	const steps = 400
	clients, memory := []kv.Engine{client(), client()}, NewMemory()
	random := rand.New(rand.NewPCG(1, 1))
	long := strings.Repeat("z", 255)
	// Some names are prefixes of others.
	parts := []string{
		"n/p", "p", "a", "ab", "a-", "A.", "b/a", "b/aa", "b/a.~a", "c/a/a", "c/a/aa", "c/aa/a",
		"y/x" + signs, long,
	}
	of := []string{
		"state", "A", "a", "a%", "a-", "a-1", "a.", "a.b", "a.~b", "a0", "a_b", "aa", "ab", "a~",
		"b", "event-000009", "event-000010", "key-a", "launch-00001", "claim-00999", "claim-01000",
		"x" + signs, long,
	}
	bounds := append([]string{"", "-", "0", "B", "a-0", "a/", "event-", "event.", "zz"}, of...)
	pick := func(of []string) string { return of[random.IntN(len(of))] }
	some := func(n int) (names []string) {
		for len(names) < n {
			if name := pick(of); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		return names
	}
	for step := range steps {
		e, part := clients[random.IntN(2)], pick(parts)
		if random.IntN(3) == 0 {
			part = parts[0] // which has many rows
		}
		names := some(1 + random.IntN(4))
		have := memory.read(part, names)
		var got, want any
		var err error
		what := fmt.Sprintf("step %d, %s, %q", step, part, names)
		switch random.IntN(6) {
		case 0, 1, 2:
			changes := make([]kv.Change, len(names))
			for i, row := range have {
				changes[i] = put(row.Name, row.Version)
			}
			if random.IntN(3) == 0 {
				changes[0].Version = []int64{0, 1, 2, have[0].Version + 1, 1 << 40}[random.IntN(5)]
			}
			got, err = e.Commit(ctx, part, changes...)
			want, _ = memory.Commit(ctx, part, changes...)
		case 3:
			var rows []kv.Row
			rows, err = e.Read(ctx, part, names...)
			got, want = lines(rows), lines(have)
		case 4:
			var rows []kv.Row
			after, before, limit := pick(bounds), pick(bounds), []int{1, 3, 100}[random.IntN(3)]
			what = fmt.Sprintf("step %d, %s, %q to %q", step, part, after, before)
			rows, err = e.List(ctx, part, after, before, limit)
			there, _ := memory.List(ctx, part, after, before, limit)
			got, want = lines(rows), lines(there)
		default:
			var rows []kv.Row
			rows, err = e.Each(ctx, parts[:random.IntN(len(parts))], names[0])
			there, _ := memory.Each(ctx, parts[:len(rows)], names[0])
			got, want = lines(rows), lines(there)
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: %v, %v, want %v", what, got, err, want)
		}
	}
}

// lines formats rows as text. A row that does not exist has no value, whether nil or empty.
func lines(rows []kv.Row) (lines []string) {
	for _, r := range rows {
		lines = append(lines, fmt.Sprintf("%s %d %s", r.Name, r.Version, r.Value))
	}
	return lines
}

func values(t *testing.T, client func() kv.Engine) {
	e := client()
	for i, text := range []string{
		`{}`, `{"a":"é😀\u0000'\"` + "`" + `?$1:x%s \\ <>&"}`,
		`{"a":"` + strings.Repeat("x", 256<<10-8) + `"}`,
		`{"a":"` + strings.Repeat("日", 80<<10) + `"}`,
	} {
		c, part := kv.Change{Name: "row", Value: []byte(text)}, fmt.Sprint("p/", i)
		commit(t, e, part, true, c)
		wantRows(t, e, part, made(c))
	}
}

// listPages lists more rows than engines read at once.
func listPages(t *testing.T, client func() kv.Engine) {
	e := client()
	var all []string
	for n := range 1200 {
		all = append(all, fmt.Sprintf("launch-%05d", n))
	}
	err := kv.Parallel(ctx, len(all)/4, 4, func(ctx context.Context, i int) error {
		var changes []kv.Change
		for _, name := range all[4*i : 4*i+4] {
			changes = append(changes, put(name, 0))
		}
		_, err := e.Commit(ctx, "n/launches", changes...)
		return err
	})
	var found []string
	for after, size := "launch-", 1000; size == 1000 && err == nil; after = found[len(found)-1] {
		var page []kv.Row
		page, err = e.List(ctx, "n/launches", after, "launch.", 1000)
		for _, r := range page {
			found = append(found, r.Name)
		}
		size = len(page)
	}
	if err != nil || !slices.Equal(found, all) {
		t.Errorf("%d rows, %v: %.200q", len(found), err, found)
	}
}

// each asks for more rows than engines read at once.
func each(t *testing.T, client func() kv.Engine) {
	e := client()
	var parts, want []string
	for i := range 1000 {
		part, row := fmt.Sprintf("n/launch/%05d", 1000-i), kv.Row{Name: "state"}
		if i%50 == 7 {
			c := put("state", 0)
			commit(t, e, part, true, c, put("other", 0))
			row = made(c)
		}
		parts, want = append(parts, part), append(want, lines([]kv.Row{row})...)
	}
	got, err := e.Each(ctx, parts, "state")
	if err != nil || !slices.Equal(lines(got), want) {
		t.Errorf("%v, %v", lines(got), err)
	}
}

// snapshot reads rows that are always written together, while they are written.
func snapshot(t *testing.T, client func() kv.Engine) {
	const rounds = 30
	writer, reader := client(), client()
	err := kv.Parallel(ctx, 2, 2, func(ctx context.Context, i int) error {
		for version := int64(0); version < rounds; {
			if i == 0 {
				done, err := writer.Commit(ctx, "p", put("a", version), put("b", version),
					put("c", version), put("d", version))
				if err != nil || !done {
					return fmt.Errorf("version %d: %t, %w", version, done, err)
				}
				version++
				continue
			}
			rows, err := reader.Read(ctx, "p", "d", "a", "c", "b")
			if err != nil {
				return err
			}
			for _, r := range rows {
				if r.Version != rows[0].Version || r.Version < version {
					return fmt.Errorf("after version %d: %q", version, lines(rows))
				}
			}
			version = rows[0].Version
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// contention has several clients raise the same row. Each version was created by one client, and no
// other client is told that it created it.
func contention(t *testing.T, client func() kv.Engine) {
	const workers, rounds = 6, 6
	var mu sync.Mutex // guards makers
	makers := map[int64]int{}
	clients := []kv.Engine{client(), client(), client()}
	err := kv.Parallel(ctx, workers, workers, func(ctx context.Context, i int) error {
		e := clients[i%len(clients)]
		for won := 0; won < rounds; {
			rows, err := e.Read(ctx, "n/p", "state")
			if err != nil {
				return err
			}
			done, err := e.Commit(ctx, "n/p", put("state", rows[0].Version),
				put(fmt.Sprintf("row-%05d", rows[0].Version), 0))
			if err != nil {
				return err
			}
			if done {
				won++
				mu.Lock()
				makers[rows[0].Version+1]++
				mu.Unlock()
			}
		}
		return nil
	})
	if err != nil || len(makers) != workers*rounds {
		t.Errorf("%v: %v", makers, err)
	}
	rows, err := client().List(ctx, "n/p", "row-", "row.", 1000)
	if err != nil || len(rows) != workers*rounds {
		t.Errorf("%d rows, %v, want %d", len(rows), err, workers*rounds)
	}
}

func canceled(t *testing.T, client func() kv.Engine) {
	slow := client()
	e := slow.(patient).Engine
	commit(t, slow, "p", true, put("a", 0))
	dead, cancel := context.WithCancel(ctx)
	cancel()
	late, cancelLate := context.WithDeadline(ctx, time.Now().Add(-time.Second))
	defer cancelLate()
	for _, ended := range []context.Context{dead, late} {
		_, err1 := e.Read(ended, "p", "a")
		_, err2 := e.Commit(ended, "p", put("a", 1))
		_, err3 := e.List(ended, "p", "", "", 1)
		_, err4 := e.Each(ended, []string{"p"}, "a")
		_, err5 := e.Now(ended)
		for i, err := range []error{err1, err2, err3, err4, err5} {
			if err != ended.Err() {
				t.Errorf("method %d: %v, want %v", i+1, err, ended.Err())
			}
		}
	}
	// A context that ends in the meantime leaves the commit done, not done, or in doubt: it is
	// never half done and never carried out twice.
	last, doubt := int64(1), false // doubt: an earlier commit may yet be carried out
	for i := range 40 {
		ending, cancel := context.WithTimeout(ctx, time.Duration(i)*100*time.Microsecond)
		done, err := e.Commit(ending, "p", put("a", last), put("b", last-1))
		cancel()
		rows, readErr := slow.Read(ctx, "p", "a", "b")
		if readErr != nil {
			t.Fatal(readErr)
		}
		now := rows[0].Version
		if now > last+1 || now < last || rows[1].Version != now-1 || done && now != last+1 ||
			err == nil && !done && !doubt {
			t.Fatalf("versions %d and %d after %d: %t, %v", now, rows[1].Version, last, done, err)
		}
		if err == context.DeadlineExceeded && now != last && !doubt {
			t.Fatalf("%v, bare, of a commit that was carried out", err)
		}
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("%v, want it to be a deadline's", err)
		}
		last, doubt = now, now == last && (doubt || err != nil)
	}
}

func clock(t *testing.T, client func() kv.Engine) {
	now, err := client().Now(ctx)
	must(t, err)
	if d := time.Since(now).Abs(); !now.IsZero() && d > 10*time.Minute {
		t.Errorf("the engine's clock is %v from ours", d)
	}
}
