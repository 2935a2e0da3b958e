package measure

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/idtype"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		of   []float64
		want float64
	}{
		{[]float64{7}, 7},
		{[]float64{3, 1}, 2},
		{[]float64{9, 1, 5}, 5},
		{[]float64{4, 1, 3, 2}, 2.5},
	} {
		before := slices.Clone(c.of)
		if got := median(c.of); got != c.want || !slices.Equal(c.of, before) {
			t.Errorf("median of %v: %v, want %v; they are now %v", before, got, c.want, c.of)
		}
	}
}

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		of   []float64
		want float64
	}{
		{[]float64{7}, 0},
		{[]float64{5, 1, 2, 4, 3}, 1},
		{[]float64{1, 1, 1, 9}, 4},
		{[]float64{100, 1, 1, 1, 1, 1, 1, 1, 1}, 0},
	} {
		if got := spread(c.of); got != c.want {
			t.Errorf("spread of %v: %v, want %v", c.of, got, c.want)
		}
	}
}

// All schemes mint the IDs that were asked for, each once, at the rhythm, by all generators.
func TestMint(t *testing.T) {
	for _, k := range Keys() {
		t.Run(k.Name(), func(t *testing.T) {
			const n, second = 20_000, 10_000
			for _, generators := range []int{1, 4, 64} {
				ids, err := k.Mint(t.Context(),
					Rhythm{IDs: n, Generators: generators, PerSecond: second})
				if err != nil {
					t.Fatal(err)
				}
				seen := map[any]bool{}
				numbers := map[int]bool{}
				for i := range ids.Len() {
					id := ids.At(i)
					if v, ok := id.(interface{ Validate() error }); ok {
						if err := v.Validate(); err != nil {
							t.Fatal(err)
						}
					}
					seen[id] = true
					if number, ok := generatorOf(id); ok {
						numbers[number] = true
					}
				}
				if len(seen) != n || ids.Len() != n {
					t.Errorf("%d generators: %d different IDs of %d", generators, len(seen),
						ids.Len())
				}
				if _, ok := generatorOf(ids.At(0)); ok && len(numbers) != generators {
					t.Errorf("IDs of %d generators, want %d", len(numbers), generators)
				}
				if !slices.IsSorted(ids.Minted) {
					t.Error("the clock went back")
				}
				took := time.Duration(ids.Minted[n-1] - day.UnixNano())
				if took < 1900*time.Millisecond || took > 2100*time.Millisecond {
					t.Errorf("%d IDs took %v of simulated time", n, took)
				}
			}
		})
	}
}

// Decimal IDs through the log stay close to those that were minted before, also of generators that
// begin together. Apart they drift. The looks are those of the first second, and of later ones.
func TestInStep(t *testing.T) {
	key := Find("decimal", idtype.StorageBigint)
	behind := func(r Rhythm) int {
		t.Helper()
		ids, err := key.Mint(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		highest, most := 0, 0
		for i := range ids.Len() {
			counter := ids.At(i).(idtype.DecimalID).Counter()
			highest = max(highest, counter)
			most = max(most, highest-counter)
		}
		return most
	}
	for _, c := range []struct {
		Rhythm
		least, most int
	}{
		{Rhythm{IDs: 300_000, Generators: 4, PerSecond: 10_000}, 1, 105},
		{Rhythm{IDs: 30_000, Generators: 4, PerSecond: 1_000}, 1, 69},
		{Rhythm{IDs: 300_000, Generators: 4, PerSecond: 10_000, Deployments: 10}, 1, 105},
		{Rhythm{IDs: 300_000, Generators: 4, PerSecond: 10_000, Apart: true}, 200, 3_000},
	} {
		got := behind(c.Rhythm)
		t.Logf("%+v: %d counters behind", c.Rhythm, got)
		if got < c.least || got > c.most {
			t.Errorf("%+v: an ID is %d counters behind, want %d to %d", c.Rhythm, got, c.least,
				c.most)
		}
	}
}

// generatorOf is the number of the generator, if the ID has it.
func generatorOf(id any) (int, bool) {
	switch id := id.(type) {
	case interface{ Generator() int }:
		return id.Generator(), true
	case interface{ Node() int }:
		return id.Node(), true
	case interface{ Partition() int }:
		return id.Partition(), true
	case snowflakeID:
		return int(id >> 12 & 1023), true
	}
	return 0, false
}

func TestMintCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, k := range Keys() {
		_, err := k.Mint(ctx, Rhythm{IDs: 1, Generators: 1, PerSecond: 1})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", k.Name(), err)
		}
	}
}

