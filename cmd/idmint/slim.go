//go:build !cgo

package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
)

// A build without cgo is what a pipeline needs: static, and light. It has no SQLite, and none of
// the commands that open it or weigh much.
const hasSQLite = false

const (
	cgoNeeded   = "this idmint was built without cgo"
	errNoSQLite = cgoNeeded + ", and opens no SQLite: build it with CGO_ENABLED=1 and gcc"
)

// What follows is not reached: [databaseFlag.parse] refuses the names of SQLite files.

func openSQLite(context.Context, string, bool) (store, error) {
	return nil, errors.New(errNoSQLite)
}

func checkSQLite(string) error { return errors.New(errNoSQLite) }

func isFileError(error) bool { return false }

// wholeCommands stand for the commands that this build lacks, and say so.
func (a *app) wholeCommands() (missing []*cobra.Command) {
	for _, name := range []string{"demo", "import", "backup", "report"} {
		missing = append(missing, &cobra.Command{
			Use: name, Hidden: true, DisableFlagParsing: true,
			RunE: func(*cobra.Command, []string) error {
				return usage("%s: %s, and lacks this command", name, cgoNeeded)
			},
		})
	}
	return missing
}
