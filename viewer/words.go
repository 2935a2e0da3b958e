package viewer

import (
	"fmt"
	"slices"
	"time"

	"github.com/idmint/idmint/launchlog"
)

// clock is a time as people read it. Its zone is UTC, and said.
func clock(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	layout := "2006-01-02 15:04:05"
	if t.Nanosecond() >= int(time.Millisecond) {
		layout += ".000"
	}
	return t.UTC().Format(layout + " UTC")
}

// stamp is a time as machines read it.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// from says how far a time is from now.
func from(t, now time.Time) string {
	d := now.Sub(t)
	switch {
	case d > time.Second:
		return span(d) + " ago"
	case d < -time.Second:
		return "in " + span(-d)
	}
	return "now"
}

// span is a duration in the largest unit that it fills.
func span(d time.Duration) string {
	const day = 24 * time.Hour
	for _, unit := range []struct {
		length time.Duration
		name   string
	}{
		{365 * day, "year"},
		{30 * day, "month"},
		{day, "day"},
		{time.Hour, "hour"},
		{time.Minute, "minute"},
		{time.Second, "second"},
	} {
		if d >= unit.length {
			return plural(int64(d/unit.length), unit.name)
		}
	}
	return "less than a second"
}

// plural is a number of things.
func plural(n int64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return grouped(n) + " " + thing
}

// grouped is a number of any width, with a comma after each thousand.
func grouped(n any) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// A status is what a launch is now, as pages show it.
type status struct {
	Word  string
	Class string // of its look; one for all outcomes of people's own
}

// usual are the outcomes that have looks of their own.
var usual = []launchlog.Outcome{
	launchlog.Succeeded, launchlog.Failed, launchlog.Aborted, launchlog.RolledBack,
	launchlog.Superseded,
}

// state says whether a launch runs, or how it ended. An outcome may be any word.
func state(l launchlog.Launch) status {
	switch {
	case l.Running():
		return status{"running", "is-running"}
	case slices.Contains(usual, l.Outcome):
		return status{string(l.Outcome), "is-" + string(l.Outcome)}
	case l.Outcome == "running":
		return status{"ended as running", "is-other"}
	}
	return status{string(l.Outcome), "is-other"}
}

// percent is a share as people read it. What is used is never 0 %, and what is left never none.
func percent(part float64) string {
	switch {
	case part <= 0:
		return "0 %"
	case part < 0.001:
		return "under 0.1 %"
	case part < 0.1:
		return fmt.Sprintf("%.1f %%", part*100)
	case part < 1:
		return fmt.Sprintf("%d %%", min(99, int(part*100+0.5)))
	}
	return "100 %"
}
