package viewer

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/formats"
	"github.com/idmint/idmint/launchlog"
)

// rowsOfHealth is how many launches, counters or lent numbers the page Health lists of each: those
// that are used most, or that come last.
const rowsOfHealth = 20

// A health keeps the last reading of the log. Whoever comes while one is under way waits for it, so
// the log is asked by one at a time.
type health struct {
	mu      sync.Mutex // guards what follows; not held while the log is read
	last    *reading
	next    time.Time     // when to read again
	pending chan struct{} // closed when the reading under way has ended; nil where there is none
}

// A reading is what the log said of itself.
type reading struct {
	at      time.Time
	took    time.Duration
	shares  []doctor.Share
	results []doctor.Result
	claims  []claims.Claim
	err     error // the log did not answer
}

// read returns the last reading, or makes one where its turn has come. The error is the context's.
func (h *Handler) read(ctx context.Context) (*reading, error) {
	c := &h.health
	c.mu.Lock()
	for c.pending != nil {
		wait := c.pending
		c.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		c.mu.Lock()
	}
	if c.last != nil && h.opts.Now().Before(c.next) {
		defer c.mu.Unlock()
		return c.last, nil
	}
	done := make(chan struct{})
	c.pending = done
	c.mu.Unlock()
	now := &reading{err: errors.New("the reading was cut off")}
	defer func() { // also where a store panics
		c.mu.Lock()
		defer c.mu.Unlock()
		c.last, c.next, c.pending = now, h.opts.Now().Add(h.shownFor(now)), nil
		close(done)
	}()
	// Others may wait for the reading of whoever gave up.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), h.opts.Timeout)
	defer cancel()
	now = h.examine(ctx)
	return now, nil
}

// again is how soon a log that did not answer is asked again.
const again = 5 * time.Second

func (h *Handler) shownFor(r *reading) time.Duration {
	if r.err != nil {
		return min(again, h.opts.Every)
	}
	return h.opts.Every
}

// examine reads the log.
func (h *Handler) examine(ctx context.Context) *reading {
	began := h.opts.Now()
	r, now := &reading{at: began}, &doctor.Options{Now: h.opts.Now}
	r.err = errors.Join(
		r.step(func() (err error) {
			r.shares, r.results, err = doctor.Health(ctx, h.log, now)
			return err
		}),
		r.step(func() error { return r.lent(ctx, h.log, began) }),
		r.step(func() error {
			if h.opts.Checks == nil {
				return nil
			}
			more, err := h.opts.Checks(ctx)
			r.results = append(r.results, more...)
			return err
		}),
	)
	r.took = h.opts.Now().Sub(began)
	return r
}

// step makes a step where those before have succeeded. A log that is away is waited for once.
func (r *reading) step(do func() error) error {
	if r.err == nil {
		r.err = do()
		return r.err
	}
	return nil
}

func (r *reading) lent(ctx context.Context, log *launchlog.Log, now time.Time) error {
	for _, pool := range claims.Pools() {
		list, err := pool.List(ctx, log, now)
		if err != nil {
			return err
		}
		r.claims = append(r.claims, list...)
	}
	slices.SortStableFunc(r.claims, func(a, b claims.Claim) int { return b.Until.Compare(a.Until) })
	return nil
}

// worst is the highest level of the results.
func (r *reading) worst() doctor.Level {
	for _, level := range levels {
		if slices.ContainsFunc(r.results, func(of doctor.Result) bool { return of.Level == level }) {
			return level
		}
	}
	return doctor.Passed
}

// levels are all of them, what matters most first.
var levels = []doctor.Level{doctor.Finding, doctor.Note, doctor.Unknown, doctor.Passed}

// A gauge is how much is used of something.
type gauge struct {
	Used, Max int64
	Percent   string
	Width     int // of scale
	Level     string
}

func newGauge(used, most int64) gauge {
	share := doctor.Share{Used: used, Max: most}
	g := gauge{Used: used, Max: most, Percent: percent(share.Part()), Level: "good"}
	g.Width = min(scale, int(share.Part()*scale+0.5))
	if used > 0 {
		g.Width = max(g.Width, scale/250) // it is seen
	}
	switch level := share.Level(); {
	case level >= 90:
		g.Level = "bad"
	case level >= 80:
		g.Level = "warn"
	}
	return g
}

// A healthData is the page Health.
type healthData struct {
	Level    doctor.Level
	Headline string
	Age      string // of the reading
	Took     string
	Every    string
	Away     string // why the log does not answer
	Gauges   []*namedGauge
	Running  []*namedGauge // launches that run: those that have used most
	More     int           // others that run
	Counters []counterRow  // but those of pools
	Others   int           // counters that are not listed
	Claims   []claimRow
	Unlisted int // claims
	Results  []doctor.Result
	Passed   []doctor.Result
}

// A namedGauge is one with words.
type namedGauge struct {
	gauge
	Of     doctor.Numbers
	Name   string // the launch, the counter, the pool or the epoch
	Title  string
	What   string // what the numbers are
	Advice string
}

