package measure

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/idmint/idmint/cmd/idmint/dsn"
)

// Results are all that was measured in a run.
type Results struct {
	Made        time.Time     `json:"made"`
	Seconds     float64       `json:"seconds"` // that it took
	Machine     Machine       `json:"machine"`
	Rows        int           `json:"rows"` // of the largest tables
	PerSecond   int           `json:"ids_per_second"`
	Databases   []Server      `json:"databases"`
	Order       []Order       `json:"order"`
	Compression []Compression `json:"compression"`
	Footprints  []Footprint   `json:"footprints"`
	Skipping    []Skipping    `json:"skipping"`
	Inserts     []Insert      `json:"inserts"`
	Reads       []Read        `json:"reads"`
	Families    []Family      `json:"families"`
}

// Machine is where it was measured.
type Machine struct {
	System     string `json:"system"` // "linux/amd64"
	Processor  string `json:"processor,omitempty"`
	Processors int    `json:"processors"`
	Go         string `json:"go"`
}

// Server is a database that was measured.
type Server struct {
	Name    string `json:"name"`            // of a database below: "PostgreSQL 18", "MariaDB"
	Kind    string `json:"kind"`            // "sqlite", "postgres", "mysql", "clickhouse"
	Version string `json:"version"`         // as it says
	Build   string `json:"build,omitempty"` // who built it, as far as it says
	// StandIn is what a server calls itself that is not the official one; "" is the official one.
	StandIn string `json:"stand_in,omitempty"`
}

// Options are of a run.
type Options struct {
	// IDs of a column in ClickHouse; other tables have a fifth, as row by row takes longer
	Rows int
	// called before each step, from one goroutine; nil is nobody
	Progress func(done, total int, doing string)
}

// The parts of Options.Rows, and the limits below which figures say nothing.
const (
	perSecond     = 10_000
	generators    = 4
	many          = 64 // more than keep in step
	deployments   = 10
	insertRounds  = 31
	readRounds    = 101
	familyRounds  = 101
	MinRows       = 1_000
	MaxRows       = 50_000_000
	leastOrderIDs = 10_000
	mostOrderIDs  = 100_000
	// a round of less than a tenth of a second; in ClickHouse four times as many
	mostInsertRows  = 25_000
	orderGenerators = 8
	SkippingSeconds = 100 // that the IDs of a table take, of which a query asks for one
)

// Generators are the numbers of generators that IDs for ClickHouse are minted by.
func Generators() []int { return []int{1, 4, 64} }

// A step is a unit of work of about a second.
type step struct {
	doing string
	run   func(context.Context) error
}

// Run measures all of it in all databases, which it does not close. Errors are those of the
// databases, and of the context.
func Run(ctx context.Context, databases []*Database, o Options) (*Results, error) {
	if o.Rows < MinRows || o.Rows > MaxRows {
		return nil, fmt.Errorf("%d rows: want %d ..= %d", o.Rows, MinRows, MaxRows)
	}
	r := &Results{
		Made: time.Now().UTC().Truncate(time.Second), Machine: machine(), Rows: o.Rows,
		PerSecond: perSecond,
	}
	var steps []step
	for _, d := range databases {
		r.Databases = append(r.Databases, Server{
			Name: d.Name, Kind: string(d.Kind), Version: d.Version, Build: d.Build,
			StandIn: d.StandIn,
		})
		steps = append(steps, r.steps(d, o.Rows)...)
	}
	for i, s := range steps {
		if o.Progress != nil {
			o.Progress(i, len(steps), s.doing)
		}
		err := s.run(ctx)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.doing, err)
		}
	}
	r.Seconds = time.Since(r.Made).Seconds()
	return r, nil
}

