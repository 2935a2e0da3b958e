package viewer

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/idmint/idmint/launchlog"
)

// scale is the width of drawings, which represents the whole time or all numbers. A timeline has at
// most mostLanes lanes.
const (
	scale     = 1000
	mostLanes = 12
)

// A timeline shows when the launches of each service began and ended. It begins with the oldest
// launch on the page.
type timeline struct {
	From, To time.Time
	Lanes    []*lane
	Left     int // number of lanes that are not drawn
}

// A lane holds the launches of a service in an environment.
type lane struct {
	Service, Environment string
	Bars                 []bar // the oldest first
}

// A bar shows a launch as a bar that begins at X and is Width wide.
type bar struct {
	Launch   launchlog.Launch
	X, Width share
}

// A share is a part of [scale], which String returns as a length of SVG.
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

// States returns the states of the launches that are drawn, for the legend.
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

// place returns the position of a time on the line.
func (t timeline) place(at time.Time) share {
	return share(float64(at.Sub(t.From)) / float64(t.To.Sub(t.From)) * scale)
}

// endOf returns when a launch ended, or now if it is running. It never returns a time before the
// start, because the database's clock may be ahead of ours.
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
