package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog/checks"
)

// told are the results that doctor wrote as JSON: levels and messages by code.
func told(t testing.TB, out string) map[string]string {
	t.Helper()
	got := map[string]string{}
	if out == "" {
		return got
	}
	for _, line := range lines(out) {
		var r checks.Result
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.Message == "" ||
			!slices.ContainsFunc(checks.All(), func(c checks.Check) bool {
				return c.Code == r.Check && (c.Remedy == r.Remedy ||
					r.Remedy == "" && (r.Level == checks.Passed || r.Level == checks.Unknown))
			}) {
			t.Errorf("%s: %v", line, err)
		}
		got[r.Check] += string(r.Level) + ": " + r.Message + ". "
	}
	return got
}

// A log that is well: what passed is shown on demand alone.
func TestDoctor(t *testing.T) {
	s := inside(t)
	s.must("migrate", "--db", "sqlite:app.db")
	s.start("a")
	out := s.must("doctor", "--db", "sqlite:app.db", "--state", "state")
	if strings.Contains(out, "passed: ") || !strings.Contains(out, " 0 unknown, ") ||
		!strings.HasSuffix(out, " 0 findings; the first look is saved in state\n") {
		t.Errorf("%q", out)
	}
	out = s.must("doctor", "--db", "sqlite:app.db", "--state", "state", "--verbose")
	if !strings.Contains(out, "passed: launches: the latest launch is 1\n") ||
		!strings.Contains(out, "passed: lost: nothing is lower than at the last look, and ") {
		t.Errorf("%q", out)
	}
	got := told(t, s.must("doctor", "--db", "sqlite:app.db", "--json", "--verbose"))
	for _, code := range []string{"open", "schema", "tables", "triggers", "writable", "clock"} {
		if !strings.HasPrefix(got[code], "passed: ") {
			t.Errorf("%s: %q", code, got[code])
		}
	}
	if len(got) < 15 || !strings.HasPrefix(got["identity"], "unknown: there is no earlier") {
		t.Errorf("%v", got)
	}
}

// Findings are told with their remedy, and the status is 1.
func TestDoctorFinds(t *testing.T) {
	s := inside(t)
	s.write("app.db", "")
	got := s.run("doctor", "--db", "sqlite:app.db")
	if got.status != 1 || got.stderr != "" ||
		!strings.Contains(got.stdout, "finding: schema: there is no launch log") ||
		!strings.Contains(got.stdout, "\n  For a new log, or an older one, run idmint migrate. ") {
		t.Errorf("without a log: %v", got)
	}
	s.must("migrate", "--db", "sqlite:app.db")
	s.run("counter", "advance", "orders", "--to", "9000000000000000000", "--db", "sqlite:app.db")
	got = s.run("doctor", "--db", "sqlite:app.db", "--json")
	const want = "finding: counter orders is at 9000000000000000000"
	if found := told(t, got.stdout)["counters"]; !strings.HasPrefix(found, want) ||
		got.status != 1 || got.stderr != "" {
		t.Errorf("%q, %v", found, got)
	}
	// Each namespace has numbers of its own.
	s.must("doctor", "--db", "sqlite:app.db", "--namespace", "other")
}

// What is in the way of a log is a finding as well.
func TestDoctorCannotOpen(t *testing.T) {
	s := inside(t)
	s.start("a")
	s.finds("schema", "file missing.db does not exist, so there is no launch log", "--db",
		"sqlite:missing.db")
	if _, err := os.Stat(filepath.Join(s.dir, "missing.db")); err == nil {
		t.Error("it made a file")
	}
	s.write("none.db", strings.Repeat("no database ", 1000))
	s.finds("open", "file is not a database", "--db", "sqlite:none.db")
	if err := os.Link(filepath.Join(s.dir, "app.db"), filepath.Join(s.dir, "b.db")); err != nil {
		t.Fatal(err)
	}
	s.finds("sqlite.file", "has several names", "--db", "sqlite:b.db")
	s.exec("app.db", "UPDATE idmint_schema SET version = 99 WHERE version = 1")
	if err := os.Remove(filepath.Join(s.dir, "b.db")); err != nil {
		t.Fatal(err)
	}
	s.finds("schema", "version 99, newer than", "--db", "sqlite:app.db")
}

