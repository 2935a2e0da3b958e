package importer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/launchlog"
)

// However often an import ends early, and wherever, it ends up with each row once.
func TestResumeAnywhere(t *testing.T) {
	everywhere(t, func(f *fixture) {
		const rows = 170
		im := importing()
		stored, stops := int64(0), 0
		for ; ; stops++ {
			// A resumed import may have batches of another size.
			im.Batch = []int{1, 7, 20, 13}[stops%4]
			ctx, cancel := context.WithCancelCause(ctx)
			left := 1 + stops%3
			im.Progress = func(int64, int64) {
				if left--; left == 0 {
					cancel(errStop)
				}
			}
			result, err := f.run(ctx, strings.NewReader(numbered(rows)), im)
			cancel(nil)
			if result.Resumed != stored {
				f.Fatalf("%d rows were stored, %d are resumed", stored, result.Resumed)
			}
			stored += result.Rows
			if err == nil {
				break
			}
			var stopped *StoppedError
			if !errors.As(err, &stopped) || !errors.Is(err, errStop) || stopped.Rows != stored {
				f.Fatalf("%v, after %d rows", err, stored)
			}
			f.checkNumbered(int(stored), 1)
			im.Resume = true
		}
		f.checkNumbered(rows, 1)
		if stored != rows || stops < 6 ||
			f.count(`SELECT count(*) FROM idmint_launch WHERE outcome = 'succeeded'`) != 1 ||
			f.count(`SELECT count(*) FROM idmint_launch`) != 1 {
			f.Errorf("%d rows of %d after %d stops", stored, rows, stops)
		}
	})
}

func TestUnfinished(t *testing.T) {
	everywhere(t, func(f *fixture) {
		f.stopAfter(10, numbered(50), importing())
		time.Sleep(2 * time.Millisecond) // the times have as many digits
		f.stopAfter(20, numbered(50), importing(resume))
		_, err := f.run(ctx, strings.NewReader(numbered(50)), importing())
		var unfinished *UnfinishedError
		if !errors.As(err, &unfinished) || unfinished.Rows != 20 ||
			unfinished.Source != "/data/file.csv" || unfinished.Table != "t" {
			f.Fatalf("got %v, want an UnfinishedError", err)
		}
		began, err1 := time.Parse(time.RFC3339, unfinished.Since)
		last, err2 := time.Parse(time.RFC3339, unfinished.Last)
		if err1 != nil || err2 != nil || !began.Before(last) {
			f.Errorf("%v, %v: it began at %s, and stored its last batch at %s", err1, err2, began, last)
		}
		for _, word := range []string{"--resume", "--restart", "20 rows", "by " + unfinished.Last} {
			if !strings.Contains(err.Error(), word) {
				f.Errorf("%v: %q is missing", err, word)
			}
		}
		// To SQLite the name of the table is the same.
		if f.kind == "" {
			_, err := f.run(ctx, strings.NewReader(numbered(50)),
				importing(func(im *Import) { im.Table = "T" }))
			if !errors.As(err, &unfinished) {
				f.Errorf("table T: %v", err)
			}
		}
		// Another file into the same table, and the same file into another table, have nothing to do
		// with it.
		f.mustRun(numbered(50), importing(func(im *Import) { im.Table = "u" }))
		f.mustRun("name\nx\n", importing(func(im *Import) { im.Source = "-" }))
		f.mustRun(numbered(50), importing(resume))
		f.checkNumbered(50, 1)
		f.mustRun(numbered(50), importing())
		f.checkNumbered(50, 2)
	})
}

// A run may be killed behind its last batch, before anybody hears of it. Whoever resumes it gets no
// second copy. The launch that was left running is ended.
func TestResumeFinished(t *testing.T) {
	everywhere(t, func(f *fixture) {
		// stopped in the progress of the last batch, of 5 rows
		first := f.stopAfter(25, numbered(25), importing())
		if outcome := f.outcome(first.Launch); outcome != "" {
			f.Fatalf("the launch has ended (%s): the test does not show what it is to show", outcome)
		}
		for range 2 {
			r := f.mustRun(numbered(25), importing(resume))
			want := (Result{
				Resumed: 25, Launch: first.Launch, Generators: []int{}, Duration: r.Duration,
			})
			if !reflect.DeepEqual(r, want) {
				f.Errorf("resumed %+v, want %+v", r, want)
			}
			if outcome := f.outcome(first.Launch); outcome != launchlog.Succeeded {
				f.Errorf("launch: %q", outcome)
			}
		}
		// It is not taken for a finished import of another file's content.
		for _, file := range []string{
			numbered(26), numbered(24), numbered(25) + "\n", "n,name\n1\n",
			strings.Replace(numbered(25), "name 3", "name x", 1),
		} {
			_, err := f.run(ctx, strings.NewReader(file), importing(resume))
			if !errors.Is(err, errFinished) || err.Error() != errFinished.Error() {
				f.Errorf("a file of %d bytes: %v", len(file), err)
			}
		}
		f.checkNumbered(25, 1)
	})
}

