package checks

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// By how much two clocks may differ before the difference is a note or a finding. By default,
// claims accept a clock that is ahead by up to OffsetFinding.
const (
	offsetNote    = time.Second
	OffsetFinding = 30 * time.Second
)

// A Reporter collects the results of one probe, under its code.
type Reporter struct {
	Code    string
	Results []Result
}

// Finding reports what endangers numbers, or stops the log.
func (r *Reporter) Finding(format string, args ...any) { r.Add(Finding, format, args...) }

// Note reports advice.
func (r *Reporter) Note(format string, args ...any) { r.Add(Note, format, args...) }

// Unknown reports what could not be checked.
func (r *Reporter) Unknown(format string, args ...any) { r.Add(Unknown, format, args...) }

// Used reports how much is used up: a note from 80 % on, a finding from 90 %.
func (r *Reporter) Used(percent int, format string, args ...any) {
	switch {
	case percent >= 90:
		r.Finding(format, args...)
	case percent >= 80:
		r.Note(format, args...)
	}
}

// Pass reports what was found, unless there was something else to report.
func (r *Reporter) Pass(format string, args ...any) {
	if len(r.Results) == 0 {
		r.Add(Passed, format, args...)
	}
}

// Clock reports how far this machine's clock is from another, which was read between before and
// after. A difference that the duration of the request may explain does not count. Whose names the
// other clock, for example "the store's".
func (r *Reporter) Clock(before, other, after time.Time, whose string) {
	offset, where := before.Sub(other), "ahead of"
	if other.After(before) {
		offset, where = other.Sub(after), "behind"
	}
	offset = max(0, offset).Round(time.Millisecond)
	const text = "this machine's clock is %v %s %s"
	switch {
	case offset == 0:
		r.Pass("this machine's clock and %s agree", whose)
	case offset > OffsetFinding:
		r.Finding(text, offset, where, whose)
	case offset > offsetNote:
		r.Note(text, offset, where, whose)
	}
	r.Pass(text, offset, where, whose)
}

// Versions reports the versions of a product's servers, each of them once. Versions before
// major.minor are reported at the given level. An empty version is not known, and is skipped.
func (r *Reporter) Versions(product string, versions []string, older Level, major, minor int) {
	var all []string
	for _, v := range versions {
		if v == "" || slices.Contains(all, v) {
			continue
		}
		all = append(all, v)
		var has [2]int
		if _, err := fmt.Sscanf(v, "%d.%d", &has[0], &has[1]); err != nil {
			r.Unknown("%q is not a version", v)
		} else if slices.Compare(has[:], []int{major, minor}) < 0 {
			r.Add(older, "%s %s is older than %d.%d", product, v, major, minor)
		}
	}
	r.Pass("%s %s", product, strings.Join(all, ", "))
}

// Voters reports on a cluster that decides by majority and has the given number of voting members.
// Up is how many of them answer, and away are the addresses that do not. A member that is in
// neither has no known address.
func (r *Reporter) Voters(voters, up int, away []string) {
	unnamed := max(0, voters-up-len(away))
	down, names := voters-up-unnamed, strings.Join(away, ", ")
	switch most := (voters - 1) / 2; { // how many may be down
	case voters < 3 && down > 0:
		r.Finding("%d of %d voting members do not answer: %s", down, voters, names)
	case voters < 3:
		r.Note("there are %d voting members: if one of them fails, the log stops", voters)
	case down >= most && down > 0:
		r.Finding("%d of %d voting members do not answer, and if one more fails, the log stops: %s",
			down, voters, names)
	case len(away) > 0:
		r.Note("addresses do not answer: %s. %d of %d voting members are down", names, down, voters)
	}
	if unnamed > 0 {
		r.Note("%d of %d voting members are not named, and are not asked if others do not answer",
			unnamed, voters)
	}
	r.Pass("%d voting members, and all of them answer", voters)
}

// Add reports at the given level.
func (r *Reporter) Add(level Level, format string, args ...any) {
	r.Results = append(r.Results, New(r.Code, level, format, args...))
}

// A Probe makes the check with its code. T is what it examines.
type Probe[T any] struct {
	Code string
	Look func(ctx context.Context, of T, r *Reporter) error
}

// Examine makes checks one after another. A check that the database refuses is unknown. If the
// database no longer answers, according to alive, Examine fails. The error begins with the check's
// code, and the caller prepends the name of its package.
func Examine[T any](
	ctx context.Context, of T, probes []Probe[T], alive func(context.Context) error,
) (results []Result, err error) {
	for _, p := range probes {
		r := Reporter{Code: p.Code}
		if err := p.Look(ctx, of, &r); err != nil {
			if alive(ctx) != nil {
				return results, fmt.Errorf("%s: %w", p.Code, err)
			}
			r.Results = slices.DeleteFunc(r.Results, Result.passed)
			r.Unknown("the check could not be made: %v", err)
		}
		results = append(results, r.Results...)
	}
	return results, nil
}

func (r Result) passed() bool { return r.Level == Passed }
