package measure

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/idtype"
)

// An OrderCase is a column whose order is checked.
type OrderCase struct {
	Key
	Column string    // the column's type
	What   string    // what is special about the case: "Czech"
	Start  time.Time // of the IDs
	// Documented describes the order that the column has according to the docs.
	Documented string

	naive   bool                // the documented order is not the order of the IDs
	sortKey func(id any) string // returns a text for the documented order; nil if that is the IDs'
}

// An Order is the order in which a database sorts a case.
type Order struct {
	Documented string `json:"documented"`
	AsIDs      bool   `json:"as_ids"` // ORDER BY sorts as the IDs do
	// Agrees reports whether ORDER BY, sorted without the index, and a walk along the index both
	// return the documented order.
	Agrees bool `json:"agrees"`
}

const (
	ofIDs       = "as the IDs"
	ofSigned    = "as signed numbers"
	ofCollation = "by the collation"
	ofHalves    = "by the second half"
)

// signEnd is when TIME_SEQUENTIAL IDs become negative as integers, 2^41 milliseconds after 1970.
var signEnd = time.UnixMilli(1 << 41).UTC()

// czech are text columns with the Czech collation, in which ch is a letter after h.
var czech = map[dsn.Kind]string{
	dsn.Postgres: `TEXT COLLATE "cs-x-icu"`,
	dsn.MySQL:    "CHAR(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_czech_ci",
}

// OrderCases lists what is checked in this database: the columns of all keys, and texts with the
// Czech collation.
func (d *Database) OrderCases() (cases []OrderCase) {
	for _, k := range d.Keys() {
		if k.Scheme == Serial {
			continue
		}
		c := OrderCase{Key: k, Column: d.Column(k), Documented: ofIDs}
		switch {
		case strings.HasPrefix(k.Scheme, "eightbyte"):
			c.Start = signEnd.Add(-orderSpan / 2)
			if k.Storage == idtype.StorageBigint {
				c.Documented, c.naive, c.sortKey = ofSigned, true, signed
			}
		case k.Storage == idtype.StorageUUID && d.Kind == dsn.ClickHouse:
			c.Documented, c.naive, c.sortKey = ofHalves, true, secondHalf
		}
		cases = append(cases, c)
		if k.Scheme == "sno" && k.Storage == idtype.StorageText && czech[d.Kind] != "" {
			c.Column, c.What, c.Documented, c.naive = czech[d.Kind], "Czech", ofCollation, true
			cases = append(cases, c)
		}
	}
	return cases
}

// The sort keys are texts whose bytes sort as the column does.

func signed(id any) string {
	bits := id.(interface{ Uint64() uint64 }).Uint64()
	return string(binary.BigEndian.AppendUint64(nil, bits^1<<63))
}

func secondHalf(id any) string {
	u, ok := id.(uuid.UUID)
	if !ok {
		return id.(fmt.Stringer).String()[8:] + id.(fmt.Stringer).String()[:8]
	}
	return string(u[8:]) + string(u[:8])
}

// orderSpan is about how long minting the IDs takes, independently of their number. It is long
// enough for their texts to contain every pair of letters, and for IDs before and after signEnd.
const orderSpan = 100 * time.Second

var errNoIndex = errors.New("the query does not have the expected plan")

// Order mints IDs with eight generators, inserts them in shuffled order, and compares the order in
// which the database returns them.
func (d *Database) Order(ctx context.Context, c OrderCase, ids int) (Order, error) {
	minted, err := c.Mint(ctx, Rhythm{
		IDs: ids, Generators: 8, PerSecond: max(1, ids/int(orderSpan.Seconds())), Start: c.Start,
	})
	if err != nil {
		return Order{}, err
	}
	table, err := d.create(ctx, c.Column, "id")
	if err != nil {
		return Order{}, err
	}
	if err := d.insert(ctx, table, minted, rand.Perm(ids)); err != nil {
		return Order{}, err
	}
	sorted, err := d.walk(ctx, table, false)
	if err != nil {
		return Order{}, err
	}
	walked, err := d.walk(ctx, table, true)
	if err != nil {
		return Order{}, err
	}
	want := indexes(0, ids)
	slices.SortFunc(want, minted.compare)
	o := Order{Documented: c.Documented, AsIDs: slices.Equal(sorted, want)}
	switch {
	case c.sortKey != nil:
		slices.SortFunc(want, func(i, j int) int {
			return strings.Compare(c.sortKey(minted.At(i)), c.sortKey(minted.At(j)))
		})
	case c.naive: // without a sort key, the two orders are compared
		want = sorted
	}
	o.Agrees = len(sorted) == ids && slices.Equal(sorted, want) && slices.Equal(walked, want) &&
		o.AsIDs != c.naive
	return o, d.exec(ctx, "DROP TABLE "+table)
}

// indexes returns the numbers from ..< to.
func indexes(from, to int) []int {
	all := make([]int, to-from)
	for i := range all {
		all[i] = from + i
	}
	return all
}

// A walker reads a table in the order of its key, by sorting or along the index.
type walker struct {
	settings string // of the session: %[1]s allows the index, and %[2]s allows sorting
	sorted   string // the query that sorts the table %s
	walked   string // the query that follows the index
	explain  string
	sort     string // in the plan of a query that sorts
	index    string // in the plan of a query that follows the index
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
		"EXPLAIN", "Using filesort", "key:PRIMARY",
	},
	dsn.ClickHouse: {
		"", "SELECT n FROM %s ORDER BY id SETTINGS optimize_read_in_order = 0",
		"SELECT n FROM %s ORDER BY id SETTINGS optimize_read_in_order = 1",
		"EXPLAIN actions = 1", "Sort description", "ReadType: InOrder",
	},
}

// walk returns the numbers of the rows, after checking the plan by which the database reads them.
func (d *Database) walk(ctx context.Context, table string, byIndex bool) ([]int, error) {
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
			return nil, err
		}
	}
	explained, err := d.query(ctx, w.explain+" "+query)
	if err != nil {
		return nil, err
	}
	plan := fmt.Sprint(explained)
	if !strings.Contains(plan, want) ||
		byIndex && d.Kind != dsn.ClickHouse && strings.Contains(plan, w.sort) {
		return nil, fmt.Errorf("%s: %s: %w: want %q in %q", d.Name, query, errNoIndex, want,
			plan)
	}
	rows, err := d.query(ctx, query)
	numbers := make([]int, len(rows))
	for i, row := range rows {
		if numbers[i], err = strconv.Atoi(row["n"]); err != nil {
			return nil, err
		}
	}
	return numbers, err
}
