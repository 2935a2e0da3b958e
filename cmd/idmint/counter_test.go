package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/idmint/idmint/launchlog"
)

func TestCounter(t *testing.T) {
	s := inside(t)
	s.must("migrate", "--db", "sqlite:app.db")
	s.counters("sqlite:app.db")
	// A name that is not meant is a counter of its own, and the one that is meant stays behind.
	const question = "had handed out nothing: are the names right?"
	got := s.run("counter", "advance", "order", "--to", "7", "--db", "sqlite:app.db")
	if got.status != 0 || !strings.Contains(got.stderr, question) {
		t.Error(got)
	}
	got = s.run("counter", "advance", "order", "--to", "8", "--db", "sqlite:app.db")
	if got.status != 0 || strings.Contains(got.stderr, question) {
		t.Error(got)
	}
	// After a restore from a backup, numbers go on where the counter was advanced to.
	got = s.run("new", "sequence", "--db", "sqlite:app.db", "--counter", "orders")
	if got.stdout != "9223372036854775807\n" || !strings.Contains(got.stderr, "over 95 %") {
		t.Error(got)
	}
	got = s.run("new", "sequence", "--db", "sqlite:app.db", "--counter", "orders")
	if got.status != 1 || !strings.Contains(got.stderr, "used up") {
		t.Error(got)
	}
}

// counters leaves the counter orders with one number left.
func (s *shell) counters(db string) {
	s.Helper()
	for _, test := range []struct {
		args   string
		status int
		want   string // on stdout, or in stderr
	}{
		{"list", 0, "COUNTER  VALUE  UPDATED\n"},
		{"list --json", 0, ""},
		{"show orders", 1, `counter "orders" of namespace default: no such counter`},
		{"advance orders --to 41", 0, "41\n"},
		{"advance orders --to 41", 0, "41\n"},
		{"advance orders --to 40", 1, "counter orders: --to 40 is below its value, 41"},
		{"show orders", 0, "41\n"},
		{"show orders --json", 0, `{"namespace":"default","name":"orders","value":"41"}` + "\n"},
		{"show orders --namespace other", 1, `counter "orders" of namespace other: no such counter`},
		{
			"advance bills/2026 --to 7 --json", 0,
			`{"namespace":"default","name":"bills/2026","value":"7"}` + "\n",
		},
		{"list --limit 0", 2, "--limit"},
		{"show", 2, "counter show: COUNTER is missing"},
		{"show Orders", 2, `counter "Orders"`},
		{"advance orders", 2, `--to: "" is no number`},
		{"advance orders --to 0", 2, `"0" is no number of a counter, 1 to 9223372036854775807`},
		{"advance orders --to 9223372036854775808", 2, `"9223372036854775808"`},
		{"advance orders --to +50", 2, `"+50"`},
		{"advance orders --to 9223372036854775806", 0, "9223372036854775806\n"},
	} {
		got := s.run(append(append([]string{"counter"}, strings.Fields(test.args)...), "--db",
			db)...)
		text := got.stdout
		if test.status != 0 {
			text = got.stderr
		}
		if got.status != test.status || test.status == 0 && text != test.want ||
			!strings.Contains(text, test.want) {
			s.Errorf("counter %s: %v; want status %d and %q", test.args, got, test.status,
				test.want)
		}
	}
	for flags, want := range map[string]string{
		"": "bills/2026 orders", "--limit 1": "bills/2026",
		"--after bills/2026": "orders",
	} {
		args := append([]string{"counter", "list", "--db", db}, strings.Fields(flags)...)
		var plain, inJSON []string
		for _, line := range lines(s.must(args...))[1:] {
			plain = append(plain, strings.Fields(line)[0])
		}
		for decoder := json.NewDecoder(
			strings.NewReader(s.must(append(args, "--json")...))); decoder.More(); {
			var c launchlog.CounterState
			if err := decoder.Decode(&c); err != nil {
				s.Fatal(err)
			}
			inJSON = append(inJSON, c.Name)
		}
		if a, b := strings.Join(plain, " "), strings.Join(inJSON, " "); a != want || b != want {
			s.Errorf("counter list %s: %q, as JSON %q, want %q", flags, a, b, want)
		}
	}
}
