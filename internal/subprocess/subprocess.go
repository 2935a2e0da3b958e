// Package subprocess lets a test run parts of itself as separate processes, which can be killed.
package subprocess

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

const variable = "IDMINT_TEST_SUBPROCESS"

// Main is called by TestMain, and calls [Work], or otherwise runs the tests.
func Main(m *testing.M, workers map[string]func(args []string) error) {
	Work(workers)
	os.Exit(m.Run())
}

// Work runs the named worker in a process that [Command] started, and then exits, with status 1 and
// the error on stderr if there is one. In other processes it does nothing.
func Work(workers map[string]func(args []string) error) {
	if name := os.Getenv(variable); name != "" {
		if err := workers[name](os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// Command returns a command that runs a worker of [Main] in a new process of the test binary.
func Command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	// With the race detector a process waits for a second before it exits, unless told otherwise.
	cmd.Env = append(os.Environ(), variable+"="+name, "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	return cmd
}

// Kill kills a process immediately, and reports an error if it had already ended.
func Kill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		t.Errorf("the process had already ended: %v", err)
	}
	if err := cmd.Wait(); cmd.ProcessState.Exited() {
		t.Errorf("the process had already ended: %v", err)
	}
}
