package launchlog

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/internal/nilable"
)

// DefaultNamespace is the namespace of a [Log] that names none.
const DefaultNamespace = "default"

var namespacePattern = sync.OnceValue(func() *regexp.Regexp { // of up to 63 bytes
	return regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)
})

// Options are the optional settings of a [Log].
type Options struct {
	// Namespace separates systems that share a store: each has its own launch numbers and counters.
	// It is DefaultNamespace if empty, else up to 63 lower-case letters, digits, dots, dashes and
	// underscores, the first a letter or digit.
	Namespace string
	// Budget bounds a call together with its context. It is 30 s if zero.
	Budget time.Duration
	// Host and PID are recorded with launches and claims. They are those of the process if empty.
	Host string
	PID  int
	// Warn hears that 80, 90 and 95 % of a launch's generator numbers, of launch numbers or of a
	// counter's are used, once each: from the process that took the number with which they came
	// there. It may be nil.
	Warn func(Usage)
	// Taken hears of every number taken: a launch's, a generator's, or those of a counter. A Start
	// that finds its launch there tells of it again. It may be nil.
	Taken func(Usage)
	// Observe hears of every attempt of a step, after it. Its context is the attempt's, and may
	// have ended. It may be nil. The call waits for it, as for Warn and Taken. Goroutines of many
	// calls call all three at the same time.
	Observe func(context.Context, Step)
}

// Usage says how many numbers are used of those there are.
type Usage struct {
	Namespace string
	Counter   string // whose numbers are meant
	Launch    int    // whose generator numbers are meant; 0, without a counter: the launch numbers
	Used, Max int64
}

// Level is the highest of 95, 90 and 80 that the percentage has reached, or 0.
func (u Usage) Level() int {
	for _, level := range []int{95, 90, 80} {
		// A counter's numbers leave an int64 no room.
		if float64(u.Used)*100 >= float64(u.Max)*float64(level) {
			return level
		}
	}
	return 0
}

func (u Usage) String() string {
	switch {
	case u.Counter != "":
		return fmt.Sprintf("%d of %d numbers of counter %s of namespace %s are used: over %d %%",
			u.Used, u.Max, u.Counter, u.Namespace, u.Level())
	case u.Launch == 0:
		return fmt.Sprintf("%d of %d launch numbers of namespace %s are used: over %d %%",
			u.Used, u.Max, u.Namespace, u.Level())
	default:
		return fmt.Sprintf("%d of %d generator numbers of launch %d are used: over %d %%; "+
			"another launch will continue it", u.Used, u.Max, u.Launch, u.Level())
	}
}

// Log is a launch log in a store. It is safe for use by many goroutines, and holds nothing that
// needs closing.
type Log struct {
	store   Store
	opts    Options
	trouble atomic.Pointer[AttemptError] // of the last attempt; nil after one that was answered
	memory  memory
}

// New makes a log. The error is a [*RequestError].
func New(store Store, opts *Options) (*Log, error) {
	if nilable.IsNil(store) {
		return nil, &RequestError{
			"store", "nil", "holds no launches: open one of a package below launchlog",
		}
	}
	l := &Log{store: store}
	if opts != nil {
		l.opts = *opts
	}
	o := &l.opts
	if o.Namespace == "" {
		o.Namespace = DefaultNamespace
	}
	if len(o.Namespace) > 63 || !namespacePattern().MatchString(o.Namespace) {
		return nil, &RequestError{
			"namespace", o.Namespace,
			"is not a name of lower-case letters, digits, dots, dashes and underscores",
		}
	}
	if o.Budget < 0 {
		return nil, &RequestError{"budget", o.Budget.String(), "is negative"}
	}
	if o.Budget == 0 {
		o.Budget = 30 * time.Second
	}
	if o.Host == "" {
		o.Host, _ = os.Hostname() // a record for people: without it the log works as well
	}
	if o.PID == 0 {
		o.PID = os.Getpid()
	}
	if err := checkText("host", o.Host, 255); err != nil {
		return nil, err
	}
	return l, nil
}

// Namespace is the one that the log's launches and counters are in.
func (l *Log) Namespace() string {
	if l == nil {
		return ""
	}
	return l.opts.Namespace
}

