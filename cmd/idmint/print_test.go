package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/idmint/idmint/internal/visible"
)

// hostile is what another tool may have written into a row. It clears the screen, turns the
// direction of writing, fakes a row, and holds what nobody sees.
const hostile = "\x1b[2J\x7f\u009b31m\u202ecod.exe\u2066\u2028\u2029\r\n99999  " +
	"fake\tadmin\u200b\u200f\u061c\ufeff\v\f\U000e0041\x00"

// seenHostile is how people see it.
const seenHostile = `\x1b[2J\x7f\u009b31m\u202ecod.exe\u2066\u2028\u2029\r\n99999  ` +
	`fake\tadmin\u200b\u200f\u061c\ufeff\v\f\U000e0041\x00`

func TestVisible(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", ""},
		{"shop 1.2.3 (main)", "shop 1.2.3 (main)"},
		// people's texts, marks and spaces
		{"Zoë, 東京 – ﷺ, e\u0301, 🚀, a\u00a0b\u3000c", "Zoë, 東京 – ﷺ, e\u0301, 🚀, a\u00a0b\u3000c"},
		{`C:\users\x1b "quoted" 'too' \\`, `C:\users\x1b "quoted" 'too' \\`},
		{"\ufffd", "\ufffd"},
		{"\xff\xc3", `\xff\xc3`},
		{"\xed\xa0\x80", `\xed\xa0\x80`}, // a surrogate
		{"a\xe2\x80", `a\xe2\x80`},
		{"\ue000\U0010ffff", `\ue000\U0010ffff`},
		{"\u200c\u200d\u2069\u180e\u00ad", `\u200c\u200d\u2069\u180e\u00ad`},
		{hostile, seenHostile},
	} {
		if got := visible.Text(test.text); got != test.want {
			t.Errorf("%q is shown as %q, want %q", test.text, got, test.want)
		}
	}
}

// hidden reports whether a text holds what a terminal would not show as a letter of a line.
func hidden(text string) bool {
	return !utf8.ValidString(text) ||
		strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) })
}

// Nothing goes around the printer.
func TestOnlyThePrinterPrints(t *testing.T) {
	around := regexp.MustCompile(
		`fmt\.(Fp|P)rint|os\.Std(out|err)|a\.out\.w\b|a\.err\.Write|io\.WriteString|tabwriter`)
	allowed := map[string]bool{
		"os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))": true,
		// help, which is ours
		"root.SetOut(a.out.w)": true,
		// warn
		`fmt.Fprintln(a.err, "idmint: "+fmt.Sprintf(format, args...))`: true,
	}
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || name == "print.go" {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for n, line := range strings.Split(string(text), "\n") {
			if around.MatchString(line) && !allowed[strings.TrimSpace(line)] {
				t.Errorf("%s:%d goes around the printer: %s", name, n+1, strings.TrimSpace(line))
			}
		}
	}
}

// fill writes rows into app.db as another tool would: every text is followed by what.
func (s *shell) fill(what string) {
	s.Helper()
	s.must("migrate", "--db", "sqlite:app.db")
	s.exec("app.db",
		`INSERT INTO idmint_namespace (namespace, last_launch_id) VALUES ('default', 2)`)
	data, err := json.Marshal(map[string]string{"note": what})
	if err != nil {
		s.Fatal(err)
	}
	// JSON that hides nothing
	raw := strings.NewReplacer(`\u2028`, "\u2028", `\u2029`, "\u2029").Replace(string(data))
	for launch := 1; launch <= 2; launch++ {
		s.exec("app.db", `INSERT INTO idmint_launch (
				namespace, launch_id, idempotency_key, request_hash, service, environment,
				initiator, initiator_kind, version, commit_id, ref, artifact_digest, ticket,
				reason, approver, pipeline_url, rolls_back, data, host,
				ended_at, outcome, next_generator_id)
			VALUES (
				'default', ?1, 'key' || ?2 || ?1, 'hash' || ?2, 'service' || ?2, 'environment' || ?2,
				'initiator' || ?2, 'kind' || ?2, 'version' || ?2, 'commit' || ?2, 'ref' || ?2,
				'digest' || ?2, 'ticket' || ?2, 'reason' || ?2, 'approver' || ?2, 'url' || ?2, 1,
				?3, 'host' || ?2, CASE WHEN ?1 = 1 THEN '2026-01-02T03:04:05.678Z' END,
				CASE WHEN ?1 = 1 THEN 'outcome' || ?2 END, 1)`, launch, what, raw)
		s.exec("app.db", `INSERT INTO idmint_launch_event (namespace, launch_id, kind, actor, `+
			`detail) VALUES ('default', ?1, 'kind' || ?2, 'actor' || ?2, ?3)`,
			launch, what, raw)
		s.exec("app.db", `INSERT INTO idmint_generator (namespace, launch_id, generator_id, `+
			`token, host, pid) VALUES ('default', ?1, 0, 'token' || ?2 || ?1, 'host' || ?2, 7)`,
			launch, what)
		s.exec("app.db", `INSERT INTO idmint_counter (namespace, name, value) VALUES ('default', `+
			`'counter' || ?2 || ?1, 7)`, launch, what)
	}
}

