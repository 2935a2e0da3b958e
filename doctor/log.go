package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/idmint/idmint/idtype/formats"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/checks"
	"github.com/idmint/idmint/migrations"
)

const (
	// farAhead is more than the longest window that a generator reserves, which is an hour.
	farAhead = time.Hour + time.Minute
	// shown is the most names that a message lists.
	shown = 5
)

// Log checks what a launch log holds: the share of numbers that are used, locked numbers, and the
// offset of this machine's clock. It reads all running launches and all log counters, in pages. If
// the store does not answer, Log returns the log's error. A [Watch] makes the same checks at most
// once a minute.
func Log(ctx context.Context, log *launchlog.Log) ([]checks.Result, error) {
	c, err := read(ctx, log, time.Now, 0)
	if err != nil {
		return nil, err
	}
	return c.check(c.shares()), nil
}

// check runs the checks of a content.
func (c *content) check(shares []Share) (results []checks.Result) {
	for _, check := range contentChecks {
		r := checks.Reporter{Code: check.code}
		check.look(c, shares, &r)
		results = append(results, r.Results...)
	}
	return results
}

var contentChecks = []struct {
	code string
	look func(c *content, shares []Share, r *checks.Reporter)
}{
	{"clock", compareClocks},
	{"launches", forecast},
	{"room", room},
	{"generators", usedUp(Generators)},
	{"counters", usedUp(Counters)},
	{"claims", usedUp(Claims)},
	{"claims-ahead", lockedNumbers},
	{"times-ahead", timesAhead},
	{"releases", olderReleases},
}

// compareClocks compares this machine's clock with the store's.
func compareClocks(c *content, _ []Share, r *checks.Reporter) {
	switch {
	case c.clockErr != nil:
		r.Unknown("the check could not be made: %v", c.clockErr)
	case c.store.IsZero():
		r.Pass("the store has no clock of its own")
	default:
		r.Clock(c.asked, c.store, c.answered, "the store's")
	}
}

// forecast estimates when launches repeat the digits of earlier ones, and how many starts of apps
// are left, at the pace of the newest launches.
func forecast(c *content, _ []Share, r *checks.Reporter) {
	last := c.lastLaunch()
	left := c.digits.Last - last
	text := fmt.Sprintf("the latest launch is %d", last)
	if n := len(c.newest); n > 1 {
		starts := 0
		for _, l := range c.newest {
			starts += l.NextGenerator - l.FirstGenerator
		}
		size := c.digits.Last - c.digits.First + 1
		launches := last/launchlog.Lap*size + last%launchlog.Lap - c.digits.First + 1
		used := float64(launches) * float64(starts) / float64(n)
		text += fmt.Sprintf(", and about %.0f million starts of apps are left",
			(float64(size)*launchlog.MaxGenerators-used)/1e6)
		took := max(c.newest[0].StartedAt.Sub(c.newest[n-1].StartedAt), time.Second).Hours() / 24
		perDay := float64(n-1) / took
		years := float64(left) / perDay / 365
		switch day := c.now().AddDate(0, 0, int(float64(left)/perDay)); {
		case left <= 0:
			text += "; the next one reuses the digits of an earlier one"
		case years < 1000:
			text += fmt.Sprintf("; at %.3g launches a day, digits repeat from %s on", perDay,
				day.Format("January 2006"))
		default:
			text += "; at this pace, digits do not repeat within 1,000 years"
		}
	}
	r.Pass("%s", text)
}

// A store that will be full within soon days is a note, and within verySoon days a finding.
const soon, verySoon = 90, 14

// room estimates when claims will fill the store, at the pace of the newest launches.
func room(c *content, _ []Share, r *checks.Reporter) {
	starts := 0
	for _, l := range c.newest {
		starts += l.NextGenerator - l.FirstGenerator
	}
	switch {
	case c.roomErr != nil:
		r.Unknown("the check could not be made: %v", c.roomErr)
	case c.room < 0:
		r.Pass("the store has no known limit")
	case starts == 0:
		r.Pass("the store has room for %d more starts of apps", c.room)
	default:
		// At least a day, because the first hour of a log predicts little.
		took := max(c.now().Sub(c.newest[len(c.newest)-1].StartedAt), 24*time.Hour).Hours() / 24
		days := float64(c.room) / (float64(starts) / took)
		text := fmt.Sprintf("the store has room for %d more starts of apps: at %.3g a day it is full "+
			"in %.0f days", c.room, float64(starts)/took, days)
		switch {
		case days < verySoon:
			r.Finding("%s", text)
		case days < soon:
			r.Note("%s", text)
		}
		r.Pass("%s", text)
	}
}

