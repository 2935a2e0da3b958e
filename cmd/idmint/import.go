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
	"github.com/idmint/idmint/cmd/idmint/internal/importer"
	"github.com/idmint/idmint/cmd/idmint/internal/pool"
	"github.com/idmint/idmint/idtype/formats"
	"github.com/idmint/idmint/internal/visible"
)

func (a *app) importCommand() *cobra.Command {
	var flags storeFlags
	var logName databaseFlag
	var im importer.Import
	var launch, format string
	c := &cobra.Command{
		Use:   "import FILE --db DSN --table T",
		Short: "Give every row of a file a primary key and store it",
		Long: `Give every row of a CSV, TSV or JSON-lines file a decimal ID, and store it in a
table. A table that does not exist is created, with a column id and then the
file's columns as text. FILE can be - for standard input. Parquet is not read, but
docs/reference/import.md shows how DuckDB turns it into CSV or JSON lines, which
this command reads from standard input.

A CSV or TSV file begins with a header row. Its empty fields are empty texts,
because these formats have no NULL. In CSV, empty lines are skipped, unless the
file has one column, in which case they are rows. Line ends within quotes are
kept. In TSV, all lines must end as the header does. The columns of JSON lines
are the names in the first object. A value that is missing, or null, is NULL.

A value that a column rejects ends the import, and the error names its row.
docs/reference/import.md lists what a database changes silently, such as digits
that it rounds.

Rows are stored in batches, each in a transaction that also records how far the
file has come. After an import that ended early, --resume continues after its
last batch, and --restart removes what it stored and starts again. If a bad row
ended it, correct the file from that row on before --resume. A finished import
can be run again, and then adds its rows again, but --resume leaves it as it is,
so it is always safe to run --resume after a run that was killed. An import is
identified by the path of its file and by its table.

Each import is a launch in the launch log, unless --launch or IDMINT_LAUNCH_ID
names one. A log that does not exist is created. --log names the database of the
launch log, if that is not the one of --db.

The table's name must be a plain one, without a dot. The table is in the database
that --db names, and in PostgreSQL in the first schema of search_path, which the
DSN may set: postgres://…/app?search_path=sales. The schema of the launch log is
public, or the one named by &schema=sales. With the ID column, a table has at
most 2,000 columns in SQLite and ClickHouse, 1,600 in PostgreSQL, and 1,017 in
MySQL and MariaDB, which by default create a table with at most 197. A record of
the file has at most 64 MiB.

ClickHouse has no transactions, so it requires --log, whose database then also
records how far the file has come. A batch is a block. If an import was killed,
--resume finds out whether the block that was being sent arrived. An existing
table must be a plain MergeTree with SETTINGS
non_replicated_deduplication_window = 10000. Its key must be Int64 or UInt64, and
its other columns that the file has must be String or Nullable(String).`,
		Example: "  idmint import zones.tsv --db sqlite:app.db --table zones\n" +
			"  gzip -dc big.csv.gz |\n" +
			"    idmint import - --format csv --db sqlite:app.db --table events",
		Args: oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			target, log, err := importTarget(&flags, logName)
			if err != nil {
				return err
			}
			if im.Table == "" {
				return usage("--table is required")
			}
			if strings.Contains(im.Table, ".") {
				return usage("--table %q: must be a plain name; the database, or the schema, is "+
					"the one that --db names, in PostgreSQL by ?search_path=SCHEMA", im.Table)
			}
			if im.IDColumn == "" {
				return usage(`--id-column "": must not be empty`)
			}
			if im.Resume && im.Restart {
				return usage("--resume and --restart exclude each other")
			}
			if im.Batch < 1 || im.Batch > 1_000_000 {
				return usage("--batch %d: must be 1 to 1000000", im.Batch)
			}
			if im.Launch, err = launchFlag(c, launch); err != nil {
				return err
			}
			if im.Format = importer.Format(format); format == "" {
				im.Format, err = importer.FormatOf(args[0])
			} else {
				err = im.Format.Validate()
			}
			if err != nil {
				return usageError{err}
			}
			file, size, err := a.openSource(args[0])
			if err != nil {
				return err
			}
			defer file.Close()
			if im.Source, err = sourceName(args[0]); err != nil {
				return err
			}
			ctx, cancel := interruptible(c) // only now, because opening a pipe may take forever
			defer cancel()
			result, err := a.runImport(ctx, log, target, file, size, im)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			if result.Anew {
				a.warn("no import of %s into %s was unfinished: this one is new", args[0], im.Table)
			}
			return a.reportImport(im.Table, result)
		},
	}
	flags.add(c)
	c.Flag("db").Usage = "the database: sqlite:PATH, postgres://…, mysql://… or clickhouse://… " +
		"(default $" + dsnVariable + ")"
	logName.add(c, "log", logVariable,
		"the database of the launch log, if it is not in --db (default $"+logVariable+")")
	f := c.Flags()
	f.StringVar(&im.Table, "table", "", "the table, a plain name (required)")
	f.StringVar(&format, "format", "", "csv, tsv or jsonl (default: from the file's name)")
	f.StringVar(&im.IDColumn, "id-column", "id", "the column that holds the IDs")
	f.IntVar(&im.Batch, "batch", 1_000_000,
		"rows in a transaction, which has fewer after 8 MiB of the file")
	f.StringVar(&launch, "launch", "",
		"the launch of the IDs (default $"+launchVariable+", or a new one)")
	f.BoolVar(&im.Resume, "resume", false,
		"continue an unfinished import, and leave a finished one as it is")
	f.BoolVar(&im.Restart, "restart", false,
		"remove the rows of an unfinished import, and start again")
	return c
}

