package site_test

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/idmint/idmint/sqlid/functions"
)

// The commands of docs/sql.md write what the page shows.
func TestSQLCommands(t *testing.T) {
	t.Parallel()
	check(t, buildIdmint())
	ran := 0
	for _, block := range regexp.MustCompile("(?s)```\n(\\$ .*?)```").FindAllStringSubmatch(
		read(t, "docs/sql.md"), -1) {
		for _, part := range strings.Split("\n"+block[1], "\n$ ")[1:] {
			command, want, _ := strings.Cut(part, "\n")
			args := strings.Fields(command)
			out, err := exec.Command(filepath.Join(programs, "idmint"), args[1:]...).Output()
			if err != nil || strings.TrimSuffix(string(out), "\n") != strings.TrimSuffix(want, "\n") {
				t.Errorf("%s: %v, said\n%s\nwant\n%s", command, err, out, want)
			}
			ran++
		}
	}
	if ran != 5 {
		t.Errorf("%d commands ran", ran)
	}
}

// docs/sql.md lists the functions that there are.
func TestSQLFunctions(t *testing.T) {
	t.Parallel()
	statements, err := functions.Statements(functions.Postgres)
	check(t, err)
	page := read(t, "docs/sql.md")
	listed := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| (`idmint_[^|]*) \\|").FindAllStringSubmatch(page, -1) {
		for _, name := range regexp.MustCompile(`idmint_\w+`).FindAllString(row[1], -1) {
			listed[name] = true
		}
	}
	for _, s := range statements {
		name := regexp.MustCompile(`idmint_\w+`).FindString(s)
		if !listed[name] {
			t.Errorf("docs/sql.md does not list %s", name)
		}
	}
	if len(listed) != len(statements) {
		t.Errorf("docs/sql.md lists %d functions, of %d", len(listed), len(statements))
	}
}
