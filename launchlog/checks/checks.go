// Package checks has what checks of a launch log and of its database report: results, and the list
// of all checks that make them. Package doctor makes those of every log and of SQL databases.
// Packages etcddoctor, zookeeperdoctor and cassandradoctor make those of their stores, by
// [Examine].
//
// Each [Result] names its check by a code that stays the same from release to release. [All] lists
// the checks with what they look at, and what to do. A [Finding] endangers numbers, or stops the
// log soon or now. A [Note] is advice. [Unknown] says that a check could not be made, for example
// because a right is missing.
package checks

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Level says how much a result matters.
type Level string

// The levels.
const (
	Passed  Level = "passed"  // all is well
	Unknown Level = "unknown" // the check could not be made
	Note    Level = "note"    // advice: nothing is in danger now
	Finding Level = "finding" // numbers are in danger, or the log cannot be used, now or soon
)

// A Result is what a check saw.
type Result struct {
	Check   string `json:"check"` // the code of one of All
	Level   Level  `json:"level"`
	Message string `json:"message"` // what was seen
	// Remedy says what to do about a note or a finding. It is empty otherwise.
	Remedy string `json:"remedy,omitempty"`
}

// New makes a result of a check, with the check's remedy for a note or a finding.
func New(code string, level Level, format string, args ...any) Result {
	r := Result{Check: code, Level: level, Message: fmt.Sprintf(format, args...)}
	if level == Note || level == Finding {
		r.Remedy = remedy(code)
	}
	return r
}

// A Check is something that is looked at.
type Check struct {
	Code   string // stays the same from release to release
	Looks  string // at what, and why
	Remedy string // what to do
}

//go:embed checks.md
var page string

// table has the rows of checks.md.
var table = sync.OnceValue(func() (all []Check) {
	for line := range strings.Lines(page) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if code, ok := strings.CutPrefix(cells[0], "| `"); ok && len(cells) == 3 {
			all = append(all, Check{
				strings.TrimSuffix(code, "`"), cells[1], strings.TrimSuffix(cells[2], " |"),
			})
		}
	}
	return all
})

// All lists the checks of all stores.
func All() []Check { return slices.Clone(table()) }

// remedy is what to do about a finding of a check.
func remedy(code string) string {
	for _, c := range table() {
		if c.Code == code {
			return c.Remedy
		}
	}
	return ""
}
