package site_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// README is one page, with its program and its tables.
func TestReadmeIsShort(t *testing.T) {
	t.Parallel()
	if n := len(strings.Fields(read(t, "README.md"))); n > 900 {
		t.Errorf("%d words", n)
	}
}

// The commands of README and of the command line's page are run, one block after the other, in a
// copy of the checkout. Not the tests, which are running.
func TestReadmeCommands(t *testing.T) {
	t.Parallel()
	dir := copied(t)
	user := filepath.Join(dir, "..", "yours") // a module that uses the checkout
	check(t, os.MkdirAll(user, 0o755))
	program := `package main; import "github.com/idmint/idmint/idtype"; ` +
		`func main() { println(idtype.MustParse[idtype.DecimalID]("14150009200065").String()) }`
	for name, content := range map[string]string{
		filepath.Join(user, "go.mod"):  "module example.com/yours\n\ngo 1.26\n",
		filepath.Join(user, "main.go"): program,
	} {
		check(t, os.WriteFile(name, []byte(content), 0o644))
	}
	said := ""
	for _, block := range slices.Concat(blocks(t, "README.md", "sh"),
		blocks(t, "docs/cli.md", "sh")) {
		if block == "make test\n" {
			continue
		}
		in := dir
		if strings.HasPrefix(block, "go mod edit") {
			in = user
		}
		said += sh(t, in, block)
	}
	said += sh(t, user, "go run .") + inTransaction(t, dir)
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
	const create = `err := db.Create(&ann).Error`
	const inside = `err := db.Transaction(func(tx *gorm.DB) error {
		if err := tx.Exec("UPDATE users SET name = 'Bob'").Error; err != nil {
			return err
		}
		return tx.Create(&ann).Error
	})`
	source := read(t, "examples/quickstart/main.go")
	changed := strings.Replace(source, create, inside, 1)
	if changed == source {
		t.Fatalf("the program has no %s", create)
	}
	program := filepath.Join(dir, "examples/quickstart/main.go")
	check(t, os.WriteFile(program, []byte(changed), 0o644))
	defer func() { check(t, os.WriteFile(program, []byte(source), 0o644)) }()
	return sh(t, dir, "go run ./examples/quickstart", "IDMINT_LAUNCH_ID=1")
}

// Whoever copies a program or a sample gets a generator that has its number before a transaction.
func TestSamplesAreReady(t *testing.T) {
	t.Parallel()
	samples := []string{
		"README.md", "cmd/idmint/demo.go", "generator/doc.go", "gormid/doc.go",
		"launchlog/doc.go",
	}
	programs := must(filepath.Glob("examples/*/main.go"))
	made := regexp.MustCompile(`generator\.New(Decimal|Sno|Sequence|Trace|Short|EightByte)\(`)
	for _, name := range append(samples, programs...) {
		text := read(t, name)
		generators := made.FindAllStringIndex(text, -1)
		if len(generators) == 0 {
			t.Errorf("%s makes no generator", name)
		}
		for i, at := range generators {
			end := len(text)
			if i+1 < len(generators) {
				end = generators[i+1][0]
			}
			if !strings.Contains(text[at[0]:end], ".Ready(ctx)") {
				line, _, _ := strings.Cut(text[at[0]:], "\n")
				t.Errorf("%s: no Ready after %s", name, line)
			}
		}
	}
}
