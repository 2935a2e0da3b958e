package main

import (
	"strings"
	"testing"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
)

// The commands of the launch log do on every server what other tests show of them in a file.
func TestLogsOnServers(t *testing.T) {
	for _, kind := range []databases.Kind{
		databases.Postgres, databases.MariaDB, databases.Etcd, databases.ZooKeeper,
		databases.Cassandra,
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			s := newShell(t)
			s.db = dbtest.New(t, kind).URL()
			testLog(t, s)
		})
	}
}

func testLog(t *testing.T, s *shell) {
	place, err := dsn.Parse(s.db)
	if err != nil {
		t.Fatal(err)
	}
	run := func(command string) answer {
		t.Helper()
		return s.run(strings.Fields(command + " --db sqlite:app.db")...)
	}
	version := "7"
	if place.IsKeyValue() {
		version = "1"
		for command, want := range map[string]string{
			"backup --to copy.db":    "backup copies SQLite files",
			"import x.csv --table t": "can hold a launch log, but not rows",
		} {
			got := run(command)
			if got.status != statusUsage || !strings.Contains(got.stderr, want) {
				t.Errorf("%s: %v; want %q", command, got, want)
			}
		}
	}
	const start = "launch start --service shop --env prod --initiator ann --key "
	for _, test := range []struct {
		command string
		status  int
		want    string // on stdout, or in stderr
	}{
		{"launch list", 1, "there is no launch log: if there was one, do not migrate"},
		{
			"migrate", 0,
			"created a new launch log in " + place.String() + ", at schema version " + version + "\n",
		},
		{
			"migrate", 0,
			"the launch log in " + place.String() + " is already at schema version " + version + "\n",
		},
		{start + "a", 0, "1\n"},
		{start + "b", 0, "2\n"},
		{start + "a", 0, "1\n"},
		{start + "a --version 2", 1, "differs in version"},
		{"new decimal --launch 1", 0, "10000000001\n"},
		{"new decimal --launch 2", 0, "20000000002\n"},
		{"new sequence --counter orders -n 2", 0, "1\n2\n"},
		{"counter advance orders --to 50", 0, "50\n"},
		{"new sequence --counter orders", 0, "51\n"},
		{"counter show orders", 0, "51\n"},
		{"launch end 2 --outcome failed", 0, ""},
		{"new decimal --launch 2", 1, "the launch has ended"},
		{start + "c", 0, "3\n"},
		{"claims clusters --set 3", 0, "3\n"},
	} {
		got := run(test.command)
		text := got.stdout
		if test.status != 0 {
			text = got.stderr
		}
		if got.status != test.status || test.status == 0 && text != test.want ||
			!strings.Contains(text, test.want) {
			t.Errorf("%s: %v; want status %d and %q", test.command, got, test.status, test.want)
		}
	}
	got := run("new eightbyte --mode time -n 3 --json")
	if strings.Count(got.stdout, `"cluster_id":3}`) != 3 {
		t.Errorf("a pair that is lent: %v", got)
	}
	if got = run("claims list --pool eightbyte"); strings.Count(got.stdout, "\n") != 2 ||
		!strings.Contains(got.stderr, " of 2048 numbers are lent") {
		t.Errorf("claims list: %v", got)
	}
	if got = run("launch list --json"); strings.Count(got.stdout, "\n") != 3 {
		t.Errorf("launch list: %v", got)
	}
	if got = run("launch show 1"); got.status != 0 || !strings.Contains(got.stdout, "shop") {
		t.Errorf("launch show: %v", got)
	}
	for range 2 { // the second one compares
		checkDoctor(t, s, place.Kind)
	}
	got = run("advance --launch 50 --counter orders=60 --json")
	if got.status != 0 || !strings.Contains(got.stdout,
		`{"namespace":"default","kind":"counter","name":"orders","from":"51","to":"60"}`) {
		t.Errorf("advance: %v", got)
	}
	if got = run(start + "d"); got.stdout != "51\n" {
		t.Errorf("after the advance: %v", got)
	}
}

// checkDoctor wants the checks of a log that is well, and those of its database, whatever they say.
func checkDoctor(t *testing.T, s *shell, kind dsn.Kind) {
	t.Helper()
	got := s.run("doctor", "--state", "state", "--mark", "--json", "--verbose", "--db",
		"sqlite:app.db")
	own := 0
	found := told(t, got.stdout)
	for code, text := range found {
		if strings.HasPrefix(code, string(kind)+".") {
			own++
		} else if !strings.HasPrefix(text, "passed: ") && code != "rights" {
			t.Errorf("%s: %q", code, text)
		}
	}
	if got.stderr != "" || own < 5 || found["identity"] == "" || found["clock"] == "" {
		t.Errorf("%d checks of the database: %v", own, got)
	}
}
