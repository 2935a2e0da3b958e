package viewer

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/idtype/formats"
	"github.com/idmint/idmint/launchlog/checks"
)

// rowsOfHealth is the most launches, log counters and lent numbers that the page Health lists of
// each. It prefers launches that have used most, and the latest ceilings.
const rowsOfHealth = 20

// A gauge says how much of something is used. Its 64-bit numbers are strings in JSON, because many
// readers would round them.
type gauge struct {
	Of   doctor.Numbers `json:"of"`
	Name string         `json:"name,omitempty"` // of the launch, the counter or the pool
	Used int64          `json:"used,string"`
	Max  int64          `json:"max,string"`

	Percent string `json:"-"`
	Width   int    `json:"-"` // of scale
	Level   string `json:"-"` // the class of its elements
	Title   string `json:"-"`
	What    string `json:"-"` // explains the numbers
	Advice  string `json:"-"`
}

func newGauge(s doctor.Share) *gauge {
	g := &gauge{
		Of: s.Of, Name: s.Name, Used: s.Used, Max: s.Max, Percent: percent(s.Part()), Level: "good",
		Width: min(scale, int(s.Part()*scale+0.5)),
	}
	if s.Used > 0 {
		g.Width = max(g.Width, scale/250) // so that it is visible
	}
	switch level := s.Level(); {
	case level >= 90:
		g.Level = "bad"
	case level >= 80:
		g.Level = "warn"
	}
	switch s.Of {
	case doctor.Launches:
		g.Title = "Launch digits"
		g.What = "Each deployment takes one. After the last one they are used again."
	case doctor.Generators:
		g.Title, g.What = "Launch "+s.Name, "Each start of an app takes a generator number."
	case doctor.Counters:
		g.Title, g.What = "Counter "+s.Name, "A counter hands out each number once."
	case doctor.Claims:
		g.Title = "Lent numbers of " + s.Name
		g.What = "Each generator of " + s.Name + " IDs borrows one while it runs."
	}
	if g.Level != "good" {
		g.Advice = remedies()[string(s.Of)]
	}
	return g
}

// remedies returns doctor's advice by the codes of its checks.
var remedies = sync.OnceValue(func() map[string]string {
	m := map[string]string{}
	for _, c := range checks.All() {
		m[c.Code] = c.Remedy
	}
	return m
})

// A report is the health of the log, for machines.
type report struct {
	Status    string          `json:"status"` // "ok" or "failing"
	Namespace string          `json:"namespace,omitempty"`
	Reason    string          `json:"reason,omitempty"`
	ReadAt    *time.Time      `json:"read_at,omitempty"`
	Age       float64         `json:"age_seconds"`
	Used      []*gauge        `json:"used,omitempty"`    // launches, counters: only full ones
	Results   []checks.Result `json:"results,omitempty"` // without those that passed, worst first
}

func (h *Handler) report(of *doctor.Reading) report {
	r := report{
		Status: "ok", Namespace: h.log.Namespace(), ReadAt: &of.At,
		Age: max(0, h.opts.Now().Sub(of.At).Seconds()),
	}
	for _, s := range of.Shares {
		if s.Of != doctor.Generators && s.Of != doctor.Counters || s.Level() > 0 {
			r.Used = append(r.Used, newGauge(s))
		}
	}
	for _, level := range []checks.Level{checks.Finding, checks.Note, checks.Unknown} {
		r.Results = append(r.Results, resultsOf(of, level)...)
	}
	switch {
	case of.Err != nil:
		r.Status, r.Reason = "failing", "the launch log does not answer: "+of.Err.Error()
	case of.Level() == checks.Finding:
		r.Status, r.Reason = "failing", "there is a finding: see results"
	}
	return r
}

func resultsOf(of *doctor.Reading, level checks.Level) []checks.Result {
	return slices.DeleteFunc(slices.Clone(of.Results),
		func(r checks.Result) bool { return r.Level != level })
}

// A healthData is the page Health, whose lists are also in the JSON.
type healthData struct {
	report
	Running      []*gauge        `json:"running"` // launches, the most used first
	MoreRunning  int             `json:"more_running,omitempty"`
	Lent         []claimRow      `json:"lent"` // numbers, with their ceilings
	MoreLent     int             `json:"more_lent,omitempty"`
	Counters     []counterRow    `json:"counters"` // without those of pools
	MoreCounters int             `json:"more_counters,omitempty"`
	Passed       []checks.Result `json:"passed"`

	Level    checks.Level `json:"-"`
	Headline string       `json:"-"`
	Ago      string       `json:"-"` // when the log was read
	Took     string       `json:"-"`
	Every    string       `json:"-"`
	Away     string       `json:"-"` // why the log does not answer
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
	Distance string `json:"-"` // from now to its ceiling
}

