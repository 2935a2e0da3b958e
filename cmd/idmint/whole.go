//go:build cgo

package main

import "github.com/spf13/cobra"

// wholeCommands are those of a build with cgo alone: they use SQLite, or weigh much.
func (a *app) wholeCommands() []*cobra.Command {
	return []*cobra.Command{
		a.demoCommand(), a.importCommand(), a.backupCommand(), a.reportCommand(),
	}
}