// The last import counts: not a finished one that was followed by one whose rows were removed.
func TestResumeAfterRestart(t *testing.T) {
	everywhere(t, func(f *fixture) {
		f.mustRun(numbered(25), importing())
		f.stopAfter(10, numbered(25), importing())
		// A restart that ends right after it has removed the rows.
		plain := f.log
		f.log = f.newLog(func(s launchlog.Store) launchlog.Store {
			return &faulty{Store: s, end: errStop}
		})
		_, err := f.run(ctx, strings.NewReader(numbered(25)), importing(restart))
		if !errors.Is(err, errStop) {
			f.Fatal(err)
		}
		f.checkNumbered(25, 1)
		f.log = plain
		f.mustRun(numbered(25), importing(resume))
		f.checkNumbered(25, 2)
	})
}

func TestChangedFile(t *testing.T) {
	t.Parallel()
	file := numbered(50)
	for what, changed := range map[string]string{
		"a byte":                 strings.Replace(file, "name 7\n", "name x\n", 1),
		"a row less":             strings.Replace(file, "7,name 7\n", "", 1),
		"an empty line":          strings.Replace(file, "7,name 7\n", "7,name 7\n\n", 1),
		"quotes":                 strings.Replace(file, "name 7\n", "\"name 7\"\n", 1),
		"the order of columns":   "name,n\n" + strings.TrimPrefix(file, "n,name\n"),
		"the case of a column":   strings.Replace(file, "name", "NAME", 1),
		"line ends":              strings.ReplaceAll(file, "\n", "\r\n"),
		"a byte order mark":      bom + file,
		"a bad row":              strings.Replace(file, "7,name 7\n", "7\n", 1),
		"rows, which are fewer":  "n,name\n",
		"an end in a stored row": file[:30],
	} {
		f := newFixture(t)
		f.stopAfter(20, file, importing())
		_, err := f.run(ctx, strings.NewReader(changed), importing(resume))
		if !errors.Is(err, errChanged) || err.Error() != errChanged.Error() {
			t.Errorf("%s: %v", what, err)
		}
		f.checkNumbered(20, 1)
		f.mustRun(file, importing(resume))
		f.checkNumbered(50, 1)
	}
}

func TestReadErrorInFile(t *testing.T) {
	t.Parallel()
	broken := errors.New("the cable was cut")
	file := numbered(50)
	f := newFixture(t)
	_, err := f.run(ctx, io.MultiReader(strings.NewReader(file[:len(file)-100]), failing{broken}),
		importing())
	var stopped *StoppedError
	if !errors.Is(err, broken) || !errors.As(err, &stopped) ||
		stopped.Rows != 30 && stopped.Rows != 40 {
		t.Fatalf("got %v", err)
	}
	f.checkNumbered(int(stopped.Rows), 1)
	// While the stored part is read again, too, this is not a changed file.
	_, err = f.run(ctx, io.MultiReader(strings.NewReader(file[:100]), failing{broken}),
		importing(resume))
	if !errors.Is(err, broken) || errors.Is(err, errChanged) {
		t.Errorf("got %v", err)
	}
	f.mustRun(file, importing(resume))
	f.checkNumbered(50, 1)
	// And it is none when that is known to be the whole file.
	_, err = f.run(ctx, io.MultiReader(strings.NewReader(file), failing{broken}), importing(resume))
	if !errors.Is(err, broken) || errors.Is(err, errFinished) {
		t.Errorf("got %v", err)
	}
}

// A pipe that hangs is left behind when the context ends: in the header, in what is skipped, and
// behind it.
func TestHangingPipe(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		before bool   // 20 rows were stored
		feed   string // what comes before it hangs
		rows   int64  // stored in the end
	}{
		{false, "n,na", 0}, {false, numbered(25), 20}, {true, numbered(15), 20}, {true, numbered(35), 30},
	} {
		f := newFixture(t)
		im := importing(func(im *Import) { im.Source = "-" })
		if test.before {
			f.stopAfter(20, numbered(50), im)
			im.Resume = true
		}
		r, w := io.Pipe()
		t.Cleanup(func() { w.Close() })
		ctx, cancel := context.WithCancelCause(ctx)
		go func() {
			fmt.Fprint(w, test.feed) // returns when it was read
			for f.stored() < test.rows {
				time.Sleep(time.Millisecond)
			}
			cancel(errStop)
		}()
		if _, err := f.run(ctx, r, im); !errors.Is(err, errStop) || f.stored() != test.rows {
			t.Fatalf("%+v: %v, with %d rows", test, err, f.stored())
		}
		im.Resume = true
		f.mustRun(numbered(50), im)
		f.checkNumbered(50, 1)
	}
}

// stored is how many rows the last import says are stored, 0 where there is none.
func (f *fixture) stored() (n int64) {
	_ = f.records.QueryRow(
		`SELECT stored_rows FROM idmint_import ORDER BY import_id DESC LIMIT 1`).Scan(&n)
	return n
}

