package site_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
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

// An app that ends by log.Fatal or os.Exit runs no deferred Close, and its next start begins below
// IDs that it has stored. So in examples and on pages only main ends so, and defers no Close.
func TestNobodyExitsBeforeClose(t *testing.T) {
	t.Parallel()
	sources := map[string]string{}
	check(t, filepath.WalkDir("examples", func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".go") {
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
		"func check(err error) {\n\tlog.Fatalf(\"%v\", err)\n}\n":                     true,
		"\tdefer ids.Close(ctx)\n\tos.Exit(1)\n":                                      true,
		"func main() {\n\tdefer func() { _ = ids.Close(ctx) }()\n\tlog.Fatal(1)\n}\n": true,
		"type T struct {\n\t…\n}\n\nids.Close(ctx)\nlog.Fatal(err)\n":                 true, // no Go, quite
	} {
		if exitsBeforeClose(source) != want {
			t.Errorf("%q: %v", source, !want)
		}
	}
}

// exitsBeforeClose looks at a file, at declarations or at statements.
func exitsBeforeClose(source string) bool {
	var file *ast.File
	err := error(nil)
	for _, around := range [][2]string{{}, {"package p\n"}, {"package p\nfunc main() {\n", "}"}} {
		file, err = parser.ParseFile(token.NewFileSet(), "", around[0]+source+around[1], 0)
		if err == nil {
			break
		}
	}
	if err != nil { // it leaves something out
		return strings.Contains(source, "log.Fatal") || strings.Contains(source, "os.Exit")
	}
	calls := func(in ast.Node, match func(receiver, name string) bool) (found bool) {
		ast.Inspect(in, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				receiver, _ := s.X.(*ast.Ident)
				found = found || match(fmt.Sprint(receiver), s.Sel.Name)
			}
			return true
		})
		return found
	}
	return slices.ContainsFunc(file.Decls, func(d ast.Decl) bool {
		exits := calls(d, func(receiver, name string) bool {
			return receiver == "log" && strings.HasPrefix(name, "Fatal") ||
				receiver == "os" && name == "Exit"
		})
		closes := false
		ast.Inspect(d, func(n ast.Node) bool {
			if deferred, ok := n.(*ast.DeferStmt); ok {
				closes = closes || calls(deferred, func(_, name string) bool { return name == "Close" })
			}
			return true
		})
		f, ok := d.(*ast.FuncDecl)
		return exits && (closes || !ok || f.Name.Name != "main")
	})
}
