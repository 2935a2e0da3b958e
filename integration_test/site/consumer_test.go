package site_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// most is how many lines a package of ours may add to a consumer's go.sum. Two more are those of
// idmint itself, once it is published: here a checkout replaces it.
const most = 6 - 2

// foreign are modules that no consumer of the library shall have in its module graph: containers,
// plots and the libraries of the command line.
var foreign = []string{"testcontainers", "moby", "docker", "gonum", "cobra"}

// A consumer gets what its packages of ours import, and what their own tests need without servers.
func TestConsumer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ours   string
		theirs []string // what the consumer uses anyway
	}{
		{"idtype", nil},
		{"generator", nil},
		{"scramble", nil},
		{"sqlid", nil},
		{"launchlog/memory", nil},
		{"idminttest", nil},
		{"gormid", []string{"gorm.io/gorm", "gorm.io/driver/sqlite"}},
		{"sqlid/pgxid", []string{"github.com/jackc/pgx/v5/pgxpool"}},
		{"launchlog/postgres", []string{"github.com/jackc/pgx/v5/pgxpool"}},
		{"launchlog/sqlite", []string{"github.com/mattn/go-sqlite3"}},
		{"launchlog/mysql", []string{"github.com/go-sql-driver/mysql"}},
		{"migrations", nil},
		{"clickhouse", []string{"github.com/ClickHouse/ch-go/proto"}},
	} {
		t.Run(c.ours, func(t *testing.T) {
			t.Parallel()
			without := 0
			if c.theirs != nil {
				without = sums(t, scratch(t, c.theirs))
			}
			dir := scratch(t, append([]string{"github.com/idmint/idmint/" + c.ours}, c.theirs...))
			with := sums(t, dir)
			t.Logf("go.sum has %d lines, %d without idmint", with, without)
			if with > without+most {
				t.Errorf("go.sum has %d lines, %d without idmint: at most %d more are wanted", with,
					without, most)
			}
			graph := tool(t, dir, "mod", "graph")
			for _, module := range foreign {
				if strings.Contains(graph, module) {
					t.Errorf("the module graph names %s", module)
				}
			}
		})
	}
}

// pins are the versions of all modules that the library uses.
var pins = sync.OnceValues(func() (lines string, err error) {
	cmd := exec.Command("go", "list", "-m", "-f",
		"{{if not .Main}}require {{.Path}} {{.Version}}{{end}}", "all")
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	out, err := cmd.Output()
	return string(out), err
})

// scratch makes a module that imports packages, and tidies it. Versions are the same with and
// without idmint.
func scratch(t *testing.T, packages []string) (dir string) {
	t.Helper()
	root := must(os.Getwd())
	dir = t.TempDir()
	program := "package main\n\n"
	for _, p := range packages {
		program += fmt.Sprintf("import _ %q\n", p)
	}
	check(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(program+"\nfunc main() {}\n"), 0o644))
	required, err := pins()
	check(t, err)
	mod := "module example.com/consumer\n\ngo 1.26\n\nreplace github.com/idmint/idmint => " + root +
		"\n\n" + required
	check(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o644))
	tool(t, dir, "mod", "tidy")
	return dir
}

func tool(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %v: %v\n%s", args, err, stderr.String())
	}
	return string(out)
}

// sums counts the lines of the module's go.sum. There is none where nothing is required.
func sums(t *testing.T, dir string) (lines int) {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "go.sum"))
	if os.IsNotExist(err) {
		return 0
	} else if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		lines++
	}
	return lines
}

// An app may be built without cgo, as one that has a SQLite in pure Go. All of the library builds
// then, and a log in SQLite says what it lacks.
func TestWithoutCgo(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "main.go")
	check(t, os.WriteFile(program, []byte(`package main

import (
	"context"
	"fmt"

	"github.com/idmint/idmint/launchlog/sqlite"
)

func main() {
	_, err := sqlite.Open(context.Background(), "launches.db")
	fmt.Println(err)
	fmt.Println(sqlite.Backup(context.Background(), "launches.db", "copy.db"))
}
`), 0o644))
	said := ""
	for _, args := range [][]string{{"build", "./..."}, {"run", program}} {
		cmd := exec.Command("go", args...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %v: %v\n%s", args, err, out)
		}
		said += string(out)
	}
	const want = `launchlog/sqlite: "launches.db" needs cgo, ` +
		`without which this program was built: set CGO_ENABLED=1 and install gcc, or keep the launch log in PostgreSQL, `
	for _, line := range strings.SplitAfter(strings.TrimSpace(said), "\n") {
		if !strings.HasPrefix(line, want) {
			t.Errorf("got %q, want %q", line, want)
		}
	}
}

// The decoder's own tests hold it against docs/design/vectors, as package idtype's do.
func TestJavaScriptVectors(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is missing: install Debian's package nodejs")
	}
	cmd := exec.CommandContext(t.Context(), node, "--test", "--test-reporter=tap", "idmint.test.js")
	cmd.Dir = "docs/design/js"
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("\n# fail 0\n")) ||
		!bytes.Contains(out, []byte("sno: valid")) {
		t.Fatalf("%v\n%s", err, out)
	}
}
