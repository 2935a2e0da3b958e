//go:build cgo

package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/idmint/idmint/launchlog/sqlite"
)

// hasSQLite reports whether this build can open SQLite files, which needs cgo.
const hasSQLite = true

const errNoSQLite = ""

func openSQLite(ctx context.Context, path string, reading bool) (store, error) {
	if reading {
		return sqlite.OpenReader(ctx, path)
	}
	return sqlite.Open(ctx, path)
}

// checkSQLite returns an error for a file that cannot hold a launch log.
func checkSQLite(path string) error { return sqlite.Check(path) }

// isFileError reports whether an error is about the kind of file that would hold a launch log.
func isFileError(err error) bool { return errors.As(err, new(*sqlite.FileError)) }

// wholeCommands returns the commands that only a build with cgo has, because they use SQLite or are
// large.
func (a *app) wholeCommands() []*cobra.Command {
	return []*cobra.Command{
		a.demoCommand(), a.importCommand(), a.backupCommand(), a.reportCommand(),
	}
}
