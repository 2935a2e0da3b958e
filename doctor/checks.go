package doctor

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

// A Check is something that is looked at.
type Check struct {
	Code   string // stays the same from release to release
	Looks  string // at what, and why
	Remedy string // what to do
}

//go:embed checks.md
var page string

// checks are the rows of the table in checks.md.
var checks = sync.OnceValue(func() (all []Check) {
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

// Checks lists the checks of all stores.
func Checks() []Check { return slices.Clone(checks()) }

// remedy is what to do about a finding of a check.
func remedy(code string) string {
	for _, c := range checks() {
		if c.Code == code {
			return c.Remedy
		}
	}
	return ""
}
