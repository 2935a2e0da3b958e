package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/sqlid/functions"
)

var functionDialects = []dsn.Kind{
	functions.Postgres, functions.MySQL, functions.MariaDB, functions.ClickHouse,
}

func (a *app) functionsCommand() *cobra.Command {
	var names []string
	c := &cobra.Command{
		Use:   "functions DIALECT [--layout NAME]…",
		Short: "Print SQL functions that decode IDs",
		Long: `Print the SQL of functions for people at a console and for reporting tools: the
parts of an ID, its launch, its time, its text, and the smallest and largest ID
of a time. docs/reference/sql.md lists them. Run the SQL in a console such as
psql: it creates the functions, or replaces existing ones.

DIALECT is ` + commas(functionDialects) + `. SQLite stores no
functions: a Go program adds them to a connection with functions.Register.

The functions for snowflake IDs read Twitter's layout. --layout adds those for
another layout: idmint_tsid_time for tsid, or idmint_items_time for your own
layout named items, as items:epoch=1672531200000,node=3,step=8. See idmint
inspect.`,
		Example: `  idmint functions postgres > functions.sql && cat functions.sql
  idmint functions mariadb --layout tsid`,
		Args: oneArg,
		RunE: func(_ *cobra.Command, args []string) error {
			var all []functions.Layout
			for _, name := range names {
				name, bits, isOwn := strings.Cut(name, ":")
				if !isOwn {
					bits = name
				}
				if _, err := layoutNamed(bits); err != nil {
					return err
				}
				all = append(all, functions.Snowflakes[given](name))
			}
			statements, err := functions.Statements(dsn.Kind(args[0]), all...)
			if errors.As(err, new(*functions.NameError)) {
				return usageError{err}
			}
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
	c.Flags().StringArrayVar(&names, "layout", nil, "a layout of snowflake IDs (may be repeated)")
	return c
}
