package viewer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/schemes"
	"github.com/idmint/idmint/launchlog"
)

const (
	// longestQuery is the most characters of a query, which is a line of a log or a list of IDs.
	// The box has no limit, because a browser would silently truncate pasted text.
	longestQuery = 8 << 10
	// mostIDs is the most IDs that are explained at once.
	mostIDs = 50
)

// An explained is the page Explain, as HTML and as JSON.
type explained struct {
	Query   string        `json:"query"`
	IDs     []explainedID `json:"ids"`
	Left    int           `json:"left,omitempty"` // IDs that were found, but not explained
	Error   string        `json:"error,omitempty"`
	Reasons []reason      `json:"reasons,omitempty"` // why it is not an ID

	Pieces []piece   `json:"-"` // the query with its IDs marked; empty if it is one ID
	Away   string    `json:"-"` // why the launch log did not answer
	Now    time.Time `json:"-"`
}

// An explainedID is an ID with everything that it may mean, the likeliest first.
type explainedID struct {
	Number int    `json:"-"`
	Text   string `json:"text"`
	Fits   []fit  `json:"fits"`
}

// A fit is an ID as one scheme reads it.
type fit struct {
	schemes.Fit
	FormNote string
	Places   bool // the parts are decimal places
	Drawn    []part
	Times    []moment
	Line     string // the fit in one line
	Doubtful bool
	Origin   *origin
}

// MarshalJSON returns a fit for machines, with the ID as the object that idmint inspect --json
// writes.
func (f fit) MarshalJSON() ([]byte, error) {
	said := struct {
		Form   string            `json:"form"`
		ID     json.RawMessage   `json:"id"`
		Times  []time.Time       `json:"times,omitempty"`
		Launch *launchlog.Launch `json:"launch,omitempty"`
		Claim  *shownClaim       `json:"claim,omitempty"`
	}{Form: f.Form}
	var err error
	if said.ID, err = f.AppendJSON(nil); err != nil {
		return nil, err
	}
	for _, t := range f.Times {
		said.Times = append(said.Times, t.At)
	}
	if o := f.Origin; o != nil && o.Known {
		said.Launch = &o.Launch
		if o.Taken {
			claim := shown(o.Claim)
			said.Claim = &claim
		}
	}
	return json.Marshal(said)
}

// A part is a part of an ID as it is drawn.
type part struct {
	schemes.Part
	Colour string // the class of its elements
	Digits string
}

// A moment is a time with its distance from now.
type moment struct {
	At  time.Time
	Ago string
}

// A reason says why a text is not an ID of a scheme.
type reason struct {
	Scheme idtype.Scheme `json:"scheme"`
	Why    string        `json:"why"`
}

// explain answers a request for the page Explain.
func (h *Handler) explain(r *http.Request) (answer, error) {
	// A browser sends \r\n for a line end that its box counts as one character.
	query := strings.ReplaceAll(strings.TrimSpace(r.URL.Query().Get("q")), "\r\n", "\n")
	if n := utf8.RuneCountInString(query); n > longestQuery {
		return answer{}, &problem{
			status: http.StatusBadRequest, title: "That is too long",
			text: fmt.Sprintf("The text %s has %s, but at most %s are explained at once.",
				quoted(schemes.Beginning(query, 64)+"…"), plural(int64(n), "character"),
				grouped(longestQuery)),
		}
	}
	now := h.opts.Now()
	page := explained{Query: query, IDs: []explainedID{}, Now: now}
	status := 0
	if query != "" {
		pieces, found, isLine := find(query, now)
		found, page.Left = atMost(mostIDs, found)
		for i := range pieces {
			if pieces[i].ID > mostIDs {
				pieces[i].ID = 0 // not explained, so there is nothing to link to
			}
		}
		if len(pieces) > 1 {
			page.Pieces = pieces
		}
		h.fill(r.Context(), &page, found)
		if isLine { // a line has other numbers too
			first(page.IDs, explainedID.launched)
		}
		if len(found) == 0 {
			status = http.StatusBadRequest
			page.Reasons, page.Error = reasons(query), "the text fits no scheme"
		}
	}
	title := "Explain an ID"
	if len(page.IDs) == 1 {
		title = page.IDs[0].Text
	}
	return answer{
		status: status, template: "explain.html", title: title, data: page,
	}, nil
}

