//go:build cgo

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/cmd/idmint/internal/report"
	"github.com/idmint/idmint/cmd/idmint/measure"
	"github.com/idmint/idmint/internal/visible"
)

// reportFlags are those of the report command.
type reportFlags struct {
	dsns    []string
	rows    int
	page    string
	figures string
	from    string
}

func (a *app) reportCommand() *cobra.Command {
	var flags reportFlags
	c := &cobra.Command{
		Use:   "report",
		Short: "Measure order, size and speed of IDs in databases",
		Long: `Measure the IDs of all schemes, beside keys that the database gives, UUIDs, ULIDs
and snowflakes, and make a page of it. SQLite is measured, and each database
that is named: whether columns sort as documented, what an ID takes on disk and
in the cache, what a query for new rows or by time reads, and how fast rows are
inserted, alone or as a parent with children.

In a named database everything is done in a schema or a database of its own. It
is removed at the end, also after Ctrl-C. The user must be allowed to create
it. Written pages are those of the whole server, so it had better do nothing
else. A superuser of PostgreSQL also sees how pages are split and what the cache
lacks: by extensions, in that schema. In MariaDB a counter of InnoDB is switched
on for the time.

The page has no scripts and needs no network. The same figures are in a file as
JSON. A million rows in five databases take a quarter of an hour on a machine
that does nothing else.`,
		Example: `  idmint report --rows 1000
  idmint report --from report.json --out again.html && ls again.html`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			for _, other := range []string{"db", "rows", "figures"} {
				if flags.from != "" && c.Flags().Changed(other) {
					return usage("with --from nothing is measured: leave --%s out", other)
				}
			}
			if flags.from != "" {
				return reportFrom(flags)
			}
			ctx, cancel := interruptible(c)
			defer cancel()
			return a.report(ctx, flags)
		},
	}
	f := c.Flags()
	f.StringArrayVar(&flags.dsns, "db", nil,
		"a database to measure, beside SQLite: postgres://…, mysql://… (MariaDB) or "+
			"clickhouse://…; may be repeated")
	f.IntVar(&flags.rows, "rows", 1_000_000,
		"IDs of a column in ClickHouse; the tables of other databases have a fifth, and at least 1,000")
	f.StringVar(&flags.page, "out", "report.html", "the page")
	f.StringVar(&flags.figures, "figures", "",
		"the file of the figures, JSON (default: beside the page)")
	f.StringVar(&flags.from, "from", "",
		"make the page of figures that were measured before, and measure nothing")
	return c
}

func (a *app) report(ctx context.Context, flags reportFlags) error {
	if flags.rows < measure.MinRows || flags.rows > measure.MaxRows {
		return usage("--rows %d: want %d to %d", flags.rows, measure.MinRows, measure.MaxRows)
	}
	var named []dsn.DSN
	for _, text := range flags.dsns {
		d, err := dsn.Parse(text)
		if err != nil {
			return usage("--db: %w", err)
		}
		if d.Kind == dsn.SQLite {
			return usage("--db %s: SQLite is measured anyway, in a file of its own", text)
		}
		if d.IsKeyValue() {
			return usage("--db: %s keeps a launch log and no rows", string(d.Kind))
		}
		named = append(named, d)
	}
	if flags.figures == "" {
		flags.figures = strings.TrimSuffix(flags.page, filepath.Ext(flags.page)) + ".json"
	}
	if flags.figures == flags.page {
		return usage("--out and --figures name the same file, %s", flags.page)
	}
	// Before the work, not after it, it turns out whether the files can be written.
	page, err := createOutput(flags.page)
	if err != nil {
		return err
	}
	defer page.discard()
	data, err := createOutput(flags.figures)
	if err != nil {
		return err
	}
	defer data.discard()

	results, err := a.measure(ctx, named, flags)
	if err != nil {
		return err
	}
	if err := errors.Join(report.WriteHTML(page, results),
		report.WriteJSON(data, results)); err != nil {
		return err
	}
	if err := errors.Join(page.keep(), data.keep()); err != nil {
		return err
	}
	for _, line := range report.Summary(results) {
		a.out.line(line)
	}
	a.out.printf("\nThe page is %s, the figures are %s.\n", flags.page, flags.figures)
	return nil
}

// reportFrom makes the page anew.
func reportFrom(flags reportFlags) error {
	file, err := os.Open(flags.from)
	if err != nil {
		return err
	}
	defer file.Close()
	results, err := report.ReadJSON(file)
	if err != nil {
		return fmt.Errorf("%s: %w", flags.from, err)
	}
	page, err := createOutput(flags.page)
	if err != nil {
		return err
	}
	defer page.discard()
	if err := report.WriteHTML(page, results); err != nil {
		return err
	}
	return page.keep()
}

// measure measures SQLite and the databases that are named. Whatever it made is gone afterwards.
func (a *app) measure(
	ctx context.Context, named []dsn.DSN, flags reportFlags,
) (_ *measure.Results, err error) {
	var closers []func() error
	defer func() {
		for _, closeIt := range closers {
			err = errors.Join(err, closeIt())
		}
	}()
	bar := a.steps()
	defer func() { _ = bar.Exit() }()
	places := make([]*measure.Database, 0, len(named)+1)
	for _, open := range append(
		[]func(context.Context) (*measure.Database, error){measure.OpenSQLite}, openers(named)...) {
		place, err := open(ctx)
		if err != nil {
			return nil, err
		}
		closers = append(closers, place.Close)
		places = append(places, place)
	}
	return measure.Run(ctx, places,
		measure.Options{Rows: flags.rows, Progress: func(done, total int, doing string) {
			bar.ChangeMax(total)
			bar.Describe(visible.Text(doing))
			_ = bar.Set(done)
		}})
}

func openers(named []dsn.DSN) []func(context.Context) (*measure.Database, error) {
	var all []func(context.Context) (*measure.Database, error)
	for _, d := range named {
		all = append(all, func(ctx context.Context) (*measure.Database, error) {
			return measure.Open(ctx, d)
		})
	}
	return all
}

// steps is a bar on a terminal, and nothing elsewhere.
func (a *app) steps() *progressbar.ProgressBar {
	options := []progressbar.Option{
		progressbar.OptionSetWriter(a.err), progressbar.OptionThrottle(100 * time.Millisecond),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionFullWidth(), progressbar.OptionShowCount(),
	}
	if !isTerminal(a.err) {
		options = append(options, progressbar.OptionSetWriter(io.Discard),
			progressbar.OptionSetVisibility(false))
	}
	return progressbar.NewOptions(1, options...)
}

// An output is a file that takes its name only when it is complete.
type output struct {
	*os.File
	name string
}

// createOutput follows a link, which stays one, and replaces nothing but a file: not a folder, and
// not what /dev/stdout is.
func createOutput(name string) (*output, error) {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		info, err := os.Stat(target)
		if err == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("%s is there, and is no file", name)
		}
		if err != nil {
			return nil, err
		}
		name = target
	}
	file, err := os.CreateTemp(filepath.Dir(name), ".idmint-report-*")
	if err != nil {
		return nil, err
	}
	return &output{file, name}, nil
}

func (o *output) keep() error {
	if err := errors.Join(o.Chmod(0o644), o.Close()); err != nil {
		return err
	}
	return os.Rename(o.Name(), o.name)
}

// discard removes what was not kept.
func (o *output) discard() {
	_ = o.Close()
	_ = os.Remove(o.Name()) // after keep it is gone
}
