// Package consumer looks at the library from a module that uses it: what comes with it.
package consumer

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
	for _, c := range []struct {
		ours   string
		theirs []string // what the consumer uses anyway
	}{
		{"idtype", nil},
		{"generator", nil},
		{"scramble", nil},
		{"sqlid", nil},
		{"launchlog/memory", nil},
		{"gormid", []string{"gorm.io/gorm", "gorm.io/driver/sqlite"}},
		{"sqlid/pgxid", []string{"github.com/jackc/pgx/v5/pgxpool"}},
		{"launchlog/postgres", []string{"github.com/jackc/pgx/v5/pgxpool"}},
		{"launchlog/sqlite", []string{"github.com/mattn/go-sqlite3"}},
		{"launchlog/mysql", []string{"github.com/go-sql-driver/mysql"}},
		{"migrations", nil},
		{"clickhouse", []string{"github.com/ClickHouse/ch-go/proto"}},
	} {
		t.Run(c.ours, func(t *testing.T) {
			without := sums(t, scratch(t, c.theirs))
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

// scratch makes a module that imports packages, and tidies it.
func scratch(t *testing.T, packages []string) (dir string) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	program := "package main\n\n"
	for _, p := range packages {
		program += fmt.Sprintf("import _ %q\n", p)
	}
	write(t, filepath.Join(dir, "main.go"), program+"\nfunc main() {}\n")
	// The same versions with and without idmint.
	pins := tool(t, root, "list", "-m", "-f", "{{if not .Main}}{{.Path}} {{.Version}}{{end}}",
		"all")
	mod := "module example.com/consumer\n\ngo 1.26\n\nreplace github.com/idmint/idmint => " + root +
		"\n\n"
	for pin := range strings.SplitSeq(strings.TrimSpace(pins), "\n") {
		mod += "require " + pin + "\n"
	}
	write(t, filepath.Join(dir, "go.mod"), mod)
	tool(t, dir, "mod", "tidy")
	return dir
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
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
