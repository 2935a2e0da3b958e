//go:build !race

package generator_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/idtype/formats"
	"github.com/idmint/idmint/internal/testclock"
)

// world is a scheme's IDs as a set: what each user was given, and what the clock has shown.
// Everything that may happen to generators happens in it, one thing at a time.
type world struct {
	scheme  scheme
	clock   *late
	peak    int64 // the latest time that the clock has shown
	seen    map[mark]string
	stamped map[int]int64 // by pool, the latest time in an ID: a pool begins here
	counter kept          // of Ceiling
	lender  *lender
	users   []*user
}

// user is a generator and what it has minted.
type user struct {
	*timed
	source string
	opts   generator.Options
	last   mark
	perBit [2]mark
	bytes  string
	full   int64 // where the clock stood when it had used all slots of a unit
	waited int64 // where the clock stood when a call of it had waited
	issued uint64
}

type worldOp struct {
	kind string
	user int
	n    int
	move time.Duration
}

// TestTimelineModel: whatever the clock does, and however generators are stopped and started, an ID
// is minted once. It is one that its generator may mint, and has the clock's time where it should.
func TestTimelineModel(t *testing.T) {
	kinds := []string{
		"next", "next", "next", "next", "fill", "fill", "canceled", "move", "move", "edge",
		"late", "restart", "fresh",
	}
	moves := []time.Duration{
		1, time.Microsecond, time.Millisecond, 4 * time.Millisecond, 7 * time.Millisecond,
		40 * time.Millisecond, time.Second, 3 * time.Second, 9 * time.Second, 11 * time.Second,
		time.Minute, time.Hour, 24 * time.Hour, 365 * 24 * time.Hour,
	}
	ops := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) worldOp {
		sign := rapid.SampledFrom([]time.Duration{-1, 1}).Draw(t, "sign")
		return worldOp{
			kind: rapid.SampledFrom(kinds).Draw(t, "kind"),
			user: rapid.IntRange(0, 2).Draw(t, "user"),
			n:    rapid.IntRange(1, 14).Draw(t, "n"),
			move: sign * rapid.SampledFrom(moves).Draw(t, "move"),
		}
	}), 40, 120)
	waits := rapid.SampledFrom([]time.Duration{0, 5 * time.Millisecond, time.Minute})
	for _, source := range []string{"Given", "Ceiling", "claims"} {
		t.Run(source, func(t *testing.T) {
			eachScheme(t, func(t *testing.T, s scheme) {
				check := func(rt *rapid.T) {
					users, atEnd := []*user{}, rapid.Bool().Draw(rt, "at the end")
					for i := range rapid.IntRange(1, 3).Draw(rt, "users") {
						// Odd pools at one end, apart, because the users of Given share their
						// number.
						size := rapid.SampledFrom([]int{1, 2, 3, 7, 20}).Draw(rt, "size")
						low := s.first + i*21
						if atEnd {
							low = s.last - i*21 - size + 1
						}
						users = append(users, &user{source: source, opts: generator.Options{
							Pool:    &generator.Pool{Min: low, Max: low + size - 1},
							MaxWait: waits.Draw(rt, "MaxWait"),
						}})
					}
					seed, ops := rapid.Uint64().Draw(rt, "seed"), ops.Draw(rt, "ops")
					// The bubble is a goroutine of its own, in which rapid cannot fail: it returns
					// what is wrong.
					var wrong error
					synctest.Test(t, func(*testing.T) { wrong = runWorld(s, users, seed, ops) })
					if wrong != nil {
						rt.Fatal(wrong)
					}
				}
				for range 3 {
					rapid.Check(t, check)
				}
			})
		})
	}
}

// settled is a clock on which no time passes while a request is under way in the background.
type settled struct{ *late }

func (c settled) Sleep(ctx context.Context, d time.Duration) error {
	synctest.Wait()
	return c.late.Sleep(ctx, d)
}

func runWorld(s scheme, users []*user, seed uint64, ops []worldOp) error {
	clock := &late{Clock: testclock.New(noon)}
	w := &world{
		scheme: s, clock: clock, seen: map[mark]string{}, stamped: map[int]int64{}, users: users,
		lender: &lender{
			rnd: rand.New(rand.NewPCG(seed, 0)), numbers: min(2, s.numbers),
			until: map[int]int64{},
		},
	}
	for _, u := range users {
		u.opts.Clock = settled{clock}
		if err := w.start(u, nil); err != nil {
			return err
		}
	}
	for i, op := range ops {
		synctest.Wait() // a request in the background has ended
		w.look()
		if err := w.do(users[op.user%len(users)], op); err != nil {
			return fmt.Errorf("op %d, %+v: %w", i, op, err)
		}
	}
	return nil
}

