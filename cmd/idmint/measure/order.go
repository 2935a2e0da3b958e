package measure

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/idtype"
)

// An OrderCase is a column whose order is looked at.
type OrderCase struct {
	Key
	Column string    // the column's type
	What   string    // what is particular about the case: "IDs before and after 2039-09-07"
	Start  time.Time // of the IDs
	// Documented is the order that the docs say the column has, in words.
	Documented string
	// Naive is set for a column that a naive choice would make: its order is not that of the IDs,
	// and the docs say so.
	Naive bool

	// texts that sort in the documented order; nil is that of the IDs, or of the collation where
	// Naive
	sortKey func(id any) string
}

// An Order is what a database made of a case.
type Order struct {
	Database   string `json:"database"`
	Scheme     string `json:"scheme"`
	Storage    string `json:"storage"`
	Peer       bool   `json:"peer,omitempty"`
	Column     string `json:"column"`
	What       string `json:"what,omitempty"`
	Documented string `json:"documented"`
	IDs        int    `json:"ids"`
	Generators int    `json:"generators"`
	// ORDER BY, sorted without the index, gives the documented order
	OrderBy bool   `json:"order_by"`
	Index   bool   `json:"index"`  // so does a walk along the index, as Access shows
	AsIDs   bool   `json:"as_ids"` // the order is also that of the IDs
	Naive   bool   `json:"naive,omitempty"`
	Access  string `json:"access"` // what the database says of the walk
}

// Agrees reports whether the database does as the docs say.
func (o Order) Agrees() bool { return o.OrderBy && o.Index && o.AsIDs != o.Naive }

const (
	ofIDs       = "that of the IDs"
	ofSigned    = "that of signed numbers"
	ofCollation = "that of the collation"
	ofHalves    = "second half of the UUID first"
	ofSegments  = "last segment of the UUID first"
)

// signEnd is when TIME_SEQUENTIAL IDs turn negative as integers: 2^41 milliseconds after 1970.
var signEnd = time.UnixMilli(1 << 41).UTC()

// collations are those with which a text column is tried beside that of [Database.Column]. In
// Czech, ch is a letter after h.
var collations = map[dsn.Kind][]struct {
	column, what string
	naive        bool
}{
	dsn.SQLite: {{"TEXT COLLATE NOCASE", "case-insensitive", false}},
	dsn.Postgres: {
		{"TEXT COLLATE case_insensitive", "case-insensitive", false},
		{`TEXT COLLATE "en-x-icu"`, "English", false},
		{`TEXT COLLATE "cs-x-icu"`, "Czech", true},
	},
	dsn.MySQL: {
		{"CHAR(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", "case-insensitive", false},
		{
			"CHAR(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci", "Unicode, case-insensitive",
			false,
		},
		{"CHAR(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_czech_ci", "Czech", true},
	},
}

// OrderCases lists what is looked at in this database.
func (d *Database) OrderCases() []OrderCase {
	var cases []OrderCase
	for _, k := range d.Keys() {
		c := OrderCase{Key: k, Column: d.Column(k), Documented: ofIDs}
		switch {
		case strings.HasPrefix(k.Scheme, "eightbyte"):
			c.Start, c.What = signEnd.Add(-orderSpan/2), "before and after "+
				signEnd.Format(time.DateOnly)
			if k.Storage == idtype.StorageBigint {
				c.Documented, c.Naive, c.sortKey = ofSigned, true, signed
			}
		case k.Storage != idtype.StorageUUID:
		case d.Kind == dsn.ClickHouse:
			c.Documented, c.Naive, c.sortKey = ofHalves, true, secondHalf
		case d.Kind == dsn.MySQL && k.Scheme == "UUIDv4":
			// sno as a UUID, which has not its variant, and UUIDv7 are left alone
			c.Documented, c.Naive, c.sortKey = ofSegments, true, lastSegment
		}
		cases = append(cases, c)
		// as long as it goes well
		if strings.HasPrefix(k.Scheme, "eightbyte") && k.Storage == idtype.StorageBigint &&
			k.bounds != nil {
			c.Start, c.What, c.Documented, c.Naive, c.sortKey = time.Time{}, "before "+
				signEnd.Format(time.DateOnly), ofIDs, false, nil
			cases = append(cases, c)
		}
		if k.Scheme == "sno" && k.Storage == idtype.StorageText {
			for _, collation := range collations[d.Kind] {
				c.Column, c.What, c.Naive = collation.column, collation.what, collation.naive
				if c.Naive {
					c.Documented = ofCollation
				}
				cases = append(cases, c)
			}
		}
	}
	return cases
}

// The sort keys are texts whose bytes sort as the column does.

func signed(id any) string {
	v := value64(id) ^ 1<<63
	return string(binary.BigEndian.AppendUint64(nil, v))
}

func value64(id any) uint64 { return id.(interface{ Uint64() uint64 }).Uint64() }

// bytesOfUUID are the 16 bytes that a column of UUIDs holds.
func bytesOfUUID(id any) string {
	if u, ok := id.(uuid.UUID); ok {
		return string(u[:])
	}
	return id.(fmt.Stringer).String()
}

func secondHalf(id any) string {
	s := bytesOfUUID(id)
	return s[8:] + s[:8]
}

func lastSegment(id any) string {
	s := bytesOfUUID(id)
	return s[10:] + s[8:10] + s[6:8] + s[4:6] + s[:4]
}

// orderSpan is about how long it takes until the IDs are minted, however many. It is long enough
// for their texts to hold every pair of letters, and to see the day from both sides.
const orderSpan = 100 * time.Second

var errNoIndex = errors.New("the query did not do what it was to do")