func (r *Results) steps(d *Database, rows int) []step {
	var steps []step
	for _, c := range d.OrderCases() {
		steps = append(steps,
			measure(&r.Order, d.Name+": order of "+c.Name(),
				func(ctx context.Context) ([]Order, error) {
					o, err := d.Order(ctx, c, min(max(rows, leastOrderIDs), mostOrderIDs),
						orderGenerators)
					return []Order{o}, err
				}))
	}
	rhythm := Rhythm{IDs: max(rows/5, MinRows), Generators: generators, PerSecond: perSecond}
	for _, c := range d.sizeCases(rhythm) {
		steps = append(steps,
			measure(&r.Footprints, d.Name+": size of "+c.Key.Name(),
				func(ctx context.Context) ([]Footprint, error) {
					f, err := d.Footprint(ctx, c.Key, c.Rhythm)
					return []Footprint{f}, err
				}))
	}
	for _, k := range d.Keys() {
		if d.Kind != dsn.ClickHouse {
			break
		}
		for _, n := range Generators() {
			if k.Alike() && n != generators {
				continue
			}
			steps = append(steps,
				measure(&r.Compression,
					fmt.Sprintf("%s: size of %s, %d generators", d.Name, k.Name(),
						n), func(ctx context.Context) ([]Compression, error) {
						return d.Compression(ctx, k,
							Rhythm{IDs: rows, Generators: n, PerSecond: perSecond}, "")
					}))
		}
	}
	span := rhythm
	span.PerSecond = span.IDs / SkippingSeconds
	for _, k := range d.SkippingKeys() {
		steps = append(steps,
			measure(&r.Skipping, d.Name+": a second of "+k.Name(),
				func(ctx context.Context) ([]Skipping, error) {
					return d.Skipping(ctx, k, span)
				}))
	}
	most := mostInsertRows
	if d.Kind == dsn.ClickHouse {
		most *= 4
	}
	fast := rhythm
	fast.IDs = min(rhythm.IDs, most)
	for _, by := range paths[d.Kind] {
		steps = append(steps,
			measure(&r.Inserts, d.Name+": speed of "+string(by),
				func(ctx context.Context) ([]Insert, error) {
					return d.insertBy(ctx, by, fast, insertRounds)
				}))
	}
	if d.Kind != dsn.ClickHouse {
		steps = append(steps, measure(&r.Reads, d.Name+": reads",
			func(ctx context.Context) ([]Read, error) { return d.Reads(ctx, rhythm, readRounds) }))
	}
	if d.pgx != nil {
		for _, delay := range []time.Duration{0, time.Millisecond} {
			steps = append(steps, measure(&r.Families,
				fmt.Sprintf("%s: parents with children, %v away", d.Name, delay),
				func(ctx context.Context) ([]Family, error) {
					return d.Families(ctx, delay, familyRounds)
				}))
		}
	}
	return steps
}

// A writingCase is a key, and who mints it.
type writingCase struct {
	Key
	Rhythm
}

// sizeCases are a table for each key, of several writers. Decimal IDs have more: their size depends
// on how many write at once, and on whether they go through the launch log. So has snowflake, their
// best rival among keys that are minted.
func (d *Database) sizeCases(r Rhythm) []writingCase {
	if d.Kind == dsn.ClickHouse {
		return nil
	}
	var cases []writingCase
	add := func(k Key, writers, deployments int, apart bool) {
		c := writingCase{k, r}
		c.Generators, c.Deployments, c.Apart = writers, deployments, apart
		cases = append(cases, c)
	}
	for _, k := range append(d.ServerKeys(), d.Keys()...) {
		switch k.Scheme {
		case "decimal":
			add(k, 1, 1, false)
			add(k, 1, deployments, false)
			add(k, generators, 1, false)
			add(k, generators, deployments, false)
			add(k, many, 1, false)
			add(k, generators, 1, true)
			add(k, generators, deployments, true)
		case "snowflake":
			add(k, 1, 1, false)
			add(k, generators, 1, false)
			add(k, many, 1, false)
		default:
			add(k, generators, 1, false)
		}
	}
	return cases
}

func measure[T any](to *[]T, doing string, f func(context.Context) ([]T, error)) step {
	return step{doing, func(ctx context.Context) error {
		measured, err := f(ctx)
		*to = append(*to, measured...)
		return err
	}}
}

func machine() Machine {
	m := Machine{
		System: runtime.GOOS + "/" + runtime.GOARCH, Processors: runtime.NumCPU(),
		Go: runtime.Version(),
	}
	text, err := os.ReadFile("/proc/cpuinfo") // elsewhere it stays unknown
	if err == nil {
		_, m.Processor, _ = strings.Cut(lineWith(string(text), "model name"), ": ")
	}
	return m
}
