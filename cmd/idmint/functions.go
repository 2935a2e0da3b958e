package main

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/cmd/idmint/internal/pool"
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
and largest ID of a time. docs/sql.md lists them. idmint migrate --functions
installs them.

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
				if a.json {
					err = a.out.json(map[string]string{"sql": text})
				} else {
					err = a.out.printf("%s;\n", text)
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// installFunctions creates the functions in a database, and leaves all else there as it is.
func (a *app) installFunctions(ctx context.Context, f *storeFlags) error {
	d, err := f.name.parse()
	switch {
	case err != nil:
		return err
	case f.wait <= 0:
		return usage("--wait %v: want more than 0", f.wait)
	case d.Kind != dsn.Postgres && d.Kind != dsn.MySQL && d.Kind != dsn.ClickHouse:
		return usage("--functions: %s keeps no functions: want postgres://…, mysql://… or "+
			"clickhouse://…", string(d.Kind))
	}
	db, err := openForFunctions(d)
	if err != nil {
		return fmt.Errorf("%v: %w", d, err)
	}
	defer db.Close()
	err = pool.Await(ctx, f.wait, func(ctx context.Context) error {
		return functions.Install(ctx, db, d.Kind)
	})
	if err != nil {
		return fmt.Errorf("%v: %w", d, err)
	}
	if a.json {
		return a.out.printf(`{"functions":true}` + "\n")
	}
	return a.out.printf("installed the SQL functions in %v\n", d)
}

// openForFunctions opens ClickHouse as well, which has no transactions.
func openForFunctions(d dsn.DSN) (*sql.DB, error) {
	if d.Kind == dsn.ClickHouse {
		return sql.Open(d.Driver(), d.Source())
	}
	return pool.Open(d, "")
}