// Order mints IDs, inserts them in shuffled order, and compares the order in which the database
// returns them.
func (d *Database) Order(ctx context.Context, c OrderCase, ids, generators int) (Order, error) {
	minted, err := c.Mint(ctx,
		Rhythm{
			IDs: ids, Generators: generators, PerSecond: max(1, ids/int(orderSpan.Seconds())),
			Start: c.Start,
		})
	if err != nil {
		return Order{}, err
	}
	if strings.Contains(c.Column, "case_insensitive") {
		err := d.exec(ctx, "CREATE COLLATION IF NOT EXISTS case_insensitive (provider = icu, "+
			"locale = 'und-u-ks-level2', deterministic = false)")
		if err != nil {
			return Order{}, err
		}
	}
	table, err := d.create(ctx, c.Column)
	if err != nil {
		return Order{}, err
	}
	if err := d.load(ctx, table, minted.rows(slices.Values(rand.Perm(ids)))); err != nil {
		return Order{}, err
	}
	o := Order{
		Database: d.Name, Scheme: c.Scheme, Storage: string(c.Storage), Peer: c.Peer,
		Column: c.Column, What: c.What,
		Documented: c.Documented, IDs: ids, Generators: generators, Naive: c.Naive,
	}
	sorted, _, err := d.walk(ctx, table, false)
	if err != nil {
		return Order{}, err
	}
	walked, access, err := d.walk(ctx, table, true)
	if err != nil {
		return Order{}, err
	}
	o.Access = access
	of := minted.order()
	o.AsIDs = slices.Equal(sorted, of)
	switch {
	case c.sortKey != nil:
		of = minted.orderBy(c.sortKey)
	case c.Naive: // no words of ours for it, so the two are compared
		of = sorted
	}
	o.OrderBy = len(sorted) == ids && slices.Equal(sorted, of)
	o.Index = slices.Equal(walked, of)
	return o, d.exec(ctx, "DROP TABLE "+table)
}

// order are the indexes of the IDs in the order of their Compare.
func (ids *IDs) order() []int32 {
	order := ids.indexes()
	slices.SortFunc(order, func(i, j int32) int { return ids.compare(int(i), int(j)) })
	return order
}

func (ids *IDs) orderBy(key func(any) string) []int32 {
	keys := make([]string, ids.Len())
	for i := range keys {
		keys[i] = key(ids.At(i))
	}
	order := ids.indexes()
	sort.Slice(order, func(i, j int) bool { return keys[order[i]] < keys[order[j]] })
	return order
}

func (ids *IDs) indexes() []int32 {
	all := make([]int32, ids.Len())
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// A walker reads a table in the order of its key: sorted, or along the index.
type walker struct {
	settings string // of the session, which allow the index, %[1]s, and sorting, %[2]s
	sorted   string // the query that sorts the table %s
	walked   string // the query that follows the index
	explain  string
	sort     string // what the explanation has where it sorts
	index    string // what it has where it follows the index
}

var walkers = map[dsn.Kind]walker{
	dsn.SQLite: {
		"", "SELECT n FROM %s ORDER BY +id", "SELECT n FROM %s ORDER BY id",
		"EXPLAIN QUERY PLAN", "TEMP B-TREE", "SCAN %s",
	},
	dsn.Postgres: {
		"SET enable_sort = %[2]s; SET enable_seqscan = %[2]s; SET enable_indexscan = %[1]s; SET " +
			"enable_bitmapscan = %[1]s",
		"SELECT n FROM %s ORDER BY id", "SELECT n FROM %s ORDER BY id", "EXPLAIN", "Sort",
		"Index Scan using %s_pkey",
	},
	dsn.MySQL: {
		"", "SELECT n FROM %s IGNORE INDEX FOR ORDER BY (PRIMARY) ORDER BY id",
		"SELECT n FROM %s FORCE INDEX FOR ORDER BY (PRIMARY) ORDER BY id",
		"EXPLAIN", "Using filesort", "key=PRIMARY",
	},
	dsn.ClickHouse: {
		"", "SELECT n FROM %s ORDER BY id SETTINGS optimize_read_in_order = 0",
		"SELECT n FROM %s ORDER BY id SETTINGS optimize_read_in_order = 1",
		"EXPLAIN actions = 1", "Sort description", "ReadType: InOrder",
	},
}

// walk returns the numbers of the rows, and the line of the explanation that shows how they were
// read.
func (d *Database) walk(ctx context.Context, table string, byIndex bool) ([]int32, string, error) {
	w := walkers[d.Kind]
	query, want, off, on := w.sorted, w.sort, "off", "on"
	if byIndex {
		query, want, off, on = w.walked, w.index, "on", "off"
	}
	query = fmt.Sprintf(query, table)
	want = strings.ReplaceAll(want, "%s", table)
	if w.settings != "" {
		err := d.exec(ctx, strings.Split(fmt.Sprintf(w.settings, off, on), "; ")...)
		if err != nil {
			return nil, "", err
		}
	}
	plan, err := d.explain(ctx, w.explain, query)
	if err != nil {
		return nil, "", err
	}
	line := lineWith(plan, want)
	if line == "" || byIndex && d.Kind != dsn.ClickHouse && strings.Contains(plan, w.sort) {
		return nil, "", fmt.Errorf("%s: %s: %w: %q is wanted in %q", d.Name, query, errNoIndex,
			want, plan)
	}
	all, err := d.column(ctx, query)
	return all, access(line, table), err
}

// access is a line of an explanation without what says nothing: the number in the table's name, and
// PostgreSQL's estimates.
func access(line, table string) string {
	line, _, _ = strings.Cut(strings.ReplaceAll(line, table, "ids"), "  (cost=")
	return strings.TrimSpace(strings.TrimPrefix(line, "->"))
}

func lineWith(text, part string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(line, part) {
			return strings.TrimSpace(line)
		}
	}
	return ""
}
