// Package checks contains what the checks of a launch log and its database report: results, and the
// list of all checks that produce them. Package doctor makes the checks of every log and of SQL
// databases. Packages etcddoctor, zookeeperdoctor and cassandradoctor make the checks of their
// stores, with [Examine].
//
// Each [Result] names its check by a code that stays the same from release to release. [All] lists
// the checks, with what they look at and what to do. A [Finding] endangers numbers, or stops the
// log now or soon. A [Note] is advice. [Unknown] means that a check could not be made, for example
// because the role lacks a right.
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

// A Result is what a check has found.
type Result struct {
	Check   string `json:"check"` // the code of a check in All
	Level   Level  `json:"level"`
	Message string `json:"message"` // what was found
	// Remedy says what to do about a note or a finding. It is empty otherwise.
	Remedy string `json:"remedy,omitempty"`
}

// New returns a result of a check, with the check's remedy if it is a note or a finding.
func New(code string, level Level, format string, args ...any) Result {
	r := Result{Check: code, Level: level, Message: fmt.Sprintf(format, args...)}
	if level == Note || level == Finding {
		r.Remedy = remedy(code)
	}
	return r
}

// A Check is something that is checked.
type Check struct {
	Code   string // stays the same from release to release
	Looks  string // what is checked, and why
	Remedy string // what to do
}

//go:embed checks.md
var page string

// table contains the rows of checks.md.
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

// All returns the checks of all stores.
func All() []Check { return slices.Clone(table()) }

// remedy returns what to do about a finding of a check.
func remedy(code string) string {
	for _, c := range table() {
		if c.Code == code {
			return c.Remedy
		}
	}
	return ""
}
