package viewer

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/idmint/idmint/launchlog"
)

// The scale of drawings. It stands for the whole time, or for all numbers.
const (
	scale     = 1000
	mostLanes = 12
)

// A timeline shows when launches of each service began and ended. It is as long as the page: the
// oldest launch that is listed begins it.
type timeline struct {
	From, To time.Time
	Lanes    []*lane
	Left     int // lanes that are not drawn
}

// A lane has the launches of a service in an environment.
type lane struct {
	Service, Environment string
	Bars                 []bar // the oldest first
}

// A bar is a launch. It begins at X and is Width wide.
type bar struct {
	Launch   launchlog.Launch
	X, Width share
}

// A share is a part of [scale]. Its text is a length of SVG.
type share int

func (s share) String() string { return fmt.Sprintf("%d.%d%%", s/10, s%10) }

func newTimeline(launches []launchlog.Launch, now time.Time) timeline {
	if len(launches) == 0 {
		return timeline{}
	}
	t := timeline{From: launches[0].StartedAt, To: launches[0].StartedAt}
	for _, l := range launches {
		if l.StartedAt.Before(t.From) {
			t.From = l.StartedAt
		}
		if end := endOf(l, now); end.After(t.To) {
			t.To = end
		}
	}
	if !t.To.After(t.From) {
		t.To = t.From.Add(time.Second)
	}
	for _, l := range slices.Backward(launches) {
		at := slices.IndexFunc(t.Lanes, func(of *lane) bool {
			return of.Service == l.Service && of.Environment == l.Environment
		})
		if at < 0 {
			at = len(t.Lanes)
			t.Lanes = append(t.Lanes, &lane{Service: l.Service, Environment: l.Environment})
		}
		x := t.place(l.StartedAt)
		t.Lanes[at].Bars = append(t.Lanes[at].Bars,
			bar{l, x, max(0, t.place(endOf(l, now))-x)})
	}
	slices.SortFunc(t.Lanes, func(a, b *lane) int { return b.newest() - a.newest() })
	if t.Left = len(t.Lanes) - mostLanes; t.Left > 0 {
		t.Lanes = t.Lanes[:mostLanes]
	}
	return t
}

// States are those of the launches that are drawn, for the legend of their shapes.
func (t timeline) States() (all []status) {
	drawn := map[string]status{}
	for _, l := range t.Lanes {
		for _, b := range l.Bars {
			s := state(b.Launch)
			drawn[s.Word] = s
		}
	}
	for _, word := range slices.Sorted(maps.Keys(drawn)) {
		all = append(all, drawn[word])
	}
	return all
}

func (l *lane) newest() int { return l.Bars[len(l.Bars)-1].Launch.ID }

// place is where a time lies on the line.
func (t timeline) place(at time.Time) share {
	return share(float64(at.Sub(t.From)) / float64(t.To.Sub(t.From)) * scale)
}

// endOf is when a launch ended, or now where it runs. The database's clock may be ahead of ours, so
// it is not before the start.
func endOf(l launchlog.Launch, now time.Time) time.Time {
	end := l.EndedAt
	if l.Running() {
		end = now
	}
	if end.Before(l.StartedAt) {
		return l.StartedAt
	}
	return end
}
