package readme

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
	for _, block := range blocks(t, "docs/http.md", "sh") {
		log, ok := strings.CutSuffix(block, "go run ./examples/http\n")
		if !ok || !strings.Contains(read(t, "README.md"), log) {
			t.Errorf("README.md does not run\n%s", block)
		}
	}
}

// The tests that docs/paging.md names are there.
func TestPagingProofs(t *testing.T) {
	source := read(t, "integration_test/adapters/paging_test.go") +
		read(t, "integration_test/adapters/paging_follow_test.go")
	names := regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(read(t, "docs/paging.md"), -1)
	for _, name := range names {
		if !strings.Contains(source, "\nfunc "+name[1]+"(") {
			t.Errorf("there is no %s", name[1])
		}
	}
	if len(names) < 4 {
		t.Errorf("docs/paging.md names %d tests", len(names))
	}
}
