package measure

import (
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/idmint/idmint/idtype"
)

// An Insert is how fast rows of an ID and a number are inserted, beside the others of the same run.
type Insert struct {
	Database string `json:"database"`
	Path     string `json:"path"` // COPY, multi-row INSERT, prepared INSERT, native batch
	Scheme   string `json:"scheme"`
	Storage  string `json:"storage"`
	Column   string `json:"column"`
	Peer     bool   `json:"peer,omitempty"`
	Writing
	Rows       int     `json:"rows"` // of a round, in one transaction or batch
	Rounds     int     `json:"rounds"`
	RowsPerSec float64 `json:"rows_per_second"` // the median of the rounds
	// Baseline is the scheme that the others are compared with: [Serial], and where a database has
	// no such column [Plain].
	Baseline string `json:"baseline"`
	// Relative is the speed as a multiple of that of the baseline. It is the median of the ratios
	// within each round.
	Relative float64 `json:"relative"`
	// Spread is half of the distance between the quartiles of these ratios: where it is large, so
	// was the noise of the machine.
	Spread float64 `json:"spread,omitempty"`
}

// Plain is the scheme of int64 parameters. These have the same values as the decimal IDs.
const Plain = "plain int64"

// insertKeys are measured beside [Plain] and [Database.ServerKeys].
func insertKeys() []Key {
	return []Key{
		Find("decimal", idtype.StorageBigint), Find("trace", idtype.StorageBigint),
		Find("eightbyte", idtype.StorageBytes),
		Find("sno", idtype.StorageBytes), Find("snowflake", idtype.StorageBigint),
		Find("UUIDv7", idtype.StorageUUID),
		Find("UUIDv4", idtype.StorageUUID), Find("ULID", idtype.StorageBytes),
	}
}

// insertCases are the keys, with who mints them. Decimal IDs are also those of one writer, in one
// deployment and in several.
func (d *Database) insertCases(r Rhythm) []writingCase {
	var cases []writingCase
	for _, k := range append(d.ServerKeys(), insertKeys()...) {
		cases = append(cases, writingCase{k, r})
		if k.Scheme != "decimal" {
			continue
		}
		for _, n := range []int{1, deployments} {
			one := r
			one.Generators, one.Deployments = 1, n
			cases = append(cases, writingCase{k, one})
		}
	}
	return cases
}

// An insertColumn is what is inserted, and who minted it.
type insertColumn struct {
	*IDs
	Writing
}

// Insert measures all ways to insert that the database has. The kinds of IDs take turns in each
// round, in another order each time, because a machine is faster now and then.
func (d *Database) Insert(ctx context.Context, r Rhythm, rounds int) ([]Insert, error) {
	var all []Insert
	for _, by := range paths[d.Kind] {
		measured, err := d.insertBy(ctx, by, r, rounds)
		if err != nil {
			return nil, err
		}
		all = append(all, measured...)
	}
	return all, nil
}

func (d *Database) insertBy(ctx context.Context, by path, r Rhythm, rounds int) ([]Insert, error) {
	var columns []insertColumn
	for _, c := range d.insertCases(r) {
		ids, err := c.Mint(ctx, c.Rhythm)
		if err != nil {
			return nil, err
		}
		w := c.writing(c.Rhythm)
		if c.Scheme == "decimal" && w.Writers == r.Generators {
			columns = append(columns, insertColumn{ids.plain(), w})
		}
		columns = append(columns, insertColumn{ids, w})
	}
	took := make([][]float64, len(columns)) // seconds, by round
	for round := range rounds + 1 {         // the first warms up
		for _, i := range rand.Perm(len(columns)) {
			seconds, err := d.timeInsert(ctx, by, columns[i].IDs)
			if err != nil {
				return nil, err
			}
			if round > 0 {
				took[i] = append(took[i], seconds)
			}
		}
	}
	all := make([]Insert, len(columns))
	for i, ids := range columns {
		ratios := make([]float64, rounds)
		for round := range ratios {
			ratios[round] = took[0][round] / took[i][round]
		}
		all[i] = Insert{
			Database: d.Name, Path: string(by), Scheme: ids.Key.Scheme,
			Storage: string(ids.Key.Storage), Column: d.Column(ids.Key),
			Peer: ids.Key.Peer, Writing: ids.Writing, Rows: ids.Len(), Rounds: rounds,
			Baseline:   columns[0].Key.Scheme,
			RowsPerSec: float64(ids.Len()) / median(took[i]), Relative: median(ratios),
			Spread: spread(ratios),
		}
	}
	return all, nil
}

// plain are the same values as plain int64.
func (ids *IDs) plain() *IDs {
	values := make([]int64, ids.Len())
	for i := range values {
		values[i] = int64(ids.At(i).(idtype.DecimalID))
	}
	key := ids.Key
	key.Scheme, key.Peer = Plain, true
	return &IDs{
		Key: key, Minted: ids.Minted, at: func(i int) any { return values[i] },
		compare: ids.compare,
	}
}

// timeInsert fills a table and returns how many seconds that took.
func (d *Database) timeInsert(ctx context.Context, by path, ids *IDs) (float64, error) {
	table, err := d.create(ctx, d.Column(ids.Key))
	if err != nil {
		return 0, err
	}
	runtime.GC() // not in the middle
	began := time.Now()
	if err := d.insert(ctx, by, table, ids.rows(upTo(0, ids.Len()))); err != nil {
		return 0, err
	}
	took := time.Since(began).Seconds()
	return took, d.exec(ctx, "DROP TABLE "+table)
}

// median of at least one number; of an even number of them the mean of the two in the middle.
func median(of []float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// spread is half of the distance between the quartiles.
func spread(of []float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	return (sorted[len(sorted)*3/4] - sorted[len(sorted)/4]) / 2
}
