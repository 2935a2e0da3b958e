package checks

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The most that two clocks may differ before that is a note, and a finding. Claims let a clock be
// ahead by OffsetFinding, unless they are told otherwise.
const (
	offsetNote    = time.Second
	OffsetFinding = 30 * time.Second
)

// A Reporter gathers what one probe sees. The results have its code.
type Reporter struct {
	Code    string
	Results []Result
}

// Finding reports what endangers numbers, or stops the log.
func (r *Reporter) Finding(format string, args ...any) { r.Add(Finding, format, args...) }

// Note reports advice.
func (r *Reporter) Note(format string, args ...any) { r.Add(Note, format, args...) }

// Unknown reports what could not be looked at.
func (r *Reporter) Unknown(format string, args ...any) { r.Add(Unknown, format, args...) }

// Used reports a share that is used up: a note from 80 % on, a finding from 90 %.
func (r *Reporter) Used(percent int, format string, args ...any) {
	switch {
	case percent >= 90:
		r.Finding(format, args...)
	case percent >= 80:
		r.Note(format, args...)
	}
}

// Pass says what was seen, unless there was something to report.
func (r *Reporter) Pass(format string, args ...any) {
	if len(r.Results) == 0 {
		r.Add(Passed, format, args...)
	}
}

// Clock reports how far this machine's clock is off another one, whose time was asked for between
// before and after. What the answer's way may explain is no offset. Whose names the other clock,
// as in "the store's".
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

// Versions reports the versions of a product's servers, each of them once. Those before major.minor
// are reported at the given level, and an empty one is not known.
func (r *Reporter) Versions(product string, versions []string, older Level, major, minor int) {
	var all []string
	for _, v := range versions {
		if v == "" || slices.Contains(all, v) {
			continue
		}
		all = append(all, v)
		var has [2]int
		if _, err := fmt.Sscanf(v, "%d.%d", &has[0], &has[1]); err != nil {
			r.Unknown("%q is no version", v)
		} else if slices.Compare(has[:], []int{major, minor}) < 0 {
			r.Add(older, "%s %s is older than %d.%d", product, v, major, minor)
		}
	}
	r.Pass("%s %s", product, strings.Join(all, ", "))
}

// Voters reports on a cluster that decides by majority, of so many voting members. Up are those
// that answer. Away are the addresses that do not. A member that is neither has no address here.
func (r *Reporter) Voters(voters, up int, away []string) {
	unnamed := max(0, voters-up-len(away))
	down, names := voters-up-unnamed, strings.Join(away, ", ")
	switch most := (voters - 1) / 2; { // that may be down
	case voters < 3 && down > 0:
		r.Finding("%d of %d voting members do not answer: %s", down, voters, names)
	case voters < 3:
		r.Note("there are %d voting members: without one of them the log stops", voters)
	case down >= most && down > 0:
		r.Finding("%d of %d voting members do not answer, and without one more the log stops: %s",
			down, voters, names)
	case len(away) > 0:
		r.Note("addresses do not answer: %s. %d of %d voting members are down", names, down, voters)
	}
	if unnamed > 0 {
		r.Note("%d of %d voting members are not named, and not asked where others are away",
			unnamed, voters)
	}
	r.Pass("%d voting members, and all of them answer", voters)
}

// Add reports at a level that is given.
func (r *Reporter) Add(level Level, format string, args ...any) {
	r.Results = append(r.Results, New(r.Code, level, format, args...))
}

// A Probe makes the check of a code. T is what it asks.
type Probe[T any] struct {
	Code string
	Look func(ctx context.Context, of T, r *Reporter) error
}

// Examine makes checks in turn. One that the database refuses is unknown. Where the database does
// not answer any more, as alive says, all of it has failed. The error begins with the check's code,
// and the caller puts the name of its package before that.
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
