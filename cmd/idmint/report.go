//go:build cgo

package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/cmd/idmint/measure"
	"github.com/idmint/idmint/internal/visible"
)

const (
	leastRows, mostRows = 1_000, 10_000_000
	mostOrderRows       = 10_000
	// reportRounds is enough for a confidence interval.
	reportRounds = 7
)

// rhythm says how the IDs of a table are minted, apart from how many.
var rhythm = measure.Rhythm{Generators: 4, PerSecond: 10_000}

func (a *app) reportCommand() *cobra.Command {
	var names []string
	var rows int
	c := &cobra.Command{
		Use:   "report",
		Short: "Measure order, size and speed of IDs in your databases",
		Long: `Measure IDs of all schemes in databases, compared with serial keys and UUIDv7:
whether ORDER BY and the index sort as documented, the bytes that a row takes in
the key's index, and how many rows one connection inserts per second, by INSERTs
of 1,000 rows. In ClickHouse the bytes are those of the compressed column, in a
table ordered by the ID and in one that is not, and rows are inserted as a native
batch.

Everything happens in a new schema, database or temporary file, which is removed
at the end, even after Ctrl-C. The user must be allowed to create it. Four
simulated generators mint 10,000 IDs per second. Each table is filled eight times,
taking turns with the others in random order. The ratio is the median of seven
rounds, with its confidence interval.`,
		Example: "  idmint report --rows 1000",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, cancel := interruptible(c)
			defer cancel()
			err := a.report(ctx, names, rows)
			if err != nil && ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return err
		},
	}
	f := c.Flags()
	f.StringArrayVar(&names, "db", nil,
		"a database to measure: postgres://…, mysql://… (MariaDB) or clickhouse://…; may be "+
			"repeated (default: SQLite, in a temporary file)")
	f.IntVar(&rows, "rows", 50_000, "rows per table")
	return c
}

func (a *app) report(ctx context.Context, names []string, rows int) error {
	if rows < leastRows || rows > mostRows {
		return usage("--rows %d: must be %d to %d", rows, leastRows, mostRows)
	}
	var named []dsn.DSN
	for _, text := range names {
		d, err := dsn.Parse(text)
		if err != nil {
			return usage("--db: %w", err)
		}
		if d.IsKeyValue() {
			return usage("--db: %s can hold a launch log, but not rows", string(d.Kind))
		}
		if d.Kind == dsn.SQLite {
			return usage("--db %s: leave it out, SQLite is measured in a temporary file", text)
		}
		named = append(named, d)
	}
	if named == nil {
		named = []dsn.DSN{{Kind: dsn.SQLite}}
	}
	for _, d := range named {
		if err := a.reportOn(ctx, d, rows); err != nil {
			return err
		}
	}
	return nil
}

// A keyReport holds what was measured for a key. Order is nil for keys that the database assigns,
// and for columns that do not order their table.
type keyReport struct {
	measure.Figure
	Order *measure.Order `json:"order,omitempty"`
}

func (a *app) reportOn(ctx context.Context, name dsn.DSN, rows int) (err error) {
	d, err := measure.Open(ctx, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	rhythm := rhythm
	rhythm.IDs = rows
	cases := d.FillCases(rhythm)
	bar := a.bar(int64(len(cases)*(reportRounds+2)), progressbar.OptionShowCount())
	defer func() { _ = bar.Exit() }()

	orders := map[string]*measure.Order{}
	for _, c := range d.OrderCases() {
		if orders[c.Name()] != nil {
			continue // already measured: this case differs in its collation
		}
		bar.Describe(visible.Text(d.Name + ": order of " + c.Name()))
		o, err := d.Order(ctx, c, min(rows, mostOrderRows))
		if err != nil {
			return err
		}
		orders[c.Name()] = &o
		_ = bar.Add(1)
	}
	figures, err := d.Fill(ctx, cases, reportRounds, func(c measure.FillCase) {
		bar.Describe(visible.Text(d.Name + ": " + c.Name()))
		_ = bar.Add(1)
	})
	if err != nil {
		return err
	}
	_ = bar.Clear()
	var all []keyReport
	for _, f := range figures {
		r := keyReport{Figure: f}
		if !f.ByArrival {
			r.Order = orders[f.Name()]
		}
		all = append(all, r)
	}
	return a.showReport(d.Name, all)
}

func (a *app) showReport(database string, all []keyReport) (err error) {
	for _, r := range all {
		if r.Order != nil && !r.Order.Agrees {
			err = errors.Join(err, fmt.Errorf("%s: %s does not sort %s, as documented", database,
				r.Name(), r.Order.Documented))
		}
	}
	if !a.json {
		a.out.printf("%s, %d rows of each:\n", database, all[0].Rows)
	}
	return errors.Join(err, writeList(a, all, []any{
		"key", "column", "sorts", "bytes a row", "rows a second", "× " + all[0].Name(), "from",
		"to",
	}, keyReport.row))
}

// row returns the columns of a table for people.
func (r keyReport) row() []any {
	order := "" // for keys that the database assigns
	switch {
	case r.ByArrival:
		order = "not by this"
	case r.Order != nil:
		order = r.Order.Documented
	}
	bytes := fmt.Sprintf("%.1f", r.BytesPerRow)
	if r.BytesPerRow < 1 {
		bytes = fmt.Sprintf("%.3f", r.BytesPerRow)
	}
	return []any{
		r.Name(), r.Column, order, bytes, fmt.Sprintf("%.0f", r.RowsPerSecond),
		fmt.Sprintf("%.2f", r.Relative), fmt.Sprintf("%.2f", r.Low), fmt.Sprintf("%.2f", r.High),
	}
}
