package importer

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

// doubtful is an import of numbered(50) that has stored 20 rows, and ended when it had written down
// which IDs the next ten get.
type doubtful struct {
	*fixture
	table *clickHouseTable
	s     *state
	batch rows
	b     batch
	ids   []idtype.DecimalID
}

func newDoubtful(f *fixture) *doubtful {
	f.Helper()
	f = f.fresh()
	f.stopAfter(20, numbered(50), importing())
	d := &doubtful{
		fixture: f, table: f.database(patience).(*clickHouseTable),
		ids: make([]idtype.DecimalID, 10),
	}
	im := importing(func(im *Import) { im.IDColumn = "id" })
	columns := []string{"n", "name"}
	if err := d.table.prepare(ctx, im, columns); err != nil {
		f.Fatal(err)
	}
	var err error
	if d.s, err = d.table.last(ctx, im); err != nil {
		f.Fatal(err)
	}
	gen, err := generator.NewDecimal(f.log.Generators(d.s.launch))
	if err != nil {
		f.Fatal(err)
	}
	if _, err := gen.Fill(ctx, d.ids); err != nil {
		f.Fatal(err)
	}
	rec, err := openRecords(strings.NewReader(numbered(30)), CSV)
	if err != nil {
		f.Fatal(err)
	}
	if err := skip(rec, d.s); err != nil {
		f.Fatal(err)
	}
	reading, done := context.WithCancel(ctx)
	batches, _ := read(reading, rec, 10, d.s.position)
	d.b = <-batches
	done()
	d.batch = rows{im, columns, d.ids, d.b.fields, 20}
	err = d.table.change(ctx, d.s, func(next *state) {
		next.doubt = &doubt{
			Ranges: with(nil, d.ids), Rows: 30, Bytes: d.b.end.bytes, SHA256: d.b.end.sha256,
			Token: rand.Text(),
		}
	})
	if err != nil {
		f.Fatal(err)
	}
	return d
}

// send sends the first rows of the batch.
func (d *doubtful) send(count int) {
	d.Helper()
	part := d.batch
	part.ids = part.ids[:count]
	if err := d.table.send(ctx, part, d.s.doubt); err != nil {
		d.Fatal(err)
	}
}

// Whatever became of a batch in doubt, whoever resumes the import ends up with each row once. It
// stays so if the batch comes late.
func TestDoubt(t *testing.T) {
	t.Parallel()
	f := newFixtureIn(t, places[3])
	for _, arrived := range []int{0, 3, 10} {
		d := newDoubtful(f)
		if arrived > 0 {
			d.send(arrived)
		}
		r := d.mustRun(numbered(50), importing(resume))
		if r.Resumed != 20 || r.Rows != 30 || r.First != d.ids[0] {
			t.Errorf("%d rows had arrived: %+v", arrived, r)
		}
		d.checkNumbered(50, 1)
		d.send(10)
		d.checkNumbered(50, 1)

		d = newDoubtful(f)
		if arrived > 0 {
			d.send(arrived)
		}
		r = d.mustRun(numbered(50), importing(restart))
		if r.Removed != int64(20+arrived) || r.Rows != 50 {
			t.Errorf("%d rows had arrived, restarted: %+v", arrived, r)
		}
		d.checkNumbered(50, 1)
	}
}

// Of a run that was held up while another one took its import over, the batch does no harm.
func TestHeldUp(t *testing.T) {
	t.Parallel()
	f := newFixtureIn(t, places[3])
	for name, other := range map[string]func(*Import){"resume": resume, "restart": restart} {
		d := newDoubtful(f)
		d.mustRun(numbered(50), importing(other))
		err := d.table.store(ctx, d.batch.Import, d.batch.columns, d.s, d.ids, d.b)
		if !errors.Is(err, errTakenOver) {
			t.Errorf("%s: %v", name, err)
		}
		d.checkNumbered(50, 1)
	}
}

