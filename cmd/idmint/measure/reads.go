package measure

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"time"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/idtype"
)

// A Read is a query for rows of a table of IDs, which came in order of arrival.
type Read struct {
	Database string `json:"database"`
	Scheme   string `json:"scheme"`
	Storage  string `json:"storage"`
	Peer     bool   `json:"peer,omitempty"`
	Column   string `json:"column"`
	Writing
	What  string `json:"what"`  // Newest or Range
	Query string `json:"query"` // "SELECT … ORDER BY id DESC LIMIT 100"
	Rows  int    `json:"rows"`  // of the table
	Found int    `json:"found"` // rows that it returns
	// Newest is how many of the rows found are among as many that arrived last. It is zero for a
	// range.
	Newest int `json:"newest,omitempty"`
	// Touched is how often the query asks for a block of index or table, of PostgreSQL. Read is how
	// often an empty cache lacks it: the number of different blocks.
	Touched int64 `json:"blocks_touched,omitempty"`
	Read    int64 `json:"blocks_read,omitempty"`
	Rounds  int   `json:"rounds"`
	// Microseconds are the median of the rounds, with a warm cache.
	Microseconds float64 `json:"microseconds"`
	// Relative is the time as a multiple of [Serial]'s: the median of the ratios within each round.
	// More is slower.
	Relative float64 `json:"relative"`
	Spread   float64 `json:"spread,omitempty"` // half the distance between their quartiles
}

// What a [Read] asks for.
const (
	Newest = "newest rows" // ORDER BY id DESC LIMIT 100
	Range  = "range"       // 1,000 rows between two IDs in the middle
)

const (
	newestRows = 100
	rangeRows  = 1_000
)

// readTable is a table that is read from, with its two queries.
type readTable struct {
	Key
	Rhythm
	table   string
	queries []readQuery
}

type readQuery struct {
	what, text string
	args       []any
	took       []float64 // microseconds, by round
}

// readKeys are measured beside [Database.ServerKeys].
func readKeys() []Key {
	return []Key{
		Find("decimal", idtype.StorageBigint), Find("snowflake", idtype.StorageBigint),
		Find("UUIDv7", idtype.StorageUUID), Find("ULID", idtype.StorageBytes),
		Find("UUIDv4", idtype.StorageUUID),
	}
}

