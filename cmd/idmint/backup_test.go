package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBackup(t *testing.T) {
	s := inside(t)
	s.start("a")
	s.start("b")
	got := s.run("backup", "--db", "sqlite:app.db", "--to", "backup.db")
	if got.status != 0 || !strings.HasPrefix(got.stdout, `"backup.db": `) ||
		!strings.HasSuffix(got.stdout, "last launch of namespace default: 2\n") {
		t.Errorf("backup: %v", got)
	}
	for _, words := range []string{"idmint advance"} {
		if !strings.Contains(got.stderr, words) {
			t.Errorf("it does not say what a restore takes: %v", got)
		}
	}
	list := s.must("launch", "list", "--db", "sqlite:backup.db")
	if strings.Count(list, "running") != 2 {
		t.Errorf("the copy has %q", list)
	}
	got = s.run("backup", "--db", "sqlite:app.db", "--to", "backup.db")
	if got.status != 1 || got.stdout != "" || !strings.Contains(got.stderr, "file already exists") {
		t.Errorf("the file is there: %v", got)
	}
	var wrote struct {
		To         string
		LastLaunch int `json:"last_launch"`
	}
	got = s.run("backup", "--db", "sqlite:app.db", "--to", "json.db", "--json")
	err := json.Unmarshal([]byte(got.stdout), &wrote)
	if err != nil || wrote.To != "json.db" || wrote.LastLaunch != 2 {
		t.Errorf("--json: %v, %v", got, err)
	}
}

// A file without a log is copied as well, and the user hears of what is missing.
func TestBackupWithoutLog(t *testing.T) {
	s := inside(t)
	if err := os.WriteFile(filepath.Join(s.dir, "app.db"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got := s.run("backup", "--db", "sqlite:app.db", "--to", "backup.db")
	if got.status != 0 || !strings.Contains(got.stderr, "there is no launch log in app.db") {
		t.Error(got)
	}
}

func TestBackupUsage(t *testing.T) {
	s := inside(t)
	for dsn, words := range map[string]string{
		"postgres://u@h/d":   "pg_dump",
		"mysql://u@h/d":      "mariadb-dump",
		"clickhouse://h/d":   "no launch log",
		"sqlite:app.db":      "--to is required",
		"sqlite:missing.db ": "",
	} {
		args := []string{"backup", "--db", strings.TrimSpace(dsn)}
		if dsn != "sqlite:app.db" {
			args = append(args, "--to", "backup.db")
		}
		got := s.run(args...)
		if got.stdout != "" || !strings.Contains(got.stderr, words) {
			t.Errorf("%s: %v", dsn, got)
		}
		if want := map[bool]int{true: 2, false: 1}[words != ""]; got.status != want {
			t.Errorf("%s: status %d, want %d: %v", dsn, got.status, want, got)
		}
	}
}
