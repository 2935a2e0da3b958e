// Package kvtest says what an engine of package kv must do. An engine joins with
//
//	func TestEngine(t *testing.T) {
//		kvtest.Run(t, func(t *testing.T) func() kv.Engine { … an empty place … })
//	}
//
// [Memory] is an engine in memory, and [Faulty] spoils what one does, for tests of the store.
package kvtest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idmint/idmint/launchlog/internal/kv"
)

var ctx = context.Background()

// Run runs the suite. Each test opens a place of its own, which must be empty. What open returns
// makes clients of that place, which share nothing else. Open may call t.Parallel.
func Run(t *testing.T, open func(t *testing.T) (client func() kv.Engine)) {
	t.Helper()
	for _, test := range []struct {
		name string
		run  func(t *testing.T, client func() kv.Engine)
	}{
		{"Absent", absent},
		{"Compare", compare},
		{"AllOrNothing", allOrNothing},
		{"Names", names},
		{"Values", values},
		{"List", list},
		{"ListPages", listPages},
		{"Each", each},
		{"Partitions", partitions},
		{"Sees", sees},
		{"Snapshot", snapshot},
		{"Contention", contention},
		{"InsertContention", insertContention},
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

// put is a change that writes a value which no other change has.
func put(name string, version int64) kv.Change {
	value := fmt.Sprintf(`{"name":%q,"version":%d,"n":%d}`, name, version+1, number())
	return kv.Change{Name: name, Version: version, Value: []byte(value)}
}

var numbers struct {
	sync.Mutex
	last int
}

func number() int {
	numbers.Lock()
	defer numbers.Unlock()
	numbers.last++
	return numbers.last
}

func commit(t *testing.T, e kv.Engine, part string, want bool, changes ...kv.Change) {
	t.Helper()
	done, err := e.Commit(ctx, part, changes...)
	if err != nil || done != want {
		t.Fatalf("commit to %s: %t, %v, want %t", part, done, err, want)
	}
}

// made is the row that a change makes.
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
	same(t, part, got, rows)
}

// same compares rows; a row that is not there has no value, in whatever form.
func same(t *testing.T, what string, got, want []kv.Row) {
	t.Helper()
	text := func(rows []kv.Row) (lines []string) {
		for _, r := range rows {
			line := fmt.Sprintf("%s %d %s", r.Name, r.Version, r.Value)
			lines = append(lines, line[:min(len(line), 300)])
		}
		return lines
	}
	if !slices.EqualFunc(got, want, func(a, b kv.Row) bool {
		return a.Name == b.Name && a.Version == b.Version && string(a.Value) == string(b.Value)
	}) {
		t.Errorf("%s: got %q, want %q", what, text(got), text(want))
	}
}

func wantList(
	t *testing.T, e kv.Engine, part, after, before string, limit int, rows ...kv.Row,
) {
	t.Helper()
	got, err := e.List(ctx, part, after, before, limit)
	if err != nil {
		t.Fatalf("list %s: %v", part, err)
	}
	same(t, fmt.Sprintf("up to %d between %q and %q", limit, after, before), got, rows)
}

func absent(t *testing.T, client func() kv.Engine) {
	e := client()
	for _, part := range []string{"p", "n/launch/00001"} {
		wantRows(t, e, part, kv.Row{Name: "a"}, kv.Row{Name: "b"})
		wantList(t, e, part, "", "", 10)
		wantList(t, e, part, "a", "b", 10)
	}
	got, err := e.Each(ctx, []string{"n/x/1", "n/x/2"}, "a")
	if err != nil {
		t.Fatal(err)
	}
	same(t, "each", got, []kv.Row{{Name: "a"}, {Name: "a"}})
	if got, err := e.Each(ctx, nil, "a"); err != nil || len(got) != 0 {
		t.Errorf("each of none: %v, %v", got, err)
	}
	commit(t, e, "p", false, put("a", 1)) // which makes nothing
	wantRows(t, e, "p", kv.Row{Name: "a"})
	a := put("a", 0)
	commit(t, e, "p", true, a)
	wantRows(t, e, "p", kv.Row{Name: "b"}, made(a))
}

func compare(t *testing.T, client func() kv.Engine) {
	e := client()
	a := put("a", 0)
	commit(t, e, "p", true, a)
	for _, version := range []int64{0, 2, 3, 1 << 40} {
		commit(t, e, "p", false, put("a", version))
	}
	commit(t, e, "p", false, a) // the same again
	wantRows(t, e, "p", made(a))
	for version := range int64(8) {
		next := put("a", version+1)
		commit(t, e, "p", true, next)
		wantRows(t, e, "p", made(next))
		commit(t, e, "p", false, next)
		commit(t, e, "p", false, put("a", version))
		commit(t, e, "p", false, put("a", 0))
		wantRows(t, e, "p", made(next))
	}
}

func allOrNothing(t *testing.T, client func() kv.Engine) {
	e := client()
	a, b := put("a", 0), put("b", 0)
	commit(t, e, "n/p", true, a, b)
	before := []kv.Row{made(a), made(b), {Name: "c"}, {Name: "d"}}
	for _, changes := range [][]kv.Change{
		{put("a", 0), put("c", 0), put("d", 0)},
		{put("c", 0), put("a", 0), put("d", 0)},
		{put("c", 0), put("d", 0), put("a", 0)},
		{put("a", 1), put("b", 1), put("c", 1)},
		{put("a", 1), put("b", 2), put("c", 0)},
		{put("c", 1), put("a", 1), put("b", 1)},
		{put("c", 0), put("d", 0), put("a", 1), put("b", 0)},
	} {
		commit(t, e, "n/p", false, changes...)
		wantRows(t, e, "n/p", before...)
	}
	changes := []kv.Change{put("c", 0), put("a", 1), put("d", 0), put("b", 1)}
	commit(t, e, "n/p", true, changes...)
	var after []kv.Row
	for _, c := range changes {
		after = append(after, made(c))
	}
	wantRows(t, e, "n/p", after...)
	slices.SortFunc(after, func(a, b kv.Row) int { return strings.Compare(a.Name, b.Name) })
	wantList(t, e, "n/p", "", "", 10, after...)
}

// signs are all that a segment may have, in the order of bytes.
const signs = "%-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~"

func names(t *testing.T, client func() kv.Engine) {
	e := client()
	long := strings.Repeat("z", 255)
	for _, part := range []string{
		"x" + signs, "y/x" + signs, long, "w/" + signs[3:] + "/v~", "a.", "A.",
	} {
		for _, name := range []string{"x" + signs, long, "a", "A", "a.", "a.."} {
			c := put(name, 0)
			commit(t, e, part, true, c)
			wantRows(t, e, part, made(c))
		}
	}
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
		wantList(t, e, part, "", "", 9, made(c))
	}
	large := func(name string) kv.Change {
		c := put(name, 0)
		c.Value = append(c.Value, strings.Repeat(" ", 100<<10)...)
		return c
	}
	a, b := large("a"), large("b")
	commit(t, e, "p/large", true, a, b)
	wantRows(t, e, "p/large", made(b), made(a))
}

