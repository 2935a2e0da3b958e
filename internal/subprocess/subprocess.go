// Package subprocess lets a test run parts of itself as processes of their own, which can be killed.
package subprocess

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

const variable = "IDMINT_TEST_SUBPROCESS"

// Main is called by TestMain. In a process that [Command] started it runs the worker of that name and exits, with status 1 and
// the error on stderr if there is one; otherwise it runs the tests, those of a [testing.M] or of a type that does more with them.
func Main(m interface{ Run() int }, workers map[string]func(args []string) error) {
	if name := os.Getenv(variable); name != "" {
		if err := workers[name](os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// Command is a process of the running test binary that runs a worker of [Main].
func Command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), variable+"="+name)
	cmd.Stderr = os.Stderr
	return cmd
}

// Kill kills a process at once, and reports one that had ended by itself.
func Kill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		t.Errorf("a process ended by itself: %v", err)
	}
	if err := cmd.Wait(); cmd.ProcessState.Exited() {
		t.Errorf("a process ended by itself: %v", err)
	}
}
