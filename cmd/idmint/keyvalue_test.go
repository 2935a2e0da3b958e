package main

import (
	"context"
	"crypto/rand"
	"strings"
	"testing"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
)

// The commands of the launch log do in databases without tables what they do in others.
func TestKeyValueLogs(t *testing.T) {
	for _, kind := range databases.Stores() {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			s := newShell(t)
			s.db = dbtest.New(t, kind).URL()
			testKeyValueLog(t, s)
		})
	}
}

func testKeyValueLog(t *testing.T, s *shell) {
	const db = " --db sqlite:app.db"
	place, err := dsn.Parse(s.db)
	if err != nil {
		t.Fatal(err)
	}
	shown := place.String()
	run := func(command string) answer {
		t.Helper()
		return s.run(strings.Fields(command + db)...)
	}
	if got := run("launch list"); got.status != 1 ||
		!strings.Contains(got.stderr, "there is no launch log: if there was one, do not migrate") {
		t.Errorf("before migrate: %v", got)
	}
	const start = "launch start --service shop --env prod --initiator ann --key "
	for _, test := range []struct {
		command string
		status  int
		want    string // on stdout, or in stderr
	}{
		{"migrate", 0, "created a new launch log in " + shown + ", at schema version 1\n"},
		{"migrate", 0, "the launch log in " + shown + " is at schema version 1 already\n"},
		{"migrate --json", 0, `{"created":false,"from":1,"to":1}` + "\n"},
		{start + "a", 0, "1\n"},
		{start + "b", 0, "2\n"},
		{start + "a", 0, "1\n"},
		{start + "a --version 2", 1, "differs in version"},
		{"new decimal --launch 1", 0, "10000000001\n"},
		{"new decimal --launch 2", 0, "20000000002\n"},
		{"new decimal --launch 3", 1, "no such launch"},
		{"new sequence --counter orders -n 2", 0, "1\n2\n"},
		{"counter show orders", 0, "2\n"},
		{"counter advance orders --to 50", 0, "50\n"},
		{"new sequence --counter orders", 0, "51\n"},
		{"launch end 2 --outcome failed", 0, ""},
		{"new decimal --launch 2", 1, "the launch has ended"},
		{"launch advance --to 40", 0, "40\n"},
		{"new decimal --launch 1", 1, "the launch has ended"},
		{start + "c", 0, "41\n"},
		{"claims clusters --set 3", 0, "3\n"},
		{"backup --to copy.db", 2, "backup copies SQLite files"},
		{"import x.csv --table t", 2, "keeps a launch log and no rows"},
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
	if got = run("claims list --pool eightbyte"); !strings.Contains(got.stdout, "lent until") ||
		!strings.Contains(got.stderr, "1 of 2048 numbers are lent") {
		t.Errorf("claims list: %v", got)
	}
	if got = run("launch list --json"); strings.Count(got.stdout, "\n") != 3 {
		t.Errorf("launch list: %v", got)
	}
	if got = run("launch show 1"); got.status != 0 || !strings.Contains(got.stdout, "shop") {
		t.Errorf("launch show: %v", got)
	}
}

// Doctor makes the checks of each of them, and tells what is used up. It finds a log that was made
// anew and used on beyond the last look.
func TestKeyValueDoctor(t *testing.T) {
	for kind, store := range map[databases.Kind]string{
		databases.Etcd: "etcd.", databases.ZooKeeper: "zookeeper.",
		databases.Cassandra: "cassandra.",
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			d, drop, err := dbtest.Server(t, kind).Create(t.Context(),
				"t_"+strings.ToLower(rand.Text()))
			if err != nil {
				t.Fatal(err)
			}
			s := newShell(t)
			s.db = d.URL()
			testKeyValueDoctor(t, s, store, func() {
				t.Helper()
				var err error
				for range 5 { // Cassandra may take longer for it than a client waits
					if err = drop(context.Background()); err == nil {
						return
					}
				}
				t.Fatal(err)
			})
		})
	}
}

func testKeyValueDoctor(t *testing.T, s *shell, store string, drop func()) {
	const db = " --db sqlite:app.db"
	run := func(command string) answer {
		t.Helper()
		return s.run(strings.Fields(command + db)...)
	}
	must := func(command string) {
		t.Helper()
		if got := run(command); got.status != 0 {
			t.Fatalf("%s: %v", command, got)
		}
	}
	// finds compares what is found with what is wanted: by code, what it begins with.
	finds := func(when string, status int, wanted map[string]string) {
		t.Helper()
		got := run("doctor --state state --mark --json --verbose")
		found := told(t, got.stdout)
		own := 0
		for code, text := range found {
			if strings.HasPrefix(code, store) {
				own++
			} else if wanted[code] == "" && !strings.HasPrefix(text, "passed: ") {
				t.Errorf("%s: %s: %q, want nothing", when, code, text)
			}
		}
		for code, text := range wanted {
			if !strings.HasPrefix(found[code], text) {
				t.Errorf("%s: %s: %q, want %q", when, code, found[code], text)
			}
		}
		if got.status != status || got.stderr != "" || own < 6 {
			t.Errorf("%s: %d checks of the store, %v", when, own, got)
		}
	}
	finds("before migrate", 1, map[string]string{"schema": "finding: "})
	const start = "launch start --service shop --env prod --initiator ann --key "
	must("migrate")
	must(start + "a")
	must("new decimal --launch 1")
	finds("the first look", 0, nil)
	must("new decimal --launch 1")
	finds("used", 0, nil)
	drop()
	finds("gone", 1, map[string]string{
		"schema": "finding: ", "lost": "finding: the log of the last look is not there any more: " +
			"it had come to launch 1, and had ",
	})
	must("migrate")
	must(start + "b")
	must(start + "c")
	finds("made anew", 1, map[string]string{
		"identity": "finding: log of the store is ",
		"lost":     "finding: launch 1 is another one: it was started at ",
	})
	must("counter advance orders --to 8400000000000000000")
	must("counter advance decimal/hint/0 --to 800000000")
	must("counter advance sno/7 --to 900000000000000")
	must("launch advance --to 90000")
	finds("used up", 1, map[string]string{
		"identity": "finding: ", "lost": "finding: ",
		"counters":      "finding: counter orders stands at 8400000000000000000 of ",
		"decimal-order": "note: decimal IDs have come to counter 800000000 of 922337202, in epoch 0",
		"claims-ahead":  "finding: 1 numbers of sno are locked far ahead: 7 until ",
		"launches":      "finding: 90000 of 99999 launch numbers are used",
	})
	drop()
}