// A counterRow is a counter of the log.
type counterRow struct {
	Name  string `json:"name"`
	Value int64  `json:"value,string"`
	Is    string `json:"for"`
}

// A claimRow is a number that is lent, or was.
type claimRow struct {
	claims.Claim
	Distance string // of its ceiling from now
}

func (h *Handler) healthPage(r *http.Request) (answer, error) {
	if h.log == nil {
		return answer{}, noLog
	}
	of, err := h.read(r.Context())
	if err != nil {
		return answer{}, err
	}
	status := 0
	if of.err != nil {
		status = http.StatusServiceUnavailable
	}
	page := h.healthData(of)
	return answer{
		status: status, template: "health.html", title: "Health", data: page,
		json: h.healthReport(of, page),
	}, nil
}

func (h *Handler) healthData(of *reading) healthData {
	now := h.opts.Now()
	d := healthData{
		Age: from(of.at, now), Took: of.took.Round(time.Millisecond).String(),
		Every: span(h.shownFor(of)), Level: of.worst(),
	}
	if of.err != nil {
		d.Away = of.err.Error()
		return d
	}
	d.Headline = headlines[d.Level]
	for _, share := range of.shares {
		g := newNamedGauge(share)
		switch share.Of {
		case doctor.Generators:
			d.Running = append(d.Running, g)
		case doctor.Counters:
			if g.Level != "good" {
				d.Gauges = append(d.Gauges, g)
			}
			if !slices.ContainsFunc(claims.Pools(), func(p claims.Pool) bool {
				return p.Has(share.Name)
			}) {
				d.Counters = append(d.Counters,
					counterRow{share.Name, share.Used, purpose(share.Name, share.Used, now)})
			}
		default:
			d.Gauges = append(d.Gauges, g)
		}
	}
	slices.SortStableFunc(d.Running, func(a, b *namedGauge) int { return int(b.Used - a.Used) })
	if d.More = len(d.Running) - rowsOfHealth; d.More > 0 {
		d.Running = d.Running[:rowsOfHealth]
	}
	if d.Others = len(d.Counters) - rowsOfHealth; d.Others > 0 {
		d.Counters = d.Counters[:rowsOfHealth]
	}
	for i, c := range of.claims {
		if i == rowsOfHealth {
			d.Unlisted = len(of.claims) - i
			break
		}
		d.Claims = append(d.Claims, claimRow{c, from(c.Until, now)})
	}
	for _, level := range levels {
		for _, result := range of.results {
			switch {
			case result.Level != level:
			case level == doctor.Passed:
				d.Passed = append(d.Passed, result)
			default:
				d.Results = append(d.Results, result)
			}
		}
	}
	return d
}

var headlines = map[doctor.Level]string{
	doctor.Passed:  "All is well",
	doctor.Unknown: "All that could be checked is well",
	doctor.Note:    "All works, and there is advice",
	doctor.Finding: "Something needs you",
}

func newNamedGauge(s doctor.Share) *namedGauge {
	g := &namedGauge{gauge: newGauge(s.Used, s.Max), Of: s.Of, Name: s.Name}
	switch s.Of {
	case doctor.Launches:
		g.Title = "Launch numbers"
		g.What = "Each deployment takes one, and none is given out again."
	case doctor.Generators:
		g.Title, g.What = "Launch "+s.Name, "Each start of an app takes a generator number."
	case doctor.Counters:
		g.Title, g.What = "Counter "+s.Name, "A counter gives out each number once."
	case doctor.Claims:
		g.Title = "Lent numbers of " + s.Name
		g.What = "Each generator of " + s.Name + " IDs borrows one while it runs."
	case doctor.Decimal:
		g.Title = "Decimal counters, epoch " + s.Name
		g.What = "How far the counters of decimal IDs have come. A new epoch follows this one."
	}
	if g.Level != "good" {
		g.Advice = remedies()[string(s.Of)]
	}
	return g
}

// remedies are doctor's words on what to do, by the codes of its checks.
var remedies = sync.OnceValue(func() map[string]string {
	m := map[string]string{}
	for _, c := range doctor.Checks() {
		m[c.Code] = c.Remedy
	}
	m[string(doctor.Decimal)] = m["decimal-order"]
	return m
})

// purpose is what a counter is for, by its name. Of a ceiling it says how far that is from now.
func purpose(name string, value int64, now time.Time) string {
	if epoch, ok := launchlog.HintEpoch(name); ok {
		return "how far decimal IDs have come, epoch " + strconv.Itoa(epoch)
	}
	if doctor.IsMark(name) {
		return "a mark of idmint doctor"
	}
	if name == string(idtype.SchemeShort) { // as idmint new short names it, in milliseconds
		ceiling := time.UnixMilli(min(value, formats.ShortMaxUnixMs) + 1)
		return "the ceiling of short IDs: " + from(ceiling, now)
	}
	return "a sequence of an app"
}
