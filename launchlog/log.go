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

// DefaultNamespace is the namespace of a [Log] whose [Options] name none.
const DefaultNamespace = "default"

var namespacePattern = sync.OnceValue(func() *regexp.Regexp { // of up to 63 bytes
	return regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)
})

// Options are the optional settings of a [Log].
type Options struct {
	// Namespace separates systems that share a store: each namespace has its own launch numbers and
	// log counters. The default is DefaultNamespace. A name has up to 63 lower-case letters,
	// digits, dots, dashes and underscores, and begins with a letter or digit.
	Namespace string
	// Budget limits the duration of a call, as its context does. The default is 30 s.
	Budget time.Duration
	// Host and PID are recorded with launches and claims. By default they describe this process.
	Host string
	PID  int
	// Warn is called when 80, 90 and 95 % of a launch's generator numbers, of the launch numbers,
	// or of a log counter's numbers are used, once for each level, in the process that took the
	// number which reached the level. It may be nil.
	Warn func(Usage)
	// Taken is called for every number that is taken: a launch number, a generator number, or
	// numbers of a log counter. A Start that finds an existing launch reports its number again. It
	// may be nil.
	Taken func(Usage)
	// Observe is called after every attempt of an operation, with the attempt's context, which may
	// have ended. It may be nil. The operation waits for Observe to return, as it does for Warn and
	// Taken. Many goroutines may call all three at the same time.
	Observe func(context.Context, Step)
}

// Usage reports how many of the available numbers are used.
type Usage struct {
	Namespace string
	Counter   string // whose numbers are counted
	Launch    int    // whose generator numbers are counted; 0 without a Counter: launch numbers
	Used, Max int64
}