func TestRestart(t *testing.T) {
	everywhere(t, func(f *fixture) {
		// The same table has rows of others. Those of an older scheme have keys that end like IDs of
		// the import's generator (launch 2, generator 1). The rest are of other generators and
		// launches.
		f.create()
		others := []int64{
			1, 2, 1_00002, 99_00001_00002, 1_00000_00002, 2_00005_00002, 1_00001_00003,
			9223372036854775807,
		}
		f.start("a deployment")
		f.start("another")
		if _, err := f.log.Claim(ctx, 2); err != nil { // so that the import's generator is number 1
			f.Fatal(err)
		}
		im := importing(launch(2))
		im.Source = "/data/other.csv"
		for _, id := range others {
			f.exec(fmt.Sprintf(`INSERT INTO t (id) VALUES (%d)`, id))
		}
		f.stopAfter(20, numbered(50), im)
		f.checkNumbered(20, 1)
		if n := f.count(`SELECT count(*) FROM t WHERE id = 30000100002 AND n = '2'`); n != 1 {
			f.Fatal("the import has other IDs than the test is about")
		}
		im.Resume = true // the rows of two generators are to be removed
		f.stopAfter(40, numbered(50), im)
		im.Resume, im.Restart = false, true
		// another file, too: nothing of the old one is left to compare it with
		result := f.mustRun(numbered(10), im)
		if result.Removed != 40 || result.Rows != 10 || result.Resumed != 0 {
			f.Errorf("%+v", result)
		}
		f.checkNumbered(10, 1)
		if n := f.count(`SELECT count(*) FROM t WHERE n IS NULL`); n != len(others) {
			f.Errorf("%d rows of others are left, want %d", n, len(others))
		}
		if outcome := f.outcome(2); outcome != "" {
			f.Errorf("launch 2 is not the import's own, and has ended: %s", outcome)
		}
	})
}

func TestRestartEndsItsLaunch(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first := f.stopAfter(20, numbered(50), importing())
	second := f.mustRun(numbered(50), importing(restart))
	f.checkNumbered(50, 1)
	if second.Removed != 20 || second.Launch == first.Launch {
		t.Errorf("%+v after %+v", second, first)
	}
	a, b := f.outcome(first.Launch), f.outcome(second.Launch)
	if a != launchlog.Aborted || b != launchlog.Succeeded {
		t.Errorf("launches ended %q and %q", a, b)
	}
	// Somebody may have ended it before.
	third := f.stopAfter(20, numbered(50), importing())
	f.end(third.Launch, launchlog.Failed)
	f.mustRun(numbered(50), importing(restart))
	f.checkNumbered(50, 2)
	if outcome := f.outcome(third.Launch); outcome != launchlog.Failed {
		t.Errorf("launch %d: %q", third.Launch, outcome)
	}
}

// Of a run that goes on although another one has resumed its import, nothing more is stored.
func TestTakenOver(t *testing.T) {
	everywhere(t, func(f *fixture) {
		for _, other := range []func(*Import){resume, restart} {
			f = f.fresh()
			im := importing()
			im.Progress = func(rows, _ int64) {
				if rows == 20 {
					f.mustRun(numbered(50), importing(other))
				}
			}
			result, err := f.run(ctx, strings.NewReader(numbered(50)), im)
			if !errors.Is(err, errTakenOver) || err.Error() != errTakenOver.Error() ||
				result.Rows != 20 {
				f.Errorf("%+v, %v", result, err)
			}
			f.checkNumbered(50, 1)
		}
	})
}

// Of runs that find the same import, or begin it at once, one comes through, unless it went on
// meanwhile.
func TestTakeOverOnce(t *testing.T) {
	everywhere(t, func(f *fixture) {
		db := f.database(patience)
		im := importing(func(im *Import) { im.IDColumn = "id" })
		if err := db.prepare(ctx, im, []string{"n", "name"}); err != nil {
			f.Fatal(err)
		}
		if _, err := db.record(ctx, im); err != nil {
			f.Fatal(err)
		}
		if _, err := db.record(ctx, im); !errors.Is(err, errTakenOver) {
			f.Errorf("the second to begin: %v", err)
		}
		found, err := db.last(ctx, im)
		if err != nil {
			f.Fatal(err)
		}
		for range 3 { // of several that found it, one goes on, and another one finds it thereafter
			taken, err := db.takeOver(ctx, found, 0)
			if err != nil {
				f.Fatal(err)
			}
			if _, err := db.takeOver(ctx, found, 0); !errors.Is(err, errTakenOver) {
				f.Errorf("the second to take over: %v", err)
			}
			if _, err := db.abandon(ctx, im, found); !errors.Is(err, errTakenOver) {
				f.Errorf("the second to restart: %v", err)
			}
			before := *taken
			if err := db.setLaunch(ctx, taken, 7); err != nil {
				f.Fatal(err)
			}
			if _, err := db.takeOver(ctx, &before, 0); !errors.Is(err, errTakenOver) {
				f.Errorf("whoever found it before it went on: %v", err)
			}
			if found, err = db.last(ctx, im); err != nil || found.launch != 7 {
				f.Fatalf("%+v, %v", found, err)
			}
		}
	})
}
