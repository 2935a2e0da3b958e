package faults_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/idmint/idmint/internal/subprocess"
)

// A fleet is a number of worker processes on one launch log.
type fleet struct {
	t       *testing.T
	orders  orders // of all of them, but for names and files
	dir     string // of their files
	running []*exec.Cmd
	started int
}

const (
	processes   = 8 // of a fleet, unless its orders say otherwise
	longestStop = 3 * time.Second
)

func newFleet(t *testing.T, o orders) *fleet {
	t.Helper()
	f := &fleet{t: t, orders: o, dir: t.TempDir()}
	t.Cleanup(func() {
		for _, cmd := range f.running { // only where the test has failed
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	f.start()
	return f
}

// start starts all processes.
func (f *fleet) start() {
	f.t.Helper()
	for range f.orders.size() {
		f.running = append(f.running, f.begin())
	}
}

func (f *fleet) begin() *exec.Cmd {
	f.t.Helper()
	f.started++
	o := f.orders
	o.Name = strconv.Itoa(f.started)
	o.Out = filepath.Join(f.dir, "worker-"+o.Name)
	arg, err := json.Marshal(o)
	if err != nil {
		f.t.Fatal(err)
	}
	cmd := subprocess.Command("work", string(arg))
	if err := cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	return cmd
}

// kill kills a process, whatever it does, and starts another one.
func (f *fleet) kill() {
	f.t.Helper()
	i := rand.IntN(len(f.running))
	subprocess.Kill(f.t, f.running[i])
	f.running[i] = f.begin()
}

// stop stops a process for a while. It is called while nothing is killed.
func (f *fleet) stop() {
	p := f.running[rand.IntN(len(f.running))].Process
	d := rand.N(longestStop)
	_ = p.Signal(syscall.SIGSTOP)
	time.Sleep(d)
	_ = p.Signal(syscall.SIGCONT)
}

// end has the processes end the calls at hand, and itself ends those that hang. They write down
// where each of their goroutines is.
func (f *fleet) end() {
	f.t.Helper()
	ended := make(chan error, len(f.running))
	for _, cmd := range f.running {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		go func() { ended <- cmd.Wait() }()
	}
	timeout := time.After(f.orders.Budget + late)
	for i := range f.running {
		select {
		case err := <-ended:
			if err != nil && !unheard(err) {
				f.t.Errorf("a process ended with %v", err)
			}
		case <-timeout:
			f.t.Errorf("%d processes hang", len(f.running)-i)
			for _, cmd := range f.running {
				_ = cmd.Process.Signal(syscall.SIGQUIT)
			}
			timeout = nil
		}
	}
	f.running = nil
}

// unheard reports whether a process was told to end before it listened, and so before its first
// call.
func unheard(err error) bool {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGTERM
}
