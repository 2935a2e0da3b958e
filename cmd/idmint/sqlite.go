//go:build cgo

package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/idmint/idmint/launchlog/sqlite"
)

// hasSQLite reports whether this build opens files of SQLite, whose driver is in C.
const hasSQLite = true

const errNoSQLite = ""

func openSQLite(ctx context.Context, path string, reading bool) (store, error) {
	if reading {
		return sqlite.OpenReader(ctx, path)
	}
	return sqlite.Open(ctx, path)
}

// checkSQLite says of a file what keeps a launch log out of it.
func checkSQLite(path string) error { return sqlite.Check(path) }

// isFileError reports whether an error is about the kind of file that a launch log lies in.
func isFileError(err error) bool { return errors.As(err, new(*sqlite.FileError)) }

// wholeCommands are those of a build with cgo alone: they use SQLite, or weigh much.
func (a *app) wholeCommands() []*cobra.Command {
	return []*cobra.Command{
		a.demoCommand(), a.importCommand(), a.backupCommand(), a.reportCommand(),
	}
}
