// Package readme holds the README to what it says: its commands run, and its programs compile.
package readme

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil { // where a reader of the README stands
		panic(err)
	}
	status := m.Run()
	if dir, err := makeCopy(); err == nil {
		_ = os.RemoveAll(filepath.Dir(dir))
	}
	os.Exit(status)
}

// blocks are a page's code blocks of a language.
func blocks(t *testing.T, page, language string) []string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, block := range fenced.FindAllString(string(text), -1) {
		head, body, _ := strings.Cut(block, "\n")
		if head == "```"+language {
			found = append(found, strings.TrimSuffix(body, "```"))
		}
	}
	return found
}

// needBlocks are the blocks of a page that has some.
func needBlocks(t *testing.T, page, language string) []string {
	t.Helper()
	found := blocks(t, page, language)
	if len(found) == 0 {
		t.Fatalf("%s has no %s blocks", page, language)
	}
	return found
}

// The programs of these pages are examples. A block that is a part of one begins with a tab.
func TestPrograms(t *testing.T) {
	var sources []string
	programs, err := filepath.Glob("examples/*/main.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range programs {
		sources = append(sources, read(t, p))
	}
	for _, page := range []string{
		"docs/claims.md", "docs/clickhouse.md", "docs/gorm.md", "docs/postgresql.md",
		"docs/schemes.md",
	} {
		parts := 0
		for _, block := range blocks(t, page, "go") {
			if !strings.HasPrefix(block, "\t") {
				continue
			}
			parts++
			if !slices.ContainsFunc(sources, func(source string) bool {
				return strings.Contains(source, block)
			}) {
				t.Errorf("no program of examples holds this block of %s:\n%s", page, block)
			}
		}
		if parts == 0 {
			t.Errorf("%s shows no program", page)
		}
	}
	whole := blocks(t, "README.md", "go")
	if len(whole) != 1 || whole[0] != read(t, "examples/quickstart/main.go") {
		t.Error("README does not show examples/quickstart/main.go whole")
	}
}

// README is one page, with its program and its tables.
func TestReadmeIsShort(t *testing.T) {
	if n := len(strings.Fields(read(t, "README.md"))); n > 900 {
		t.Errorf("%d words", n)
	}
}

// The commands of README and of the command line's page are run, one block after the other, in a
// copy of the checkout. Not the tests, which are running.
func TestReadmeCommands(t *testing.T) {
	dir := copied(t)
	user := filepath.Join(dir, "..", "yours") // a module that uses the checkout
	if err := os.MkdirAll(user, 0o755); err != nil {
		t.Fatal(err)
	}
	program := `package main; import "github.com/idmint/idmint/idtype"; ` +
		`func main() { println(idtype.MustParseDecimalID("14150009200065").String()) }`
	for name, content := range map[string]string{
		filepath.Join(user, "go.mod"):  "module example.com/yours\n\ngo 1.26\n",
		filepath.Join(user, "main.go"): program,
	} {
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	said := ""
	for _, block := range slices.Concat(needBlocks(t, "README.md", "sh"),
		needBlocks(t, "docs/cli.md", "sh")) {
		if block == "make test\n" {
			continue
		}
		cmd := exec.Command("bash", "-euo", "pipefail", "-c", block)
		cmd.Dir = dir
		if strings.HasPrefix(block, "go mod edit") {
			cmd.Dir = user
		}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s%v\n%s", block, err, out)
		}
		said += string(out)
	}
	cmd := exec.Command("go", "run", ".")
	cmd.Dir = user
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	said += string(out)
	said += inTransaction(t, dir)
	for _, want := range []string{
		"Ann is 10000000001 of launch 1\n", "Ann is 40000100001 of launch 1\n", "customers: 2 rows",
		"0 inversions", "14150009200065\n",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("the README's commands did not say %q:\n%s", want, said)
		}
	}
}

// inTransaction runs the README's program again, with a transaction that writes as the first
// thing that the app does. The launch log lies in the same file.
func inTransaction(t *testing.T, dir string) string {
	t.Helper()
	const create = `check(db.Create(&ann).Error)`
	const inside = `check(db.Transaction(func(tx *gorm.DB) error {
		check(tx.Exec("UPDATE users SET name = 'Bob'").Error)
		return tx.Create(&ann).Error
	}))`
	source, err := os.ReadFile("examples/quickstart/main.go")
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(source), create, inside, 1)
	if changed == string(source) {
		t.Fatalf("the program has no %s", create)
	}
	program := filepath.Join(dir, "examples/quickstart/main.go")
	if err := os.WriteFile(program, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := os.WriteFile(program, source, 0o644); err != nil {
			t.Error(err)
		}
	}()
	cmd := exec.Command("go", "run", "./examples/quickstart")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "IDMINT_LAUNCH_ID=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("a first ID within a transaction: %v\n%s", err, out)
	}
	return string(out)
}

// Whoever copies a program or a sample gets a generator that has its number before a transaction.
func TestSamplesAreReady(t *testing.T) {
	samples := []string{
		"README.md", "cmd/idmint/demo.go", "generator/doc.go", "gormid/doc.go",
		"launchlog/doc.go",
	}
	programs, err := filepath.Glob("examples/*/main.go")
	if err != nil {
		t.Fatal(err)
	}
	made := regexp.MustCompile(`generator\.New(Decimal|Sno|Sequence|Trace|Short|EightByte)\(`)
	for _, name := range append(samples, programs...) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		generators := made.FindAllIndex(text, -1)
		if len(generators) == 0 {
			t.Errorf("%s makes no generator", name)
		}
		for i, at := range generators {
			end := len(text)
			if i+1 < len(generators) {
				end = generators[i+1][0]
			}
			if !strings.Contains(string(text[at[0]:end]), ".Ready(ctx)") {
				line, _, _ := strings.Cut(string(text[at[0]:]), "\n")
				t.Errorf("%s: no Ready after %s", name, line)
			}
		}
	}
}
