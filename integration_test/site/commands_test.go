package site_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/migrations"
	"github.com/idmint/idmint/sqlid/functions"
)

// waits is the line of a command whose database has not answered within two seconds.
var waits = regexp.MustCompile(`(?m)^idmint: .* does not answer: waiting for up to .*\n`)

// The commands of these pages write what the pages show.
func TestShownCommands(t *testing.T) {
	t.Parallel()
	for page, commands := range map[string]int{"docs/reference/sql.md": 5, "docs/operate/regions.md": 10} {
		dir, ran := t.TempDir(), 0
		for _, block := range regexp.MustCompile("(?s)```\n(\\$ .*?)```").FindAllStringSubmatch(
			read(t, page), -1) {
			for _, part := range strings.Split("\n"+block[1], "\n$ ")[1:] {
				command, want, _ := strings.Cut(part, "\n")
				cmd := exec.Command("bash", "-c", command)
				cmd.Dir, cmd.Env = dir, withIdmint(t)
				out, _ := cmd.CombinedOutput() // what failed says so
				out = waits.ReplaceAll(out, nil)
				if strings.TrimSuffix(string(out), "\n") != strings.TrimSuffix(want, "\n") {
					t.Errorf("%s: %s said\n%s\nwant\n%s", page, command, out, want)
				}
				ran++
			}
		}
		if ran != commands {
			t.Errorf("%s: %d commands ran", page, ran)
		}
	}
}

