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
	gormsqlite "gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/cmd/idmint/internal/importer"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/gormid"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/sqlite"
)

// demoFile is made in the current folder.
const demoFile = "idmint-demo.db"

//go:embed demo/zone1970.tab
var zoneTable []byte

// The demo's models. A key type per entity is a line; keys of two entities do not compile into each
// other.
type (
	ZoneID    = idtype.Decimal[Zone]
	OfficeID  = idtype.Decimal[Office]
	MeetingID = idtype.Decimal[Meeting]

	// Zone is a row of the imported table.
	Zone struct {
		ID          ZoneID
		Codes       string
		Coordinates string
		TZ          string
		Comments    string
	}
	// Office refers to a zone.
	Office struct {
		ID       OfficeID
		City     string
		ZoneID   ZoneID `gorm:"not null"`
		Zone     Zone
		Meetings []Meeting
	}
	// Meeting refers to an office.
	Meeting struct {
		ID       MeetingID
		OfficeID OfficeID `gorm:"not null"`
		Title    string
		// counts the meetings as they are created, to compare with the order of the IDs
		Created int64
	}
)

func (a *app) demoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Show it all on real data, in " + demoFile,
		Long: `Make ` + demoFile + ` in the current folder, or add to it.

The demo starts a launch and imports the time zones of the tz database. It
creates GORM models that refer to them. It starts a second launch, creates
more, and reads it all back.`,
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
	for _, step := range []func(context.Context) error{
		d.firstLaunch, d.secondLaunch, d.rows, d.check,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	d.next()
	return nil
}

type demo struct {
	*app
	flags  *storeFlags
	log    *launchlog.Log
	pool   *sql.DB
	launch [2]launchlog.Launch
	last   MeetingID
}

func (d *demo) printf(format string, args ...any) { d.out.printf(format, args...) }

// start makes a launch, as a deployment does before it starts the app.
func (d *demo) start(ctx context.Context, reason string) (launchlog.Launch, error) {
	return d.log.Start(ctx, launchlog.Request{
		Key: "demo-" + time.Now().UTC().Format(time.RFC3339Nano), Service: "demo",
		Environment: "demo",
		Initiator:   username(), InitiatorKind: "user", Reason: reason,
	})
}

func (d *demo) firstLaunch(ctx context.Context) (err error) {
	if d.launch[0], err = d.start(ctx, "first launch of the demo"); err != nil {
		return err
	}
	id := d.launch[0].ID
	d.printf("1. A deployment starts a launch: launch %d.\n\n", id)

	result, err := d.runImport(ctx, d.flags, dsn.DSN{Kind: dsn.SQLite, Path: demoFile}, zones(), -1,
		importer.Import{
			Source: "zone1970.tab", Format: importer.TSV, Table: "zones", Batch: 100, Launch: id,
			Restart: true,
		})
	if err != nil {
		return err
	}
	d.printf("2. It imports the time zones of the tz database into the table zones: %d rows with "+
		"IDs %v to %v.\n\n",
		result.Rows, result.First, result.Last)

	offices, meetings, err := d.create(ctx, id, 0, 40)
	if err != nil {
		return err
	}
	d.printf("3. An app of the launch creates %d offices in these zones, with %d meetings, by "+
		"GORM. One generator mints for both tables.\n\n", offices, meetings)
	return nil
}

func (d *demo) secondLaunch(ctx context.Context) (err error) {
	if d.launch[1], err = d.start(ctx, "second launch of the demo"); err != nil {
		return err
	}
	_, err = d.log.End(ctx, d.launch[0].ID,
		launchlog.Ending{Outcome: launchlog.Superseded, Actor: username()})
	if err != nil {
		return err
	}
	offices, meetings, err := d.create(ctx, d.launch[1].ID, 40, 60)
	if err != nil {
		return err
	}
	d.printf("4. A second deployment, launch %d, takes over. Its app creates %d more offices with "+
		"%d meetings.\n\n", d.launch[1].ID, offices, meetings)
	return nil
}

// zones is the table as the importer takes it: a header, four fields in each row, no comments.
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

// create is what an app of a launch does. It sets up its generator and GORM. It creates offices in
// the zones from..to-1 of those that were imported last.
func (d *demo) create(
	ctx context.Context, launch, from, to int,
) (offices, meetings int, err error) {
	gen, err := generator.NewDecimal(d.log.Generators(launch))
	if err != nil {
		return 0, 0, err
	}
	defer d.closeDecimal(ctx, gen)
	if err := gen.Ready(ctx); err != nil { // before transactions, which lock the file
		return 0, 0, err
	}
	db, err := gorm.Open(&gormsqlite.Dialector{Conn: d.pool}, &gorm.Config{Logger: logger.Discard})
	if err != nil {
		return 0, 0, err
	}
	if err := db.Use(gormid.New(gormid.Use(gen))); err != nil {
		return 0, 0, err
	}
	db = db.WithContext(ctx)
	if err := db.AutoMigrate(&Office{}, &Meeting{}); err != nil {
		return 0, 0, err
	}
	var in []Zone
	zonesOfLaunch := db.Where("id % 100000 = ?", d.launch[0].ID).Order("id")
	if err := zonesOfLaunch.Offset(from).Limit(to - from).Find(&in).Error; err != nil {
		return 0, 0, err
	}
	var created int64
	if err := db.Model(&Meeting{}).Select(
		"coalesce(max(created), 0)").Scan(&created).Error; err != nil {
		return 0, 0, err
	}
	for _, zone := range in {
		office := Office{City: strings.ReplaceAll(path.Base(zone.TZ), "_", " "), ZoneID: zone.ID}
		for _, title := range []string{"Opening", "Planning", "Retrospective"} {
			created++
			office.Meetings = append(office.Meetings, Meeting{Title: title, Created: created})
		}
		// the office and its meetings get their IDs here
		if err := db.Create(&office).Error; err != nil {
			return offices, meetings, err
		}
		offices++
		meetings += len(office.Meetings)
		d.last = office.Meetings[len(office.Meetings)-1].ID
	}
	return offices, meetings, nil
}