// usedUp returns a check of the shares of one kind.
func usedUp(of Numbers) func(*content, []Share, *checks.Reporter) {
	return func(c *content, shares []Share, r *checks.Reporter) {
		n, text := 0, ""
		for _, s := range shares {
			if s.Of == of {
				n, text = n+1, s.text
				r.Used(s.Level(), "%s", s.text)
			}
		}
		if c.full(n) && (of == Counters || of == Generators) {
			r.Note("only the first %d were checked; idmint doctor checks all of them", n)
		}
		if n == 1 {
			r.Pass("%s", text)
		}
		r.Pass("%d were checked, and all are below 80 %%", n)
	}
}

// shortCounter is the log counter that holds the ceiling, in milliseconds, of idmint new short.
const shortCounter = "short"

// lockedNumbers looks for numbers that a clock far ahead has locked, and for a floor that locks all
// numbers of a pool. It looks only at log counters whose names claims and ceilings use, because
// others need not hold times.
func lockedNumbers(c *content, _ []Share, r *checks.Reporter) {
	now := c.now()
	for _, pool := range c.pools {
		freed := map[string]bool{} // by a second counter, which lends them now
		for _, claim := range pool.list {
			freed[claim.Number] = freed[claim.Number] || claim.Before.After(now)
		}
		var names []string
		for _, claim := range pool.list {
			if claim.Until.Sub(now) > farAhead && !freed[claim.Number] {
				names = append(names, fmt.Sprintf("%s until %s", claim.Number,
					claim.Until.UTC().Format(time.DateTime)))
			}
		}
		if len(names) > 0 {
			r.Finding("%d numbers of %s are locked far into the future: %s", len(names),
				pool.Scheme(), first(names))
		}
		if pool.floor.Sub(now) > farAhead {
			r.Finding("no number of %s can be claimed until %s: this is the pool's floor, "+
				"which nothing lowers", pool.Scheme(), pool.floor.UTC().Format(time.DateTime))
		}
	}
	for _, counter := range c.counters {
		until := time.UnixMilli(min(counter.Value, formats.ShortMaxUnixMs) + 1)
		if counter.Name == shortCounter && until.Sub(now) > farAhead {
			r.Finding("the counter %s blocks all short IDs until %s, and nothing lowers it",
				shortCounter, until.UTC().Format(time.DateTime))
		}
	}
	r.Pass("no number of any pool is locked for more than an hour")
}

// first joins the first few of the names.
func first(names []string) string {
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:shown], ", ") + ", …"
}

// timesAhead looks at the newest row of each kind, because later rows carry on a time ahead.
func timesAhead(c *content, _ []Share, r *checks.Reporter) {
	now := c.now()
	ahead := func(at time.Time, format string, args ...any) {
		if at.Sub(now) > checks.OffsetFinding {
			r.Note("%s is dated %s, which is %v ahead", fmt.Sprintf(format, args...), inUTC(at),
				at.Sub(now).Round(time.Second))
		}
	}
	for i, launch := range c.newest {
		if i == 0 {
			ahead(launch.StartedAt, "the start of launch %d", launch.ID)
		}
		claim := c.taken[launch.ID]
		ahead(claim.ClaimedAt, "generator number %d of launch %d", claim.Generator, launch.ID)
	}
	if n := len(c.events); n > 0 {
		ahead(c.events[n-1].At, "the last advance")
	}
	var names []string
	for _, counter := range c.counters {
		if counter.UpdatedAt.Sub(now) > checks.OffsetFinding {
			names = append(names, counter.Name)
		}
	}
	if len(names) > 0 {
		r.Note("%d counters were updated at times in the future: %s", len(names), first(names))
	}
	r.Pass("no recent row is dated more than %v ahead", checks.OffsetFinding)
}

// olderReleases looks for running launches whose newest start was by a release for older tables.
// Such apps no longer start after the next upgrade of the tables.
func olderReleases(c *content, _ []Share, r *checks.Reporter) {
	latest := migrations.Latest(migrations.SQLite)
	var names []string
	for _, launch := range c.newest {
		claim := c.taken[launch.ID]
		if claim.Token != "" && claim.Tables() < latest {
			names = append(names, fmt.Sprintf("launch %d of %s in %s on %s", launch.ID,
				launch.Service, launch.Environment, claim.Host))
		}
	}
	if len(names) > 0 {
		r.Note("%d launches run a release for tables older than version %d: %s", len(names), latest,
			first(names))
	}
	r.Pass("no running launch has a release for tables older than version %d", latest)
}