// Start returns the launch of the request's key, and starts it if there is none. Errors:
// [*RequestError], [*ConflictError], [ErrLaunchesExhausted], [ErrBehind], [ErrNotFound] for
// RollsBack, [*UnresolvedError], or what the store says.
func (l *Log) Start(ctx context.Context, r Request) (Launch, error) {
	if l == nil {
		return Launch{}, errNotMade
	}
	r, err := r.canonical()
	if err != nil {
		return Launch{}, err
	}
	hash, err := r.hash()
	if err != nil {
		return Launch{}, err
	}
	known, err := l.before(Usage{})
	if err != nil {
		return Launch{}, err
	}
	start := Launch{Namespace: l.opts.Namespace, Request: r, RequestHash: hash, Host: l.opts.Host}
	start.KnownLaunch = max(r.KnownLaunch, int(known))
	launch, err := attempt(ctx, l, "start", r.Key, func(ctx context.Context) (Launch, error) {
		if r.RollsBack != 0 { // launches are never deleted: what is there stays there
			if _, err := l.store.Launch(ctx, l.ref(r.RollsBack)); err != nil {
				return Launch{}, about(fmt.Sprintf("rolls back launch %d", r.RollsBack), err)
			}
		}
		launch, err := l.store.StartLaunch(ctx, start)
		switch {
		case err == nil: // it may be an earlier one, of the same key
			err = l.memory.took(Usage{}, 0, 0, int64(launch.ID))
		case errors.Is(err, ErrBehind) && int(known) >= r.KnownLaunch:
			err = l.memory.lose(err)
		}
		return launch, err
	})
	if err != nil {
		return Launch{}, about(l.namespace(), err)
	}
	if launch.RequestHash != hash {
		differing := differ(launch.Request, r)
		return Launch{}, &ConflictError{Key: r.Key, Launch: launch.ID, Differ: differing}
	}
	l.taken(Usage{Used: int64(launch.ID), Max: MaxLaunch}, 1)
	return launch, nil
}

// End ends a launch: it gives out no more generator numbers. Apps of the launch that hold one go on
// until it is used up. To end it again with the same outcome changes nothing. With another outcome
// the error is a [*ConflictError]. Other errors: [ErrNotFound], [*RequestError],
// [*UnresolvedError], or what the store says.
func (l *Log) End(ctx context.Context, launch int, ending Ending) (Launch, error) {
	if l == nil {
		return Launch{}, errNotMade
	}
	if ending.Actor == "" {
		ending.Actor = l.opts.Host
	}
	if err := ending.validate(); err != nil {
		return Launch{}, err
	}
	key := strconv.Itoa(launch)
	ended, err := attempt(ctx, l, "end", key, func(ctx context.Context) (Launch, error) {
		return l.store.EndLaunch(ctx, l.ref(launch), ending)
	})
	if err != nil {
		return Launch{}, about("launch "+key, err)
	}
	if ended.Outcome != ending.Outcome {
		return Launch{}, &ConflictError{
			Key: ended.Key, Launch: launch, Differ: []string{"outcome"}, Outcome: ended.Outcome,
		}
	}
	return ended, nil
}

// Claim takes the next generator number of a launch. Errors: [ErrNotFound], [ErrEnded],
// [ErrGeneratorsExhausted], [*UnresolvedError], or what the store says.
func (l *Log) Claim(ctx context.Context, launch int) (Claim, error) {
	claim, err := l.claim(ctx, launch)
	return claim, about(fmt.Sprintf("launch %d", launch), err)
}

func (l *Log) claim(ctx context.Context, launch int) (Claim, error) {
	known, err := l.before(Usage{Launch: launch})
	if err != nil {
		return Claim{}, err
	}
	take := Claim{ // the same for all attempts
		Namespace: l.opts.Namespace, Launch: launch, Token: newToken(),
		Host: l.opts.Host, PID: l.opts.PID,
	}
	claim, err := attempt(ctx, l, "claim", take.Token, func(ctx context.Context) (Claim, error) {
		claim, err := l.store.ClaimGenerator(ctx, take)
		if err == nil {
			err = l.memory.tookGenerator(claim, known)
		}
		return claim, err
	})
	if err == nil {
		used := int64(claim.Generator) + 1
		l.taken(Usage{Launch: launch, Used: used, Max: MaxGenerators}, 1)
	}
	return claim, err
}

// tables is the version of the tables that this release is written for: see package migrations.
const tables = 7

// newToken returns a token of 125 random bits. It begins with a letter for tables: a is 0.
func newToken() string { return string(rune('a'+tables)) + rand.Text()[1:] }

