// Command withdatabases starts one server of each kind that the tests use, runs a command with
// their names in its environment, and stops them:
//
//	eval "$(scripts/databases)"
//	go run ./integration_test/withdatabases sh -c 'psql "$IDMINT_TEST_POSTGRES"'
//
// The environment variables are those by which tests find a running server. A server that a
// variable already names is used as it is. With -memory before the command, the servers keep their
// data in memory, which is faster than a disk. It exits with the status of the command.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"

	"github.com/idmint/idmint/integration_test/databases"
)

func main() {
	err := run(os.Args[1:])
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		os.Exit(exit.ExitCode())
	case err != nil:
		fmt.Fprintln(os.Stderr, "withdatabases:", err)
		os.Exit(1)
	}
}

func run(args []string) (err error) {
	var disk string
	if len(args) != 0 && args[0] == "-memory" {
		disk, args = databases.InMemory, args[1:]
	}
	if len(args) == 0 {
		return errors.New("the command to run is missing")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // lets it shut down
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = os.Environ()
	servers, err := start(ctx, disk)
	defer func() {
		for _, server := range servers {
			if stopErr := server.Stop(); stopErr != nil {
				fmt.Fprintln(os.Stderr, "withdatabases:", stopErr)
			}
		}
	}()
	if err != nil {
		return err
	}
	for _, server := range servers {
		fmt.Fprintln(os.Stderr, "withdatabases:", server.Version)
		cmd.Env = append(cmd.Env, server.Kind.Variable()+"="+server.Name())
	}
	return cmd.Run()
}

// start starts the servers side by side, and returns those that answer.
func start(ctx context.Context, disk string) (servers []*databases.Server, err error) {
	var all sync.WaitGroup
	var mu sync.Mutex // guards the results
	for _, kind := range databases.All() {
		all.Go(func() {
			server, startErr := databases.Start(ctx, kind, disk)
			mu.Lock()
			defer mu.Unlock()
			if startErr != nil {
				err = errors.Join(err, startErr)
				return
			}
			servers = append(servers, server)
		})
	}
	all.Wait()
	return servers, err
}
