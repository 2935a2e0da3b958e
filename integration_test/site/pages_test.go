package site_test

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The code on these pages is that of programs, queries, manuals and tests that run. White space
// aside, each paragraph of a block stands in one of them.
func TestCode(t *testing.T) {
	t.Parallel()
	var sources []string
	for _, dir := range []string{"examples", "sqlid", "idtype", "integration_test"} {
		check(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err == nil && slices.Contains([]string{".go", ".sql", ".yaml"}, filepath.Ext(path)) {
				sources = append(sources, words(read(t, path)))
			}
			return err
		}))
	}
	block := regexp.MustCompile("(?s)```(?:go|sql|yaml)\n(.*?)```")
	for page, partly := range map[string]bool{ // only blocks that begin with a tab are of a program
		"README.md": false, "docs/claims.md": true, "docs/clickhouse.md": true, "docs/gorm.md": true,
		"docs/postgresql.md": true, "docs/schemes.md": true, "docs/sqlc.md": false,
		"docs/sql-drivers.md": false, "docs/bun.md": false, "docs/ent.md": false,
		"docs/moving-gorm.md": false, "docs/public-ids.md": false,
	} {
		found := 0
		for _, m := range block.FindAllStringSubmatch(read(t, page), -1) {
			if partly && !strings.HasPrefix(m[1], "\t") {
				continue
			}
			found++
			for part := range strings.SplitSeq(m[1], "\n\n") {
				if !slices.ContainsFunc(sources, func(source string) bool {
					return strings.Contains(source, words(part))
				}) {
					t.Errorf("%s: no tested file holds\n%s", page, part)
				}
			}
		}
		if found == 0 {
			t.Errorf("%s has no code", page)
		}
	}
	if whole := blocks(t, "README.md", "go"); len(whole) != 1 ||
		whole[0] != read(t, "examples/quickstart/main.go") {
		t.Error("README does not show examples/quickstart/main.go whole")
	}
}

// words are those of a text, without the marks of comments that begin lines.
func words(text string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll("\n"+text, "\n//", "\n")), " ")
}

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

// An app that ends by log.Fatal or os.Exit runs no deferred Close, and its next start begins below
// IDs that it has stored. So in examples and on pages only main ends so, and defers no Close.
func TestNobodyExitsBeforeClose(t *testing.T) {
	t.Parallel()
	sources := map[string]string{}
	check(t, filepath.WalkDir("examples", func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".go") && !strings.HasPrefix(path, "examples/ent/ent/") {
			sources[path] = read(t, path)
		}
		return err
	}))
	block := regexp.MustCompile("(?ms)^```go\n(.*?)^```")
	for _, page := range documents(t) {
		for _, m := range block.FindAllStringSubmatch(read(t, page), -1) {
			sources[page+":\n"+m[1]] = m[1]
		}
	}
	for name, source := range sources {
		if exitsBeforeClose(source) {
			t.Errorf("%s: Close is not called where log.Fatal or os.Exit is", name)
		}
	}
	const mains = "func main() {\n\tif err := run(); err != nil {\n\t\tlog.Fatal(err)\n\t}\n}\n"
	for source, want := range map[string]bool{
		mains: false, "package main\n" + mains: false, "\tdefer ids.Close(ctx)\n": false,
		"func check(err error) {\n\tlog.Fatalf(\"%v\", err)\n}\n": true,
		"\tdefer ids.Close(ctx)\n\tos.Exit(1)\n":                  true,
	} {
		if exitsBeforeClose(source) != want {
			t.Errorf("%q: %v", source, !want)
		}
	}
}

var exits = regexp.MustCompile(`log\.Fatal\w*\(|os\.Exit\(`)

// exitsBeforeClose tells whether a function that is not main exits, or one that closes something.
func exitsBeforeClose(source string) bool {
	return slices.ContainsFunc(exits.FindAllStringIndex(source, -1), func(at []int) bool {
		before := "\n" + source[:at[0]]
		function := strings.LastIndex(before, "\nfunc ")
		body := before[function+1:]
		return function >= 0 && !strings.HasPrefix(body, "func main(") || strings.Contains(body, ".Close(")
	})
}
