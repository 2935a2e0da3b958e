package viewer

import (
	"fmt"
	"slices"
	"time"

	"github.com/idmint/idmint/launchlog"
)

// clock formats a time for people, in UTC, which it names.
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

// stamp formats a time for machines.
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

// span formats a duration in the largest unit that it fills.
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

// plural formats a number of things.
func plural(n int64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return grouped(n) + " " + thing
}

// grouped formats an integer of any type with commas between groups of three digits.
func grouped(n any) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// A status is the state of a launch, as pages show it.
type status struct {
	Word  string
	Class string // of its style; the same for all custom outcomes
}

// usual are the outcomes that have their own styles.
var usual = []launchlog.Outcome{
	launchlog.Succeeded, launchlog.Failed, launchlog.Aborted, launchlog.RolledBack,
	launchlog.Superseded,
}

// state returns whether a launch runs, or how it ended, which may be any word.
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

// percent formats a share for people, with 0 % only for nothing and 100 % only for everything.
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
