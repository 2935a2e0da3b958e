package main

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idmint/idmint/cmd/idmint/measure"
)

// names are the files in a folder.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

// SQLite is measured where nothing is named. Nothing is left of it.
func TestReport(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	s := newShell(t)
	text := s.must("report", "--rows", "1000")
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) != 2+1+len(measure.Keys()) || !strings.HasPrefix(lines[0], "SQLite 3.") ||
		!strings.HasPrefix(lines[2], "serial ") || !strings.Contains(text, " as signed numbers ") {
		t.Errorf("%s", text)
	}
	bytes := map[string]float64{}
	for line := range strings.Lines(s.must("report", "--rows", "1000", "--json")) {
		var r keyReport
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		bytes[r.Name()] = r.BytesPerRow
		if r.Rows != 1000 || r.RowsPerSecond <= 0 || r.Relative < r.Low || r.Relative > r.High ||
			(r.Order == nil) != (r.Name() == measure.Serial) ||
			r.Order != nil && !r.Order.Agrees || r.Name() == measure.Serial && r.Relative != 1 {
			t.Errorf("%s", line)
		}
	}
	if len(bytes) != 1+len(measure.Keys()) || bytes["decimal"] < 8 ||
		bytes[measure.UUIDv7] < bytes["decimal"]+8 {
		t.Errorf("%v", bytes)
	}
	if left := names(t, s.dir) + names(t, temporary); left != "" {
		t.Errorf("%s is left", left)
	}
}

// A column that does not sort as documented is told, after the others.
func TestReportOfAnotherOrder(t *testing.T) {
	var out strings.Builder
	a := &app{out: printer{w: bufio.NewWriter(&out)}}
	err := a.showReport("some", []keyReport{
		{Figure: measure.Figure{Key: measure.Keys()[0]}, Order: &measure.Order{Documented: "so"}},
	})
	if err == nil || err.Error() != "some: decimal does not sort so, as documented" ||
		a.out.flush() != nil || !strings.Contains(out.String(), "decimal") {
		t.Errorf("%v, %q", err, out.String())
	}
}

// Wrong usage is told before anything is measured.
func TestReportFails(t *testing.T) {
	s := newShell(t)
	for _, c := range []struct {
		args   string
		status int
		want   string
	}{
		{"--rows 999", 2, "--rows 999: must be 1000 to 10000000"},
		{"--db nonsense", 2, "--db: the name must begin with the kind of database"},
		{"--db sqlite:a.db", 2, "SQLite is measured in a temporary file"},
		{"--db etcd://localhost:1/app", 2, "--db: etcd can hold a launch log, but not rows"},
		{
			"--db postgres://nobody:secret@127.0.0.1:1/none", 1,
			"postgres://nobody:xxxxx@127.0.0.1:1/none",
		},
		{"more", 2, "unknown command"},
	} {
		got := s.run(append([]string{"report"}, strings.Fields(c.args)...)...)
		if got.status != c.status || got.stdout != "" || !strings.Contains(got.stderr, c.want) ||
			strings.Contains(got.stderr, "secret") {
			t.Errorf("%s: %v, want %d, %q", c.args, got, c.status, c.want)
		}
	}
}

// Ctrl-C ends it soon, and leaves nothing.
func TestReportInterrupted(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	s := newShell(t)
	cmd := s.command("report", "--rows", "10000000")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.until("it measures", func() bool {
		found, err := filepath.Glob(filepath.Join(temporary, "idmint-report-*", "report.db-wal"))
		return err == nil && len(found) == 1
	})
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	status := cmd.ProcessState.ExitCode()
	if status != statusInterrupted || stderr.String() != "idmint: interrupted\n" {
		t.Errorf("status %d, %q", status, stderr.String())
	}
	if left := names(t, s.dir) + names(t, temporary); left != "" {
		t.Errorf("%s is left", left)
	}
}
