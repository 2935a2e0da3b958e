package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mattn/go-sqlite3"

	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/sqlite"
)

// binary is the real program, which the tests run as a process.
var binary string

func TestMain(m *testing.M) {
	if os.Getenv(stuckVariable) != "" {
		stuck()
	}
	// Parallel tests wait for servers, locks and clocks: more of them than there are processors.
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	status, err := withBinary(func() int { return dbtest.Code(m) })
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

func withBinary(run func() int) (status int, err error) {
	dir, err := os.MkdirTemp("", "idmint")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "idmint")
	// Without symbols it is as docs/operate/recipes.md builds it, and is linked sooner.
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", binary, ".")
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("go build: %w\n%s", err, out)
	}
	return run(), nil
}

// A shell runs idmint in a folder of its own.
type shell struct {
	testing.TB
	dir    string
	env    []string
	db     string // a launch log that takes the place of sqlite:app.db
	inside bool   // runs are calls of this process
}

// inside is a shell whose runs are calls of this process, which take a hundredth of a process's
// time. It is for what runs read and write, and for no more: locks on files, signals and terminals
// are those of processes, and s.command starts one all the same. Its test is not parallel, because
// the folder and the environment are all the process's.
func inside(t *testing.T) *shell {
	t.Helper()
	t.Setenv(logVariable, "") // panics in a parallel test
	s := newShell(t)
	s.inside = true
	return s
}

func newShell(t testing.TB) *shell {
	t.Helper()
	return &shell{TB: t, dir: t.TempDir(), env: environment()}
}

// environment is that of this process, without what idmint takes from it.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return name == launchVariable || name == dsnVariable || name == logVariable
	})
}

// An answer is what a process wrote, and its exit status: -1 if a signal ended it.
type answer struct {
	stdout, stderr string
	status         int
}

func (a answer) String() string {
	return fmt.Sprintf("status %d, stdout %.500q, stderr %.500q", a.status, a.stdout, a.stderr)
}

const processTime = 5 * time.Minute

// command is a process that ends with the test, at the latest after processTime.
func (s *shell) command(args ...string) *exec.Cmd {
	s.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), processTime)
	s.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, binary, s.inLog(args)...)
	cmd.Dir, cmd.Env = s.dir, s.env
	return cmd
}

// inLog are arguments that name the shell's launch log.
func (s *shell) inLog(args []string) []string {
	args = append([]string{}, args...)
	for i, arg := range args {
		if arg == "sqlite:app.db" && s.db != "" {
			args[i] = s.db
		}
	}
	return args
}

// call is a run within this process.
func (s *shell) call(input string, args []string) (got answer, err error) {
	here, err := os.Getwd()
	if err != nil {
		return got, err
	}
	before := os.Environ()
	defer func() {
		setEnvironment(before)
		err = errors.Join(err, os.Chdir(here))
	}()
	setEnvironment(s.env)
	if err := os.Chdir(s.dir); err != nil {
		return got, err
	}
	var stdout, stderr bytes.Buffer
	status := run(s.inLog(args), strings.NewReader(input), &stdout, &stderr)
	return answer{stdout.String(), settled(&stderr), status}, nil
}

// setEnvironment gives this process other variables: of those that come twice the last one, as a
// process has them.
func setEnvironment(variables []string) {
	os.Clearenv()
	for _, variable := range variables {
		name, value, _ := strings.Cut(variable, "=")
		os.Setenv(name, value)
	}
}

func (s *shell) run(args ...string) answer {
	s.Helper()
	return s.feed("", args...)
}

// feed runs idmint with a text on standard input.
func (s *shell) feed(input string, args ...string) answer {
	s.Helper()
	if s.inside {
		got, err := s.call(input, args)
		if err != nil {
			s.Fatal(err)
		}
		return got
	}
	cmd := s.command(args...)
	cmd.Stdin = strings.NewReader(input)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		s.Fatal(err)
	}
	return answer{stdout.String(), settled(&stderr), cmd.ProcessState.ExitCode()}
}

var waited = regexp.MustCompile(`(?m)^idmint: .* does not answer: waiting for up to .*\n`)

// settled is what a command wrote to standard error, without the line that it waits for a database.
// On a busy machine any command may write that.
func settled(stderr *bytes.Buffer) string { return waited.ReplaceAllString(stderr.String(), "") }

// must runs idmint, expects it to succeed in silence, and returns what it wrote.
func (s *shell) must(args ...string) string {
	s.Helper()
	got := s.run(args...)
	if got.status != 0 || got.stderr != "" {
		s.Fatalf("idmint %q: %v", args, got)
	}
	return got.stdout
}

func (s *shell) write(name, content string) {
	s.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(content), 0o600); err != nil {
		s.Fatal(err)
	}
}