// Advance makes launch numbers up to last count as used, and ends the launches that run as
// [Advanced]. It is for an operator whose store was restored from a backup, or failed over to a
// copy without the newest rows. Such a store would give out launch numbers again, and generator
// numbers of the launches that run. Advance beyond every number that was ever used, and start a new
// launch. Advance returns the last launch number, which is never lowered.
//
// Each number that is passed over costs its digits for good. An advance of a lap beyond the newest
// launch would leave the namespace none, and is a [*RequestError].
//
// Where that is above last, the error is a [*RequestError], and launches above last run on. In
// etcd, ZooKeeper and Cassandra an advance ends the launches one by one. One that was cut off is
// finished first, whatever last is, and the error says that. Else this call has changed nothing,
// unless an attempt of it was carried out whose answer was lost. Other errors: [*UnresolvedError],
// or what the store says.
func (l *Log) Advance(ctx context.Context, last int, actor string) (int, error) {
	if !validLaunch(last) {
		return 0, &RequestError{"last", strconv.Itoa(last), "is no launch number"}
	}
	ending := Ending{Outcome: Advanced, Actor: actor, Reason: "launch numbers were advanced"}
	if err := ending.validate(); err != nil {
		return 0, err
	}
	key := strconv.Itoa(last)
	if last >= Lap { // no launch takes digits over from one that is a lap behind the last
		newest, err := l.List(ctx, Filter{Limit: 1})
		if err != nil {
			return 0, err
		}
		if len(newest) == 0 || last-newest[0].ID >= Lap {
			return 0, &RequestError{"last", key, "would leave the namespace no digits: it is a lap " +
				"beyond the newest launch that the log has"}
		}
	}
	finished := 0 // by any of the attempts
	now, err := attempt(ctx, l, "advance", key, func(ctx context.Context) (int, error) {
		now, before, err := l.store.AdvanceLaunches(ctx, l.opts.Namespace, last, ending)
		finished = max(finished, before)
		return now, err
	})
	if err != nil {
		return 0, about(l.namespace(), err)
	}
	if now > last {
		reason := fmt.Sprintf("is below the last launch, %d", now)
		if finished > 0 {
			reason += fmt.Sprintf("; an earlier advance to %d, which was under way, is finished now",
				finished)
		}
		return now, &RequestError{"last", key, reason}
	}
	return now, nil
}

// Show returns a launch, or [ErrNotFound].
func (l *Log) Show(ctx context.Context, launch int) (Launch, error) {
	key := strconv.Itoa(launch)
	found, err := attempt(ctx, l, "show", key, func(ctx context.Context) (Launch, error) {
		return l.store.Launch(ctx, l.ref(launch))
	})
	return found, about("launch "+key, err)
}

// List returns launches, the newest first.
func (l *Log) List(ctx context.Context, filter Filter) ([]Launch, error) {
	if filter.Limit < 0 {
		return nil, &RequestError{"limit", strconv.Itoa(filter.Limit), "is negative"}
	}
	if filter.Limit == 0 {
		filter.Limit = defaultLimit
	}
	found, err := pages(filter.Limit, func(limit int, last *Launch) ([]Launch, error) {
		filter.Limit = limit
		if last != nil {
			filter.Before = last.ID
		}
		return attempt(ctx, l, "list", "", func(ctx context.Context) ([]Launch, error) {
			return l.store.Launches(ctx, l.opts.Namespace, filter)
		})
	})
	return found, about(l.namespace(), err)
}

// pageRows is how many rows a list asks the store for at once. Some stores take seconds for as many
// launches as a namespace may have.
const pageRows = 1000

// pages reads up to limit rows page by page, each by an attempt of its own. Last is the last row of
// the page before, or nil.
func pages[T any](limit int, read func(limit int, last *T) ([]T, error)) (found []T, err error) {
	var last *T
	for {
		asked := min(limit-len(found), pageRows)
		page, err := read(asked, last)
		if err != nil {
			return nil, err
		}
		found = append(found, page...)
		if len(page) < asked || len(found) == limit {
			return found, nil
		}
		last = &found[len(found)-1]
	}
}

// Events returns the history of a launch, or of the namespace for launch 0, the oldest event first.
// For a launch that is not there the error is [ErrNotFound].
func (l *Log) Events(ctx context.Context, launch int) ([]Event, error) {
	key := strconv.Itoa(launch)
	found, err := attempt(ctx, l, "events", key, func(ctx context.Context) ([]Event, error) {
		return l.store.Events(ctx, l.ref(launch))
	})
	switch {
	case launch == 0:
		return found, about(l.namespace(), err)
	case err == nil && len(found) == 0:
		_, err = l.Show(ctx, launch)
		return nil, err
	}
	return found, about("launch "+key, err)
}

