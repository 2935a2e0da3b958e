package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/cmd/idmint/internal/pool"
	"github.com/idmint/idmint/internal/visible"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/mysql"
	"github.com/idmint/idmint/launchlog/postgres"
)

// launchVariable is the environment variable for the launch of an app or a command, which a
// deployment sets.
const launchVariable = "IDMINT_LAUNCH_ID"

// Environment variables name the databases that no flag names, because other users can see the
// password in a command line.
const (
	dsnVariable = "IDMINT_DB"
	logVariable = "IDMINT_LOG"
)

// storeFlags are the flags of every command that uses a database.
type storeFlags struct {
	name      databaseFlag
	namespace string
	wait      time.Duration
	reading   bool           // opens also a SQLite file that is read-only
	clockless bool           // does not ask the store for its time
	command   *cobra.Command // writes that it waits for a database; may be nil
}

// patience is how long a command waits for a database before it reports that it waits.
const patience = 2 * time.Second

func (f *storeFlags) add(c *cobra.Command) {
	f.command = c
	f.name.add(c, "db", dsnVariable,
		"the database: sqlite:PATH, postgres://…, mysql://…, etcd://…, zookeeper://… or "+
			"cassandra://… (default $"+dsnVariable+")")
	c.Flags().StringVar(&f.namespace, "namespace", launchlog.DefaultNamespace,
		"the namespace of the launch numbers and log counters")
	c.Flags().DurationVar(&f.wait, "wait", 30*time.Second,
		"how long to wait for a database that is busy or away, or for a free number")
}

// A databaseFlag names a database.
type databaseFlag struct {
	flag, variable string
	text           string
	given          bool
}

func (f *databaseFlag) add(c *cobra.Command, flag, variable, help string) {
	f.flag, f.variable = flag, variable
	c.Flags().Var(f, flag, help)
}

func (f *databaseFlag) Set(text string) error {
	f.text, f.given = text, true
	return nil
}

func (f *databaseFlag) Type() string   { return "dsn" }
func (f *databaseFlag) String() string { return "" } // it may hold a password

// isGiven reports whether a database is named, by the flag or the environment.
func (f *databaseFlag) isGiven() bool { return f.given || os.Getenv(f.variable) != "" }

// parse reads the name. Its errors repeat nothing that may hold a password.
func (f *databaseFlag) parse() (dsn.DSN, error) {
	from, text := "--"+f.flag, f.text
	if !f.given {
		if text = os.Getenv(f.variable); text != "" {
			from = f.variable
		}
	}
	switch {
	case text == "" && f.given:
		return dsn.DSN{}, usage("--%s is empty: name a database, such as sqlite:app.db", f.flag)
	case text == "":
		return dsn.DSN{}, usage(
			"--%s is required, or %s in the environment: for example --%[1]s sqlite:app.db", f.flag,
			f.variable)
	}
	d, err := dsn.Parse(text)
	if err != nil {
		return dsn.DSN{}, usage("%s: %w", from, err)
	}
	if d.Kind == dsn.SQLite && !hasSQLite {
		return dsn.DSN{}, usage("%s: %s", from, errNoSQLite)
	}
	if d.Kind == dsn.MySQL && d.Database() == "" { // the others have a default
		return dsn.DSN{}, usage(
			"%s: the DSN names no database: mysql://USER:PASSWORD@HOST:PORT/DATABASE", from)
	}
	return d, nil
}

// launchLog returns the database of the launch log.
func (f *storeFlags) launchLog() (dsn.DSN, error) {
	d, err := f.name.parse()
	switch {
	case err != nil:
		return d, err
	case f.wait <= 0:
		return d, usage("--wait %v: must be more than 0", f.wait)
	case d.Kind == dsn.ClickHouse:
		return d, usage("--%s: ClickHouse has no transactions, and cannot hold a launch log: want "+
			"sqlite:PATH, postgres://…, mysql://…, etcd://…, zookeeper://… or cassandra://…",
			f.name.flag)
	}
	return d, nil
}

