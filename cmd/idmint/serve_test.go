package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/idmint/idmint/cmd/idmint/internal/pool"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
)

// A site is pages that are served.
type site struct {
	*shell
	cmd    *exec.Cmd
	at     string // ends with a slash
	stderr *bytes.Buffer
}

// serve runs the command until the test ends.
func (s *shell) serve(args ...string) *site {
	s.Helper()
	cmd := s.command(append([]string{"serve"}, args...)...)
	of := &site{shell: s, cmd: cmd, stderr: new(bytes.Buffer)}
	cmd.Stderr = of.stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	of.at, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = cmd.Wait()
		s.Fatalf("serve %q: %v, %s", args, err, of.stderr)
	}
	of.at = strings.TrimSpace(of.at)
	s.Cleanup(func() {
		if cmd.ProcessState == nil {
			of.end(syscall.SIGTERM)
		}
	})
	return of
}

// end asks the command to end, and expects that it does so in peace.
func (s *site) end(signal os.Signal) {
	s.Helper()
	if err := s.cmd.Process.Signal(signal); err != nil {
		s.Fatal(err)
	}
	if err := s.cmd.Wait(); err != nil || settled(s.stderr) != "" {
		s.Errorf("%v: %v, %s", signal, err, s.stderr)
	}
}

// get asks for a page, with what change does to the request.
func (s *site) get(path string, change func(*http.Request)) (int, string) {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), http.MethodGet, s.at+path, nil)
	if err != nil {
		s.Fatal(err)
	}
	if change != nil {
		change(r)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		s.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

// wants expects a status and a text of a page. A page waits for the log for two seconds, in which a
// busy machine may not have read it: then it is asked for again.
func (s *site) wants(path string, status int, text string) {
	s.Helper()
	var got int
	var body string
	s.until("the log answers to "+path, func() bool {
		got, body = s.get(path, nil)
		return got == status && strings.Contains(body, text) ||
			!strings.Contains(body, "does not answer")
	})
	if got != status || !strings.Contains(body, text) {
		s.Errorf("%s: %d, want %d with %q: %s", path, got, status, text, body)
	}
}

const anyPort = "127.0.0.1:0"

var showsMetric = regexp.MustCompile(
	`idmint_log_step_duration_seconds_count{error_type="",op="show"} ([2-9]|\d\d)`)

// All pages of a log are there, and an end by a signal is no failure.
func TestServe(t *testing.T) {
	s := inside(t)
	s.start("a")
	s.must("new", "decimal", "--db", "sqlite:app.db", "--launch", "1")
	pages := s.serve("--db", "sqlite:app.db", "--listen", anyPort)
	pages.wants("", 200, "What is this ID?")
	pages.wants("?q=10000000001", 200, "taken by process")
	pages.wants("launches", 200, `href="launches/1"`)
	pages.wants("launches/1", 200, "Generator numbers")
	pages.wants("health", 200, "All is well")
	pages.wants("healthz", 200, `"status":"ok"`)
	pages.wants("metrics", 200, `idmint_numbers_used{namespace="default",numbers_kind="launches"`)
	// The pages of an ID and of a launch look for it once each, or more often if asked for again.
	_, metrics := pages.get("metrics", nil)
	if !showsMetric.MatchString(metrics) {
		t.Errorf("want two steps show or more: %s", metrics)
	}
	if status, _ := pages.get("", func(r *http.Request) { r.Host = "evil.example" }); status != 421 {
		t.Errorf("another host: %d", status)
	}
	pages.end(os.Interrupt)
}

// Without a database IDs are explained, and the pages say what they lack.
func TestServeWithoutLog(t *testing.T) {
	pages := inside(t).serve("--listen", anyPort, "--prefix", "/idmint")
	if !strings.HasSuffix(pages.at, "/idmint/") {
		t.Error(pages.at)
	}
	pages.wants("?q=14150009200065", 200, "counter")
	pages.wants("launches", 404, "There is no launch log here")
	pages.wants("metrics", 404, "")
	pages.end(syscall.SIGTERM)
}

// refused runs the command with arguments that it should refuse. If it serves, it is ended.
func (s *shell) refused(args ...string) answer {
	s.Helper()
	cmd := s.command(append([]string{"serve"}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	at, _ := bufio.NewReader(out).ReadString('\n')
	if at != "" {
		_ = cmd.Process.Kill()
	}
	_ = cmd.Wait()
	return answer{at, stderr.String(), cmd.ProcessState.ExitCode()}
}

// An address that others reach wants authentication, or a flag.
func TestServeRefuses(t *testing.T) {
	s := inside(t)
	s.write("empty", "\n")
	for args, want := range map[string]string{
		"--listen 0.0.0.0:0":               "other machines may reach this address",
		"--listen :0":                      "other machines may reach this address",
		"--listen [::]:0":                  "other machines may reach this address",
		"--listen example.org:80":          "other machines may reach this address",
		"--listen nonsense":                `--listen "nonsense": must be an address`,
		"--user ann":                       "--user ann: the password is missing",
		"--user a:b":                       `--user "a:b": must not have a colon`,
		"--user ann --password-file empty": "--user ann: the password is missing",
		"--password-file empty":            "--password-file needs --user",
		"--prefix idmint":                  `--prefix "idmint": must be a path such as /idmint`,
		"--db clickhouse://x":              "ClickHouse has no transactions",
		"--host http://x/":                 `--host "http://x/": must be a name`,
		"--host=":                          `--host "": must be a name`,
		"now":                              `unknown command "now"`,
	} {
		got := s.refused(strings.Fields(args)...)
		if got.status != statusUsage || got.stdout != "" || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: %v, want %q", args, got, want)
		}
	}
	for args, want := range map[string]string{
		"--user ann --password-file none": "--password-file: open none: no such file",
		"--db sqlite:none.db":             "none.db",
		"--listen 127.0.0.1:1":            "--listen 127.0.0.1:1: ",
	} {
		if args == "--listen 127.0.0.1:1" && os.Getuid() == 0 {
			continue // root may listen there
		}
		got := s.refused(strings.Fields(args)...)
		if got.status != statusBadInput || got.stdout != "" || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: %v, want %q", args, got, want)
		}
	}
	pages := s.serve("--listen", "0.0.0.0:0", "--open")
	name, err := os.Hostname()
	if err != nil || !strings.Contains(pages.at, "//"+name+":") {
		t.Errorf("%s does not name this machine, %s", pages.at, name)
	}
	pages.at = strings.Replace(pages.at, name, "127.0.0.1", 1)
	pages.wants("?q=7", 200, "sequence")
	// A stranger's page has another name, which may lead here.
	for host, want := range map[string]int{
		name: 200, name + ":8390": 200, "localhost": 200, "192.0.2.7:8390": 200,
		"[2001:db8::7]": 200, "evil.example": 421, name + ".evil.example": 421,
	} {
		status, body := pages.get("", func(r *http.Request) { r.Host = host })
		if status != want || want == 421 && !strings.Contains(body, "--host") {
			t.Errorf("%s: %d, want %d: %s", host, status, want, body)
		}
	}
	named := s.serve("--listen", anyPort, "--host", "pages.example")
	for host, want := range map[string]int{"pages.example": 200, "localhost": 421} {
		if status, _ := named.get("", func(r *http.Request) { r.Host = host }); status != want {
			t.Errorf("%s: %d, want %d", host, status, want)
		}
	}
}

// The password comes from the environment or a file, and never from the command line.
func TestServeAuth(t *testing.T) {
	s := inside(t)
	s.write("password", "secret\n")
	fromFile := s.serve("--listen", anyPort, "--user", "ann", "--password-file", "password")
	s.env = append(s.env, passwordVariable+"=secret")
	if got := s.refused("--listen", anyPort); got.status != statusUsage ||
		!strings.Contains(got.stderr, passwordVariable+" is set, which needs --user") {
		t.Errorf("a password of nobody: %v", got)
	}
	fromEnvironment := s.serve("--listen", anyPort, "--user", "ann")
	for _, pages := range []*site{fromFile, fromEnvironment} {
		pages.wants("", 401, "Who are you?")
		for password, want := range map[string]int{"secret": 200, "secret\n": 401, "": 401} {
			status, _ := pages.get("", func(r *http.Request) { r.SetBasicAuth("ann", password) })
			if status != want {
				t.Errorf("%q: %d, want %d", password, status, want)
			}
		}
	}
}

// A role of PostgreSQL that may only SELECT sees all pages.
func TestServeReadOnlyRole(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	d := dbtest.New(t, databases.Postgres)
	s.db = d.URL()
	s.start("a")
	s.must("new", "decimal", "--db", "sqlite:app.db", "--launch", "1")
	db, err := pool.Open(d, pool.Existing)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	exec := func(query string) {
		if _, err := db.ExecContext(context.WithoutCancel(t.Context()), query); err != nil {
			t.Errorf("%s: %v", query, err)
		}
	}
	role := fmt.Sprintf("idmint_reader_%d", time.Now().UnixNano())
	exec("CREATE ROLE " + role + " LOGIN PASSWORD 'reader'")
	defer exec("DROP ROLE " + role)
	defer exec("DROP OWNED BY " + role)
	exec("GRANT USAGE ON SCHEMA public TO " + role)
	exec("GRANT SELECT ON ALL TABLES IN SCHEMA public TO " + role)
	name, err := url.Parse(s.db)
	if err != nil {
		t.Fatal(err)
	}
	name.User = url.UserPassword(role, "reader")
	if got := s.run("launch", "end", "1", "--outcome", "failed", "--db", name.String()); !strings.Contains(
		got.stderr, "permission denied") {
		t.Fatalf("the role may write: %v", got)
	}
	pages := s.serve("--db", name.String(), "--listen", anyPort)
	defer pages.end(syscall.SIGTERM)
	pages.wants("?q=10000000001", 200, "taken by process")
	pages.wants("launches", 200, `href="launches/1"`)
	pages.wants("launches/1", 200, "Generator numbers")
	pages.wants("health", 200, "Launch digits")
	pages.wants("healthz", 200, `"status":"ok"`)
	pages.wants("metrics", 200, "idmint_numbers_used")
}

// Whoever looks at a log leaves its file as it was, and nothing beside it.
func TestServeWritesNothing(t *testing.T) {
	s := inside(t)
	s.start("a")
	s.must("new", "decimal", "--db", "sqlite:app.db", "--launch", "1")
	before := s.files()
	pages := s.serve("--db", "sqlite:app.db", "--listen", anyPort)
	for path, status := range map[string]int{
		"": 200, "?q=10000000001": 200, "launches": 200, "launches?running=1": 200, "launches/1": 200,
		"launches/2": 404, "health": 200, "healthz": 200, "metrics": 200, "nowhere": 404,
	} {
		pages.wants(path, status, "")
	}
	pages.end(syscall.SIGTERM)
	if after := s.files(); !maps.Equal(after, before) {
		t.Errorf("the folder has %v, and had %v", after, before)
	}
}

// files are the sums of the files in the folder.
func (s *shell) files() map[string]string {
	s.Helper()
	sums := map[string]string{}
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		s.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(s.dir, e.Name()))
		if err != nil {
			s.Fatal(err)
		}
		sums[e.Name()] = fmt.Sprintf("%d bytes, %x", len(data), sha256.Sum256(data))
	}
	return sums
}
