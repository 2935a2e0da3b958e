package importer

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/databases"
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

func newDoubtful(t *testing.T, at prepared) *doubtful {
	t.Helper()
	f := newFixtureIn(t, at, t.TempDir()+"/app.db")
	f.stopAfter(20, numbered(50), importing())
	d := &doubtful{
		fixture: f, table: f.database(patience).(*clickHouseTable),
		ids: make([]idtype.DecimalID, 10),
	}
	im := importing(func(im *Import) { im.IDColumn = "id" })
	columns := []string{"n", "name"}
	if err := d.table.prepare(ctx, im, columns); err != nil {
		t.Fatal(err)
	}
	var err error
	if d.s, err = d.table.last(ctx, im); err != nil {
		t.Fatal(err)
	}
	gen, err := generator.NewDecimal(f.log.Generators(d.s.launch))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gen.Fill(ctx, d.ids); err != nil {
		t.Fatal(err)
	}
	src := newSource(strings.NewReader(numbered(30)))
	rec, err := openRecords(src, CSV)
	if err != nil {
		t.Fatal(err)
	}
	if err := skip(rec, src, d.s); err != nil {
		t.Fatal(err)
	}
	reading, done := context.WithCancel(ctx)
	batches, _ := read(reading, rec, src, 10, d.s.position)
	d.b = <-batches
	done()
	d.batch = rows{im, columns, nil, d.b.fields, 20}
	for _, id := range d.ids {
		d.batch.ids = append(d.batch.ids, int64(id))
	}
	note := &doubt{
		Ranges: with(nil, d.ids), Rows: 30, Bytes: d.b.end.bytes, SHA256: d.b.end.sha256,
		Token: rand.Text(),
	}
	if err := d.table.change(ctx, d.s, d.s.holder, note, ""); err != nil {
		t.Fatal(err)
	}
	d.s.doubt = note
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
	at := place{"", databases.ClickHouse, ""}.prepare(t)
	for _, arrived := range []int{0, 3, 10} {
		d := newDoubtful(t, at)
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

		d = newDoubtful(t, at)
		if arrived > 0 {
			d.send(arrived)
		}
		r = d.mustRun(numbered(50), importing(restart))
		if r.Removed != int64(20+arrived) || r.Rows != 50 {
			t.Errorf("%d rows had arrived, restarted: %+v", arrived, r)
		}
		d.checkNumbered(50, 1)
	}
	t.Log("6 batches in doubt, of 10 rows: 0 rows twice, 0 lost")
}

// Of a run that was held up while another one took its import over, the batch does no harm.
func TestHeldUp(t *testing.T) {
	t.Parallel()
	at := place{"", databases.ClickHouse, ""}.prepare(t)
	for name, other := range map[string]func(*Import){"resume": resume, "restart": restart} {
		d := newDoubtful(t, at)
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
	d := newDoubtful(t, place{"", databases.ClickHouse, ""}.prepare(t))
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
	d := newDoubtful(t, place{"", databases.ClickHouse, ""}.prepare(t))
	gone := &doubt{Remove: true, Ranges: append(with(nil, d.ids), d.s.ranges...)}
	if err := d.table.change(ctx, d.s, "another", gone, ""); err != nil {
		t.Fatal(err)
	}
	_, err := d.run(ctx, strings.NewReader(numbered(50)), importing(resume))
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
	at := place{"", databases.ClickHouse, ""}.prepare(t)
	f := newFixtureIn(t, at, t.TempDir()+"/app.db")
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
		!strings.Contains(err.Error(), "2 rows are stored, and nothing of what follows") {
		t.Errorf("%v", err)
	}
	im.Resume = true
	f.mustRun(strings.Replace(file, `"3"`, `"3","name":"name 3"`, 1), im)
	f.checkNumbered(4, 1)
}

// Of two databases an error names the one that it is about, without its password.
func TestErrorsNameTheirDatabase(t *testing.T) {
	t.Parallel()
	at := place{"", databases.ClickHouse, databases.Postgres}.prepare(t)
	f := newFixtureIn(t, at, t.TempDir()+"/app.db")
	good := [2]dsn.DSN{at.target, at.recordIn}
	for i, want := range []string{"clickhouse://default:xxxxx@", "postgres://postgres:xxxxx@"} {
		bad := good
		bad[i] = bad[i].WithDatabase("missing")
		db, err := openPools(bad[0], bad[1], patience)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Run(ctx, db, f.log, strings.NewReader(numbered(5)), importing())
		if err == nil || !strings.HasPrefix(err.Error(), want) ||
			strings.Count(err.Error(), "://") != 1 || !strings.Contains(err.Error(), "missing") {
			t.Errorf("%v; want %s…", err, want)
		}
		db.Close()
	}
}

// A port that is not ClickHouse's native one: HTTP answers with something else, and others hang up.
func TestNotNative(t *testing.T) {
	t.Parallel()
	at := place{"", databases.ClickHouse, ""}.prepare(t)
	f := newFixtureIn(t, at, t.TempDir()+"/app.db")
	for _, answer := range []string{"", "HTTP/1.0 400 Bad Request\r\n\r\n"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = c.Read(make([]byte, 1024))
				_, _ = c.Write([]byte(answer))
				c.Close()
			}
		}()
		f.at.target = at.target.WithHost(l.Addr().String())
		_, err = Run(ctx, f.database(2*time.Second), f.log, strings.NewReader(numbered(5)),
			importing())
		if err == nil || !strings.Contains(err.Error(),
			"may not speak ClickHouse's native protocol") {
			t.Errorf("%q: %v", answer, err)
		}
	}
}

// A server that is away with a batch in doubt: the message says so.
func TestAwayInDoubt(t *testing.T) {
	t.Parallel()
	at := place{"", databases.ClickHouse, ""}.prepare(t)
	d := newDoubtful(t, at)
	network := newCutter(t, "127.0.0.1:1")
	away, err := openPools(at.target.WithHost(network.Addr().String()),
		d.mustParse("sqlite:"+d.path), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer away.Close()
	table := away.(*clickHouseTable)
	table.table, table.kinds = d.table.table, d.table.kinds
	err = table.store(ctx, d.batch.Import, d.batch.columns, d.s, d.ids, d.b)
	if err == nil || d.s.doubt == nil {
		t.Fatalf("%v, doubt %+v", err, d.s.doubt)
	}
	want := "20 rows are stored, the next 10 are in doubt, " +
		"and nothing of what follows is stored: " +
		"go on with --resume"
	message := (&StoppedError{Rows: 20, InDoubt: 10, Err: err}).Error()
	if !strings.Contains(message, want) || !strings.Contains(message, "for 1s") {
		t.Errorf("message %q", message)
	}
	d.mustRun(numbered(50), importing(resume))
	d.checkNumbered(50, 1)
}