// fill explains the IDs that were found, and asks the launch log about them.
func (h *Handler) fill(ctx context.Context, page *explained, found []finding) {
	var decimals []*fit
	for i, f := range found {
		id := explainedID{Number: i + 1, Text: f.text, Fits: make([]fit, len(f.fits))}
		for i, of := range f.fits {
			id.Fits[i] = newFit(of, page.Now)
			if d, ok := of.Value().(idtype.DecimalID); ok && d.IsTest() {
				id.Fits[i].Origin = &origin{Test: true}
			} else if ok {
				decimals = append(decimals, &id.Fits[i])
			}
		}
		page.IDs = append(page.IDs, id)
	}
	if err := h.ask(ctx, decimals); err != nil {
		page.Away = err.Error()
		page.Error = page.Away
	}
	for _, id := range page.IDs {
		// A generator number that the log has a claim for is a better sign than any time.
		first(id.Fits, func(f fit) bool { return f.Origin != nil && f.Origin.Taken })
	}
}

func newFit(of schemes.Fit, now time.Time) fit {
	f := fit{
		Fit: of, Line: of.Summary(now), Drawn: draw(of), Doubtful: schemes.Doubt(of, now) > 1,
		Places: of.Bits() == "", FormNote: formNotes[of.Form],
	}
	for _, at := range of.Times(now) {
		f.Times = append(f.Times, moment{at, from(at, now)})
	}
	return f
}

// formNotes say how a text was read that is not the usual form of the ID.
var formNotes = map[string]string{
	schemes.Number: "read as the number in a BIGINT column",
	schemes.Hex:    "read as the bytes in a binary column",
	schemes.UUID:   "read as a UUID column shows it",
}

// draw splits an ID into the parts that are drawn. Two sections of the same part have the same
// color.
func draw(id schemes.ID) (drawn []part) {
	digits := id.Bits()
	if digits == "" {
		digits = id.String()
	}
	colours := map[byte]string{}
	for _, p := range id.Parts() {
		if p.Width == 0 {
			return nil // the scheme has no parts
		}
		colour := "reserved"
		if p.Letter != '0' {
			if colours[p.Letter] == "" {
				colours[p.Letter] = fmt.Sprintf("c%d", len(colours)+1)
			}
			colour = colours[p.Letter]
		}
		drawn = append(drawn, part{p, colour, digits[:p.Width]})
		digits = digits[p.Width:]
	}
	return drawn
}

// reasons returns why a text fits no scheme.
func reasons(query string) (all []reason) {
	for _, s := range schemes.All() {
		if _, err := s.Read(schemes.Text, query); err != nil {
			all = append(all, reason{s.Name(), strings.TrimPrefix(err.Error(), "idtype: ")})
		}
	}
	return all
}

// An origin says who launched an ID, and which process had its generator number.
type origin struct {
	Test   bool // the ID is of launch 0
	Known  bool // the log has the launch
	Number int
	Launch launchlog.Launch
	Ago    string
	Taken  bool // the generator number was taken
	Claim  launchlog.Claim
	Past   bool   // the number was taken, and its claim was removed
	Unsure string // why the log's answer is missing
}

// launched reports whether the log has the launch of an ID.
func (e explainedID) launched() bool {
	return slices.ContainsFunc(e.Fits,
		func(f fit) bool { return f.Origin != nil && f.Origin.Known })
}

// first moves the elements with a property before the others, and otherwise keeps the order.
func first[T any](list []T, has func(T) bool) {
	slices.SortStableFunc(list, func(a, b T) int {
		switch {
		case has(a) == has(b):
			return 0
		case has(a):
			return -1
		}
		return 1
	})
}

// ask asks the launch log who launched decimal IDs, in one turn. It stops at the first error of the
// log, and returns it.
func (h *Handler) ask(ctx context.Context, decimals []*fit) error {
	if h.log == nil || len(decimals) == 0 {
		return nil
	}
	ctx, done, err := h.turn(ctx)
	if err != nil {
		return err
	}
	defer done()
	origins := map[idtype.DecimalParts]*origin{}
	for _, f := range decimals {
		of := f.Value().(idtype.DecimalID).Parts()
		of.Counter = 0 // irrelevant for the origin
		if f.Origin = origins[of]; f.Origin != nil {
			continue
		}
		found := origin{Number: of.Launch}
		switch launch, err := h.log.Find(ctx, of.Launch, of.Generator); {
		case err == nil:
			found.Known, found.Launch, found.Number = true, launch, launch.ID
			found.Ago = from(launch.StartedAt, h.opts.Now())
		case !errors.Is(err, launchlog.ErrNotFound):
			return err
		}
		if found.Known && of.Generator < found.Launch.NextGenerator {
			claims, err := h.log.Claims(ctx, found.Launch.ID, of.Generator, 1)
			if err != nil {
				return err
			}
			if len(claims) > 0 && claims[0].Generator == of.Generator {
				found.Taken, found.Claim = true, claims[0]
			}
			found.Past = !found.Taken
		}
		f.Origin, origins[of] = &found, &found
	}
	return nil
}