func (a *app) openSource(name string) (io.ReadCloser, int64, error) {
	if name == "-" {
		return io.NopCloser(a.in), -1, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a folder", name)
	}
	if err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	if !info.Mode().IsRegular() {
		return file, -1, nil
	}
	return file, info.Size(), nil
}

func sourceName(name string) (string, error) {
	if name == "-" {
		return name, nil
	}
	return filepath.Abs(name)
}

// importTarget returns the database for the rows, and the flags of the launch log. The log is in
// the same database, unless --log names another. ClickHouse cannot hold one.
func importTarget(flags *storeFlags, logName databaseFlag) (dsn.DSN, *storeFlags, error) {
	target, err := flags.name.parse()
	if err != nil {
		return target, nil, err
	}
	log := *flags
	if target.Kind == dsn.ClickHouse || logName.isGiven() {
		log.name = logName
	}
	d, err := log.launchLog()
	switch {
	case err != nil:
	case target.IsKeyValue():
		err = usage("--db: %s can hold a launch log, but not rows", string(target.Kind))
	case target.Kind == dsn.ClickHouse && d.IsKeyValue():
		err = usage("--log: %s cannot record how far an import has come: want sqlite:PATH, "+
			"postgres://… or mysql://…", string(d.Kind))
	}
	return target, &log, err
}

// runImport creates or upgrades the launch log if needed, and imports with a progress bar.
func (a *app) runImport(
	ctx context.Context, flags *storeFlags, target dsn.DSN, r io.Reader, size int64,
	im importer.Import,
) (importer.Result, error) {
	logDSN, err := flags.launchLog()
	if err != nil {
		return importer.Result{}, err
	}
	from, to, err := flags.migrate(ctx, logDSN)
	if err != nil {
		return importer.Result{}, err
	}
	if from != to {
		a.warn("%s", migrated(logDSN, from, to))
	}
	place := target // for the record of imports
	if target.Kind == dsn.ClickHouse {
		place = logDSN
	}
	records, err := pool.Open(place, pool.Create)
	if err != nil {
		return importer.Result{}, fmt.Errorf("%v: %w", place, err)
	}
	db, err := importer.Open(target, place, records, flags.wait)
	if err != nil {
		return importer.Result{}, fmt.Errorf("%v: %w", target, err)
	}
	defer db.Close()
	log, done, err := flags.open(ctx, a)
	if err != nil {
		return importer.Result{}, err
	}
	defer done()
	bar := a.bar(size, progressbar.OptionShowBytes(true))
	bar.Describe("importing into " + visible.Text(im.Table))
	im.Initiator = username()
	im.Progress = func(_, bytes int64) { _ = bar.Set64(bytes) }
	result, err := importer.Run(ctx, db, log, r, im)
	_ = bar.Exit()
	a.warnUnreported(result.Unreported)
	return result, err
}

// bar shows progress on a terminal, and nothing elsewhere. A size of -1 means that it is unknown.
func (a *app) bar(size int64, unit progressbar.Option) *progressbar.ProgressBar {
	return progressbar.NewOptions64(size, unit, progressbar.OptionSetWriter(a.err),
		progressbar.OptionSetVisibility(isTerminal(a.err)),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(),
		progressbar.OptionFullWidth())
}

func (a *app) reportImport(table string, r importer.Result) error {
	rate := int64(float64(r.Rows) / max(r.Duration.Seconds(), 1e-6))
	if a.json {
		return a.out.json(struct {
			Table string `json:"table"`
			importer.Result
			Seconds       float64 `json:"seconds"`
			RowsPerSecond int64   `json:"rows_per_second"`
		}{table, r, r.Duration.Seconds(), rate})
	}
	if r.Rows == 0 && r.Resumed > 0 {
		a.out.printf("%s: nothing was left to import: all %d rows are stored, launch %d\n", table,
			r.Resumed, r.Launch)
		return nil
	}
	a.out.printf("%s: %d rows in %.2f s, %d rows a second, launch %d\n", table, r.Rows,
		r.Duration.Seconds(), rate, r.Launch)
	switch {
	case r.Rows == 0:
	case r.First%formats.DecimalStep == r.Last%formats.DecimalStep:
		a.out.printf("IDs %v to %v\n", r.First, r.Last)
	default: // from several generators, whose IDs do not follow one another
		a.out.printf("first ID %v, last ID %v\n", r.First, r.Last)
	}
	if r.Resumed > 0 {
		a.out.printf("%d rows had been stored by earlier runs of the import\n", r.Resumed)
	}
	if r.Removed > 0 {
		a.out.printf("%d rows of the unfinished import were removed\n", r.Removed)
	}
	return nil
}