// open opens a database in the shell's folder, beside idmint.
func (s *shell) open(name string) *sql.DB {
	s.Helper()
	db, err := sql.Open("sqlite3", sqlite.DSN(filepath.Join(s.dir, name), sqlite.Existing))
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { db.Close() })
	return db
}

// count asks app.db for a number. SQLite does not wait while another process makes the file's log,
// or takes it away: then it is asked again.
func (s *shell) count(query string, args ...any) (n int) {
	s.Helper()
	db := s.open("app.db")
	defer db.Close()
	var err error
	s.until("app.db is not locked", func() bool {
		var busy sqlite3.Error
		err = db.QueryRow(query, args...).Scan(&n)
		return !errors.As(err, &busy) || busy.Code != sqlite3.ErrBusy
	})
	if err != nil {
		s.Fatalf("%s: %v", query, err)
	}
	return n
}

func (s *shell) exec(name, query string, args ...any) {
	s.Helper()
	db := s.open(name)
	defer db.Close()
	if _, err := db.Exec(query, args...); err != nil {
		s.Fatalf("%s: %v", query, err)
	}
}

// start starts a launch in app.db, which is made where it is absent, and returns its number.
func (s *shell) start(key string) string {
	s.Helper()
	s.must("migrate", "--db", "sqlite:app.db")
	return strings.TrimSpace(
		s.must("launch", "start", "--db", "sqlite:app.db", "--service", "shop", "--env", "test",
			"--key", key, "--initiator", "ann"))
}

// advanceLaunches counts launches as used, as idmint advance does, and nothing else.
func (s *shell) advanceLaunches(last int) {
	s.Helper()
	store, err := sqlite.Open(s.Context(), filepath.Join(s.dir, "app.db"))
	if err != nil {
		s.Fatal(err)
	}
	defer store.Close()
	log, err := launchlog.New(store, nil)
	if err == nil {
		_, err = log.Advance(s.Context(), last, "ann")
	}
	if err != nil {
		s.Fatal(err)
	}
}

// numbered is a CSV file of n rows whose first column counts from 0.
func numbered(n int) string {
	var b strings.Builder
	b.WriteString("n,name\n")
	for i := range n {
		fmt.Fprintf(&b, "%d,\"name, %d\"\n", i, i)
	}
	return b.String()
}

// checkNumbered checks that the rows of numbered(n) are in table t once. For each generator the
// order of its IDs is that of the file.
func (s *shell) checkNumbered(n int) {
	s.Helper()
	for query, want := range map[string]int{
		`SELECT count(*) FROM t`:                                           n,
		`SELECT count(DISTINCT id) FROM t`:                                 n,
		`SELECT count(DISTINCT n) FROM t`:                                  n,
		`SELECT coalesce(max(n + 0), -1) - coalesce(min(n + 0), 0) FROM t`: n - 1,
		`SELECT count(*) FROM t WHERE name <> 'name, ' || n`:               0,
		`SELECT count(*) FROM (SELECT n, lag(n) OVER (PARTITION BY id % 10000000000 ORDER BY id) ` +
			`before FROM t) WHERE n + 0 <= before + 0`: 0,
		`SELECT count(*) FROM (SELECT DISTINCT id % 10000000000 s FROM t) WHERE NOT EXISTS ` +
			`(SELECT 1 FROM idmint_generator WHERE launch_id = s % 100000 ` +
			`AND generator_id = s / 100000)`: 0,
	} {
		if got := s.count(query); got != want {
			s.Errorf("%s: %d, want %d", query, got, want)
		}
	}
}

// until waits for a condition, as long as a process may run.
func (s *shell) until(what string, condition func() bool) {
	s.Helper()
	for end := time.Now().Add(processTime); !condition(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			s.Fatalf("waited in vain until %s", what)
		}
	}
}

// opens waits until a process has opened a file.
func (s *shell) opens(pid int, name string) {
	s.Helper()
	files := fmt.Sprintf("/proc/%d/fd", pid)
	if _, err := os.Stat(files); err != nil {
		s.Skipf("SKIPPED: the system does not show the files of a process: %v", err)
	}
	s.until("it opens "+name, func() bool {
		found, _ := filepath.Glob(files + "/*")
		return slices.ContainsFunc(found, func(fd string) bool {
			target, err := os.Readlink(fd)
			return err == nil && filepath.Base(target) == name
		})
	})
}

// exists reports whether a table is in app.db.
func (s *shell) exists(table string) bool {
	s.Helper()
	if _, err := os.Stat(filepath.Join(s.dir, "app.db")); err != nil {
		return false
	}
	return s.count(`SELECT count(*) FROM sqlite_schema WHERE name = ?`, table) == 1
}
