package main

import (
	"github.com/spf13/cobra"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/sqlid/functions"
)

var functionDialects = []dsn.Kind{
	functions.Postgres, functions.MySQL, functions.MariaDB, functions.ClickHouse,
}

func (a *app) functionsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "functions DIALECT",
		Short: "Write SQL functions that take IDs apart",
		Long: `Write the SQL of functions for people at a console and for tools that show
reports: the parts of an ID, its launch, its time, its text, and the smallest
and largest ID of a time. docs/sql.md lists them. A console installs them, such
as psql, or replaces those that are there.

DIALECT is ` + commas(functionDialects) + `. SQLite keeps no
functions: a Go program adds them to a connection with functions.Register.`,
		Example: `  idmint functions postgres > functions.sql && cat functions.sql`,
		Args:    oneArg,
		RunE: func(_ *cobra.Command, args []string) error {
			statements, err := functions.Statements(dsn.Kind(args[0]))
			if err != nil {
				return usage("unknown dialect %q: want %s", args[0], commas(functionDialects))
			}
			for _, text := range statements {
				if err := a.answer(map[string]string{"sql": text}, "%s;\n", text); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
