//go:build !cgo

package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
)

// A build without cgo is static and small, as a pipeline needs it. It lacks SQLite, and the
// commands that open it or are large.
const hasSQLite = false

const (
	cgoNeeded   = "this idmint was built without cgo"
	errNoSQLite = cgoNeeded + ", and cannot open SQLite: build it with CGO_ENABLED=1 and gcc"
)

// The functions below are never reached, because [databaseFlag.parse] rejects the names of SQLite
// files.

func openSQLite(context.Context, string, bool) (store, error) {
	return nil, errors.New(errNoSQLite)
}

func checkSQLite(string) error { return errors.New(errNoSQLite) }

func isFileError(error) bool { return false }

// wholeCommands returns placeholders for the commands that this build lacks, which say so.
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
