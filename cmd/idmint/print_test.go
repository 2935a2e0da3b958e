package main

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// hostile is what another tool may have written into a row. It clears the screen, turns the
// direction of writing, fakes a row, and holds what nobody sees.
const hostile = "\x1b[2J\x7f\u009b31m\u202ecod.exe\u2066\u2028\u2029\r\n99999  " +
	"fake\tadmin\u200b\u200f\u061c\ufeff\v\f\U000e0041\x00"

// seenHostile is how people see it.
const seenHostile = `\x1b[2J\x7f\u009b31m\u202ecod.exe\u2066\u2028\u2029\r\n99999  ` +
	`fake\tadmin\u200b\u200f\u061c\ufeff\v\f\U000e0041\x00`

// hidden reports whether a text holds what a terminal would not show as a letter of a line.
func hidden(text string) bool {
	return !utf8.ValidString(text) ||
		strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) })
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

// What somebody typed, or wrote into a file, is seen in errors, and what is said of it is short.
func TestHostileArguments(t *testing.T) {
	s := inside(t)
	for _, evil := range []string{"\x1b[31m\u202e\u2028", strings.Repeat("x", 100_000)} {
		s.write("short.csv", "name,"+evil+"\n1\n")
		s.write("x.jsonl", `{"a":1}`+"\n"+`{"`+evil+`":1}`+"\n")
		for _, args := range [][]string{
			{evil},
			{"inspect", evil},
			{"inspect", "--scheme", evil},
			{"compose", "--scheme", "decimal", `{"` + evil + `":1}`},
			{"launch", "list", "--" + evil},
			{"launch", "list", "--limit", evil},
			{"launch", "list", "--db", "sqlite:none/" + evil},
			{"counter", "show", evil, "--db", "sqlite:none.db"},
			{"import", evil, "--db", "sqlite:app.db", "--table", "t"},
			{"import", "short.csv", "--db", "sqlite:app.db", "--table", "s", "--restart"},
			{"import", "x.jsonl", "--db", "sqlite:app.db", "--table", "x", "--restart"},
			{"bounds", "sno", "--from", evil, "--to", evil},
		} {
			got := s.run(args...)
			if got.status == 0 || got.stdout != "" || len(got.stderr) < 20 ||
				len(got.stderr) > longestError+500 ||
				hidden(strings.ReplaceAll(got.stderr, "\n", "")) {
				t.Errorf("idmint %.50q: status %d and %d bytes: %.300q", args, got.status,
					len(got.stderr), got.stderr)
			}
		}
	}
}
