package importer

import (
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idmint/idmint/launchlog"
)

// Of a run that goes on although another one has resumed its import, nothing more is stored.
func TestTakenOver(t *testing.T) { everywhere(t, testTakenOver) }

func testTakenOver(t *testing.T, newFixture func(testing.TB) *fixture) {
	for _, other := range []func(*Import){resume, restart} {
		f := newFixture(t)
		im := importing()
		im.Progress = func(rows, _ int64) {
			if rows == 20 {
				f.mustRun(numbered(50), importing(other))
			}
		}
		result, err := f.run(ctx, strings.NewReader(numbered(50)), im)
		if !errors.Is(err, errTakenOver) || err.Error() != errTakenOver.Error() ||
			result.Rows != 20 {
			t.Errorf("%+v, %v", result, err)
		}
		f.checkNumbered(50, 1)
	}
}

// Of runs that find the same import unfinished, one goes on with it; and none does if it went on
// meanwhile.
func TestTakeOverOnce(t *testing.T) { everywhere(t, testTakeOverOnce) }

func testTakeOverOnce(t *testing.T, newFixture func(testing.TB) *fixture) {
	f := newFixture(t)
	f.stopAfter(20, numbered(50), importing())
	db := f.database(time.Minute)
	im := importing(func(im *Import) { im.IDColumn = "id" })
	if err := db.prepare(ctx, im, []string{"n", "name"}); err != nil {
		t.Fatal(err)
	}
	found, err := db.last(ctx, im)
	if err != nil || found.rows != 20 {
		t.Fatalf("%+v, %v", found, err)
	}
	moved := *found
	moved.rows = 10
	if _, err := db.takeOver(ctx, &moved, 0); !errors.Is(err, errTakenOver) {
		t.Errorf("with 10 rows, while 20 are stored: %v", err)
	}
	if _, err := db.takeOver(ctx, found, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := db.takeOver(ctx, found, 0); !errors.Is(err, errTakenOver) {
		t.Errorf("the second to take over: %v", err)
	}
}

// Runs that resume, start or restart the same import at once: each row is stored once, and whoever
// is too late hears of it.
func TestAtOnce(t *testing.T) { everywhere(t, testAtOnce) }

func testAtOnce(t *testing.T, newFixture func(testing.TB) *fixture) {
	for name, change := range map[string]func(*Import){
		"resume": resume, "restart": restart,
		"start": func(*Import) {},
	} {
		t.Run(name, func(t *testing.T) {
			succeeded, failed := 0, 0
			for round, rounds := 0, 1; round < rounds; round++ {
				f := newFixture(t)
				rounds = f.rounds(8)
				if name != "start" {
					f.stopAfter(20, numbered(300), importing())
				}
				const runs = 3
				var wg sync.WaitGroup
				errs, results := make([]error, runs), make([]Result, runs)
				for i := range runs {
					log := f.newLog(func(s launchlog.Store) launchlog.Store { return s })
					wg.Go(func() {
						results[i], errs[i] = Run(ctx, f.database(5*time.Second), log,
							slow{strings.NewReader(numbered(300))}, importing(change))
					})
				}
				wg.Wait()
				rows := int64(0)
				full := 0 // runs that had the whole file stored
				for i, err := range errs {
					switch {
					case err == nil:
						succeeded++
						rows += results[i].Rows
						if results[i].Rows > 0 {
							full++
						}
					case errors.Is(err, errTakenOver), errors.As(err, new(*UnfinishedError)):
						failed++
					case errors.Is(err, launchlog.ErrEnded):
						// by the run that took it over, and came through
						failed++
					default:
						t.Errorf("run %d: %v", i, err)
					}
				}
				// One run that begins when another has finished adds all rows again, as it should,
				// unless it resumes.
				if name == "resume" && full > 0 {
					full = 1
				}
				if full == 0 {
					t.Errorf("no run came through: %v", errs)
					continue
				}
				f.checkNumbered(300, full)
			}
			t.Logf("%d runs came through, %d were told that they were too late", succeeded, failed)
			if failed == 0 {
				t.Error("no two runs met: the test shows nothing")
			}
		})
	}
}

// A slow reader takes long enough for runs to meet.
type slow struct{ io.Reader }

func (s slow) Read(p []byte) (int, error) {
	time.Sleep(200 * time.Microsecond)
	return s.Reader.Read(p[:min(len(p), 50)])
}