func (w *world) look() { w.peak = max(w.peak, w.clock.UnixNano()) }

// start makes a user's generator.
func (w *world) start(u *user, snapshot *generator.Snapshot) error {
	source := map[string]windows{
		"Given":   given(1 % w.scheme.numbers),
		"Ceiling": ceiling(&w.counter, 40*time.Millisecond),
		"claims":  windowsOf(w.lender),
	}[u.source]
	u.opts.Snapshot = snapshot
	g, err := w.scheme.make(source, &u.opts)
	if err != nil {
		return err
	}
	u.timed, u.issued, u.full, u.waited = g, 0, 0, 0
	if snapshot == nil {
		u.last, u.perBit, u.bytes = mark{}, [2]mark{}, ""
	}
	return nil
}

func (w *world) do(u *user, op worldOp) error {
	switch op.kind {
	case "move":
		if w.scheme.id == idtype.SchemeTrace { // whose times would be ambiguous else
			op.move = max(-24*time.Hour, min(op.move, 24*time.Hour))
		}
		w.clock.Add(op.move)
	case "edge": // the first or the last moment of a unit, some units away
		now := time.Unix(0, w.clock.UnixNano())
		w.clock.Set(now.Truncate(w.scheme.unit).Add(w.scheme.units(op.n-7) - time.Duration(op.n&1)))
	case "late": // timers are, from now on
		w.clock.by = w.scheme.units(op.n - 7)
		if w.clock.by < 0 {
			w.clock.by = 0
		}
	case "next", "fill", "canceled":
		return w.mint(u, op)
	case "restart": // Given needs the snapshot, and the others neither need nor take one
		if u.source != "Given" {
			return w.start(u, nil)
		}
		s := u.snapshot()
		text, err := json.Marshal(s)
		if err != nil {
			return err
		}
		var back generator.Snapshot
		if err := json.Unmarshal(text, &back); err != nil {
			return err
		}
		if back != s {
			return fmt.Errorf("%+v is %+v after JSON %s", s, back, text)
		}
		now := time.Unix(0, w.clock.UnixNano())
		err = w.start(u, &back)
		if e := new(generator.OptionError); errors.As(err, &e) &&
			(!w.inSpan() || s.Time.Sub(now) > u.maxWait()) {
			return nil // it goes on as if it had not been stopped
		}
		return err
	case "fresh": // what Given survives without a snapshot
		if u.source == "Given" && w.clock.UnixNano() >= w.stamped[u.opts.Pool.Min] {
			return w.start(u, nil)
		}
	}
	return nil
}

func (u *user) maxWait() time.Duration {
	if u.opts.MaxWait == 0 {
		return 10 * time.Second
	}
	return u.opts.MaxWait
}

func (w *world) inSpan() bool {
	now := w.clock.UnixNano()
	return now >= w.scheme.begin.UnixNano() && now < w.scheme.end.UnixNano()
}

func (w *world) mint(u *user, op worldOp) error {
	before, inSpan := w.clock.UnixNano(), w.inSpan()
	waits := u.stats().Waits
	var ids []minted
	var err error
	switch op.kind {
	case "fill":
		if ids, err = u.fill(ctx, op.n); err == nil && len(ids) != op.n {
			return fmt.Errorf("Fill gave %d IDs and no error", len(ids))
		}
	default:
		c := ctx
		if op.kind == "canceled" {
			c = canceled
		}
		var id minted
		if id, err = u.next(c); err == nil {
			ids = append(ids, id)
		}
	}
	synctest.Wait() // what the call asked for in the background
	w.look()
	if u.stats().Waits != waits {
		u.waited = max(u.waited, w.clock.UnixNano())
	}
	for i, id := range ids {
		if err := w.check(u, id, i == len(ids)-1 && err == nil, before); err != nil {
			return err
		}
	}
	if st := u.stats(); st.Issued != u.issued {
		return fmt.Errorf("Stats: %d issued, want %d", st.Issued, u.issued)
	}

	clockError, rangeError := new(generator.ClockError), new(idtype.RangeError)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &rangeError) && (!inSpan || !w.inSpan()):
	case errors.As(err, &clockError) && errors.Is(err, context.Canceled) && op.kind == "canceled":
	case errors.As(err, &clockError) && errors.Is(err, generator.ErrClockBehind):
		behind := clockError.Until.Sub(clockError.Now)
		if behind > u.maxWait() {
			return nil
		}
		return fmt.Errorf("it did not wait for %v: %w", behind, err)
	// a window, while its call overslept
	case strings.Contains(err.Error(), "has passed") && w.clock.by > 0:
	case errors.As(err, new(*generator.NumberError)) && errors.Is(err, context.Canceled) &&
		op.kind == "canceled" && u.source != "Given":
	default:
		return err
	}
	return nil
}

