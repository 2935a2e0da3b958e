package viewer

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/internal/schemes"
	"github.com/idmint/idmint/internal/visible"
	"github.com/idmint/idmint/launchlog"
)

// rowsOfPage is the most launches or generator numbers on a page.
const rowsOfPage = 50

// noLog is the problem of pages that need a launch log if there is none.
var noLog = &problem{
	status: http.StatusNotFound, title: "There is no launch log here",
	text: "These pages were started without a database, which only Explain does not need. " +
		"To see launches and health, name the log: idmint serve --db sqlite:app.db",
}

// A launchList is the page Launches.
type launchList struct {
	Rows []row `json:"launches"`
	Next int   `json:"before,omitempty"` // of the next page

	Filter   launchlog.Filter `json:"-"`
	Lanes    timeline         `json:"-"`
	Services []string         `json:"-"` // on the page
	Places   []string         `json:"-"` // environments
	Older    string           `json:"-"` // the query of the next page; empty at the end
	Newest   string           `json:"-"` // the query of the first page; empty on it
}

// A row is a launch in a list.
type row struct {
	launchlog.Launch
	Ago  string `json:"-"`
	Took string `json:"-"` // how long it has run, or ran
}

func (h *Handler) launches(r *http.Request) (answer, error) {
	if h.log == nil {
		return answer{}, noLog
	}
	if err := knows(r, "service", "environment", "running", "before"); err != nil {
		return answer{}, err
	}
	filter, err := filterOf(r.URL.Query())
	if err != nil {
		return answer{}, err
	}
	ctx, done, err := h.turn(r.Context())
	if err != nil {
		return answer{}, err
	}
	defer done()
	filter.Limit = rowsOfPage + 1 // one more shows whether there is another page
	found, err := h.log.List(ctx, filter)
	if err != nil {
		return answer{}, err
	}
	page := launchList{Rows: []row{}, Filter: filter}
	if len(found) > rowsOfPage {
		found = found[:rowsOfPage]
		page.Next = found[rowsOfPage-1].ID
		page.Older = queryOf(filter, page.Next)
	}
	if filter.Before > 0 {
		page.Newest = queryOf(filter, 0)
	}
	now := h.opts.Now()
	for _, l := range found {
		page.Rows = append(page.Rows, newRow(l, now))
		page.Services = append(page.Services, l.Service)
		page.Places = append(page.Places, l.Environment)
	}
	page.Services, page.Places = distinct(page.Services), distinct(page.Places)
	page.Lanes = newTimeline(found, now)
	return answer{template: "launches.html", title: "Launches", data: page}, nil
}

func newRow(l launchlog.Launch, now time.Time) row {
	return row{l, from(l.StartedAt, now), span(endOf(l, now).Sub(l.StartedAt))}
}

func distinct(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// filterOf reads the filter of a list. It does not trim names, because names in the log are not
// trimmed either.
func filterOf(q url.Values) (f launchlog.Filter, err error) {
	f.Service, f.Environment = q.Get("service"), q.Get("environment")
	switch running := q.Get("running"); running {
	case "":
	case "1":
		f.Running = true
	default:
		return f, badQuery("running", running, "is not 1")
	}
	f.Before, err = numberOf(q, "before", launchlog.MaxLaunch)
	return f, err
}

// knows rejects parameters of other names, and those that are given twice, because a list that
// ignores a filter looks as if it were filtered.
func knows(r *http.Request, names ...string) error {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return badQuery("query", r.URL.RawQuery, "is not escaped as in a URL")
	}
	for _, name := range slices.Sorted(maps.Keys(q)) {
		switch {
		case !slices.Contains(names, name):
			return badQuery(schemes.Beginning(visible.Text(name), 64), q.Get(name),
				"is not known here: want "+strings.Join(names, ", "))
		case len(q[name]) > 1:
			return badQuery(name, strings.Join(q[name], ", "), "is given twice")
		}
	}
	return nil
}

