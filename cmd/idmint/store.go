package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/mattn/go-sqlite3"
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

var kindPattern = regexp.MustCompile(`^[a-z][a-z0-9]*$`)

// path is the file that the DSN names.
func (f *storeFlags) path() (string, error) {
	kind, path, ok := strings.Cut(f.dsn, ":")
	switch {
	case f.dsn == "":
		return "", usage("--db is required, for example --db sqlite:app.db")
	case f.wait <= 0:
		return "", usage("--wait %v: want more than 0", f.wait)
	case !ok || !kindPattern.MatchString(kind): // nothing is repeated of what may hold a password
		return "", usage("--db: want the kind of database and a colon first, for example --db sqlite:app.db")
	case kind != "sqlite":
		return "", usage("--db: unknown kind of database %q: want sqlite:PATH", kind)
	case path == "":
		return "", usage("--db: %q has no path", f.dsn)
	case strings.HasPrefix(path, "//") || strings.Contains(path, "?"):
		return "", usage("--db: %q: want sqlite:PATH, a path without // before it and without ?", f.dsn)
	}
	return path, nil
}

// withWait bounds what a call waits.
func (f *storeFlags) withWait(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, f.wait, fmt.Errorf("waited for %v", f.wait))
}

// open opens the launch log.
func (f *storeFlags) open(ctx context.Context, a *app) (*launchlog.Log, func(), error) {
	path, err := f.path()
	if err != nil {
		return nil, nil, err
	}
	opening, cancel := f.withWait(ctx)
	defer cancel()
	store, err := sqlite.Open(opening, path)
	if err != nil {
		return nil, nil, whyNotOpened(path, err)
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

// openDatabase opens a file for other uses than the launch log's. SQLite itself waits for a lock only shortly, because its
// waiting obeys no context: whoever uses the database tries again.
func openDatabase(path string, mode sqlite.Mode) (*sql.DB, error) {
	return sql.Open("sqlite3", sqlite.DSN(path, mode)+"&_busy_timeout=250")
}

// migrate makes or upgrades the launch log's tables.
func (f *storeFlags) migrate(ctx context.Context) (from, to int, err error) {
	path, err := f.path()
	if err != nil {
		return 0, 0, err
	}
	if err := sqlite.Check(path); err != nil {
		return 0, 0, err
	}
	db, err := openDatabase(path, sqlite.Create)
	if err != nil {
		return 0, 0, err
	}
	ctx, cancel := f.withWait(ctx)
	defer cancel()
	from, to, err = migrations.Up(ctx, db, migrations.SQLite)
	if err != nil {
		err = whyNotOpened(path, fmt.Errorf("%s: %w", path, err))
	}
	return from, to, errors.Join(err, db.Close())
}

// whyNotOpened asks the system why the file cannot be opened, where SQLite says so and names a reason that is another file's:
// its log, beside a file on a read-only disk.
func whyNotOpened(path string, err error) error {
	var reason sqlite3.Error
	if !errors.As(err, &reason) || reason.Code != sqlite3.ErrCantOpen {
		return err
	}
	file, openErr := os.OpenFile(path, os.O_RDWR, 0)
	switch {
	case errors.Is(openErr, fs.ErrNotExist): // it is the file itself
		return err
	case openErr != nil:
		return openErr
	}
	return errors.Join(err, file.Close())
}

func (a *app) migrateCommand() *cobra.Command {
	var flags storeFlags
	c := &cobra.Command{
		Use:     "migrate --db DSN",
		Short:   "Create or upgrade the launch log's tables",
		Example: "  idmint migrate --db sqlite:app.db",
		Long:    "Create or upgrade the launch log's tables. It may run in many processes at once, and changes nothing where nothing is to be done.",
		Args:    cobra.NoArgs,
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
