//go:build cgo

package main

import (
	"bytes"
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/cmd/idmint/internal/importer"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/sqlite"
)

// demoFile is created in the current folder.
const demoFile = "idmint-demo.db"

//go:embed demo/zone1970.tab
var zoneTable []byte

// A key type per entity takes one line, and the compiler keeps the keys of two entities apart.
type (
	ZoneID   = idtype.Decimal[Zone]
	OfficeID = idtype.Decimal[Office]

	// Zone is a row of the imported table.
	Zone struct {
		ID ZoneID
		TZ string
	}
	// Office refers to a zone.
	Office struct{ ID OfficeID }
)

func (a *app) demoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Show everything on real data, in " + demoFile,
		Long: `Create ` + demoFile + ` in the current folder, or add to it. The demo starts a
launch, imports the time zones of the tz database, and creates rows that refer to
them. Then it starts a second launch, creates more rows, and reads them all back.`,
		Example: "  idmint demo",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, cancel := interruptible(c)
			defer cancel()
			return a.demo(ctx)
		},
	}
}

func (a *app) demo(ctx context.Context) error {
	flags := &storeFlags{
		name:      databaseFlag{flag: "db", text: "sqlite:" + demoFile, given: true},
		namespace: launchlog.DefaultNamespace, wait: 30 * time.Second,
	}
	name, err := flags.launchLog()
	if err != nil {
		return err
	}
	if _, _, err := flags.migrate(ctx, name); err != nil {
		return err
	}
	log, done, err := flags.open(ctx, a)
	if err != nil {
		return err
	}
	defer done()
	pool, err := sql.Open("sqlite3", sqlite.DSN(demoFile, sqlite.Existing))
	if err != nil {
		return err
	}
	defer pool.Close()
	pool.SetMaxOpenConns(1)
	d := &demo{app: a, flags: flags, log: log, pool: pool}
	for _, step := range []func(context.Context) error{d.first, d.second, d.rows, d.check} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	d.out.printf(`Try these next:

   go run ./cmd/idmint launch list --db sqlite:%[1]s
   go run ./cmd/idmint launch show %[2]d --db sqlite:%[1]s
   go run ./cmd/idmint inspect --scheme decimal %[3]v
   go run ./cmd/idmint import YOUR.csv --db sqlite:%[1]s --table yours

The README shows the same in Go.
`, demoFile, d.launch, d.last)
	return nil
}

type demo struct {
	*app
	flags  *storeFlags
	log    *launchlog.Log
	pool   *sql.DB
	zones  int // the launch that imported them
	launch int
	last   OfficeID
}

// start starts a launch, as a deployment does before it starts the app.
func (d *demo) start(ctx context.Context, reason string) (int, error) {
	launch, err := d.log.Start(ctx, launchlog.Request{
		Key: "demo-" + time.Now().UTC().Format(time.RFC3339Nano), Service: "demo",
		Environment: "demo", Initiator: username(), InitiatorKind: "user", Reason: reason,
	})
	return launch.ID, err
}

func (d *demo) first(ctx context.Context) (err error) {
	if d.zones, err = d.start(ctx, "first launch of the demo"); err != nil {
		return err
	}
	d.out.printf("1. A deployment starts a launch: launch %d.\n\n", d.zones)
	result, err := d.runImport(ctx, d.flags, dsn.DSN{Kind: dsn.SQLite, Path: demoFile}, zones(), -1,
		importer.Import{
			Source: "zone1970.tab", Format: importer.TSV, Table: "zones", Launch: d.zones,
			Restart: true,
		})
	if err != nil {
		return err
	}
	d.out.printf("2. It imports the time zones of the tz database into the table zones: %d rows "+
		"with IDs %v to %v.\n\n", result.Rows, result.First, result.Last)
	offices, err := d.create(ctx, d.zones, 0, 40)
	if err == nil {
		err = d.out.printf("3. An app of the launch creates %d offices in these zones.\n\n",
			offices)
	}
	return err
}

func (d *demo) second(ctx context.Context) (err error) {
	if d.launch, err = d.start(ctx, "second launch of the demo"); err != nil {
		return err
	}
	if err := d.end(ctx, d.zones, launchlog.Superseded); err != nil {
		return err
	}
	offices, err := d.create(ctx, d.launch, 40, 60)
	if err != nil {
		return err
	}
	d.out.printf("4. A second deployment, launch %d, takes over. Its app creates %d more "+
		"offices.\n\n", d.launch, offices)
	return d.end(ctx, d.launch, launchlog.Succeeded)
}

func (d *demo) end(ctx context.Context, launch int, outcome launchlog.Outcome) error {
	_, err := d.log.End(ctx, launch, launchlog.Ending{Outcome: outcome, Actor: username()})
	return err
}