// Level returns the highest of 95, 90 and 80 that the percentage has reached, or 0.
func (u Usage) Level() int {
	for _, level := range []int{95, 90, 80} {
		// The product may overflow an int64 for a log counter.
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

// Log is a launch log in a store. It is safe for concurrent use, and does not need to be closed.
type Log struct {
	store   Store
	opts    Options
	trouble atomic.Pointer[AttemptError] // of the last attempt; nil if that was answered
	memory  memory
}

// New returns a log in a store. The error is a [*RequestError].
func New(store Store, opts *Options) (*Log, error) {
	if nilable.IsNil(store) {
		return nil, &RequestError{
			"store", "nil", "is not a store: open one with a package below launchlog",
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
		o.Host, _ = os.Hostname() // only informs people; the log works without it
	}
	if o.PID == 0 {
		o.PID = os.Getpid()
	}
	if err := checkText("host", o.Host, 255); err != nil {
		return nil, err
	}
	return l, nil
}

// Namespace returns the namespace of the log's launches and log counters.
func (l *Log) Namespace() string {
	if l == nil {
		return ""
	}
	return l.opts.Namespace
}

// Start returns the launch with the request's key, and starts it if there is none. Errors:
// [*RequestError], [*ConflictError], [ErrLaunchesExhausted], [ErrBehind], [ErrNotFound] for
// RollsBack, [*UnresolvedError], or the store's own.
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
		if r.RollsBack != 0 { // checking first is safe: launches are never deleted
			if _, err := l.store.Launch(ctx, l.ref(r.RollsBack)); err != nil {
				return Launch{}, about(fmt.Sprintf("rolls back launch %d", r.RollsBack), err)
			}
		}
		launch, err := l.store.StartLaunch(ctx, start)
		switch {
		case err == nil: // it may be an earlier launch, with the same key
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

// End ends a launch, which then hands out no more generator numbers. Apps that hold one continue to
// mint until it is used up. Ending a launch again with the same outcome changes nothing. With a
// different outcome, the error is a [*ConflictError]. Other errors: [ErrNotFound], [*RequestError],
// [*UnresolvedError], or the store's own.
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
// [ErrGeneratorsExhausted], [*UnresolvedError], or the store's own.
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

// tables is the version of the tables for which this release is written: see package migrations.
const tables = 7

// newToken returns a token of 125 random bits. Its first letter is the version of the tables, with
// a for 0.
func newToken() string { return string(rune('a'+tables)) + rand.Text()[1:] }

// Advance marks all launch numbers up to last as used, and ends the running launches as [Advanced].
// It is for an operator whose store was restored from a backup, or failed over to a copy without
// the newest rows. Such a store would hand out again both launch numbers and the generator numbers
// of running launches. Choose a number beyond every launch number that was ever used, and then
// start a new launch. Advance returns the last launch number, which never goes down.
//
// The digits of every number that Advance passes over are lost for good. An advance to a lap beyond
// the newest launch would leave the namespace no digits, and is a [*RequestError].
//
// If the last launch number is already above last, the error is a [*RequestError], and the launches
// above last continue to run. In etcd, ZooKeeper and Cassandra, an advance ends the launches one by
// one. If an earlier advance was cut off, it is finished first, regardless of last, and the error
// mentions it. Otherwise this call has changed nothing, unless one of its attempts succeeded and
// the answer was lost. Other errors: [*UnresolvedError], or the store's own.
func (l *Log) Advance(ctx context.Context, last int, actor string) (int, error) {
	if !validLaunch(last) {
		return 0, &RequestError{"last", strconv.Itoa(last), "is not a launch number"}
	}
	ending := Ending{Outcome: Advanced, Actor: actor, Reason: "launch numbers were advanced"}
	if err := ending.validate(); err != nil {
		return 0, err
	}
	key := strconv.Itoa(last)
	if last >= Lap { // launches a lap behind the last pass no digits on
		newest, err := l.List(ctx, Filter{Limit: 1})
		if err != nil {
			return 0, err
		}
		if len(newest) == 0 || last-newest[0].ID >= Lap {
			return 0, &RequestError{"last", key, "would leave the namespace no digits: it is a " +
				"lap beyond the newest launch that the log has"}
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
			reason += fmt.Sprintf("; an unfinished advance to %d has now been completed",
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

// List returns launches, newest first.
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

// pageRows is how many rows a list reads from the store at once. Some stores need seconds for all
// the launches that a namespace may have.
const pageRows = 1000

// pages reads up to limit rows, page by page, with a separate attempt for each. Last is the last
// row of the previous page, or nil.
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

// Events returns the history of a launch, or of the namespace for launch 0, oldest event first. If
// there is no such launch, the error is [ErrNotFound].
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

// Claims returns up to limit claims of a launch, beginning at generator number from, in ascending
// order. A limit of 0 means 100. If there is no such launch, the error is [ErrNotFound].
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

// Now returns the time of the store's clock, or zero for a store that has no clock, such as etcd.
// It is read from the server that answers, and not from rows. In SQLite and in memory it is this
// machine's clock.
func (l *Log) Now(ctx context.Context) (time.Time, error) {
	now, err := attempt(ctx, l, "now", "", func(ctx context.Context) (time.Time, error) {
		return l.store.Now(ctx)
	})
	return now, about("", err)
}

// Room returns how many more claims fit into the store before it is full, or -1 if the store does
// not know a limit. Only etcd does, from version 3.6 on: it rejects all writes at its quota.
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

// namespace names the log's namespace for errors. It is empty for a zero Log.
func (l *Log) namespace() string {
	if l == nil || l.opts.Namespace == "" {
		return ""
	}
	return "namespace " + l.opts.Namespace
}

func (l *Log) ref(launch int) Ref { return Ref{l.opts.Namespace, launch} }

// Trouble returns why the last attempt of any operation of this log failed, or nil if the store
// answered it. It does not ask the store, so a caller that waits for an operation with less time
// than the budget can report what is in the way.
func (l *Log) Trouble() error {
	if l == nil {
		return nil
	}
	if last := l.trouble.Load(); last != nil {
		return about("", last)
	}
	return nil
}

// longestPause is the longest pause between two attempts.
const longestPause = time.Second

// attempt runs one keyed operation until the store settles it, or until the budget or the context
// ends.
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
			if before != nil { // the earlier error says what was in the way
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

// differ returns the JSON names of the fields in which two requests differ.
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
