package measure

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/idtype"
)

// A Skipping is what a query for a span of time reads, by the bounds of its IDs.
type Skipping struct {
	Database string `json:"database"`
	Scheme   string `json:"scheme"`
	Storage  string `json:"storage"`
	Peer     bool   `json:"peer,omitempty"`
	Column   string `json:"column"`
	By       string `json:"by"`   // what the rows are found by
	Rows     int    `json:"rows"` // of the table
	Found    int    `json:"found"`
	Minted   int    `json:"minted"` // IDs that were minted in the span; equal to Found
	// Granules, of GranuleRows rows, are what ClickHouse reads, of All.
	Granules    int    `json:"granules,omitempty"`
	All         int    `json:"all_granules,omitempty"`
	GranuleRows int    `json:"granule_rows,omitempty"`
	Access      string `json:"access"` // what the database says of it
}

// Needed is the number of granules that hold the rows, where they lie side by side.
func (s Skipping) Needed() int {
	if s.GranuleRows == 0 {
		return 0
	}
	return (s.Found+s.GranuleRows-1)/s.GranuleRows + 1
}

const granuleRows = 8192 // ClickHouse's default

// What rows are found by.
const (
	ByKey    = "primary key"
	ByMinMax = "minmax index" // of a table in order of arrival
)

// skippers explain a query: with what, and what the explanation has where the key's range was used.
var skippers = map[dsn.Kind]struct{ explain, want string }{
	dsn.SQLite:     {"EXPLAIN QUERY PLAN", "id>? AND "}, // or rowid: an INTEGER PRIMARY KEY is that
	dsn.Postgres:   {"EXPLAIN", "Index Cond: ((id >="},
	dsn.MySQL:      {"EXPLAIN", "type=range"},
	dsn.ClickHouse: {"EXPLAIN indexes = 1", "Granules:"},
}

// SkippingKeys lists the keys whose columns a query for a span of time finds by bounds: those with
// times, in columns of their order.
func (d *Database) SkippingKeys() []Key {
	return slices.DeleteFunc(d.Keys(), func(k Key) bool {
		// see [ofHalves]
		return k.bounds == nil || d.Kind == dsn.ClickHouse && k.Storage == idtype.StorageUUID
	})
}

// Skipping mints IDs for a table, and asks for those of a second in the middle. In ClickHouse it
// asks twice: by the primary key, and by a minmax index of a table in order of arrival.
func (d *Database) Skipping(ctx context.Context, k Key, r Rhythm) ([]Skipping, error) {
	minted, err := k.Mint(ctx, r)
	if err != nil {
		return nil, err
	}
	from := time.Unix(0, minted.Minted[minted.Len()/2]).Truncate(time.Second)
	to := from.Add(time.Second)
	first, last, err := k.bounds(from, to)
	if err != nil {
		return nil, err
	}
	want := 0
	for _, at := range minted.Minted {
		if at >= from.UnixNano() && at < to.UnixNano() {
			want++
		}
	}
	if first, err = d.parameter(first); err != nil {
		return nil, err
	}
	if last, err = d.parameter(last); err != nil {
		return nil, err
	}
	by := []string{ByKey}
	if d.Kind == dsn.ClickHouse {
		by = append(by, ByMinMax)
	}
	var all []Skipping
	for _, by := range by {
		var table string
		if by == ByKey {
			table, err = d.create(ctx, d.Column(k))
		} else {
			table = d.newTable()
			err = d.exec(ctx, fmt.Sprintf(
				"CREATE TABLE %s (id %s, n Int32, INDEX by_id id TYPE minmax GRANULARITY 1) "+
					"ENGINE = MergeTree ORDER BY tuple()", table, d.Column(k)))
		}
		if err != nil {
			return nil, err
		}
		if err := d.load(ctx, table, minted.rows(upTo(0, minted.Len()))); err != nil {
			return nil, err
		}
		s := Skipping{
			Database: d.Name, Scheme: k.Scheme, Storage: string(k.Storage), Peer: k.Peer,
			Column: d.Column(k), By: by, Rows: minted.Len(), Minted: want,
		}
		if err := d.find(ctx, &s, table, first, last); err != nil {
			return nil, err
		}
		all = append(all, s)
		if err := d.exec(ctx, "DROP TABLE "+table); err != nil {
			return nil, err
		}
	}
	return all, nil
}

var granules = regexp.MustCompile(`Granules: (\d+)/(\d+)`)

var errNotSkipped = errors.New("the query does not use the range of the index")

// find counts the rows between two bounds, and reads from the explanation how they were found.
func (d *Database) find(ctx context.Context, s *Skipping, table string, first, last any) error {
	skipper := skippers[d.Kind]
	statistics := map[dsn.Kind][]string{
		dsn.SQLite: {"ANALYZE " + table}, dsn.MySQL: {"ANALYZE TABLE " + table},
		dsn.ClickHouse: {"OPTIMIZE TABLE " + table + " FINAL"},
		dsn.Postgres: {
			"RESET ALL", "SET search_path = " + d.place, "SET enable_seqscan = off",
			"SET enable_bitmapscan = off", "VACUUM ANALYZE " + table,
		},
	}
	if err := d.exec(ctx, statistics[d.Kind]...); err != nil {
		return err
	}
	query := "SELECT count(*) FROM " + table + " WHERE id BETWEEN ? AND ?"
	if d.Kind == dsn.Postgres {
		query = "SELECT count(*) FROM " + table + " WHERE id BETWEEN $1 AND $2"
	}
	found, err := d.number(ctx, query, first, last)
	if err != nil {
		return err
	}
	s.Found = int(found)
	plan, err := d.explain(ctx, skipper.explain, query, first, last)
	if err != nil {
		return err
	}
	if s.Access = lineWith(plan, skipper.want); s.Access == "" {
		return fmt.Errorf("%s: %s: %w: %q is wanted in %q", d.Name, query, errNotSkipped,
			skipper.want, plan)
	}
	s.Access = access(s.Access, table)
	if d.Kind != dsn.ClickHouse {
		return nil
	}
	_, part, ok := strings.Cut(plan,
		map[string]string{ByKey: "PrimaryKey", ByMinMax: "by_id"}[s.By])
	match := granules.FindStringSubmatch(part)
	if !ok || match == nil {
		return fmt.Errorf("%s: %s: %w: %q", d.Name, query, errNotSkipped, plan)
	}
	s.Granules, _ = strconv.Atoi(match[1]) // digits by the pattern
	s.All, _ = strconv.Atoi(match[2])
	s.GranuleRows, s.Access = granuleRows, match[0]
	return nil
}