// Reads fills a table for each key, and asks each for its newest rows and for a range. The tables
// take turns in each round. A table of decimal IDs without the launch log is there as well.
func (d *Database) Reads(ctx context.Context, r Rhythm, rounds int) ([]Read, error) {
	var tables []*readTable
	for _, k := range append(d.ServerKeys(), readKeys()...) {
		tables = append(tables, &readTable{Key: k, Rhythm: r})
		if k.Scheme == "decimal" {
			apart := r
			apart.Apart = true
			tables = append(tables, &readTable{Key: k, Rhythm: apart})
		}
	}
	if err := d.inspectable(ctx); err != nil {
		return nil, err
	}
	for _, t := range tables {
		if err := d.fill(ctx, t); err != nil {
			return nil, err
		}
	}
	for round := range rounds + 1 { // the first warms up
		for _, turn := range rand.Perm(len(tables)) { // what went before may slow the next
			t := tables[turn]
			for i := range t.queries {
				q := &t.queries[i]
				began := time.Now()
				if _, err := d.column(ctx, q.text, q.args...); err != nil {
					return nil, err
				}
				if round > 0 {
					q.took = append(q.took, float64(time.Since(began).Nanoseconds())/1e3)
				}
			}
		}
	}
	var all []Read
	for i := range tables[0].queries {
		for _, t := range tables {
			read, err := d.read(ctx, t, t.queries[i], tables[0].queries[i].took)
			if err != nil {
				return nil, err
			}
			all = append(all, read)
		}
	}
	for _, t := range tables {
		if err := d.exec(ctx, "DROP TABLE "+t.table); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// fill makes the table, in transactions of a thousand rows, and the queries for it.
func (d *Database) fill(ctx context.Context, t *readTable) error {
	minted, err := t.Mint(ctx, t.Rhythm)
	if err != nil {
		return err
	}
	if t.table, err = d.create(ctx, d.Column(t.Key)); err != nil {
		return err
	}
	for done := 0; done < t.IDs; done += rowsPerCommit {
		if err := d.load(ctx, t.table,
			minted.rows(upTo(done, min(done+rowsPerCommit, t.IDs)))); err != nil {
			return err
		}
	}
	settle := map[dsn.Kind][]string{
		dsn.SQLite: {"ANALYZE " + t.table}, dsn.MySQL: {"ANALYZE TABLE " + t.table},
		dsn.Postgres: {"RESET ALL", "SET search_path = " + d.place, "VACUUM ANALYZE " + t.table},
	}
	if err := d.exec(ctx, settle[d.Kind]...); err != nil {
		return err
	}
	middle, n := t.IDs/2, min(rangeRows, t.IDs/2)
	first, err := d.keyAt(ctx, t, middle)
	if err != nil {
		return err
	}
	last, err := d.keyAt(ctx, t, middle+n-1)
	if err != nil {
		return err
	}
	runtime.GC() // not in the middle
	t.queries = []readQuery{
		{what: Newest, text: fmt.Sprintf("SELECT n FROM %s ORDER BY id DESC LIMIT %d", t.table,
			newestRows)},
		{
			what: Range, args: []any{first, last},
			text: fmt.Sprintf("SELECT n FROM %s WHERE id BETWEEN %s AND %s", t.table,
				d.placeholder(1), d.placeholder(2)),
		},
	}
	return nil
}

// keyAt is the key at a place in the order of keys, as a parameter.
func (d *Database) keyAt(ctx context.Context, t *readTable, place int) (key any, err error) {
	query := fmt.Sprintf("SELECT id FROM %s ORDER BY id LIMIT 1 OFFSET %d", t.table, place)
	if err := d.db.QueryRowContext(ctx, query).Scan(&key); err != nil {
		return nil, fmt.Errorf("%s: %s: %w", d.Name, query, err)
	}
	if text, ok := key.([]byte); ok && strings.EqualFold(d.Column(t.Key), "uuid") {
		return string(text), nil // MariaDB has it as text
	}
	return key, nil
}

// read sums up a query of a table beside those of the same rounds of the baseline.
func (d *Database) read(
	ctx context.Context, t *readTable, q readQuery, baseline []float64,
) (Read, error) {
	found, err := d.column(ctx, q.text, q.args...)
	if err != nil {
		return Read{}, err
	}
	ratios := make([]float64, len(q.took))
	for i := range ratios {
		ratios[i] = q.took[i] / baseline[i]
	}
	r := Read{
		Database: d.Name, Scheme: t.Scheme, Storage: string(t.Storage), Peer: t.Peer,
		Column: d.Column(t.Key), Writing: t.writing(t.Rhythm), What: q.what,
		Query: strings.ReplaceAll(q.text, t.table, "ids"), Rows: t.IDs, Found: len(found),
		Rounds: len(ratios), Microseconds: median(q.took), Relative: median(ratios),
		Spread: spread(ratios),
	}
	if q.what == Newest {
		for _, n := range found {
			if int(n) >= t.IDs-len(found) {
				r.Newest++
			}
		}
	}
	can, err := d.evict(ctx, t.table)
	if err != nil || !can {
		return r, err
	}
	r.Touched, r.Read, err = d.blocks(ctx, q)
	return r, err
}

// blocks are those that a query of PostgreSQL asks for, and those of them that are not cached.
func (d *Database) blocks(ctx context.Context, q readQuery) (touched, read int64, err error) {
	plan, err := d.explain(ctx, "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON)", q.text, q.args...)
	if err != nil {
		return 0, 0, err
	}
	var all []struct {
		Plan struct {
			Hit  int64 `json:"Shared Hit Blocks"`
			Read int64 `json:"Shared Read Blocks"`
		}
	}
	if err := json.Unmarshal([]byte(plan), &all); err != nil || len(all) != 1 {
		return 0, 0, fmt.Errorf("%s: %s: %q is no plan: %w", d.Name, q.text, plan, err)
	}
	return all[0].Plan.Hit + all[0].Plan.Read, all[0].Plan.Read, nil
}
