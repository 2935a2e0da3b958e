package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

func TestImport(t *testing.T) {
	s := newShell(t)
	s.must("migrate", "--db", "sqlite:app.db")
	s.write("f.csv", numbered(12_345))
	out := s.must("import", "f.csv", "--db", "sqlite:app.db", "--table", "t")
	s.checkNumbered(12_345)
	for _, want := range []string{
		"t: 12345 rows in ", " rows a second, launch 1\n",
		"IDs 10000000001 to 123450000000001\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q: %q is missing", out, want)
		}
	}
	var result struct {
		Table                  string
		Rows, Resumed, Removed int
		Launch                 int    `json:"launch_id"`
		Generators             []int  `json:"generator_ids"`
		First                  string `json:"first_id"`
		Last                   string `json:"last_id"`
		Seconds                float64
		RowsPerSecond          int `json:"rows_per_second"`
	}
	s.write("g.jsonl", `{"a":1}`+"\n"+`{"a":2}`+"\n")
	out = s.must("import", "g.jsonl", "--db", "sqlite:app.db", "--table", "u", "--json")
	if err := json.Unmarshal([]byte(out), &result); err != nil || strings.Count(out, "\n") != 1 {
		t.Fatalf("%q: %v", out, err)
	}
	if result.Rows != 2 || result.Table != "u" || result.Launch != 2 ||
		len(result.Generators) != 1 || result.First != "123460000000002" ||
		result.Last != "123470000000002" || result.Seconds <= 0 || result.RowsPerSecond <= 0 {
		t.Errorf("%+v", result)
	}
	// From standard input, under a launch that the environment names: it is of another service, which
	// has an order of its own.
	s.env = append(s.env, launchVariable+"="+s.start("a deployment"))
	got := s.feed("a\tb\n1\t2\n", "import", "-", "--format", "tsv", "--db", "sqlite:app.db",
		"--table", "v")
	if got.status != 0 {
		t.Error(got)
	}
	if n := s.count(`SELECT count(*) FROM v WHERE id = 10000000003 AND a = 1 AND b = 2`); n != 1 {
		t.Errorf("%d rows", n)
	}
}

// An import that was stopped says what to do, and each of these does it.
func TestImportUnfinished(t *testing.T) {
	s := newShell(t)
	s.must("migrate", "--db", "sqlite:app.db")
	s.write("f.csv", numbered(30)+"x\n")
	args := []string{"import", "f.csv", "--db", "sqlite:app.db", "--table", "t", "--batch", "10"}
	got := s.run(args...)
	want := "idmint: f.csv: line 32: 1 fields, but the header has 2; 30 rows are stored, and " +
		"nothing after them: correct the row, and continue with --resume\n"
	if got.stderr != want || got.status != 1 {
		t.Errorf("got %v, want %q", got, want)
	}
	got = s.run(args...)
	if got.status != 1 || !strings.Contains(got.stderr, "--resume") ||
		!strings.Contains(got.stderr, "--restart") ||
		!strings.Contains(got.stderr, filepath.Join(s.dir, "f.csv")) {
		t.Error(got)
	}
	s.write("f.csv", numbered(50))
	// The file is the same by whatever path.
	out := s.must("import", "../"+filepath.Base(s.dir)+"/f.csv", "--db",
		"sqlite:"+filepath.Join(s.dir, "app.db"), "--table", "T", "--resume")
	if !strings.Contains(out, "30 rows had been stored") {
		t.Errorf("%q", out)
	}
	s.checkNumbered(50)
	// Once more is once too much only without being told that it was finished.
	out = s.must(append(args, "--resume")...)
	if !strings.Contains(out, "nothing was left to import: all 50 rows are stored") {
		t.Errorf("%q", out)
	}
	s.checkNumbered(50)
	s.write("f.csv", numbered(10)+"x\n")
	if got := s.run(args...); got.status != 1 {
		t.Error(got)
	}
	s.write("f.csv", numbered(5))
	out = s.must(append(args, "--restart")...)
	if !strings.Contains(out, "10 rows of the unfinished import were removed") {
		t.Errorf("%q", out)
	}
	if n := s.count(`SELECT count(*) FROM t`); n != 55 {
		t.Errorf("%d rows, want 55", n)
	}
}

// Rows may go into a file that keeps no launch log, also in WAL mode. A second log, in that file,
// would number launches from 1 again.
func TestImportLogElsewhere(t *testing.T) {
	s := newShell(t)
	if launch := s.start("a"); launch != "1" {
		t.Fatalf("launch %s", launch)
	}
	s.write("shop.db", "")
	s.exec("shop.db", "PRAGMA journal_mode = WAL; CREATE TABLE app (x)")
	s.write("f.csv", "a\nx\n")
	args := []string{
		"import", "f.csv", "--db", "sqlite:shop.db", "--log", "sqlite:app.db", "--table", "t",
	}
	if out := s.must(args...); !strings.Contains(out, "1 rows in ") ||
		!strings.Contains(out, "launch 2\n") {
		t.Errorf("%q", out)
	}
	if out := s.must(append(args, "--resume")...); !strings.Contains(out, "nothing was left") {
		t.Errorf("again: %q", out)
	}
	got := s.run("import", "f.csv", "--db", "sqlite:shop.db", "--table", "t")
	if got.status != 1 || !strings.Contains(got.stderr, "WAL") {
		t.Errorf("with the log in WAL mode: %v", got)
	}
}
