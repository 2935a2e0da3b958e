package storetest

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/internal/subprocess"
	"github.com/idmint/idmint/launchlog"
)

// Workers are for subprocess.Main in the tests of a store, whose open takes what names a database.
// [ManyProcesses] runs them.
func Workers(open func(database string) (launchlog.Store, error)) map[string]func([]string) error {
	worker := func(next func(*launchlog.Log) (int, error)) func([]string) error {
		return func(args []string) error {
			store, err := open(args[0])
			if err != nil {
				return err
			}
			l, err := launchlog.New(store, &launchlog.Options{Budget: time.Hour})
			if err != nil {
				return err
			}
			times, err := strconv.Atoi(args[1])
			for i := 0; i < times && err == nil; i++ {
				var number int
				if number, err = next(l); err == nil {
					fmt.Println(number)
				}
			}
			return err
		}
	}
	return map[string]func([]string) error{
		"claim": worker(func(l *launchlog.Log) (int, error) { // numbers of launch 1
			c, err := l.Claim(ctx, 1)
			return c.Generator, err
		}),
		"reserve": worker(func(l *launchlog.Log) (int, error) { // numbers of a counter, one by one
			c, err := l.Counter("c")
			if err != nil {
				return 0, err
			}
			first, err := c.Reserve(ctx, 0, 1)
			return int(first) - 1, err // counters begin at 1
		}),
	}
}

// ManyProcesses has processes take numbers at the same time, each so many times. No number may be
// taken twice, and none left out. Numbers of a counter may be, where an answer was lost.
func ManyProcesses(
	t *testing.T, newDatabase func(t *testing.T) (database string, store launchlog.Store),
	processes, times int,
) {
	for _, worker := range []string{"claim", "reserve"} {
		t.Run(worker, func(t *testing.T) {
			database, store := newDatabase(t)
			start(t, newLog(t, store, nil), "a")
			began := time.Now()
			var all []*exec.Cmd
			var outputs []*strings.Builder
			for range processes {
				cmd, out := subprocess.Command(worker, database, strconv.Itoa(times)),
					new(strings.Builder)
				cmd.Stdout = out
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				all, outputs = append(all, cmd), append(outputs, out)
			}
			taken := map[string]int{}
			for i, cmd := range all {
				if err := cmd.Wait(); err != nil {
					t.Errorf("process %d: %v", i, err)
				}
				for _, number := range strings.Fields(outputs[i].String()) {
					taken[number]++
				}
			}
			d := time.Since(began)
			if len(taken) != processes*times {
				t.Errorf("numbers, and how often they were taken: %v", taken)
			}
			for g := range processes * times {
				if worker == "claim" && taken[strconv.Itoa(g)] == 0 {
					t.Errorf("number %d was left out", g)
				}
			}
			t.Logf(
				"%s by %d processes × %d: %d numbers, 0 repeats, %.0f a second with the "+
					"processes' starts",
				worker, processes, times, len(taken), float64(processes*times)/d.Seconds(),
			)
		})
	}
}
