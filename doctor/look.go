package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/checks"
)

// A State is what a look at a launch log remembers. Keep it outside of the log's own database: a
// log that went back cannot tell.
type State struct {
	Identity   map[string]string `json:"identity"`    // of the store, as Identity returns it
	LastLaunch int               `json:"last_launch"` // the highest that is used
	// Launches are those that run, and the last 100, by their numbers.
	Launches map[int]LaunchMark     `json:"launches"`
	Counters map[string]CounterMark `json:"counters"` // by their names
	// Event is the last one of an operator's advances. It is zero where there was none.
	Event EventMark `json:"event,omitzero"`
	// Mark is the counter that [State.Leave] raises. It is empty where no mark was left.
	Mark string `json:"mark,omitempty"`
}

// A LaunchMark tells a launch from another one of the same number.
type LaunchMark struct {
	Key         string    `json:"key"`
	RequestHash string    `json:"request_hash"`
	StartedAt   time.Time `json:"started_at"`
	// Generators are how many generator numbers a launch that runs has used. Token and ClaimedAt
	// are of the last one of these. They are empty for a launch beyond the last 100.
	Generators int       `json:"generators,omitempty"`
	Token      string    `json:"token,omitempty"`
	ClaimedAt  time.Time `json:"claimed_at,omitzero"`

	running bool
}

// A CounterMark tells a counter's value from the same one of another day.
type CounterMark struct {
	Value     int64     `json:"value,string"`
	UpdatedAt time.Time `json:"updated_at"`
	// Lent says that a claim has raised it last. A ceiling of the same name does not heed the floor
	// that an advance sets.
	Lent bool `json:"lent,omitempty"`
}

// An EventMark tells an event from others.
type EventMark struct {
	Kind  string    `json:"kind"`
	Actor string    `json:"actor"`
	At    time.Time `json:"at"`
}

// Look looks at a log, and compares it with an earlier look at the same namespace. Before is nil
// for the first one. Identity is what [Identity] returns, or what another store says of itself.
//
// A part of the identity that either look lacks is not compared. One that the new look lacks is
// kept from the earlier one, so that a later look compares it. Numbers that were used before and
// are not now were lost, as by a restore. So was a launch whose number another one has now, and a
// generator number that was taken again. So Look also finds a log that was lost, and then used
// until its numbers passed those of the earlier look.
//
// Two things are not noticed. One is what was used and lost since the earlier look, so look often.
// The other is a log that went back and has lost nothing but numbers of counters, which were passed
// since. [State.Leave] leaves a mark for that.
//
// What is lower is found again until the log is advanced. The rest is found again until the new
// state is kept. How far decimal IDs have come decides about their order alone, so it is a note
// where that is lower. A number of a pool that was lost is found until the pool is advanced. The
// error is the log's.
func Look(
	ctx context.Context, log *launchlog.Log, identity map[string]string, before *State,
) (State, []checks.Result, error) {
	c, err := read(ctx, log, time.Now, 0)
	if err != nil {
		return State{}, nil, err
	}
	l := c.state(identity)
	changed, lost := checks.Reporter{Code: "identity"}, checks.Reporter{Code: "lost"}
	if before == nil {
		changed.Pass("this is the first look: %s", l.identity())
		lost.Pass("this is the first look")
	} else {
		l.Mark = before.Mark
		before.compare(l, &changed)
		l.Identity = maps.Clone(before.Identity)
		if l.Identity == nil {
			l.Identity = map[string]string{}
		}
		maps.Copy(l.Identity, identity)
		if err := before.missing(ctx, log, c, l, &lost); err != nil {
			return State{}, nil, failed("lost", err)
		}
	}
	return l, append(changed.Results, lost.Results...), nil
}

// Leave raises a counter of the log by one, and notes it in the state. Nobody else raises that
// counter. So the next Look that is given this state finds every restore to a time before this one,
// whatever was used since. Give every file of states a mark of its own: the counter's name,
// doctor/…, is random.
//
// Call it soon after the look. Where the counter has another value than the look found, the log
// went back since, or somebody else has raised it. Then that is the error, and the state keeps the
// mark that the look found. Other errors are the log's.
func (s *State) Leave(ctx context.Context, log *launchlog.Log) error {
	if s.Mark == "" {
		s.Mark = markPrefix + strings.ToLower(launchlog.NewNote())
	}
	counter, err := log.Counter(s.Mark)
	if err != nil {
		return failed("lost", err)
	}
	from := s.Counters[s.Mark].Value
	raise := launchlog.Raise{From: from, To: from + 1, Note: launchlog.NewNote()}
	row, err := counter.Raise(ctx, raise)
	switch {
	case err != nil:
		return failed("lost", err)
	case !raise.Done(row):
		return failed("lost", fmt.Errorf("no mark was left: counter %s is %d, and was %d at the look",
			s.Mark, row.Value, from))
	}
	s.Counters[s.Mark] = markOf(row)
	return nil
}

// IsMark reports whether a counter of that name is a mark, as [State.Leave] makes them. No other
// counter holds anything that depends on it.
func IsMark(counter string) bool {
	word, ok := strings.CutPrefix(counter, markPrefix)
	return ok && markPattern().MatchString(word)
}

// markPrefix is what the names of marks begin with. A note in small letters follows.
const markPrefix = "doctor/"

var markPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[a-z2-7]{26}$`)
})

// floorOf names the floor of the pool whose number or freed time the counter lends. It is empty for
// other counters.
func floorOf(counter string) string {
	for _, p := range claims.Pools() {
		if floor := p.FloorOf(counter); floor != "" {
			return floor
		}
	}
	return ""
}

func markOf(c launchlog.CounterState) CounterMark {
	return CounterMark{c.Value, c.UpdatedAt, c.Note != "" && floorOf(c.Name) != ""}
}

// state is what a look remembers of a content.
func (c *content) state(identity map[string]string) State {
	s := State{
		Identity: identity, Launches: map[int]LaunchMark{}, Counters: map[string]CounterMark{},
		LastLaunch: c.lastLaunch(),
	}
	for _, launch := range slices.Concat(c.running, c.newest) {
		m := LaunchMark{
			Key: launch.Key, RequestHash: launch.RequestHash, StartedAt: launch.StartedAt,
			running: launch.Running(),
		}
		if m.running {
			m.Generators = launch.NextGenerator
			m.Token, m.ClaimedAt = c.taken[launch.ID].Token, c.taken[launch.ID].ClaimedAt
		}
		s.Launches[launch.ID] = m
	}
	for _, counter := range c.counters {
		s.Counters[counter.Name] = markOf(counter)
	}
	if n := len(c.events); n > 0 {
		s.Event = EventMark{c.events[n-1].Kind, c.events[n-1].Actor, c.events[n-1].At}
	}
	return s
}

// identity is the identity as text.
func (s State) identity() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(s.Identity)) {
		parts = append(parts, name+" "+s.Identity[name])
	}
	return strings.Join(parts, ", ")
}

func (s State) compare(now State, r *checks.Reporter) {
	for _, name := range slices.Sorted(maps.Keys(s.Identity)) {
		if is, ok := now.Identity[name]; ok && is != s.Identity[name] {
			r.Finding("%s of the store is %s, and was %s", name, is, s.Identity[name])
		}
	}
	if len(now.Identity) == 0 {
		r.Unknown("the store does not say which it is: only what it holds was compared")
		return
	}
	r.Pass("the store is that of the last look: %s", now.identity())
}

// missing reports what is lower than it was, and what another one has taken the place of. Of a
// launch that has ended no number is given out any more.
func (s State) missing(
	ctx context.Context, log *launchlog.Log, c *content, now State, r *checks.Reporter,
) error {
	if now.LastLaunch < s.LastLaunch {
		r.Finding("the last launch is %d, and was %d", now.LastLaunch, s.LastLaunch)
	}
	for _, launch := range slices.Sorted(maps.Keys(s.Launches)) {
		if err := s.launch(ctx, log, launch, now, r); err != nil {
			return err
		}
	}
	if _, passedOver := s.Launches[s.LastLaunch]; !passedOver && s.LastLaunch > 0 {
		switch is, err := log.Show(ctx, s.LastLaunch); {
		case err == nil:
			r.Finding("launch %d was passed over by an advance, and now is that of key %q",
				s.LastLaunch, is.Key)
		case !errors.Is(err, launchlog.ErrNotFound):
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Counters)) {
		was, is := s.Counters[name], now.Counters[name]
		switch {
		case is.Value == 0 && was.Lent && now.Counters[floorOf(name)].Value >= was.Value:
			// The number's times count as used since an advance.
		case is.Value < was.Value:
			r.Finding("counter %s is %d, and was %d", name, is.Value, was.Value)
		case is.Value == was.Value && !is.UpdatedAt.Equal(was.UpdatedAt):
			r.Finding("counter %s has come to %d again: at %s, and before at %s", name, is.Value,
				inUTC(is.UpdatedAt), inUTC(was.UpdatedAt))
		}
	}
	if s.Event.Kind != "" && !slices.ContainsFunc(c.events, s.Event.is) {
		r.Finding("the event %s of %s, by %s, is not there any more", s.Event.Kind,
			inUTC(s.Event.At), s.Event.Actor)
	}
	r.Pass("nothing is lower than at the last look, and nothing has taken another's place")
	return nil
}

func (m EventMark) is(e launchlog.Event) bool {
	return m.Kind == e.Kind && m.Actor == e.Actor && m.At.Equal(e.At)
}

func inUTC(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.999999") }

// launch compares a launch with what was there under its number.
func (s State) launch(
	ctx context.Context, log *launchlog.Log, launch int, now State, r *checks.Reporter,
) error {
	was := s.Launches[launch]
	is, ok := now.Launches[launch]
	if !ok {
		found, err := log.Show(ctx, launch)
		switch {
		case errors.Is(err, launchlog.ErrNotFound):
			if launch > now.LastLaunch { // else an operator has passed over it
				r.Finding("launch %d is not there any more", launch)
			}
			return nil
		case err != nil:
			return err
		}
		is = LaunchMark{
			Key: found.Key, RequestHash: found.RequestHash, StartedAt: found.StartedAt,
		}
	}
	if is.Key != was.Key || is.RequestHash != was.RequestHash ||
		!is.StartedAt.Equal(was.StartedAt) {
		r.Finding("launch %d is another one: it was started at %s with key %q, and the one before "+
			"at %s with key %q", launch, inUTC(is.StartedAt), is.Key, inUTC(was.StartedAt), was.Key)
		return nil
	}
	if is.running && is.Generators < was.Generators {
		r.Finding("launch %d has used %d generator numbers, and had used %d", launch,
			is.Generators, was.Generators)
		return nil
	}
	if was.Token == "" {
		return nil
	}
	claim, err := claimOf(ctx, log, launch, was.Generators-1)
	if claim.Token != "" && (claim.Token != was.Token || !claim.ClaimedAt.Equal(was.ClaimedAt)) {
		r.Finding("generator number %d of launch %d was taken again: at %s, and before at %s",
			was.Generators-1, launch, inUTC(claim.ClaimedAt), inUTC(was.ClaimedAt))
	}
	return err
}
