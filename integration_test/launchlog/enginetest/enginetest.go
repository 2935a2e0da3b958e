// Package enginetest runs the tests of a store's package on servers that it starts: the store is
// over an engine of keys and values. They know what the package does not export, so they are in it,
// in a module that starts no servers.
package enginetest

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
)

var raceDetector bool // see race.go

// Run runs each test of a package of launchlog on one node and on three, in a process of its own.
// None may be skipped. Least is how many tests the package has at least.
func Run(t *testing.T, kind databases.Kind, name string, least int) {
	t.Helper()
	run, program := build(t, kind, name)
	tests := strings.Fields(run(t, program, "-test.list", "^Test"))
	if len(tests) < least {
		t.Fatalf("%d tests: %q", len(tests), tests)
	}
	for _, test := range tests {
		t.Run(test, func(t *testing.T) {
			// As many at once as there are processors: much of their time they wait. TestEngine
			// comes before them, by itself: it calls engines without a log that would try again.
			if test != "TestEngine" {
				t.Parallel()
			}
			out := run(t, program, "-test.run", "^"+test+"$", "-test.v", "-test.timeout=10m",
				// What parallel tests wait for is disks and nodes, more than processors.
				"-test.parallel=4")
			if !strings.Contains(out, "--- PASS: "+test+" ") || strings.Contains(out, "--- SKIP") {
				t.Error(out)
			}
			for line := range strings.Lines(out) {
				if strings.HasPrefix(strings.TrimSpace(line), "faults_test.go:") {
					t.Log(strings.TrimSpace(line))
				}
			}
		})
	}
}

// Bench runs the benchmarks of a package of launchlog on one node and on three, and prints what
// they say.
func Bench(b *testing.B, kind databases.Kind, name string) {
	b.Helper()
	run, program := build(b, kind, name)
	fmt.Print(run(b, program, "-test.run", "^$", "-test.bench", ".",
		"-test.benchtime", flag.Lookup("test.benchtime").Value.String()))
}

// build builds the tests of a package, and returns what runs a program that finds the servers.
func build(t testing.TB, kind databases.Kind, name string) (
	run func(t testing.TB, name string, args ...string) string, program string,
) {
	t.Helper()
	one, three := dbtest.Server(t, kind), dbtest.RunCluster(t, kind, 3)
	upper := strings.ToUpper(name)
	env := append(os.Environ(), "IDMINT_TEST_"+upper+"="+strings.Join(one.Addresses, ","),
		"IDMINT_KV_"+upper+"3="+strings.Join(three.Addresses(), ","))
	run = func(t testing.TB, name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Env = env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	program = filepath.Join(t.TempDir(), name+".test")
	args := []string{"test", "-c", "-o", program}
	if raceDetector {
		args = append(args, "-race")
	}
	run(t, "go", append(args, "github.com/idmint/idmint/launchlog/"+name)...)
	return run, program
}
