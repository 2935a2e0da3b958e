package readme

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The program of docs/claims.md runs as the page says, and takes the number again that it had.
func TestClaimsCommands(t *testing.T) {
	dir := copied(t)
	numbers := ""
	for range 2 {
		for _, block := range needBlocks(t, "docs/claims.md", "sh") {
			cmd := exec.Command("bash", "-euo", "pipefail", "-c", block)
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%s%v\n%s", block, err, out)
			}
			found := regexp.MustCompile(`(?m)^[0-9a-f]{16} of pair (0/[0-3])$`).FindSubmatch(out)
			if found == nil || !strings.Contains(string(out), "eightbyte "+string(found[1])+" taken") {
				t.Fatalf("%s said\n%s", block, out)
			}
			numbers += string(found[1]) + " "
		}
	}
	if first, second, _ := strings.Cut(strings.TrimSpace(numbers), " "); first != second {
		t.Errorf("pairs %s", numbers)
	}
}

// Tests and mutants that docs name are there.
func TestNamedProofs(t *testing.T) {
	tests := regexp.MustCompile("`(Test[A-Z]\\w*)`")
	list, err := os.ReadFile("integration_test/mutants/mutants.txt")
	if err != nil {
		t.Fatal(err)
	}
	var sources strings.Builder
	for _, dir := range []string{
		"claims", "generator", "launchlog/*", "internal/storesuite", "launchlog",
		"integration_test/launchlog/*",
	} {
		files, err := filepath.Glob(dir + "/*_test.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			sources.Write(source)
		}
	}
	for page, least := range map[string]int{
		"docs/claims.md": 5, "docs/design/mutants-of-others.md": 25,
	} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		found := tests.FindAllStringSubmatch(string(text), -1)
		if len(found) < least {
			t.Errorf("%s names %d tests", page, len(found))
		}
		for _, name := range found {
			if !strings.Contains(sources.String(), "\nfunc "+name[1]+"(") {
				t.Errorf("%s: there is no %s", page, name[1])
			}
		}
		rows := regexp.MustCompile(`(?m)^\| .* \| (as .*?) \| .*\|$`).FindAllStringSubmatch(
			string(text), -1)
		for _, row := range rows {
			if !regexp.MustCompile(`(?m)^# \w+: ` + regexp.QuoteMeta(row[1]) + "$").Match(list) {
				t.Errorf("%s: there is no mutant %q", page, row[1])
			}
		}
		if page != "docs/claims.md" && len(rows) < 25 {
			t.Errorf("%s names %d mutants", page, len(rows))
		}
	}
}