func list(t *testing.T, client func() kv.Engine) {
	e := client()
	var all []kv.Row
	of := []string{ // in the order of bytes
		"A", "a", "a%", "a-", "a-1", "a.", "a.b", "a.~b", "a0", "a_b", "aa", "ab", "a~", "b", "ba",
		"event-000009", "event-000010", "key-a", "launch-00001", "state",
	}
	for _, i := range []int{7, 3, 0, 19, 1, 12, 5, 18, 2, 9, 4, 15, 6, 8, 10, 11, 13, 14, 16, 17} {
		commit(t, e, "n/p", true, put(of[i], 0))
	}
	for _, name := range of {
		c := put(name, 1)
		commit(t, e, "n/p", true, c)
		all = append(all, made(c))
	}
	bounds := append([]string{
		"", "-", "0", "B", "a-0", "a/", "c", "event-", "event.", "event-000001", "launch-00000",
		"zz",
	}, of...)
	for i, after := range bounds {
		for j, before := range bounds {
			if (i+2*j)%5 != 0 { // a fifth of all pairs
				continue
			}
			limit := []int{1, 3, 100}[(i+j)%3]
			var some []kv.Row
			for _, r := range all {
				if r.Name > after && (before == "" || r.Name < before) && len(some) < limit {
					some = append(some, r)
				}
			}
			wantList(t, e, "n/p", after, before, limit, some...)
		}
	}
}

