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

// A State is what a look at a launch log remembers. Keep it outside the log's own database, because
// a restore of the log would set the state back, too.
type State struct {
	Identity   map[string]string `json:"identity"`    // of the store, as Identity returns it
	LastLaunch int               `json:"last_launch"` // the highest that is used
	// Launches holds the running launches and the last 100, by their numbers.
	Launches map[int]LaunchMark     `json:"launches"`
	Counters map[string]CounterMark `json:"counters"` // by their names
	// Event is the latest of an operator's advances, or zero if there was none.
	Event EventMark `json:"event,omitzero"`
	// Mark is the log counter that [State.Leave] raises, or empty if no mark was left.
	Mark string `json:"mark,omitempty"`
}

// A LaunchMark distinguishes a launch from another one with the same number.
type LaunchMark struct {
	Key         string    `json:"key"`
	RequestHash string    `json:"request_hash"`
	StartedAt   time.Time `json:"started_at"`
	// Generators is the count of generator numbers that a running launch has used. Token and
	// ClaimedAt belong to the last of these, and are empty for a launch older than the last 100.
	Generators int       `json:"generators,omitempty"`
	Token      string    `json:"token,omitempty"`
	ClaimedAt  time.Time `json:"claimed_at,omitzero"`

	running bool
}

// A CounterMark distinguishes a log counter's value from the same value reached at another time.
type CounterMark struct {
	Value     int64     `json:"value,string"`
	UpdatedAt time.Time `json:"updated_at"`
	// Lent is true if a claim raised the counter last. A ceiling of the same name, unlike a claim,
	// ignores the floor that an advance sets.
	Lent bool `json:"lent,omitempty"`
}

// An EventMark distinguishes an event from others.
type EventMark struct {
	Kind  string    `json:"kind"`
	Actor string    `json:"actor"`
	At    time.Time `json:"at"`
}

// Look looks at a log, and compares it with an earlier look at the same namespace, or with nothing
// if before is nil. Identity is what [Identity] returns, or how another store identifies itself.
//
// Look compares only those parts of the identity that both looks have. If the new look lacks a
// part, it keeps the earlier one for the next look. Numbers were lost, as by a restore, if they
// were used before and are not now, if a launch number now belongs to another launch, or if a
// generator number was claimed again. Look therefore also detects a log that was lost and then used
// until its numbers passed the earlier ones.
//
// Look cannot detect two kinds of loss. One is the loss of numbers that were used only since the
// earlier look, so look often. The other is a log that went back but lost only values of log
// counters, which have risen above the earlier values since. [State.Leave] leaves a mark for that
// case.
//
// Numbers that are lower than before are reported until the log is advanced, and a lost number of a
// pool until the pool is advanced. Other changes are reported until the new state is kept. Look
// does not compare the register of order, because it affects nothing but the order of decimal IDs.
// The error is the log's.
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

// Leave raises a log counter by one, and records that in the state. Because nothing else raises
// this counter, the next Look with this state detects every restore to an earlier time, however
// much the log was used since. The counter has a random name, doctor/…, and each file of states
// needs its own mark.
//
// Call Leave soon after the look. If the counter no longer has the value that the look found, the
// log went back in between or something else raised the counter, so Leave returns an error, and the
// state keeps the mark that the look found. Other errors are the log's.
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
		return failed("lost", fmt.Errorf("no mark was left: counter %s is %d, and was %d at the "+
			"look", s.Mark, row.Value, from))
	}
	s.Counters[s.Mark] = markOf(row)
	return nil
}

// IsMark reports whether the counter of that name is a mark of [State.Leave], on which nothing else
// depends.
func IsMark(counter string) bool {
	word, ok := strings.CutPrefix(counter, markPrefix)
	return ok && markPattern().MatchString(word)
}

// markPrefix begins the names of marks, before a note in lower case.
const markPrefix = "doctor/"

var markPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[a-z2-7]{26}$`)
})

// floorOf returns the name of the floor of the pool whose number or freed time the counter lends,
// or "" for other counters.
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

// state returns what a look remembers of a content.
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

// identity returns the identity as text.
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
		r.Unknown("the store does not identify itself: only what it holds was compared")
		return
	}
	r.Pass("the store is the same as at the last look: %s", now.identity())
}

// missing reports what is lower than it was, and what was replaced, except in launches that have
// ended, because these hand out no more numbers.
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
			r.Finding("launch %d was skipped by an advance, and now exists with key %q",
				s.LastLaunch, is.Key)
		case !errors.Is(err, launchlog.ErrNotFound):
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Counters)) {
		was, is := s.Counters[name], now.Counters[name]
		switch {
		case is.Value == 0 && was.Lent && now.Counters[floorOf(name)].Value >= was.Value:
			// An advance has marked the number's times as used.
		case is.Value < was.Value:
			r.Finding("counter %s is %d, and was %d", name, is.Value, was.Value)
		case is.Value == was.Value && !is.UpdatedAt.Equal(was.UpdatedAt):
			r.Finding("counter %s has reached %d again: at %s, and before at %s", name, is.Value,
				inUTC(is.UpdatedAt), inUTC(was.UpdatedAt))
		}
	}
	if s.Event.Kind != "" && !slices.ContainsFunc(c.events, s.Event.is) {
		r.Finding("the event %s of %s, by %s, is gone", s.Event.Kind,
			inUTC(s.Event.At), s.Event.Actor)
	}
	r.Pass("nothing is lower than at the last look, and nothing was replaced")
	return nil
}

func (m EventMark) is(e launchlog.Event) bool {
	return m.Kind == e.Kind && m.Actor == e.Actor && m.At.Equal(e.At)
}

func inUTC(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.999999") }

// launch compares a launch with what was found under its number before.
func (s State) launch(
	ctx context.Context, log *launchlog.Log, launch int, now State, r *checks.Reporter,
) error {
	was := s.Launches[launch]
	is, ok := now.Launches[launch]
	if !ok {
		found, err := log.Show(ctx, launch)
		switch {
		case errors.Is(err, launchlog.ErrNotFound):
			if launch > now.LastLaunch { // otherwise an operator has skipped it
				r.Finding("launch %d is gone", launch)
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
		r.Finding("launch %d is a different one: it was started at %s with key %q, and the "+
			"earlier one at %s with key %q", launch, inUTC(is.StartedAt), is.Key,
			inUTC(was.StartedAt), was.Key)
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
		r.Finding("generator number %d of launch %d was claimed again: at %s, and before at %s",
			was.Generators-1, launch, inUTC(claim.ClaimedAt), inUTC(was.ClaimedAt))
	}
	return err
}