// A batch in doubt is part of what was imported: the file must still have it.
func TestDoubtChangedFile(t *testing.T) {
	t.Parallel()
	d := newDoubtful(newFixtureIn(t, places[3]))
	for _, file := range []string{
		strings.Replace(numbered(50), "name 25", "name x", 1),
		numbered(25), numbered(25) + "x\n",
	} {
		_, err := d.run(ctx, strings.NewReader(file), importing(resume))
		if !errors.Is(err, errChanged) {
			t.Errorf("a file of %d bytes: %v", len(file), err)
		}
	}
	d.checkNumbered(20, 1)
	d.mustRun(numbered(50), importing(resume))
	d.checkNumbered(50, 1)
}

// A restart that ended in its midst is not to be resumed, but restarted.
func TestRestartInDoubt(t *testing.T) {
	t.Parallel()
	d := newDoubtful(newFixtureIn(t, places[3]))
	err := d.table.change(ctx, d.s, func(next *state) {
		next.holder = "another"
		next.doubt = &doubt{Remove: true, Ranges: append(with(nil, d.ids), d.s.ranges...)}
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.run(ctx, strings.NewReader(numbered(50)), importing(resume))
	if !errors.Is(err, errRestarting) {
		t.Errorf("resumed: %v", err)
	}
	if r := d.mustRun(numbered(50), importing(restart)); r.Removed != 20 {
		t.Errorf("%+v", r)
	}
	d.checkNumbered(50, 1)
}

// What ClickHouse refuses is in doubt no more: the file can be put right and the import go on.
func TestRefusedByClickHouse(t *testing.T) {
	t.Parallel()
	f := newFixtureIn(t, places[3])
	f.exec(`CREATE TABLE t (id Int64, n String, name String, CONSTRAINT c CHECK name != 'bad') ` +
		`ENGINE = MergeTree ORDER BY id SETTINGS non_replicated_deduplication_window = 100`)
	_, err := f.run(ctx, strings.NewReader(strings.Replace(numbered(50), "name 25\n", "bad\n", 1)),
		importing())
	var stopped *StoppedError
	if !errors.As(err, &stopped) || stopped.Rows != 20 || stopped.InDoubt != 0 ||
		!strings.Contains(err.Error(), "Constraint") {
		t.Errorf("%+v", err)
	}
	f.checkNumbered(20, 1)
	f.mustRun(numbered(50), importing(resume))
	f.checkNumbered(50, 1)

	f.exec(`TRUNCATE TABLE t`)
	im := importing(func(im *Import) { im.Format, im.Batch = JSONLines, 2 })
	file := `{"n":"0","name":"name 0"}` + "\n" + `{"n":"1","name":"name 1"}` + "\n" +
		`{"n":"2","name":"name 2"}` + "\n" + `{"n":"3"}` + "\n"
	_, err = f.run(ctx, strings.NewReader(file), im)
	var refused *RowError
	if !errors.As(err, &refused) || refused.Row != 4 || refused.Column != "name" ||
		!strings.Contains(err.Error(), "2 rows are stored, and nothing after them") {
		t.Errorf("%v", err)
	}
	im.Resume = true
	f.mustRun(strings.Replace(file, `"3"`, `"3","name":"name 3"`, 1), im)
	f.checkNumbered(4, 1)
}

// Of two databases an error names the one that it is about, without its password. It says what may
// be wrong with a port that is not ClickHouse's native one.
func TestNotNative(t *testing.T) {
	t.Parallel()
	f := newFixtureIn(t, places[3])
	d := f.target
	f.target = d.WithDatabase("missing")
	_, err := f.run(ctx, strings.NewReader(numbered(5)), importing())
	if err == nil || !strings.HasPrefix(err.Error(), "clickhouse://default:xxxxx@") ||
		!strings.Contains(err.Error(), "missing") {
		t.Error(err)
	}
	hangsUp := func(bool, []byte) (lost, arrives bool) { return true, false }
	f.target = d.WithHost(proxy(t, d.Host(), hangsUp))
	// On a busy machine a short budget may be over before the server has hung up.
	for budget := 2 * time.Second; ; budget *= 4 {
		_, err = Run(ctx, f.database(budget), f.log, strings.NewReader(numbered(5)), importing())
		if err == nil {
			t.Fatal("rows were stored")
		} else if strings.Contains(err.Error(), "may not speak ClickHouse's native protocol") {
			break
		} else if budget > 2*time.Minute {
			t.Fatal(err)
		}
	}
}