// listPages has more rows than engines read at once.
func listPages(t *testing.T, client func() kv.Engine) {
	const rows = 1200
	e := client()
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for i := worker * 4; i < rows; i += 16 {
				var changes []kv.Change
				for n := i; n < i+4; n++ {
					changes = append(changes, put(fmt.Sprintf("launch-%05d", n), 0))
				}
				if done, err := e.Commit(ctx, "n/launches", changes...); err != nil || !done {
					t.Errorf("commit: %t, %v", done, err)
					return
				}
			}
		})
	}
	group.Wait()
	found, after := 0, "launch-"
	for {
		page, err := e.List(ctx, "n/launches", after, "launch.", 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page {
			if name := fmt.Sprintf("launch-%05d", found); r.Name != name || r.Version != 1 ||
				!strings.Contains(string(r.Value), name) {
				t.Fatalf("row %d: %q, version %d", found, r.Name, r.Version)
			}
			found++
		}
		if len(page) < 1000 {
			break
		}
		after = page[len(page)-1].Name
	}
	want(t, "rows", found, rows)
}

func each(t *testing.T, client func() kv.Engine) {
	e := client()
	var parts []string
	var all []kv.Row
	for i := range 1000 {
		part := fmt.Sprintf("n/launch/%05d", 1000-i)
		parts, all = append(parts, part), append(all, kv.Row{Name: "state"})
		switch i % 50 {
		case 7:
			c := put("state", 0)
			commit(t, e, part, true, c, put("other", 0))
			all[i] = made(c)
		case 9:
			commit(t, e, part, true, put("other", 0))
		}
	}
	got, err := e.Each(ctx, parts, "state")
	if err != nil {
		t.Fatal(err)
	}
	same(t, "each", got, all)
	got, err = e.Each(ctx, parts[7:8], "state")
	if err != nil {
		t.Fatal(err)
	}
	same(t, "one", got, all[7:8])
}

// partitions has some whose names are the beginning of another's, and the same rows in all.
func partitions(t *testing.T, client func() kv.Engine) {
	e := client()
	parts := []string{"a", "ab", "a-", "b/a", "b/aa", "b/a.~a", "c/a/a", "c/a/aa", "c/aa/a"}
	rows := map[string]kv.Row{}
	for i, part := range parts {
		c := put("state", 0)
		commit(t, e, part, true, c)
		for version := range int64(i) {
			c = put("state", version+1)
			commit(t, e, part, true, c)
		}
		rows[part] = made(c)
	}
	for _, part := range parts {
		wantRows(t, e, part, rows[part])
		wantList(t, e, part, "", "", 100, rows[part])
	}
}

// sees has two clients that see what the other one was told.
func sees(t *testing.T, client func() kv.Engine) {
	writer, reader := client(), client()
	for version := range int64(10) {
		c := put("a", version)
		commit(t, writer, "n/p", true, c)
		wantRows(t, reader, "n/p", made(c))
		wantList(t, reader, "n/p", "", "", 9, made(c))
		got, err := reader.Each(ctx, []string{"n/q", "n/p"}, "a")
		if err != nil {
			t.Fatal(err)
		}
		same(t, "each", got, []kv.Row{{Name: "a"}, made(c)})
		writer, reader = reader, writer
	}
}

// snapshot has rows that are always written together read meanwhile.
func snapshot(t *testing.T, client func() kv.Engine) {
	const rounds = 30
	writer, reader := client(), client()
	var group sync.WaitGroup
	group.Go(func() {
		for version := range int64(rounds) {
			done, err := writer.Commit(ctx, "p", put("a", version), put("b", version),
				put("c", version), put("d", version))
			if err != nil || !done {
				t.Errorf("version %d: %t, %v", version, done, err)
				return
			}
		}
	})
	seen := map[int64]bool{}
	for last := int64(0); last < rounds && !t.Failed(); {
		rows, err := reader.Read(ctx, "p", "d", "a", "c", "b")
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			if r.Version != rows[0].Version || r.Version < last {
				t.Fatalf("rows of versions %d %d %d %d, after %d", rows[0].Version, rows[1].Version,
					rows[2].Version, rows[3].Version, last)
			}
		}
		last = rows[0].Version
		seen[last] = true
	}
	group.Wait()
	t.Logf("%d of %d versions seen", len(seen), rounds)
}

