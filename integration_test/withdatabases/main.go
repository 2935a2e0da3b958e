// Command withdatabases starts PostgreSQL 17 and 18, MariaDB and ClickHouse in containers, runs a command
// with their names in its environment, and ends them:
//
//	eval "$(scripts/databases)"
//	go run ./integration_test/withdatabases sh -c 'psql "$IDMINT_TEST_POSTGRES"'
//
// The variables are those by which tests find a server that runs already. A server that a variable
// names before is used as it is. Its exit status is the command's.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
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
	if len(args) == 0 {
		return errors.New("no command is given")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it ends in its own way
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = os.Environ()
	for _, kind := range append(databases.Kinds(), databases.Postgres18) {
		server, err := databases.Start(ctx, kind)
		if err != nil {
			return err
		}
		defer func() {
			if stopErr := server.Stop(); stopErr != nil {
				fmt.Fprintln(os.Stderr, "withdatabases:", stopErr)
			}
		}()
		fmt.Fprintln(os.Stderr, "withdatabases:", server.Version)
		cmd.Env = append(cmd.Env, kind.Variable()+"="+server.DSN.URL())
	}
	return cmd.Run()
}