// finds runs doctor, which must find something.
func (s *shell) finds(code, text string, args ...string) {
	s.Helper()
	got := s.run(append([]string{"doctor", "--json"}, args...)...)
	if found := told(s, got.stdout)[code]; got.status != 1 || got.stderr != "" ||
		!strings.Contains(found, "finding: ") || !strings.Contains(found, text) {
		s.Errorf("%v: %q, %v", args, found, got)
	}
}

func TestDoctorCannotOpenServers(t *testing.T) {
	for _, kind := range []databases.Kind{databases.Postgres, databases.MariaDB} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			s, d := newShell(t), dbtest.Server(t, kind).DSN
			s.finds("open", "1s", "--db", d.WithHost("127.0.0.1:1").URL(), "--wait", "1s")
			s.finds("open", "no_such_database", "--db", d.WithDatabase("no_such_database").URL())
		})
	}
}

// A log that was restored is noticed until it is advanced and accepted.
func TestDoctorRestored(t *testing.T) {
	s := inside(t)
	s.start("a")
	doctored := func(args ...string) answer {
		t.Helper()
		return s.run(append([]string{
			"doctor", "--db", "sqlite:app.db", "--state", "state", "--json",
		}, args...)...)
	}
	well := func(when string, args ...string) {
		t.Helper()
		if got := doctored(args...); got.status != 0 || got.stderr != "" || got.stdout != "" {
			t.Errorf("%s: %v", when, got)
		}
	}
	well("the first look")
	// It says on standard error what to do after a restore.
	s.run("backup", "--to", "backup.db", "--db", "sqlite:app.db")
	s.start("b")
	s.must("new", "sequence", "--counter", "orders", "--db", "sqlite:app.db")
	well("more was used")
	well("the same")
	err := os.Rename(filepath.Join(s.dir, "backup.db"), filepath.Join(s.dir, "app.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, when := range []string{"after the restore", "and again"} {
		got := doctored()
		found := told(t, got.stdout)
		if got.status != 1 ||
			!strings.HasPrefix(found["identity"], "finding: file of the store is ") ||
			!strings.HasPrefix(found["lost"], "finding: the last launch is 1, and was 2. "+
				"finding: launch 2 is gone. finding: counter orders is 0, and was ") {
			t.Errorf("%s: %v", when, got)
		}
	}
	s.advanceLaunches(20)
	s.run("counter", "advance", "orders", "--to", "99999999", "--db", "sqlite:app.db")
	got := doctored()
	found := told(t, got.stdout)
	if got.status != 1 || found["identity"] == "" || found["lost"] != "" {
		t.Errorf("advanced: %v", got)
	}
	if got := doctored("--accept"); got.status != 0 || !strings.HasPrefix(
		told(t, got.stdout)["identity"], "note: accepted: file of the store is ") {
		t.Errorf("accepted: %v", got)
	}
	well("from then on")
}

// A log that is not there any more is lost, whether its file is gone or is empty.
func TestDoctorGone(t *testing.T) {
	s := inside(t)
	s.must("migrate", "--db", "sqlite:app.db")
	s.start("a")
	s.must("doctor", "--db", "sqlite:app.db", "--state", "state")
	gone := func(when string) {
		t.Helper()
		got := s.run("doctor", "--db", "sqlite:app.db", "--state", "state", "--json")
		found := told(t, got.stdout)
		if got.status != 1 || found["lost"] != "finding: the log of the last look no "+
			"longer exists: it had come to launch 1, and had 0 counters. " ||
			!strings.Contains(found["schema"], "there is no ") {
			t.Errorf("%s: %v", when, got)
		}
	}
	if err := os.Rename(s.dir+"/app.db", s.dir+"/away.db"); err != nil {
		t.Fatal(err)
	}
	gone("without the file")
	s.write("app.db", "")
	gone("an empty file")
}