// contention has clients that raise the same row. Each version has one who made it, and is told so
// to nobody else.
func contention(t *testing.T, client func() kv.Engine) {
	const workers, rounds = 6, 6
	winners := make([]map[int64]bool, workers)
	var group sync.WaitGroup
	for w := range workers {
		winners[w] = map[int64]bool{}
		e := client()
		group.Go(func() {
			for len(winners[w]) < rounds {
				rows, err := e.Read(ctx, "n/p", "state")
				if err != nil {
					t.Errorf("read: %v", err)
					return
				}
				done, err := e.Commit(ctx, "n/p", put("state", rows[0].Version),
					put(fmt.Sprintf("row-%05d", rows[0].Version), 0))
				if err != nil {
					t.Errorf("commit: %v", err)
					return
				}
				if done {
					winners[w][rows[0].Version+1] = true
				}
			}
		})
	}
	group.Wait()
	if t.Failed() {
		return
	}
	for version := int64(1); version <= workers*rounds; version++ {
		n := 0
		for _, won := range winners {
			if won[version] {
				n++
			}
		}
		if n != 1 {
			t.Errorf("version %d was made by %d clients", version, n)
		}
	}
	rows, err := client().List(ctx, "n/p", "row-", "row.", 1000)
	if err != nil || len(rows) != workers*rounds {
		t.Errorf("%d rows, %v, want %d", len(rows), err, workers*rounds)
	}
}

// insertContention has clients that want to make the same row of a partition that is not there.
func insertContention(t *testing.T, client func() kv.Engine) {
	clients := []kv.Engine{client(), client(), client()}
	for round := range 5 {
		part := fmt.Sprintf("n/launch/%05d", round)
		changes, won := make([]kv.Change, 6), make([]bool, 6)
		var group sync.WaitGroup
		for i := range changes {
			changes[i] = put("state", 0)
			group.Go(func() {
				var err error
				own := put(fmt.Sprint("own-", i), 0)
				won[i], err = clients[i%3].Commit(ctx, part, changes[i], own)
				if err != nil {
					t.Errorf("commit: %v", err)
				}
			})
		}
		group.Wait()
		winner := slices.Index(won, true)
		if winner < 0 || slices.Contains(won[winner+1:], true) {
			t.Fatalf("won: %v", won)
		}
		wantRows(t, clients[round%3], part, made(changes[winner]))
		rows, err := clients[0].List(ctx, part, "own-", "own.", 10)
		if err != nil || len(rows) != 1 || rows[0].Name != fmt.Sprint("own-", winner) {
			t.Fatalf("rows beside that of client %d: %v, %v", winner, rows, err)
		}
	}
}

func canceled(t *testing.T, client func() kv.Engine) {
	slow := client()
	e := slow.(patient).Engine
	a := put("a", 0)
	commit(t, slow, "p", true, a)
	dead, cancel := context.WithCancel(ctx)
	cancel()
	late, cancelLate := context.WithDeadline(ctx, time.Now().Add(-time.Second))
	defer cancelLate()
	for _, test := range []struct {
		ctx  context.Context
		want error
	}{{dead, context.Canceled}, {late, context.DeadlineExceeded}} {
		_, err1 := e.Read(test.ctx, "p", "a")
		done, err2 := e.Commit(test.ctx, "p", put("a", 1))
		_, err3 := e.List(test.ctx, "p", "", "", 1)
		_, err4 := e.Each(test.ctx, []string{"p"}, "a")
		_, err5 := e.Now(test.ctx)
		for i, err := range []error{err1, err2, err3, err4, err5} {
			if err != test.want || done {
				t.Errorf("method %d: %v, want %v", i+1, err, test.want)
			}
		}
	}
	wantRows(t, slow, "p", made(a))
	// A context that ends meanwhile leaves the commit done or not, or in doubt: never half done,
	// and never carried out twice.
	last, doubt := int64(1), false // doubt: a commit before may yet be carried out
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
	if err != nil {
		t.Fatal(err)
	}
	if d := time.Since(now).Abs(); !now.IsZero() && d > 10*time.Minute {
		t.Errorf("the engine's clock is %v from ours", d)
	}
}