// The peers' IDs say what their specifications have them say.
func TestPeers(t *testing.T) {
	of := func(scheme string, form idtype.Storage) *IDs {
		ids, err := Find(scheme, form).Mint(t.Context(),
			Rhythm{IDs: 3_000, Generators: 3, PerSecond: 1_000})
		if err != nil {
			t.Fatal(err)
		}
		return ids
	}
	for scheme, version := range map[string]uuid.Version{"UUIDv4": 4, "UUIDv7": 7} {
		ids := of(scheme, idtype.StorageUUID)
		for i := range ids.Len() {
			id := ids.At(i).(uuid.UUID)
			if id.Version() != version || id.Variant() != uuid.RFC4122 {
				t.Fatalf("%s %v: version %d, variant %v", scheme, id, id.Version(), id.Variant())
			}
			if version == 7 {
				if at := time.Unix(id.Time().UnixTime()).UnixMilli(); at != ids.Minted[i]/1e6 {
					t.Fatalf("%v: minted at %d ms, want %d", id, at, ids.Minted[i]/1e6)
				}
				fraction := int64(id[6]&15)<<8 | int64(id[7])
				if fraction != ids.Minted[i]%1e6*4096/1e6 {
					t.Fatalf("%v: %d of 4096 parts of a millisecond, minted at %d ns", id, fraction,
						ids.Minted[i])
				}
			}
		}
	}
	ids := of("snowflake", idtype.StorageBigint)
	for i := range ids.Len() {
		if id := ids.At(i).(snowflakeID); int64(id>>22)+1_288_834_974_657 != ids.Minted[i]/1e6 {
			t.Fatalf("%d: minted at another time than %d ms", id, ids.Minted[i]/1e6)
		}
	}
	ids = of("ULID", idtype.StorageBytes)
	for i := range ids.Len() {
		id := ids.At(i).(bytes16)
		if at := int64(binary.BigEndian.Uint64(id[:]) >> 16); at != ids.Minted[i]/1e6 {
			t.Fatalf("%x: minted at %d ms, want %d", id, at, ids.Minted[i]/1e6)
		}
	}
	// A generator's ULIDs ascend, also within a millisecond.
	one, err := Find("ULID", idtype.StorageBytes).Mint(t.Context(),
		Rhythm{IDs: 3_000, Generators: 1, PerSecond: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i < one.Len(); i++ {
		if one.compare(i-1, i) >= 0 {
			t.Fatalf("ULID %d is %x, after %x", i, one.At(i), one.At(i-1))
		}
	}
	if got := (bytes16{15: 33}).text(); got != "00000000000000000000000011" {
		t.Errorf("33 is %s", got)
	}
	ids = of("ULID", idtype.StorageText)
	for i := range ids.Len() {
		id, at := string(ids.At(i).(ulidText)), int64(0)
		for _, digit := range id[:10] {
			at = at<<5 | int64(strings.IndexRune("0123456789ABCDEFGHJKMNPQRSTVWXYZ", digit))
		}
		if len(id) != 26 || at != ids.Minted[i]/1e6 {
			t.Fatalf("%s: minted at %d ms, want %d", id, at, ids.Minted[i]/1e6)
		}
	}
}

// ClickHouse's UUIDs have a counter that all clients share: it goes up by one within a millisecond.
func TestCountedUUIDs(t *testing.T) {
	ids, err := Find(ClickHouseV7, idtype.StorageUUID).Mint(t.Context(),
		Rhythm{IDs: 3_000, Generators: 4, PerSecond: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	var last, counter uint64
	stayed := 0
	for i := range ids.Len() {
		id := ids.At(i).(uuid.UUID)
		high, low := binary.BigEndian.Uint64(id[:]), binary.BigEndian.Uint64(id[8:])
		ms, now := high>>16, high&0xfff<<30|low<<2>>34
		if id.Version() != 7 || id.Variant() != uuid.RFC4122 || int64(ms) != ids.Minted[i]/1e6 {
			t.Fatalf("%v was minted at %d ms", id, ids.Minted[i]/1e6)
		}
		if ms == last {
			stayed++
			if now != counter+1 {
				t.Fatalf("%v: counter %d after %d", id, now, counter)
			}
		}
		last, counter = ms, now
	}
	if stayed < 1000 {
		t.Errorf("%d of %d IDs have the millisecond of the one before", stayed, ids.Len())
	}
}

// A snowflake's sequence has 4,096 numbers in a millisecond.
func TestSnowflakeOverflow(t *testing.T) {
	ids, err := Find("snowflake", idtype.StorageBigint).Mint(t.Context(),
		Rhythm{IDs: 20_000, Generators: 1, PerSecond: 10_000_000})
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i < ids.Len(); i++ {
		if ids.compare(i-1, i) >= 0 {
			t.Fatalf("ID %d is %d, after %d", i, ids.At(i), ids.At(i-1))
		}
	}
}

func TestAccess(t *testing.T) {
	const scan = "Index Scan using ids_pkey on ids"
	const detail = "id=3 parent=0 notused=213 detail=SCAN ids"
	for line, want := range map[string]string{
		"->  Index Scan using ids_7_pkey on ids_7  (cost=0.29..51.2 rows=9 width=12)": scan,
		detail + "_7":       detail,
		"ReadType: InOrder": "ReadType: InOrder",
	} {
		if got := access(line, "ids_7"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := lineWith("a\n  b c\nb d\n", "b"); got != "b c" {
		t.Errorf("%q", got)
	}
	if got := lineWith("a\n", "b"); got != "" {
		t.Errorf("%q", got)
	}
}

func TestNeeded(t *testing.T) {
	for found, want := range map[int]int{1: 2, 8192: 2, 8193: 3, 20_000: 4} {
		if got := (Skipping{Found: found, GranuleRows: 8192}).Needed(); got != want {
			t.Errorf("%d rows: %d granules, want %d", found, got, want)
		}
	}
}

// Every database has a column for every form, and the names of keys are different.
func TestColumns(t *testing.T) {
	for kind := range names {
		seen := map[string]bool{}
		for _, k := range Keys() {
			column := (&Database{Kind: kind}).Column(k)
			if kind == dsn.SQLite && (column == "INTEGER PRIMARY KEY") !=
				(k.Peer && k.Storage == idtype.StorageBigint) {
				t.Errorf("%s is in a column %s: rivals have SQLite's best", k.Name(), column)
			}
			if column == "" || strings.Contains(column, "%") {
				t.Errorf("%s: %s is in a column %q", kind, k.Name(), column)
			}
			if seen[k.Name()] {
				t.Errorf("two keys are called %s", k.Name())
			}
			seen[k.Name()] = true
		}
	}
}

func openSQLite(t *testing.T) *Database {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	d, err := OpenSQLite(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		left, err := filepath.Glob(filepath.Join(os.TempDir(), "*"))
		if err != nil || len(left) != 0 {
			t.Errorf("%v are left, %v", left, err)
		}
	})
	return d
}

// The measurement of order notices an order that is not the documented one, and one that is not
// that of the IDs.
func TestOrderDiffers(t *testing.T) {
	d := openSQLite(t)
	number := func(k Key, table string) OrderCase {
		return OrderCase{Key: k, Column: table, Documented: ofIDs}
	}
	// sorts as signed numbers
	eightbyte := number(Find("eightbyte, SPREAD", idtype.StorageBigint), "INT")
	decimal := number(Find("decimal", idtype.StorageBigint), "TEXT") // sorts as digits: 9…, 10…
	naive := number(Find("decimal", idtype.StorageBigint), "INT")    // is no naive choice
	naive.Naive = true
	wrong := number(Find("trace", idtype.StorageBigint), "INT")
	wrong.sortKey = func(id any) string { return reversed(id.(idtype.TraceID).String()) }
	right := number(Find("trace", idtype.StorageBigint), "INT")
	for _, c := range []struct {
		OrderCase
		orderBy, index, asIDs, agrees bool
	}{
		{eightbyte, false, false, false, false},
		{decimal, false, false, false, false},
		{naive, true, true, true, false},
		{wrong, false, false, true, false},
		{right, true, true, true, true},
	} {
		o, err := d.Order(t.Context(), c.OrderCase, 2_000, 4)
		if err != nil {
			t.Fatal(err)
		}
		if c.Naive { // the order of both readings is compared
			c.orderBy, c.index = o.OrderBy, o.Index
		}
		if o.OrderBy != c.orderBy || o.Index != c.index || o.AsIDs != c.asIDs ||
			o.Agrees() != c.agrees {
			t.Errorf("%s as %s: %+v", c.Name(), c.Column, o)
		}
	}
}

func reversed(s string) string {
	runes := []rune(s)
	slices.Reverse(runes)
	return string(runes)
}

// A query that cannot use the index is not taken for one that does.
func TestNotSkipped(t *testing.T) {
	d := openSQLite(t)
	if err := d.exec(t.Context(), "CREATE TABLE heap (id INT, n INTEGER)"); err != nil {
		t.Fatal(err)
	}
	if err := d.find(t.Context(), &Skipping{}, "heap", 1, 2); !errors.Is(err, errNotSkipped) {
		t.Errorf("%v", err)
	}
	defer func(w walker) { walkers[dsn.SQLite] = w }(walkers[dsn.SQLite])
	walkers[dsn.SQLite] = walker{
		sorted: "SELECT n FROM %s", walked: "SELECT n FROM %s",
		explain: "EXPLAIN QUERY PLAN", sort: "TEMP B-TREE", index: "USING INDEX",
	}
	if _, _, err := d.walk(t.Context(), "heap", true); !errors.Is(err, errNoIndex) {
		t.Errorf("%v", err)
	}
}

// A run in SQLite measures all there is, in the order of the steps that it tells of.
func TestRun(t *testing.T) {
	d := openSQLite(t)
	var told []int
	all := 0
	r, err := Run(t.Context(), []*Database{d},
		Options{Rows: MinRows, Progress: func(done, total int, doing string) {
			told, all = append(told, done), total
			if !strings.HasPrefix(doing, "SQLite: ") {
				t.Errorf("step %d is %q", done, doing)
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	if len(told) != all || told[0] != 0 || told[all-1] != all-1 {
		t.Errorf("steps %v of %d", told, all)
	}
	if len(r.Order) != len(d.OrderCases()) || len(r.Footprints) != len(d.Keys())+1+6+2 ||
		len(r.Skipping) != len(d.SkippingKeys()) || len(r.Inserts) != 12 || len(r.Reads) != 2*7 ||
		len(r.Families) != 0 {
		t.Errorf("%d orders, %d footprints, %d skippings, %d inserts, %d reads, %d families",
			len(r.Order), len(r.Footprints), len(r.Skipping), len(r.Inserts), len(r.Reads),
			len(r.Families))
	}
	for _, o := range r.Order {
		if !o.Agrees() {
			t.Errorf("%+v", o)
		}
	}
	writers := map[Writing]int{}
	for _, f := range r.Footprints {
		if f.Scheme == "decimal" {
			writers[f.Writing]++
		}
		if f.KeyBytes <= int64(8*f.Rows) || f.LogBytes <= f.KeyBytes || f.Pages <= 0 {
			t.Errorf("%+v", f)
		}
	}
	if len(writers) != 7 {
		t.Errorf("decimal IDs are written by %v", writers)
	}
	for _, s := range r.Skipping {
		if s.Found != s.Minted || s.Found == 0 {
			t.Errorf("%+v", s)
		}
	}
	for _, m := range r.Inserts {
		if m.RowsPerSec <= 0 || m.Relative <= 0 || m.Rows != MinRows || m.Baseline != Serial ||
			m.Scheme == Serial && m.Relative != 1 {
			t.Errorf("%+v", m)
		}
	}
	for _, m := range r.Reads {
		want := map[string]int{Newest: newestRows, Range: m.Rows / 2}[m.What]
		if m.Microseconds <= 0 || m.Relative <= 0 || m.Rounds != readRounds || m.Found != want ||
			m.Scheme == Serial && (m.Relative != 1 || m.What == Newest && m.Newest != newestRows) {
			t.Errorf("%+v", m)
		}
	}
	if r.Seconds <= 0 || r.Machine.Processors == 0 || len(r.Databases) != 1 ||
		!strings.HasPrefix(r.Databases[0].Version, "SQLite 3.") {
		t.Errorf("%+v", r)
	}
}

// Sizes are those of tables of a fifth of the rows, however few rows suffice for speed.
func TestRowsOfSizes(t *testing.T) {
	d := openSQLite(t)
	var r Results
	for _, s := range r.steps(d, 10*mostInsertRows) {
		if s.doing == d.Name+": size of decimal" {
			if err := s.run(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(r.Footprints) == 0 {
		t.Error("no sizes of decimal")
	}
	for _, f := range r.Footprints {
		if f.Rows != 2*mostInsertRows {
			t.Errorf("want %d rows: %+v", 2*mostInsertRows, f)
		}
	}
}

func TestRunFails(t *testing.T) {
	d := openSQLite(t)
	for _, rows := range []int{-1, 0, MinRows - 1, MaxRows + 1} {
		if _, err := Run(t.Context(), []*Database{d}, Options{Rows: rows}); err == nil {
			t.Errorf("%d rows are measured", rows)
		}
	}
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	steps := 0
	_, err := Run(ctx, []*Database{d}, Options{Rows: MinRows, Progress: func(int, int, string) {
		if steps++; steps == 3 {
			cancel(cause)
		}
	}})
	if !errors.Is(err, cause) || steps != 3 {
		t.Errorf("%v after %d steps", err, steps)
	}
}

// A server that does not answer is an error that names it without its password. A SQLite file that
// is named is left alone.
func TestOpenFails(t *testing.T) {
	for _, text := range []string{
		"postgres://nobody:secret@127.0.0.1:1/none?sslmode=disable&connect_timeout=2",
		"mysql://nobody:secret@127.0.0.1:1/none",
		"clickhouse://nobody:secret@127.0.0.1:1/none",
	} {
		name, err := dsn.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), name); err == nil ||
			strings.Contains(err.Error(), "secret") ||
			!strings.Contains(err.Error(), "127.0.0.1:1") {
			t.Errorf("%v: %v", name, err)
		}
	}
	name, err := dsn.Parse("sqlite:elsewhere.db")
	if err != nil {
		t.Fatal(err)
	}
	d, err := Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat("elsewhere.db"); err == nil {
		t.Error("a file that was named was made")
	}
	if err := d.db.PingContext(t.Context()); err == nil {
		t.Errorf("after Close: %v", err)
	}
}
