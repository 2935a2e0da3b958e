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
	Name    string `json:"name"`
	Version string `json:"version"` // as it says; a stand-in names itself
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
	insertRounds  = 31
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
		r.Databases = append(r.Databases, Server{d.Name, d.Version})
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
	for _, k := range Keys() {
		if d.Kind != dsn.ClickHouse {
			steps = append(steps,
				measure(&r.Footprints, d.Name+": size of "+k.Name(),
					func(ctx context.Context) ([]Footprint, error) {
						f, err := d.Footprint(ctx, k, rhythm)
						return []Footprint{f}, err
					}))
			continue
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
	return steps
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
