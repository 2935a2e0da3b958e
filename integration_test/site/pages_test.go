package site_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The code on the pages about SQL tools is that of programs, queries and manuals that are tested.
// White space aside, each block stands in one of them.
func TestSQLPages(t *testing.T) {
	t.Parallel()
	var sources []string
	for _, dir := range []string{"examples", "sqlid", "idtype", "integration_test/adapters"} {
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !slices.Contains([]string{".go", ".sql", ".yaml"}, filepath.Ext(path)) {
				return err
			}
			source, err := os.ReadFile(path)
			sources = append(sources, words(string(bytes.ReplaceAll(source, []byte("\n//"), []byte("\n")))))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	block := regexp.MustCompile("(?s)```(?:go|sql|yaml)\n(.*?)```")
	for page, least := range map[string]int{"docs/sqlc.md": 9, "docs/sql-drivers.md": 5} {
		found := block.FindAllStringSubmatch(read(t, page), -1)
		if len(found) < least {
			t.Errorf("%s has %d blocks", page, len(found))
		}
		for _, m := range found {
			if !slices.ContainsFunc(sources, func(source string) bool {
				return strings.Contains(source, words(m[1]))
			}) {
				t.Errorf("%s: no tested file holds\n%s", page, m[1])
			}
		}
	}
}

func words(text string) string { return strings.Join(strings.Fields(text), " ") }

// docs/http.md starts its service by the README's commands, which are run.
func TestHTTPCommands(t *testing.T) {
	t.Parallel()
	for _, block := range blocks(t, "docs/http.md", "sh") {
		log, ok := strings.CutSuffix(block, "go run ./examples/http\n")
		if !ok || !strings.Contains(read(t, "README.md"), log) {
			t.Errorf("README.md does not run\n%s", block)
		}
	}
}

// Tests that pages name are there.
func TestNamedTests(t *testing.T) {
	t.Parallel()
	var sources strings.Builder
	check(t, filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, "_test.go") {
			sources.WriteString(read(t, path))
		}
		return err
	}))
	tests := regexp.MustCompile("`(Test[A-Z]\\w*)`")
	found := 0
	for _, page := range documents(t) {
		for _, name := range tests.FindAllStringSubmatch(read(t, page), -1) {
			if found++; !strings.Contains(sources.String(), "\nfunc "+name[1]+"(") {
				t.Errorf("%s: there is no %s", page, name[1])
			}
		}
	}
	if found < 30 {
		t.Errorf("%d tests are named", found)
	}
}

// Mutants that pages name are there.
func TestNamedMutants(t *testing.T) {
	t.Parallel()
	list := read(t, "integration_test/mutants/mutants.txt")
	const page = "docs/design/mutants-of-others.md"
	rows := regexp.MustCompile(`(?m)^\| .* \| (as .*?) \| .*\|$`).FindAllStringSubmatch(
		read(t, page), -1)
	for _, row := range rows {
		if !regexp.MustCompile(`(?m)^# \w+: ` + regexp.QuoteMeta(row[1]) + "$").MatchString(list) {
			t.Errorf("%s: there is no mutant %q", page, row[1])
		}
	}
	if len(rows) < 25 {
		t.Errorf("%s names %d mutants", page, len(rows))
	}
}