// Rows that another tool wrote do not reach the terminal as they are, in whatever is written of
// them.
func TestHostileRows(t *testing.T) {
	evil, tame := inside(t), inside(t)
	evil.fill(hostile)
	tame.fill("!")
	for _, test := range []struct {
		args   string
		status int
		shown  int // how often hostile is seen at least
	}{
		{"launch list", 0, 2 * 4},
		{"launch show 1", 0, 15},
		{"launch show 2", 0, 14},
		{"counter list", 0, 2},
		{"launch list --json", 0, 0},
		{"launch show 1 --json", 0, 0},
		{"counter list --json", 0, 0},
		{"launch end 1 --outcome failed", 1, 0},
		{"new decimal --launch 1", 1, 0},
		{"new decimal --launch 2", 0, 0},
	} {
		args := append(strings.Fields(test.args), "--db", "sqlite:app.db")
		got, want := evil.run(args...), tame.run(args...)
		if got.status != test.status || want.status != test.status {
			t.Errorf("%s: %v, with harmless rows %v", test.args, got, want)
		}
		for _, text := range []struct{ got, want string }{
			{got.stdout, want.stdout},
			{got.stderr, want.stderr},
		} {
			if strings.Count(text.got, "\n") != strings.Count(text.want, "\n") {
				t.Errorf("%s: the rows make other lines:\n%s", test.args, text.got)
			}
			for _, line := range lines(text.got) {
				if hidden(line) {
					t.Errorf("%s: what is written is not what is seen: %q", test.args, line)
				}
			}
		}
		seen := got.stdout + got.stderr
		if n := strings.Count(seen, seenHostile); n < test.shown {
			t.Errorf("%s: %d texts are shown, want %d:\n%s", test.args, n, test.shown, seen)
		}
		if strings.Contains(test.args, "--json") {
			testJSONTexts(t, seen)
		}
	}
}

// testJSONTexts checks that what is escaped is the same text.
func testJSONTexts(t *testing.T, text string) {
	t.Helper()
	found := 0
	for decoder := json.NewDecoder(strings.NewReader(text)); decoder.More(); {
		var row map[string]any
		if err := decoder.Decode(&row); err != nil {
			t.Fatal(err)
		}
		for _, value := range row {
			if s, ok := value.(string); ok && strings.Contains(s, hostile) {
				found++
			}
		}
	}
	if found == 0 {
		t.Errorf("the texts are not those of the rows: %s", text)
	}
}

// Names of files, tables and columns, and what is read from files, are seen in errors and messages.
func TestHostileNames(t *testing.T) {
	const evil = "\x1b[31m\u202e\u2028"
	s := inside(t)
	s.write(evil+".csv", "name,"+evil+"\n1,2\n")
	s.write("short.csv", "name,"+evil+"\n1\n")
	s.write("x.jsonl", `{"`+evil+`":1}`+"\n"+`{"`+evil+evil+`":1}`+"\n")
	for _, args := range [][]string{
		{"import", evil + ".csv", "--db", "sqlite:app.db", "--table", "t" + evil},
		{"import", evil + ".csv", "--db", "sqlite:app.db", "--table", "t", "--id-column", evil},
		{"import", evil + "none.csv", "--db", "sqlite:app.db", "--table", "t"},
		{"import", evil, "--db", "sqlite:app.db", "--table", "t"},
		{"import", "short.csv", "--db", "sqlite:app.db", "--table", "s"},
		{"import", "short.csv", "--db", "sqlite:app.db", "--table", "s"},
		{"import", "x.jsonl", "--db", "sqlite:app.db", "--table", "x"},
		{"launch", "list", "--db", "sqlite:none/" + evil},
		{"launch", "list", "--db", "postgres://u@127.0.0.1:1/" + evil},
		{"launch", "list", "--db", evil},
		{"launch", "list", "--" + evil},
		{"launch", "list", "--limit", evil},
		{evil},
		{"inspect", evil},
		{"inspect", "--scheme", evil},
		{"inspect", "--form", evil},
		{"inspect", "--scheme", "sno", "--form", "hex", evil},
		{"inspect", "--json", evil},
		{"compose", "--scheme", "decimal", evil},
		{"compose", "--scheme", "decimal", `{"` + evil + `":1}`},
		{"scramble", "--key", "00112233445566778899aabbccddeeff", evil},
		{"bounds", "sno", "--from", evil, "--to", evil},
		{"report", "--db", evil},
		{"counter", "show", evil, "--db", "sqlite:app.db"},
	} {
		got := s.run(args...)
		for _, text := range []string{got.stdout, got.stderr} {
			if hidden(strings.ReplaceAll(text, "\n", "")) {
				t.Errorf("idmint %q writes %q", args, text)
			}
		}
		if got.stdout+got.stderr == "" {
			t.Errorf("idmint %q says nothing", args)
		}
	}
}

// However long a value is, what is said about it is short.
func TestLongArguments(t *testing.T) {
	s := inside(t)
	long := strings.Repeat("x", 100_000)
	for _, args := range [][]string{
		{long},
		{"inspect", long},
		{"inspect", "--scheme", long},
		{"inspect", "--form", long},
		{"compose", "--scheme", "decimal", long},
		{"launch", "list", "--" + long},
		{"launch", "list", "--limit", long},
		{"launch", "show", long},
		{"launch", "show", "1", long},
		{"launch", "list", "--db", long},
		{"launch", "list", "--db", "sqlite:" + long},
		{"counter", "show", long, "--db", "sqlite:none.db"},
		{"counter", "advance", "c", "--to", long},
		{"import", long, "--db", "sqlite:app.db", "--table", "t"},
		{"import", "-", "--format", long, "--db", "sqlite:app.db", "--table", "t"},
		{"import", "-", "--format", "csv", "--db", "sqlite:app.db", "--table", long + ".t"},
		{"new", long},
		{"new", "sno", "--partition", "1", "--pool", long},
		{"bounds", "sno", "--from", long, "--to", long},
		{"report", "--rows", long},
	} {
		got := s.run(args...)
		if got.status == 0 || got.stdout != "" || len(got.stderr) > longestError+500 ||
			len(got.stderr) < 20 {
			t.Errorf("idmint %.50q: status %d and %d bytes: %.300q", args, got.status,
				len(got.stderr), got.stderr)
		}
	}
}
