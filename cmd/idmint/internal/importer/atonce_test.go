package importer

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/idmint/idmint/idtype"
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
	db := f.database(patience)
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

// Of runs that resume, start or restart the same import at once, one comes through, and the others
// hear that they are too late. Each row is stored once.
func TestAtOnce(t *testing.T) { everywhere(t, testAtOnce) }

func testAtOnce(t *testing.T, newFixture func(testing.TB) *fixture) {
	for name, change := range map[string]func(*Import){
		"resume": resume, "restart": restart,
		"start": func(*Import) {},
	} {
		f := newFixture(t)
		if name != "start" {
			f.stopAfter(20, numbered(100), importing())
		}
		const runs = 3
		found, stored := newMeeting(runs), newMeeting(runs)
		var wg sync.WaitGroup
		errs := make([]error, runs)
		for i := range runs {
			log := f.newLog(func(s launchlog.Store) launchlog.Store { return s })
			db := &met{Database: f.database(patience), found: found, stored: stored}
			wg.Go(func() {
				_, errs[i] = Run(ctx, db, log, strings.NewReader(numbered(100)), importing(change))
				found.leave()
				stored.leave()
			})
		}
		wg.Wait()
		succeeded := 0
		for i, err := range errs {
			switch {
			case err == nil:
				succeeded++
			case !errors.Is(err, errTakenOver):
				t.Errorf("%s, run %d: %v", name, i, err)
			}
		}
		if succeeded != 1 {
			t.Errorf("%s: %d runs came through", name, succeeded)
		}
		f.checkNumbered(100, 1)
	}
}

// A met database is that of one of several runs. All of them find the same import. None stores its
// first batch before the others have come so far as well, or have ended.
type met struct {
	Database
	found, stored *meeting
}

func (m *met) last(ctx context.Context, im Import) (*state, error) {
	s, err := m.Database.last(ctx, im)
	m.found.arrive()
	return s, err
}

func (m *met) store(
	ctx context.Context, im Import, columns []string, s *state, ids []idtype.DecimalID, b batch,
) error {
	m.stored.arrive()
	return m.Database.store(ctx, im, columns, s, ids, b)
}

// A meeting is where goroutines wait for each other.
type meeting struct {
	mu      sync.Mutex
	missing int           // goroutines that are expected; guarded by mu
	all     chan struct{} // is closed when none is missing
}

func newMeeting(n int) *meeting { return &meeting{missing: n, all: make(chan struct{})} }

// leave says that one fewer is to be waited for.
func (m *meeting) leave() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.missing--; m.missing == 0 {
		close(m.all)
	}
}

// arrive waits for the others, and not for those who have left.
func (m *meeting) arrive() {
	m.leave()
	<-m.all
}