// rows reads a few rows back and explains their IDs.
func (d *demo) rows(ctx context.Context) error {
	d.printf("5. Some of the rows:\n\n")
	rows, err := d.pool.QueryContext(ctx, `SELECT m.id, m.title, o.id, o.city, z.id, z.tz
		FROM meetings m JOIN offices o ON o.id = m.office_id JOIN zones z ON z.id = o.zone_id
		WHERE m.id % 100000 IN (?, ?) AND m.title = 'Planning' AND z.comments = '' ORDER BY m.id % 100000, m.id`, d.launch[0].ID, d.launch[1].ID)
	if err != nil {
		return err
	}
	defer rows.Close()
	perLaunch := map[int]int{}
	err = d.out.table(func(row func(...any)) {
		row("MEETING'S ID", "TITLE", "OFFICE'S ID", "CITY", "ZONE'S ID", "ZONE")
		for rows.Next() {
			var meeting MeetingID
			var office OfficeID
			var zone ZoneID
			var title, city, tz string
			if err = rows.Scan(&meeting, &title, &office, &city, &zone, &tz); err != nil {
				return
			}
			if perLaunch[meeting.Parts().Launch]++; perLaunch[meeting.Parts().Launch] <= 3 {
				row(meeting, title, office, city, zone, tz)
			}
		}
	})
	if err := errors.Join(err, rows.Err()); err != nil {
		return err
	}
	d.printf("\n   The last ID, read by its decimal places:\n\n")
	if err := d.out.draw(drawDecimal(idtype.DecimalID(d.last))); err != nil {
		return err
	}
	d.printf("\n")
	return nil
}

// check compares the order of the IDs with that of creation, and the IDs of all tables.
func (d *demo) check(ctx context.Context) error {
	var meetings, generators, inversions, rows, different int
	err := d.pool.QueryRowContext(ctx, `WITH ids AS (SELECT id FROM zones
			UNION ALL SELECT id FROM offices UNION ALL SELECT id FROM meetings)
		SELECT count(*), count(DISTINCT id % 10000000000),
			count(*) FILTER (WHERE created <= before),
			(SELECT count(*) FROM ids), (SELECT count(DISTINCT id) FROM ids)
		FROM (SELECT id, created,
			lag(created) OVER (PARTITION BY id % 10000000000 ORDER BY id) AS before FROM meetings)`).
		Scan(&meetings, &generators, &inversions, &rows, &different)
	switch {
	case err != nil:
		return err
	case inversions > 0:
		return fmt.Errorf("%d of %d meetings are not in the order of their creation", inversions,
			meetings)
	case rows != different:
		return fmt.Errorf("%d rows have %d different IDs", rows, different)
	}
	d.printf("6. Order: within each of %d generators, the order by ID is the order of creation "+
		"(%d meetings, %d inversions).\n\n7. Numbers used:\n\n", generators, meetings, inversions)
	_, err = d.log.End(ctx, d.launch[1].ID,
		launchlog.Ending{Outcome: launchlog.Succeeded, Actor: username()})
	if err != nil {
		return err
	}
	for _, l := range d.launch {
		shown, err := d.log.Show(ctx, l.ID)
		if err != nil {
			return err
		}
		d.printf("   launch %d: %d of %d generator numbers, one for each process or import that "+
			"took IDs\n", shown.ID, shown.NextGenerator, launchlog.MaxGenerators)
	}
	d.printf("   %d rows of three tables have %d different IDs, though those who minted them "+
		"never asked each other: each had a\n"+
		"   generator and a launch number of its own, the last ten digits of its IDs.\n\n"+
		"All of it is in %s; the demo adds to it when it runs again.\n\n", rows, different, demoFile)
	return nil
}

func (d *demo) next() {
	d.printf(`Look at these next:

   go run ./cmd/idmint launch list --db sqlite:%[1]s
   go run ./cmd/idmint launch show %[2]d --db sqlite:%[1]s
   go run ./cmd/idmint inspect --scheme decimal %[3]v
   go run ./cmd/idmint import YOUR.csv --db sqlite:%[1]s --table yours

The README shows the same in Go.
`, demoFile, d.launch[1].ID, d.last)
}