// zones returns the table as the importer reads it: a header, four fields in each row, and no
// comments.
func zones() io.Reader {
	var b bytes.Buffer
	b.WriteString("codes\tcoordinates\ttz\tcomments\n")
	for line := range strings.Lines(string(zoneTable)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		line = strings.TrimSuffix(line, "\n")
		b.WriteString(line + strings.Repeat("\t", 3-strings.Count(line, "\t")) + "\n")
	}
	return &b
}

// create does what an app of a launch does: it sets up its generator, and creates offices in the
// zones from..to-1 of the last import.
func (d *demo) create(ctx context.Context, launch, from, to int) (created int, err error) {
	gen, err := generator.NewDecimal(d.log.Generators(launch))
	if err != nil {
		return 0, err
	}
	defer d.closeDecimal(ctx, gen)
	if err := gen.Ready(ctx); err != nil { // before any transaction, which locks the file
		return 0, err
	}
	if _, err := d.pool.ExecContext(ctx, offices); err != nil {
		return 0, err
	}
	keys, err := generator.For[OfficeID](gen)
	if err != nil {
		return 0, err
	}
	in, err := d.zonesFrom(ctx, from, to)
	if err != nil {
		return 0, err
	}
	for _, zone := range in {
		if d.last, err = keys.Next(ctx); err != nil {
			return 0, err
		}
		_, err := d.pool.ExecContext(ctx, `INSERT INTO offices (id, city, zone_id, created)
			VALUES (?, ?, ?, (SELECT count(*) + 1 FROM offices))`,
			d.last, strings.ReplaceAll(path.Base(zone.TZ), "_", " "), zone.ID)
		if err != nil {
			return 0, err
		}
	}
	return len(in), nil
}

// offices is the table of offices, whose column created numbers them in the order of creation, to
// compare with the order of their IDs.
const offices = `CREATE TABLE IF NOT EXISTS offices (
	id bigint NOT NULL PRIMARY KEY, city text NOT NULL,
	zone_id bigint NOT NULL REFERENCES zones (id), created integer NOT NULL)`

// zonesFrom returns the zones from..to-1 of the last import.
func (d *demo) zonesFrom(ctx context.Context, from, to int) (in []Zone, err error) {
	rows, err := d.pool.QueryContext(ctx, `SELECT id, tz FROM zones WHERE id % 100000 = ?
		ORDER BY id LIMIT ? OFFSET ?`, d.zones, to-from, from)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var zone Zone
		if err := rows.Scan(&zone.ID, &zone.TZ); err != nil {
			return nil, err
		}
		in = append(in, zone)
	}
	return in, rows.Err()
}

// rows reads a few rows back and explains an ID.
func (d *demo) rows(ctx context.Context) error {
	d.out.printf("5. Some of the rows:\n\n")
	rows, err := d.pool.QueryContext(ctx, `SELECT o.id, o.city, z.id, z.tz
		FROM offices o JOIN zones z ON z.id = o.zone_id ORDER BY o.created DESC LIMIT 5`)
	if err != nil {
		return err
	}
	defer rows.Close()
	err = d.out.table(func(row func(...any)) {
		row("OFFICE'S ID", "CITY", "ZONE'S ID", "ZONE")
		for rows.Next() {
			var office OfficeID
			var zone ZoneID
			var city, tz string
			if err = rows.Scan(&office, &city, &zone, &tz); err != nil {
				return
			}
			row(office, city, zone, tz)
		}
	})
	if err := errors.Join(err, rows.Err()); err != nil {
		return err
	}
	d.out.printf("\n   The last ID, read by its decimal places:\n\n")
	return d.out.draw(drawDecimal(idtype.DecimalID(d.last)))
}

// check compares the order of the IDs with the order of creation, and checks that the IDs of both
// tables differ.
func (d *demo) check(ctx context.Context) error {
	var offices, generators, inversions, rows, different int
	err := d.pool.QueryRowContext(ctx, `WITH ids AS (
			SELECT id FROM zones UNION ALL SELECT id FROM offices)
		SELECT count(*), count(DISTINCT id % 10000000000),
			count(*) FILTER (WHERE created <= before),
			(SELECT count(*) FROM ids), (SELECT count(DISTINCT id) FROM ids)
		FROM (SELECT id, created,
			lag(created) OVER (PARTITION BY id % 10000000000 ORDER BY id) AS before FROM offices)`).
		Scan(&offices, &generators, &inversions, &rows, &different)
	switch {
	case err != nil:
		return err
	case inversions > 0:
		return fmt.Errorf("%d of %d offices are not in the order in which they were created",
			inversions, offices)
	case rows != different:
		return fmt.Errorf("%d rows have %d different IDs", rows, different)
	}
	return d.out.printf("\n6. Within each of %d generators, the order by ID is the order of "+
		"creation (%d offices,\n   %d inversions). %d rows of two tables have %d different IDs, "+
		"although their generators\n   never asked each other: each had its own pair of generator "+
		"and launch number.\n\nEverything is in %s, and another run of the demo adds to it.\n\n",
		generators, offices, inversions, rows, different, demoFile)
}
