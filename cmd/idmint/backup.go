//go:build cgo

package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/launchlog/sqlite"
)

func (a *app) backupCommand() *cobra.Command {
	var flags storeFlags
	var to string
	c := &cobra.Command{
		Use:   "backup --to FILE --db sqlite:PATH",
		Short: "Copy a SQLite file while apps use it",
		Long: `Copy a SQLite file, with the launch log in it, while apps use it. The copy is the
state of one moment. It is checked, gets its name only when it is complete, and
never replaces an existing file.

To restore it, stop the apps, replace PATH by the copy, and remove PATH-journal
if there is one. Run "idmint advance" before the apps start again, because a
restored log would hand out again what was taken since the backup.

For a server, use its own tool: pg_dump or mariadb-dump.`,
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
				return usage("--db: backup copies SQLite files: use the tools of %s",
					string(d.Kind))
			case to == "":
				return usage("--to is required")
			}
			ctx, cancel := interruptible(c)
			defer cancel()
			return a.backup(ctx, d.Path, to)
		},
	}
	flags.add(c)
	c.Flags().StringVar(&to, "to", "", "the new file (required)")
	return c
}

func (a *app) backup(ctx context.Context, path, to string) error {
	if err := sqlite.Backup(ctx, path, to); err != nil {
		return err
	}
	info, err := os.Stat(to)
	if err != nil {
		return err
	}
	a.warn("after a restore, before anything else: idmint advance (docs/operate/restore.md)")
	return a.answer(struct {
		To    string `json:"to"`
		Bytes int64  `json:"bytes"`
	}{to, info.Size()}, "%q: %d bytes\n", to, info.Size())
}
