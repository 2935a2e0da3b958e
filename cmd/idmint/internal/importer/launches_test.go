package importer

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/idmint/idmint/launchlog"
)

// faulty is a store that fails as it is told.
type faulty struct {
	launchlog.Store
	end     error  // instead of ending a launch
	started func() // after a launch was started
	claim   func() // before a generator number is taken
}

func (s *faulty) EndLaunch(
	ctx context.Context, ref launchlog.Ref, e launchlog.Ending,
) (launchlog.Launch, error) {
	if s.end != nil {
		return launchlog.Launch{}, s.end
	}
	return s.Store.EndLaunch(ctx, ref, e)
}

func (s *faulty) StartLaunch(
	ctx context.Context, start launchlog.Launch,
) (launchlog.Launch, error) {
	launch, err := s.Store.StartLaunch(ctx, start)
	if s.started != nil {
		s.started()
	}
	return launch, err
}

func (s *faulty) ClaimGenerator(
	ctx context.Context, take launchlog.Claim,
) (launchlog.Claim, error) {
	if s.claim != nil {
		s.claim()
	}
	return s.Store.ClaimGenerator(ctx, take)
}

// A run may end between starting its launch and noting the number. It leaves no second launch
// behind. Whoever resumes it starts the launch under the same key, even as another user.
func TestLaunchNotNoted(t *testing.T) { everywhere(t, testLaunchNotNoted) }

func testLaunchNotNoted(f *fixture) {
	for _, initiator := range []string{"ann", "bob"} {
		f := f.fresh()
		plain := f.log
		ctx, cancel := context.WithCancelCause(ctx)
		f.log = f.newLog(func(s launchlog.Store) launchlog.Store {
			return &faulty{Store: s, started: func() { cancel(errStop) }}
		})
		_, err := f.run(ctx, strings.NewReader(numbered(25)), importing())
		if !errors.Is(err, errStop) {
			f.Fatal(err)
		}
		if n := f.count(`SELECT count(*) FROM idmint_import WHERE launch_id IS NULL`); n != 1 {
			f.Fatal("the number was noted: the test does not show what it is to show")
		}
		f.log = plain
		result := f.mustRun(numbered(25),
			importing(resume, func(im *Import) { im.Initiator = initiator }))
		f.checkNumbered(25, 1)
		n := f.count(`SELECT count(*) FROM idmint_launch`)
		if n != 1 || result.Launch != 1 || f.outcome(1) != launchlog.Succeeded {
			f.Errorf("resumed by %s: %d launches, %+v", initiator, n, result)
		}
	}
}

// A launch that ends while an import of it has no generator yet: nothing is stored, and another
// launch can be named.
func TestLaunchEndsInBetween(t *testing.T) { everywhere(t, testLaunchEndsInBetween) }

func testLaunchEndsInBetween(f *fixture) {
	plain := f.log
	id := f.start("deployment")
	f.log = f.newLog(func(s launchlog.Store) launchlog.Store {
		return &faulty{Store: s, claim: func() {
			_, err := plain.End(ctx, id, launchlog.Ending{Outcome: launchlog.Superseded})
			if err != nil {
				f.Error(err)
			}
		}}
	})
	_, err := f.run(ctx, strings.NewReader(numbered(25)), importing(launch(id)))
	var stopped *StoppedError
	if !errors.Is(err, launchlog.ErrEnded) || !errors.As(err, &stopped) || stopped.Rows != 0 {
		f.Errorf("got %v", err)
	}
	f.log = plain
	_, err = f.run(ctx, strings.NewReader(numbered(25)), importing(resume))
	if !errors.Is(err, launchlog.ErrEnded) || !strings.Contains(err.Error(), "--launch") {
		f.Errorf("resumed: %v", err)
	}
	f.checkNone()
	other := f.start("next deployment")
	if r := f.mustRun(numbered(25), importing(resume, launch(other))); r.Launch != other {
		f.Errorf("%+v", r)
	}
	f.checkNumbered(25, 1)
	if outcome := f.outcome(other); outcome != "" {
		f.Errorf("launch %d was ended: %s", other, outcome)
	}
}

func (f *fixture) checkNone() {
	f.Helper()
	if n := f.count(`SELECT count(*) FROM t`); n != 0 {
		f.Errorf("%d rows are stored, want none", n)
	}
}

// An import that stopped keeps its launch, and goes on with a generator number of its own; or with
// another launch.
func TestResumeWithLaunch(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.start("deployment")
	f.stopAfter(20, numbered(50), importing(launch(id)))
	r := f.stopAfter(30, numbered(50), importing(resume))
	if r.Launch != id || r.Generators[0] != 1 {
		t.Errorf("resumed with %+v, want launch %d", r, id)
	}
	other := f.start("next deployment")
	r = f.mustRun(numbered(50), importing(resume, launch(other)))
	if r.Launch != other || r.Generators[0] != 0 || r.Resumed != 30 || r.Rows != 20 {
		t.Errorf("resumed with %+v, want launch %d", r, other)
	}
	f.checkNumbered(50, 1)
	if f.count(`SELECT count(*) FROM idmint_launch`) != 2 || f.outcome(id)+f.outcome(other) != "" {
		t.Error("launches were started or ended that are not the import's")
	}
}

// All rows are stored and the launch cannot be ended: the message leads to what helps, and nothing
// is stored twice.
func TestLaunchNotEnded(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	plain := f.log
	f.log = f.newLog(func(s launchlog.Store) launchlog.Store {
		return &faulty{Store: s, end: errStop}
	})
	_, err := f.run(ctx, strings.NewReader(numbered(30)), importing())
	var stopped *StoppedError
	if !errors.Is(err, errStop) || !errors.As(err, &stopped) || stopped.Rows != 30 {
		t.Errorf("got %v", err)
	}
	f.log = plain
	f.mustRun(numbered(30), importing(resume))
	f.checkNumbered(30, 1)
	if outcome := f.outcome(1); outcome != launchlog.Succeeded {
		t.Errorf("launch: %q", outcome)
	}
}

// Another log has another's launch of that number, or none: it is neither used nor ended.
func TestOtherLog(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.stopAfter(10, numbered(25), importing())
	own, other := f.log, newFixture(t)
	f.log = other.log
	for _, launches := range []int{0, 1} {
		for name, mode := range map[string]func(*Import){"resume": resume, "restart": restart} {
			_, err := f.run(ctx, strings.NewReader(numbered(25)), importing(mode))
			if refused := (*OtherLogError)(nil); !errors.As(err, &refused) || refused.Launch != 1 {
				t.Errorf("%s, %d launches: %v", name, launches, err)
			}
		}
		if launches == 1 && other.outcome(1) != "" {
			t.Error("another's launch was ended")
		}
		other.start("deployment")
	}
	f.log = own
	f.mustRun(numbered(25), importing(resume))
	f.checkNumbered(25, 1)
}
