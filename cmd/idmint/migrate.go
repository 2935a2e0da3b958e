package main

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/cmd/idmint/internal/pool"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/migrations"
)

func (a *app) migrateCommand() *cobra.Command {
	var flags storeFlags
	var digits string
	c := &cobra.Command{
		Use:   "migrate --db DSN",
		Short: "Create or upgrade the launch log",
		Example: "  idmint migrate --db sqlite:app.db\n" +
			"  idmint migrate --db sqlite:eu.db --digits 1-49999",
		Long: `Create or upgrade the launch log: its tables, or what it needs in etcd, ZooKeeper
or Cassandra. The command prints whether it created a log or found one, and
changes nothing if there is nothing to do. Many processes may run it at once.

If it creates a log although there was one before, that log's data was lost, or
the DSN names another place. A new log hands out again what the old one did, so
restore the old one, and run idmint advance before anything else.

With --digits, the launches of the namespace have these digits and no others, so
that logs of several regions, with ranges that do not overlap, mint into one key
space. Set the range before the first launch. Later it can only lose digits at
its end that no launch has had.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, cancel := interruptible(c)
			defer cancel()
			d, err := flags.launchLog()
			if err != nil {
				return err
			}
			var r *launchlog.Digits
			if digits != "" {
				r = new(launchlog.Digits)
				rest := ""
				n, _ := fmt.Sscanf(digits+" .", "%d-%d %s", &r.First, &r.Last, &rest)
				if n != 3 || rest != "." {
					return usage("--digits %q: must be a range LO-HI, such as 1-49999", digits)
				}
			}
			from, to, err := flags.migrate(ctx, d)
			if err != nil {
				return err
			}
			format, text := "%s\n", []any{migrated(d, from, to)}
			if r != nil {
				if err := flags.setDigits(ctx, a, *r); err != nil {
					return err
				}
				format += "launches of namespace %s have the digits %v\n"
				text = append(text, flags.namespace, r)
			}
			return a.answer(struct {
				Created bool              `json:"created"`
				From    int               `json:"from"`
				To      int               `json:"to"`
				Digits  *launchlog.Digits `json:"digits,omitempty"`
			}{from == 0, from, to, r}, format, text...)
		},
	}
	flags.add(c)
	c.Flags().StringVar(&digits, "digits", "", "the digits of launches, LO-HI within 1-99999")
	return c
}

func (f *storeFlags) setDigits(ctx context.Context, a *app, d launchlog.Digits) error {
	log, closeLog, err := f.open(ctx, a)
	if err != nil {
		return err
	}
	defer closeLog()
	return log.SetDigits(ctx, d)
}

// migrated describes what a migration did.
func migrated(d dsn.DSN, from, to int) string {
	switch from {
	case 0:
		return fmt.Sprintf("created a new launch log in %v, at schema version %d", d, to)
	case to:
		return fmt.Sprintf("the launch log in %v is already at schema version %d", d, to)
	}
	return fmt.Sprintf("upgraded the launch log in %v from schema version %d to %d", d, from, to)
}

// migrate creates or upgrades the launch log in a database of any kind. It returns the versions
// before and after, where 0 means that there was no log before.
func (f *storeFlags) migrate(ctx context.Context, d dsn.DSN) (from, to int, err error) {
	if kv, ok := keyValues[d.Kind]; ok {
		err = pool.Await(ctx, f.wait, func(ctx context.Context) (err error) {
			from, to, err = kv.migrate(ctx, d)
			return err
		})
		if err != nil {
			return 0, 0, fmt.Errorf("%v: %w", d, err)
		}
		return from, to, nil
	}
	var db *sql.DB
	if d.Kind == dsn.SQLite {
		if err := checkSQLite(d.Path); err != nil {
			return 0, 0, err
		}
		db, err = pool.Open(d, pool.Create)
	} else {
		db, err = f.reach(ctx, d)
	}
	if err != nil {
		return 0, 0, err
	}
	defer db.Close()
	ctx, cancel := f.withWait(ctx)
	defer cancel()
	from, to, err = migrations.Up(ctx, db, d.Kind, d.Schema())
	switch {
	case err != nil && d.Kind == dsn.SQLite:
		err = fmt.Errorf("%s: %w", d.Path, err)
	case err != nil:
		err = fmt.Errorf("%v: %w", d, err)
	}
	return from, to, err
}