// withWait limits how long a call waits.
func (f *storeFlags) withWait(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, f.wait, fmt.Errorf("waited for %v", f.wait))
}

// A store is a launch log's store that can be closed.
type store interface {
	launchlog.Store
	Close() error
}

// open opens the launch log.
func (f *storeFlags) open(ctx context.Context, a *app) (*launchlog.Log, func(), error) {
	d, err := f.launchLog()
	if err != nil {
		return nil, nil, err
	}
	return f.openIn(ctx, d, launchlog.Options{
		Warn: func(u launchlog.Usage) { a.warn("warning: %v", u) },
	})
}

// openIn opens the launch log in a database, with opts in addition to what the flags set.
func (f *storeFlags) openIn(
	ctx context.Context, d dsn.DSN, opts launchlog.Options,
) (*launchlog.Log, func(), error) {
	s, err := f.openStore(ctx, d)
	if err != nil {
		return nil, nil, err
	}
	opts.Namespace, opts.Budget = f.namespace, f.wait
	read := launchlog.Store(s)
	if f.clockless {
		read = clockless{s}
	}
	log, err := launchlog.New(read, &opts)
	if err != nil {
		s.Close()
		return nil, nil, usageError{err}
	}
	return log, func() { closeSoon(s) }, nil
}

// mostClose is how long a command waits for its store to close.
const mostClose = 2 * time.Second

// closeSoon closes a store. Close waits for steps that the command has given up, and one of SQLite's
// may never end: a trigger in the file may loop, or the disk may hang. Such a step ends with the
// process.
func closeSoon(s store) {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		s.Close()
	}()
	select {
	case <-closed:
	case <-time.After(mostClose):
	}
}

// A clockless store reports no time.
type clockless struct{ launchlog.Store }

func (clockless) Now(context.Context) (time.Time, error) { return time.Time{}, nil }

// tellOfWait writes that the command waits for a database, unless the function that it returns is
// called soon.
func (f *storeFlags) tellOfWait(d dsn.DSN) (answered func()) {
	if f.command == nil || f.wait <= patience {
		return func() {}
	}
	told := make(chan struct{})
	timer := time.AfterFunc(patience, func() {
		defer close(told)
		f.command.PrintErrf("idmint: %s does not answer: waiting for up to %v\n",
			visible.Text(d.String()), f.wait)
	})
	return func() {
		if !timer.Stop() {
			<-told
		}
	}
}

func (f *storeFlags) openStore(ctx context.Context, d dsn.DSN) (s store, err error) {
	defer f.tellOfWait(d)()
	if d.Kind == dsn.SQLite {
		ctx, cancel := f.withWait(ctx)
		defer cancel()
		return openSQLite(ctx, d.Path, f.reading)
	}
	err = pool.Await(ctx, f.wait, func(ctx context.Context) (err error) {
		if kv, ok := keyValues[d.Kind]; ok {
			s, err = kv.open(ctx, d)
			return err
		}
		switch d.Kind {
		case dsn.Postgres:
			s, err = postgres.Open(ctx, d.Source(), d.Schema())
		case dsn.MySQL:
			s, err = mysql.Open(ctx, d.Source())
		default:
			err = fmt.Errorf("%s cannot hold a launch log", d.Kind)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%v: %w", d, err)
	}
	return s, nil
}

// reach opens a server's database, and waits until it answers.
func (f *storeFlags) reach(ctx context.Context, d dsn.DSN) (*sql.DB, error) {
	defer f.tellOfWait(d)()
	db, err := pool.Open(d, pool.Existing)
	if err != nil {
		return nil, fmt.Errorf("%v: %w", d, err)
	}
	if err := pool.Await(ctx, f.wait, db.PingContext); err != nil {
		db.Close()
		return nil, fmt.Errorf("%v: %w", d, err)
	}
	return db, nil
}

// launchFlag returns --launch, or else the environment's launch, or 0 for none.
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
	n, ok := launchlog.ParseLaunch(text)
	if !ok {
		return 0, usage("%s: %q is not a launch number", what, text)
	}
	return n, nil
}
