package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/idmint/idmint/cmd/idmint/internal/report"
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

// SQLite is measured without anything being named. The page can be made again of its figures.
func TestReport(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	s := newShell(t)
	got := s.run("report", "--rows", "1000")
	if got.status != 0 || got.stderr != "" ||
		!strings.HasSuffix(got.stdout,
			"\nThe page is report.html, the figures are report.json.\n") ||
		!strings.Contains(got.stdout, " columns sort as documented") {
		t.Fatal(got)
	}
	if left := names(t, s.dir); left != "report.html report.json" {
		t.Errorf("there is now %s", left)
	}
	if left := names(t, temporary); left != "" {
		t.Errorf("%s is left", left)
	}
	data, err := os.Open(filepath.Join(s.dir, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	results, err := report.ReadJSON(data)
	if err != nil || results.Rows != 1000 || len(results.Databases) != 1 ||
		len(results.Footprints) == 0 {
		t.Errorf("%v: %+v", err, results)
	}
	s.must("report", "--from", "report.json", "--out", "again.html")
	page, err := os.ReadFile(filepath.Join(s.dir, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := os.ReadFile(filepath.Join(s.dir, "again.html"))
	if err != nil || string(again) != string(page) ||
		!strings.HasPrefix(string(page), "<!doctype html>") {
		t.Errorf("%v, or the page is another", err)
	}
}

// Wrong usage and files that cannot be written are told before anything is measured, and nothing is
// left of it.
func TestReportFails(t *testing.T) {
	s := newShell(t)
	s.write("figures.json", `{"colour": 1}`)
	folder := t.TempDir()
	pipe := filepath.Join(folder, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args   string
		status int
		want   string
	}{
		{"--rows 999", 2, "--rows 999: want 1000 to 50000000"},
		{"--db nonsense", 2, "--db: want the kind of database"},
		{"--db sqlite:a.db", 2, "SQLite is measured anyway"},
		{"--out a.json", 2, "--out and --figures name the same file, a.json"},
		{"--out none/a.html", 1, "no such file or directory"},
		{"--figures none/a.json", 1, "no such file or directory"},
		{"--out " + folder, 1, folder + " is there, and is no file"},
		{"--out a.html --figures " + pipe, 1, pipe + " is there, and is no file"},
		{
			"--db postgres://nobody:secret@127.0.0.1:1/none", 1,
			"postgres://nobody:xxxxx@127.0.0.1:1/none",
		},
		{"--from none.json", 1, "none.json: no such file"},
		{"--from figures.json", 1, "figures.json: "},
		{"--from figures.json --rows 5000", 2, "with --from nothing is measured: leave --rows out"},
		{"more", 2, "unknown command"},
	} {
		got := s.run(append([]string{"report"}, strings.Fields(c.args)...)...)
		if got.status != c.status || got.stdout != "" || !strings.Contains(got.stderr, c.want) ||
			strings.Contains(got.stderr, "secret") {
			t.Errorf("%s: %v, want %d, %q", c.args, got, c.status, c.want)
		}
		if left := names(t, s.dir); left != "figures.json" {
			t.Errorf("%s: there is now %s", c.args, left)
		}
	}
}

// A link stays one, and the file that it leads to is replaced.
func TestReportThroughLink(t *testing.T) {
	s := newShell(t)
	figures, err := filepath.Abs("../../docs/report.json")
	if err != nil {
		t.Fatal(err)
	}
	s.write("real.html", "old")
	link := filepath.Join(s.dir, "link.html")
	if err := os.Symlink("real.html", link); err != nil {
		t.Fatal(err)
	}
	s.must("report", "--from", figures, "--out", link)
	if to, err := os.Readlink(link); err != nil || to != "real.html" {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	if page, err := os.ReadFile(filepath.Join(s.dir, "real.html")); err != nil ||
		!strings.Contains(string(page), "What primary keys cost") {
		t.Errorf("%d bytes, %v", len(page), err)
	}
	if left := names(t, s.dir); left != "link.html real.html" {
		t.Errorf("there is %s", left)
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
