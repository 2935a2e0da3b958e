//go:build cgo

package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/sqlite"
)

func (a *app) backupCommand() *cobra.Command {
	var flags storeFlags
	var to string
	c := &cobra.Command{
		Use:   "backup --to FILE --db sqlite:PATH",
		Short: "Copy a SQLite file while apps use it",
		Long: `Copy a SQLite file, with the launch log in it, while apps use it.

The copy is the state of one moment, and checked. It gets its name when it is
complete. A file that is there stays.

To restore it, stop the apps, put the copy in the place of PATH, and remove
PATH-journal, if it is there. Before the apps start again, run "idmint advance".
A restored log would give out again what was taken since.

A server has a tool of its own: pg_dump or mariadb-dump.`,
		Example: "  idmint backup --to backup.db --db sqlite:app.db",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			d, err := flags.launchLog()
			switch {
			case err != nil:
				return err
			case d.Kind == dsn.Postgres:
				return usage("--db: backup copies SQLite files: use pg_dump, of PostgreSQL")
			case d.Kind == dsn.MySQL:
				return usage("--db: backup copies SQLite files: use mariadb-dump or mysqldump")
			case d.IsKeyValue():
				return usage("--db: backup copies SQLite files: use the tools of %s", string(d.Kind))
			case to == "":
				return usage("--to is required")
			}
			ctx, cancel := interruptible(c)
			defer cancel()
			return a.backup(ctx, &flags, d.Path, to)
		},
	}
	flags.add(c)
	c.Flags().StringVar(&to, "to", "", "the new file (required)")
	return c
}

func (a *app) backup(ctx context.Context, flags *storeFlags, path, to string) error {
	if err := sqlite.Backup(ctx, path, to); err != nil {
		return err
	}
	from := to
	if sqlite.Check(to) != nil { // a log cannot be opened there: the source has as many at least
		from = path
	}
	last, there, err := lastLaunch(ctx, flags, from)
	if err != nil {
		return fmt.Errorf("the copy is there, but: %w", err)
	}
	if !there {
		a.warn("there is no launch log in %s", path)
	}
	info, err := os.Stat(to)
	if err != nil {
		return err
	}
	if a.json {
		err = a.out.json(struct {
			To         string `json:"to"`
			Bytes      int64  `json:"bytes"`
			Namespace  string `json:"namespace"`
			LastLaunch int    `json:"last_launch"`
		}{to, info.Size(), flags.namespace, last})
	} else {
		err = a.out.printf("%q: %d bytes, last launch of namespace %s: %d\n",
			to, info.Size(), flags.namespace, last)
	}
	a.warn("after a restore, before anything else: idmint advance")
	return err
}

// lastLaunch is the last launch of the log in a file, or 0, and whether there is a log.
func lastLaunch(
	ctx context.Context, flags *storeFlags, path string,
) (last int, there bool, err error) {
	log, done, err := flags.openIn(ctx, dsn.DSN{Kind: dsn.SQLite, Path: path}, launchlog.Options{})
	if none := (*launchlog.SchemaError)(nil); errors.As(err, &none) {
		return 0, none.Have != 0, nil
	}
	if err != nil {
		return 0, false, err
	}
	defer done()
	found, err := log.List(ctx, launchlog.Filter{Limit: 1})
	if err != nil || len(found) == 0 {
		return 0, true, err
	}
	return found[0].ID, true, nil
}