func (h *Handler) healthPage(r *http.Request) (answer, error) {
	if h.log == nil {
		return answer{}, noLog
	}
	page, status := h.healthData(h.opts.Readings.Read(r.Context())), 0
	if page.Away != "" {
		status = http.StatusServiceUnavailable
	}
	return answer{
		status: status, template: "health.html", title: "Health", data: page,
	}, nil
}

func (h *Handler) healthData(of *doctor.Reading) healthData {
	now := h.opts.Now()
	d := healthData{
		report: h.report(of), Running: []*gauge{}, Lent: []claimRow{}, Counters: []counterRow{},
		Passed: append([]checks.Result{}, resultsOf(of, checks.Passed)...), Level: of.Level(),
		Headline: headlines[of.Level()], Ago: from(of.At, now),
		Took: of.Took.Round(time.Millisecond).String(), Every: span(h.opts.Readings.Keeps(of)),
	}
	if of.Err != nil {
		d.Away = of.Err.Error()
	}
	for _, s := range of.Shares {
		switch ofPool := func(p claims.Pool) bool { return p.Has(s.Name) }; {
		case s.Of == doctor.Generators:
			d.Running = append(d.Running, newGauge(s))
		case s.Of == doctor.Counters && !slices.ContainsFunc(claims.Pools(), ofPool):
			d.Counters = append(d.Counters,
				counterRow{s.Name, s.Used, purpose(s.Name, s.Used, now)})
		}
	}
	slices.SortStableFunc(d.Running, func(a, b *gauge) int { return int(b.Used - a.Used) })
	for _, c := range of.Claims {
		d.Lent = append(d.Lent, claimRow{c, from(c.Until, now)})
	}
	d.Running, d.MoreRunning = atMost(rowsOfHealth, d.Running)
	d.Counters, d.MoreCounters = atMost(rowsOfHealth, d.Counters)
	d.Lent, d.MoreLent = atMost(rowsOfHealth, d.Lent)
	return d
}

// atMost returns the first n elements of a list, and how many were left out.
func atMost[T any](n int, list []T) ([]T, int) {
	if len(list) <= n {
		return list, 0
	}
	return list[:n], len(list) - n
}

var headlines = map[checks.Level]string{
	checks.Passed:  "All is well",
	checks.Unknown: "All that could be checked is well",
	checks.Note:    "All is well, and there is advice",
	checks.Finding: "Something needs your attention",
}

// purpose says by a counter's name what the counter is for. For a ceiling it says how far that is
// from now.
func purpose(name string, value int64, now time.Time) string {
	if doctor.IsMark(name) {
		return "a mark of idmint doctor"
	}
	if name == string(idtype.SchemeShort) { // as idmint new short names it, in milliseconds
		ceiling := time.UnixMilli(min(value, formats.ShortMaxUnixMs) + 1)
		return "the ceiling of short IDs: " + from(ceiling, now)
	}
	return "a sequence of an app"
}

// healthz answers whether all is well: 200, or 503 if the log does not answer or a check has a
// finding. Without a log nothing can fail. A client that is not admitted, such as a probe without a
// password, gets one word.
func (h *Handler) healthz(w http.ResponseWriter, r *http.Request, admitted bool) {
	said := report{Status: "ok", Reason: "there is no launch log to check"}
	if h.log != nil {
		said = h.report(h.opts.Readings.Read(r.Context()))
	}
	status := http.StatusOK
	if said.Status != "ok" {
		status = http.StatusServiceUnavailable
	}
	kind, body := "text/plain; charset=utf-8", []byte(said.Status)
	if admitted && !strings.HasPrefix(r.Header.Get("Accept"), "text/plain") {
		kind = "application/json"
		body, _ = json.Marshal(said) // cannot fail: its fields are texts, numbers and times
	}
	w.Header().Set("Content-Type", kind)
	v := visit{h: h, w: w, r: r}
	v.send(status, append(body, '\n'))
}
