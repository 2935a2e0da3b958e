package viewer

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/doctor"
)

// A report is the health for machines. Numbers of 64 bits are texts: many readers of JSON cut them.
type report struct {
	Status    string          `json:"status"` // "ok" or "failing"
	Namespace string          `json:"namespace,omitempty"`
	Reason    string          `json:"reason,omitempty"`
	ReadAt    *time.Time      `json:"read_at,omitempty"`
	Age       float64         `json:"age_seconds"`
	Used      []usage         `json:"used,omitempty"`
	Results   []doctor.Result `json:"results,omitempty"` // all but those that passed
}

type usage struct {
	Of   doctor.Numbers `json:"of"`
	Name string         `json:"name,omitempty"`
	Used int64          `json:"used,string"`
	Max  int64          `json:"max,string"`
}

// A healthReport is the page Health for machines. Its lists are as long as those of the page.
type healthReport struct {
	report
	Running      []usage         `json:"running"`
	MoreRunning  int             `json:"more_running,omitempty"`
	Lent         []claims.Claim  `json:"lent"` // numbers, with their ceilings
	MoreLent     int             `json:"more_lent,omitempty"`
	Counters     []counterRow    `json:"counters"`
	MoreCounters int             `json:"more_counters,omitempty"`
	Passed       []doctor.Result `json:"passed"`
}

// healthReport has the rows of a page that was made before.
func (h *Handler) healthReport(of *reading, page healthData) healthReport {
	r := healthReport{
		report: h.report(of), Running: []usage{}, MoreRunning: max(0, page.More),
		Lent: []claims.Claim{}, MoreLent: page.Unlisted,
		Counters: append([]counterRow{}, page.Counters...), MoreCounters: max(0, page.Others),
		Passed: append([]doctor.Result{}, page.Passed...),
	}
	for _, g := range page.Running {
		r.Running = append(r.Running, usage{g.Of, g.Name, g.Used, g.Max})
	}
	for _, c := range page.Claims {
		r.Lent = append(r.Lent, c.Claim)
	}
	return r
}

func (h *Handler) report(of *reading) report {
	r := report{
		Status: "ok", Namespace: h.log.Namespace(), ReadAt: &of.at,
		Age: max(0, h.opts.Now().Sub(of.at).Seconds()),
	}
	for _, s := range of.shares {
		if s.Of != doctor.Generators && s.Of != doctor.Counters || s.Level() > 0 {
			r.Used = append(r.Used, usage{s.Of, s.Name, s.Used, s.Max})
		}
	}
	for _, result := range of.results {
		if result.Level != doctor.Passed {
			r.Results = append(r.Results, result)
		}
	}
	switch {
	case of.err != nil:
		r.Status, r.Reason = "failing", "the launch log does not answer: "+of.err.Error()
	case of.worst() == doctor.Finding:
		r.Status, r.Reason = "failing", "there is a finding: see results"
	}
	return r
}

// healthz answers whether all is well: 200, or 503 where the log does not answer or a check finds
// something. Without a log there is nothing that may fail. Whoever is not admitted, as a probe that
// has no password, hears one word.
func (h *Handler) healthz(w http.ResponseWriter, r *http.Request, admitted bool) {
	said := report{Status: "ok", Reason: "there is no launch log to look at"}
	if h.log != nil {
		of, err := h.read(r.Context())
		if err != nil { // whoever asked has gone
			of = &reading{at: h.opts.Now(), err: err}
		}
		said = h.report(of)
	}
	status := http.StatusOK
	if said.Status != "ok" {
		status = http.StatusServiceUnavailable
	}
	data, err := json.Marshal(said)
	if err != nil {
		panic(err) // its fields are texts, numbers and times
	}
	v := visit{h: h, w: w, r: r}
	if !admitted || strings.HasPrefix(r.Header.Get("Accept"), "text/plain") {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		v.send(status, []byte(said.Status+"\n"))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	v.send(status, append(data, '\n'))
}
