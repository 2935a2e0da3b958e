package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/sqlite"
	"github.com/idmint/idmint/migrations"
)

// launchVariable names the launch of an app or a command in its environment, as a deployment sets it.
const launchVariable = "IDMINT_LAUNCH_ID"

// storeFlags are the flags of every command that uses a database.
type storeFlags struct {
	dsn       string
	namespace string
	wait      time.Duration
}

func (f *storeFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.dsn, "db", "", "the database: sqlite:PATH (required)")
	c.Flags().StringVar(&f.namespace, "namespace", launchlog.DefaultNamespace, "the system that the launch numbers are of")
	c.Flags().DurationVar(&f.wait, "wait", 30*time.Second, "how long to wait for a database that is busy or away")
}

// path is the file that the DSN names.
func (f *storeFlags) path() (string, error) {
	if f.dsn == "" {
		return "", usage("--db is required, for example --db sqlite:app.db")
	}
	path, ok := strings.CutPrefix(f.dsn, "sqlite:")
	if !ok {
		kind, _, _ := strings.Cut(f.dsn, ":") // no more of it: a DSN may hold a password
		return "", usage("--db: unknown kind of database %q: want sqlite:PATH", kind)
	}
	if path == "" {
		return "", usage("--db: %q has no path", f.dsn)
	}
	return path, nil
}

// open opens the launch log.
func (f *storeFlags) open(ctx context.Context, a *app) (*launchlog.Log, func(), error) {
	path, err := f.path()
	if err != nil {
		return nil, nil, err
	}
	store, err := sqlite.Open(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	log, err := launchlog.New(store, &launchlog.Options{
		Namespace: f.namespace, Budget: f.wait, Warn: func(u launchlog.Usage) { a.warn("warning: %v", u) },
	})
	if err != nil {
		store.Close()
		return nil, nil, usageError{err}
	}
	return log, func() { store.Close() }, nil
}

// migrate makes or upgrades the launch log's tables.
func (f *storeFlags) migrate(ctx context.Context) (from, to int, err error) {
	path, err := f.path()
	if err != nil {
		return 0, 0, err
	}
	db, err := sql.Open("sqlite3", sqlite.DSN(path, sqlite.Create))
	if err != nil {
		return 0, 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, f.wait)
	defer cancel()
	from, to, err = migrations.Up(ctx, db, migrations.SQLite)
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return from, to, errors.Join(err, db.Close())
}

func (a *app) migrateCommand() *cobra.Command {
	var flags storeFlags
	c := &cobra.Command{
		Use:   "migrate --db DSN",
		Short: "Create or upgrade the launch log's tables",
		Long:  "Create or upgrade the launch log's tables. It may run in many processes at once, and changes nothing where nothing is to be done.",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, cancel := interruptible(c)
			defer cancel()
			from, to, err := flags.migrate(ctx)
			if err != nil {
				return err
			}
			if a.json {
				_, err = fmt.Fprintf(a.out, `{"from":%d,"to":%d}`+"\n", from, to)
				return err
			}
			_, err = fmt.Fprintf(a.out, "schema version %d (was %d)\n", to, from)
			return err
		},
	}
	flags.add(c)
	return c
}

// launchFlag is --launch, or else the environment's launch; 0 is none.
func launchFlag(c *cobra.Command, value string) (int, error) {
	from := "--launch"
	if !c.Flags().Changed("launch") {
		from, value = launchVariable, os.Getenv(launchVariable)
		if value == "" {
			return 0, nil
		}
	}
	return launchNumber(from, value)
}

func launchNumber(what, text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > launchlog.MaxLaunch || strconv.Itoa(n) != text {
		return 0, usage("%s: %q is no launch number, 1 to %d", what, text, launchlog.MaxLaunch)
	}
	return n, nil
}