// docs/reference/sql.md lists the functions that there are.
func TestSQLFunctions(t *testing.T) {
	t.Parallel()
	statements, err := functions.Statements(functions.Postgres)
	check(t, err)
	page := read(t, "docs/reference/sql.md")
	listed := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| (`idmint_[^|]*) \\|").FindAllStringSubmatch(page, -1) {
		for _, name := range regexp.MustCompile(`idmint_\w+`).FindAllString(row[1], -1) {
			listed[name] = true
		}
	}
	for _, s := range statements {
		name := regexp.MustCompile(`idmint_\w+`).FindString(s)
		if !listed[name] {
			t.Errorf("docs/reference/sql.md does not list %s", name)
		}
	}
	if len(listed) != len(statements) {
		t.Errorf("docs/reference/sql.md lists %d functions, of %d", len(listed), len(statements))
	}
}

// docs/reference/versions.md names the version of the tables and the servers that tests run on.
func TestVersions(t *testing.T) {
	t.Parallel()
	page := read(t, "docs/reference/versions.md")
	want := []string{fmt.Sprintf("raise: it is %d.", migrations.Latest(migrations.SQLite))}
	title := map[string]string{
		"postgres": "PostgreSQL", "mariadb": "MariaDB",
		"clickhouse/clickhouse-server": "ClickHouse", "quay.io/coreos/etcd": "etcd",
		"zookeeper": "ZooKeeper", "cassandra": "Cassandra",
	}
	images := regexp.MustCompile(
		`images\+=\(([\w./-]+):v?(\d+(?:\.\d+)?)[\d.]*\)`).FindAllStringSubmatch(read(t, "scripts/databases"), -1)
	if len(images) != len(title)+1 { // PostgreSQL is there twice
		t.Fatalf("scripts/databases has %d images, want %d", len(images), len(title)+1)
	}
	for _, image := range images {
		want = append(want, fmt.Sprintf("| %s %s |", title[image[1]], image[2]))
	}
	for _, w := range want {
		if !strings.Contains(strings.Join(strings.Fields(page), " "), w) {
			t.Errorf("docs/reference/versions.md lacks %q", w)
		}
	}
}

// The commands of docs/start.md print what the page shows, in SQLite and PostgreSQL.
func TestStartCommands(t *testing.T) {
	t.Parallel()
	dir := copied(t)
	said := heard(func() (said string) {
		forget(t, dir)
		source := dbtest.New(t, databases.Postgres).Source()
		for _, block := range blocks(t, "docs/start.md", "sh") {
			if !strings.HasPrefix(block, "go mod edit") { // README's, which its test runs
				said += sh(t, dir, block, "IDMINT_DB="+source)
			}
		}
		return said
	})
	shown := 0
	for _, block := range blocks(t, "docs/start.md", "") {
		for line := range strings.Lines(block) {
			if strings.HasPrefix(line, "Ann ") {
				if shown++; !strings.Contains(said, line) {
					t.Errorf("docs/start.md shows %q, and the commands said\n%s", line, said)
				}
			}
		}
	}
	if shown != 6 {
		t.Errorf("docs/start.md shows %d lines of the programs", shown)
	}
}

// The program of docs/use/claims.md runs as the page says, and takes the number again that it had.
func TestClaimsCommands(t *testing.T) {
	t.Parallel()
	dir := copied(t)
	numbers := ""
	for range 2 {
		for _, block := range blocks(t, "docs/use/claims.md", "sh") {
			said := sh(t, dir, block)
			found := regexp.MustCompile(`(?m)^[0-9a-f]{16} of pair (0/[0-3])$`).FindStringSubmatch(said)
			if found == nil || !strings.Contains(said, "eightbyte "+found[1]+" taken") {
				t.Fatalf("%s said\n%s", block, said)
			}
			numbers += found[1] + " "
		}
	}
	if first, second, _ := strings.Cut(strings.TrimSpace(numbers), " "); first != second {
		t.Errorf("pairs %s", numbers)
	}
}

// The commands of docs/operate/recipes.md build the program that the page speaks of.
func TestDeployCommands(t *testing.T) {
	t.Parallel()
	dir := copied(t)
	for _, block := range blocks(t, "docs/operate/recipes.md", "sh") {
		if said := sh(t, dir, block); !strings.Contains(said, "launch_id (65)") {
			t.Fatalf("%s said\n%s", block, said)
		}
	}
	const million = 1_000_000
	info, err := os.Stat(filepath.Join(dir, "idmint"))
	check(t, err)
	says := fmt.Sprintf("and has %d MB", (info.Size()+million/2)/million)
	if !strings.Contains(read(t, "docs/operate/recipes.md"), says) {
		t.Errorf("the page does not say that the program %q", says)
	}
}

// The page names every recipe.
func TestDeployPage(t *testing.T) {
	t.Parallel()
	page := read(t, "docs/operate/recipes.md")
	recipes, err := filepath.Glob("deploy/*/*")
	check(t, err)
	if len(recipes) < 11 {
		t.Errorf("recipes: %q", recipes)
	}
	for _, recipe := range append(recipes, "deploy/gitlab/.gitlab-ci.yml", "deploy/Dockerfile") {
		if !strings.Contains(page, "](../../"+recipe+")") {
			t.Errorf("the page does not name %s", recipe)
		}
	}
}

// The runbook of docs/operate/restore.md is run after a restore that lost a launch and numbers of a counter.
// Nothing comes twice.
func TestRestoreRunbook(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	steps := regexp.MustCompile("(?ms)^   ```sh\n(.*?)^   ```$").FindAllStringSubmatch(
		read(t, "docs/operate/restore.md"), -1)
	if len(steps) != 2 {
		t.Fatalf("docs/operate/restore.md has %d steps with commands", len(steps))
	}
	sh := func(script string) string {
		t.Helper()
		cmd := exec.Command("bash", "-euo", "pipefail", "-c", script)
		cmd.Dir = dir
		cmd.Env = withIdmint(t, "IDMINT_DB=sqlite:restored.db")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", script, err, out)
		}
		return string(out)
	}
	const start = "idmint launch start --service shop --env production --initiator ann --key "
	sh("idmint migrate; " + start + "first; idmint new sequence --counter orders -n 3")
	sh("idmint backup --to backup.db")
	if got := sh(start + "second; idmint new sequence --counter orders"); got != "2\n4\n" {
		t.Fatalf("before the restore: %q", got)
	}
	sh("rm restored.db*; mv backup.db restored.db")
	if got := sh(steps[0][1]); strings.Count(got, "counter orders  3     1000000") != 2 {
		t.Errorf("advance said\n%s", got)
	}
	if got := sh(steps[1][1]); !strings.HasPrefix(got, "71\n") ||
		!strings.Contains(got, " 0 findings\n") {
		t.Errorf("the new launch is\n%s", got)
	}
	if got := sh("idmint new sequence --counter orders"); got != "1000001\n" {
		t.Errorf("the next order is %s", got)
	}
	if got := sh("idmint launch list --running"); strings.Count(got, "running") != 1 {
		t.Errorf("launches of before run on:\n%s", got)
	}
}
