// Package clusters_test runs the stores of keys and values, and doctor's checks of them, on
// clusters of three nodes, on nodes that let in only whom they know, and on nodes with other
// settings.
package clusters_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
)

var ctx = context.Background()

func TestMain(m *testing.M) { dbtest.Main(m) }

func signal(t *testing.T, s *databases.Server, name string) {
	t.Helper()
	if err := s.Signal(ctx, name); err != nil {
		t.Fatal(err)
	}
}

var raceDetector bool // see race_test.go

// folder is where the package of a store lies, below launchlog.
func folder(kind databases.Kind) string { return strings.ToLower(string(kind)) }

// TestPackage runs each test of the stores' packages on three nodes, in a process of its own. They
// know what the packages do not export, so they are in them, in modules that start no servers. None
// may be skipped.
func TestPackage(t *testing.T) {
	for _, kind := range databases.Stores() {
		t.Run(folder(kind), func(t *testing.T) {
			run, program := build(t, kind)
			tests := strings.Fields(run(t, program, "-test.list", "^Test"))
			if len(tests) == 0 {
				t.Fatal("there are no tests")
			}
			for _, test := range tests {
				t.Run(test, func(t *testing.T) {
					t.Parallel() // much of their time they wait
					out := run(t, program, "-test.run", "^"+test+"$", "-test.v", "-test.timeout=0",
						// What parallel tests wait for is disks and nodes, more than processors.
						"-test.parallel=4")
					if !strings.Contains(out, "--- PASS: "+test+" ") ||
						strings.Contains(out, "--- SKIP") {
						t.Error(out)
					}
				})
			}
		})
	}
}

// build builds the tests of a store's package, and returns what runs a program that finds the
// servers.
func build(t *testing.T, kind databases.Kind) (
	run func(t *testing.T, name string, args ...string) string, program string,
) {
	t.Helper()
	three := dbtest.RunCluster(t, kind, 3)
	name := folder(kind)
	env := append(os.Environ(), kind.Variable()+"="+strings.Join(three.Addresses(), ","))
	run = func(t *testing.T, name string, args ...string) string {
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