// numberOf reads a number from 1 to most, or returns 0 if there is none.
func numberOf(q url.Values, name string, most int) (int, error) {
	text := q.Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most || strconv.Itoa(n) != text {
		return 0, badQuery(name, text, "must be a number from 1 to "+grouped(most))
	}
	return n, nil
}

func badQuery(name, value, reason string) *problem {
	return &problem{
		status: http.StatusBadRequest, title: "That cannot be listed",
		text: "The parameter " + name + ", " + quoted(value) + ", " + reason + ".",
	}
}

// queryOf returns the query for another page of the same list.
func queryOf(f launchlog.Filter, before int) string {
	q := url.Values{}
	for name, value := range map[string]string{"service": f.Service, "environment": f.Environment} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if f.Running {
		q.Set("running", "1")
	}
	if before > 0 {
		q.Set("before", strconv.Itoa(before))
	}
	return "?" + q.Encode()
}

// A shownClaim is a claim for machines. Its fields hide the claim's own, to omit the token, with
// which the claim could be repeated, and to write the 64-bit process ID as a string.
type shownClaim struct {
	launchlog.Claim
	Token string `json:"token,omitempty"`
	PID   int    `json:"pid,string"`
}

func shown(c launchlog.Claim) shownClaim { return shownClaim{Claim: c, PID: c.PID} }

// A launchPage is the page of one launch.
type launchPage struct {
	row
	Events []launchlog.Event `json:"events"`
	Claims []shownClaim      `json:"claims"` // the newest first

	Gauge  *gauge `json:"-"`
	First  int    `json:"-"` // the lowest listed generator number
	Last   int    `json:"-"`
	Older  string `json:"-"`
	Newest string `json:"-"`
}

func (h *Handler) launch(r *http.Request, number string) (answer, error) {
	if h.log == nil {
		return answer{}, noLog
	}
	id, ok := launchlog.ParseLaunch(number)
	if !ok {
		return answer{}, &problem{
			status: http.StatusNotFound, title: "That is not a launch",
			text: quoted(number) + " is not a launch number.",
		}
	}
	if err := knows(r, "before"); err != nil {
		return answer{}, err
	}
	before, err := numberOf(r.URL.Query(), "before", launchlog.MaxGenerators)
	if err != nil {
		return answer{}, err
	}
	ctx, done, err := h.turn(r.Context())
	if err != nil {
		return answer{}, err
	}
	defer done()
	launch, err := h.log.Show(ctx, id)
	if errors.Is(err, launchlog.ErrNotFound) {
		return answer{}, &problem{
			status: http.StatusNotFound, title: "There is no launch " + number,
			text: "The namespace " + h.log.Namespace() + " has no launch of that number. " +
				"It may be another system's, or a restore may have lost it.",
		}
	}
	if err != nil {
		return answer{}, err
	}
	events, err := h.log.Events(ctx, id)
	if err != nil {
		return answer{}, err
	}
	top := launch.NextGenerator
	if before > 0 {
		top = min(top, before)
	}
	first := max(0, top-rowsOfPage)
	var claims []launchlog.Claim
	if top > first {
		if claims, err = h.log.Claims(ctx, id, first, top-first); err != nil {
			return answer{}, err
		}
	}
	page := launchPage{
		row: newRow(launch, h.opts.Now()), Events: events, Claims: []shownClaim{}, First: first,
		Last: top - 1,
		Gauge: newGauge(doctor.Share{
			Used: int64(launch.NextGenerator), Max: launchlog.MaxGenerators,
		}),
	}
	for _, c := range slices.Backward(claims) {
		if c.Generator < top { // if a trim removed claims, later ones follow
			page.Claims = append(page.Claims, shown(c))
		}
	}
	if first > 0 {
		page.Older = "?before=" + strconv.Itoa(first)
	}
	if before > 0 {
		page.Newest = number
	}
	return answer{template: "launch.html", title: "Launch " + number, data: page}, nil
}
