// Package subprocess lets a test run parts of itself as processes of their own, which can be
// killed.
package subprocess

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

const variable = "IDMINT_TEST_SUBPROCESS"

// Main is called by TestMain. It is [Work], and otherwise runs the tests.
func Main(m *testing.M, workers map[string]func(args []string) error) {
	Work(workers)
	os.Exit(m.Run())
}

// Work runs the worker of its name in a process that [Command] started. Then it exits: with status
// 1 and the error on stderr if there is one. In other processes it does nothing.
func Work(workers map[string]func(args []string) error) {
	if name := os.Getenv(variable); name != "" {
		if err := workers[name](os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// Command is a process of the running test binary that runs a worker of [Main].
func Command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	// With the race detector a process waits for a second before it exits, unless it is told.
	cmd.Env = append(os.Environ(), variable+"="+name, "GORACE=atexit_sleep_ms=0")
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