// Claims returns up to limit claims of a launch, from generator number from on, in ascending order.
// Limit 0 is 100. For a launch that is not there the error is [ErrNotFound].
func (l *Log) Claims(ctx context.Context, launch, from, limit int) ([]Claim, error) {
	if limit <= 0 {
		limit = defaultLimit
	}
	key := strconv.Itoa(launch)
	found, err := pages(limit, func(limit int, last *Claim) ([]Claim, error) {
		if last != nil {
			from = last.Generator + 1
		}
		return attempt(ctx, l, "claims", key, func(ctx context.Context) ([]Claim, error) {
			return l.store.Claims(ctx, l.ref(launch), from, limit)
		})
	})
	if err == nil && len(found) == 0 {
		_, err = l.Show(ctx, launch)
		return nil, err
	}
	return found, about("launch "+key, err)
}

// Now is the time by the store's clock, or zero for a store that has none, as etcd. It is read from
// the server that answers, and not from rows. In SQLite and in memory it is this machine's.
func (l *Log) Now(ctx context.Context) (time.Time, error) {
	now, err := attempt(ctx, l, "now", "", func(ctx context.Context) (time.Time, error) {
		return l.store.Now(ctx)
	})
	return now, about("", err)
}

// Room returns how many more claims fit into the store until it is full, or -1 if the store does not
// know a limit. Only etcd does, from version 3.6 on: it refuses all writes at its quota.
func (l *Log) Room(ctx context.Context) (int64, error) {
	room, err := attempt(ctx, l, "room", "", func(ctx context.Context) (int64, error) {
		if s, ok := l.store.(interface {
			Room(ctx context.Context) (int64, error)
		}); ok {
			return s.Room(ctx)
		}
		return -1, nil
	})
	return room, about("", err)
}

// namespace names the log's namespace, in errors. A log that is none has no name.
func (l *Log) namespace() string {
	if l == nil || l.opts.Namespace == "" {
		return ""
	}
	return "namespace " + l.opts.Namespace
}

func (l *Log) ref(launch int) Ref { return Ref{l.opts.Namespace, launch} }

// Trouble is why the last attempt of a step failed, of any that this log makes. It is nil after one
// that the store has answered. It asks nothing. So whoever waits for a step, with less time than
// the budget, can say what is in the way.
func (l *Log) Trouble() error {
	if l == nil {
		return nil
	}
	if last := l.trouble.Load(); last != nil {
		return about("", last)
	}
	return nil
}

// longestPause bounds the pause between two attempts.
const longestPause = time.Second

// attempt runs one keyed operation until the store settles it, the budget ends or the context does.
func attempt[T any](
	ctx context.Context, l *Log, op, key string, run func(context.Context) (T, error),
) (T, error) {
	var zero T
	if l == nil || l.store == nil {
		return zero, errNotMade
	}
	usedUp := fmt.Errorf("the budget of %v is used up", l.opts.Budget)
	ctx, cancel := context.WithTimeoutCause(ctx, l.opts.Budget, usedUp)
	defer cancel()
	unresolved := &UnresolvedError{Op: op, Key: key}
	for unresolved.Attempts = range dialect.Attempts(ctx, longestPause) {
		result, err := observed(ctx, l, op, unresolved.Attempts, run)
		if err == nil {
			l.trouble.Store(nil)
			return result, nil
		}
		before := unresolved.Err
		unresolved.Err = err
		var again *AttemptError
		switch {
		case errors.As(err, &again):
			unresolved.Uncertain = unresolved.Uncertain || again.Ambiguous
			l.trouble.Store(again)
		case ctx.Err() != nil && errors.Is(err, ctx.Err()):
			if before != nil { // it says what was in the way
				unresolved.Err = before
			}
		// This attempt failed for good, but an earlier one may have been carried out.
		case unresolved.Uncertain:
			l.trouble.Store(nil) // the store has answered
			return zero, unresolved
		default:
			l.trouble.Store(nil)
			return zero, err
		}
	}
	unresolved.Cause = context.Cause(ctx)
	return zero, unresolved
}

// differ names the fields in which two requests differ, as in JSON.
func differ(a, b Request) []string {
	var names []string
	va, vb := reflect.ValueOf(a), reflect.ValueOf(b)
	for i := range va.NumField() {
		name, _, _ := strings.Cut(va.Type().Field(i).Tag.Get("json"), ",")
		if name != "-" && !reflect.DeepEqual(va.Field(i).Interface(), vb.Field(i).Interface()) {
			names = append(names, name)
		}
	}
	return names
}