// check looks at one ID of a call, which began when the clock stood at before.
func (w *world) check(u *user, id minted, last bool, before int64) error {
	s, m := w.scheme, id.mark
	what := fmt.Sprintf("%s with %+v", u.source, u.opts.Pool)
	if by, ok := w.seen[m]; ok {
		return fmt.Errorf("%+v is minted again by %s, after %s", m, what, by)
	}
	w.seen[m] = what
	w.stamped[u.opts.Pool.Min] = max(w.stamped[u.opts.Pool.Min], m.time)

	unit := func(nano int64) int64 { return (nano - s.begin.UnixNano()) / int64(s.unit) }
	behind := unit(before) < unit(u.last.time) && u.last != mark{}
	after := unit(w.clock.UnixNano())
	switch {
	case m.slot < u.opts.Pool.Min || m.slot > u.opts.Pool.Max:
		return fmt.Errorf("slot %d is not of the pool %+v", m.slot, *u.opts.Pool)
	case u.source == "claims" && !w.lender.lent(m, s.unit), u.source != "claims" &&
		m.number != 1%s.numbers:
		return fmt.Errorf("number of %+v is not its own", m)
	case m.time > w.peak:
		return fmt.Errorf("%+v is %v beyond what the clock has ever shown", m,
			time.Duration(m.time-w.peak))
	case unit(m.time) < unit(before)-int64(s.lag):
		return fmt.Errorf("%+v is %v behind the clock", m, time.Duration(before-m.time))
	case m.bit != 0 && !s.toggles:
		return fmt.Errorf("%+v has a tick-tock bit", m)
	case m.bit != u.last.bit && u.last != mark{} && !behind && m.number == u.last.number &&
		u.source == "Given":
		return fmt.Errorf("%+v after %+v: the bit changed without a regression", m, u.last)
	}
	// In order, as long as the bit stays. A new window of another number begins anew.
	if p := u.perBit[m.bit]; p.number == m.number && p != (mark{}) &&
		(m.time < p.time || m.time == p.time && m.slot <= p.slot) {
		return fmt.Errorf("%+v after %+v", m, p)
	}
	period := func(nano int64) int64 { return nano / int64(formats.TracePeriod) }
	sameBit := m.bit == u.last.bit && m.number == u.last.number &&
		period(m.time) == period(u.last.time)
	if s.ascends && sameBit && id.bytes <= u.bytes {
		return fmt.Errorf("ID %x after %x", id.bytes, u.bytes)
	}
	// Exact, unless slots ran out shortly before, a call waited, or what is left of the latest time
	// is used.
	recent := func(nano int64) bool { return nano != 0 && after-unit(nano) <= int64(2*s.lag+2) }
	lagging := s.lag > 0 && (recent(u.full) || recent(u.waited))
	if last && unit(m.time) != after && !lagging && !(behind && m.bit == u.last.bit) {
		return fmt.Errorf("%+v is of %v before the clock, below the cap", m,
			time.Duration(after-unit(m.time))*s.unit)
	}
	if m.slot == u.opts.Pool.Max {
		u.full = max(u.full, m.time, w.clock.UnixNano())
	}
	u.last, u.perBit[m.bit], u.bytes = m, m, id.bytes
	u.issued++
	return nil
}

// lender is a Windows as a claim store might be: windows of several numbers, of any length, with
// gaps.
type lender struct {
	rnd     *rand.Rand
	numbers int
	until   map[int]int64 // in units since 1970
	all     []generator.Window[int]
}

func (l *lender) NextWindow(
	_ context.Context, now int64, _ time.Duration,
) (generator.Window[int], error) {
	n := l.rnd.IntN(l.numbers)
	from := max(now-l.rnd.Int64N(3), l.until[n])
	to := max(from+1+l.rnd.Int64N(20), now+1+l.rnd.Int64N(3)) // it has not passed
	l.until[n] = to
	l.all = append(l.all, generator.Window[int]{Number: n, From: from, To: to})
	return l.all[len(l.all)-1], nil
}

// lent tells whether the unit of an ID lies within a window of its number.
func (l *lender) lent(m mark, unit time.Duration) bool {
	at := m.time / int64(unit)
	return slices.ContainsFunc(l.all, func(w generator.Window[int]) bool {
		return w.Number == m.number && w.From <= at && at < w.To
	})
}
