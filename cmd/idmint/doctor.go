package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/cmd/idmint/internal/pool"
	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/checks"
)

func (a *app) doctorCommand() *cobra.Command {
	d := examination{app: a}
	c := &cobra.Command{
		Use:   "doctor --db DSN",
		Short: "Check the launch log and its database, and say what to do",
		Long: `Check the launch log and its database, and say what to do about each finding. The
command neither changes nor uses a number of the log.

A finding endangers numbers, or stops the log now or soon, and makes the exit
status 1. A note is advice, and unknown means that a check could not be made;
neither changes the status. --verbose also shows the checks that passed. With
--json each result is an object, whose code "check" stays the same from release
to release. Run the command as the apps' role, because rights are checked for
that role. Times are compared with this machine's clock.

With --state the command remembers the store and how far its numbers have come.
The next run with the same file reports a restore or a failover, and numbers that
were lost, even if others have been handed out in their place. It reports them
until the log is advanced and accepted by --accept. Keep the file on another
machine than the database. With --mark each run also raises a counter of the log,
doctor/…, which nothing else uses, so that a restore shows whatever it lost, even
if that was only numbers of counters.`,
		Example: "  idmint doctor --db sqlite:app.db",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if (d.accept || d.mark) && d.state == "" {
				return usage("--accept and --mark need --state")
			}
			d.flags.reading = !d.mark
			ctx, cancel := interruptible(c)
			defer cancel()
			if err := d.examine(ctx); err != nil {
				return err
			}
			return d.sum()
		},
	}
	d.flags.add(c)
	f := c.Flags()
	f.BoolVar(&d.verbose, "verbose", false, "also show the checks that passed")
	f.StringVar(&d.state, "state", "", "the file that remembers the last run")
	f.BoolVar(&d.accept, "accept", false,
		"remember the store as it is now, once a restore or failover has been dealt with")
	f.BoolVar(&d.mark, "mark", false, "leave a mark in the log, so that every restore is noticed")
	return c
}

// An examination is a run of doctor.
type examination struct {
	*app
	flags           storeFlags
	verbose, accept bool
	mark            bool
	state           string
	count           map[checks.Level]int
	toldSchema      bool // a check of the tables' version was reported
	first           bool // this look was saved, and there was none before
}

// examine makes all checks, and writes their results as they come. It returns an error only for
// wrong usage, an interruption, or the file of the last look.
func (e *examination) examine(ctx context.Context) error {
	d, err := e.flags.launchLog()
	if err != nil {
		return err
	}
	before, err := e.remembered()
	if err != nil {
		return err
	}
	e.count = map[checks.Level]int{}
	identity, err := e.store(ctx, d)
	if err == nil {
		err = e.log(ctx, identity, before)
	}
	if err := e.gone(before, err); err != nil {
		return err
	}
	var wrong *stateError
	if err == nil || ctx.Err() != nil || errors.As(err, &wrong) || errors.As(err, new(usageError)) {
		return err
	}
	// Any other error is a finding.
	code := "open"
	var schema *launchlog.SchemaError
	var missing *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist) && errors.As(err, &missing):
		code = "schema"
		err = fmt.Errorf("file %s does not exist, so there is no launch log", missing.Path)
	case errors.As(err, &schema):
		code = "schema"
	case isFileError(err):
		code = "sqlite.file"
	}
	return e.tell(checks.New(code, checks.Finding, "%s", inWords(err)))
}

// gone reports a log that the last look saw and that no longer exists. Err is the error of this
// look.
func (e *examination) gone(before *lastLook, err error) error {
	var schema *launchlog.SchemaError
	noLog := errors.As(err, &schema) && schema.Have == 0
	if before == nil || !noLog && !errors.Is(err, fs.ErrNotExist) { // no tables, and no file
		return nil
	}
	return e.tell(checks.New("lost", checks.Finding, "the log of the last look no longer "+
		"exists: it had come to launch %d, and had %s", before.LastLaunch,
		plural(len(before.Counters), "counter")))
}

// store makes the checks for the kind of database, and returns the database's identity.
func (e *examination) store(ctx context.Context, d dsn.DSN) (
	identity map[string]string, err error,
) {
	switch d.Kind {
	case dsn.SQLite, dsn.Postgres, dsn.MySQL:
		return e.sql(ctx, d)
	}
	var results []checks.Result
	err = pool.Await(ctx, e.flags.wait, func(ctx context.Context) (err error) {
		results, identity, err = keyValues[d.Kind].examine(ctx, d)
		return err
	})
	if err == nil {
		err = e.tell(results...)
	}
	return identity, err
}

func (e *examination) sql(ctx context.Context, d dsn.DSN) (identity map[string]string, err error) {
	db, err := e.openSQL(ctx, d)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	var results []checks.Result
	err = pool.Await(ctx, e.flags.wait, func(ctx context.Context) (err error) {
		results, err = doctor.SQL(ctx, db, d.Kind, d.Schema())
		return err
	})
	if err == nil {
		err = e.tell(results...)
	}
	if err == nil && e.state != "" {
		identity, err = doctor.Identity(ctx, db, d.Kind, d.Schema())
	}
	return identity, err
}

// openSQL opens a database without changing it.
func (e *examination) openSQL(ctx context.Context, d dsn.DSN) (*sql.DB, error) {
	if d.Kind != dsn.SQLite {
		return e.flags.reach(ctx, d)
	}
	if err := checkSQLite(d.Path); err != nil {
		return nil, err
	}
	if _, err := os.Stat(d.Path); err != nil {
		return nil, err // plainer than SQLite's error
	}
	if err := e.tell(checks.New("sqlite.file", checks.Passed,
		"the file is on a local file system, and has one name")); err != nil {
		return nil, err
	}
	name := url.URL{Path: filepath.Clean(d.Path)}
	return sql.Open(d.Driver(), "file:"+name.EscapedPath()+
		"?mode=rw&_busy_timeout=250&_synchronous=FULL")
}

// log makes the checks of the log's content.
func (e *examination) log(
	ctx context.Context, identity map[string]string, before *lastLook,
) error {
	log, done, err := e.flags.open(ctx, e.app)
	if none := (*launchlog.SchemaError)(nil); errors.As(err, &none) && e.toldSchema {
		return e.gone(before, err)
	}
	if err != nil {
		return err
	}
	defer done()
	results, err := doctor.Log(ctx, log)
	if err == nil {
		err = e.tell(append(results, checks.New("open", checks.Passed,
			"the launch log can be opened"))...)
	}
	if err != nil {
		return err
	}
	if e.state == "" {
		return e.tell(checks.New("identity", checks.Unknown,
			"there is no earlier run to compare with: --state FILE remembers this one"))
	}
	return e.look(ctx, log, identity, before)
}

// look compares the log with the last look, and remembers this one.
func (e *examination) look(
	ctx context.Context, log *launchlog.Log, identity map[string]string, before *lastLook,
) error {
	var last *doctor.State
	if before != nil {
		last = &before.State
	}
	now, results, err := doctor.Look(ctx, log, identity, last)
	if err != nil {
		return err
	}
	isOther := func(r checks.Result) bool { return r.Level == checks.Finding }
	if e.accept || !slices.ContainsFunc(results, isOther) {
		if e.mark {
			if err := now.Leave(ctx, log); err != nil {
				return err
			}
		}
		if err := e.remember(lastLook{e.flags.namespace, now}); err != nil {
			return err
		}
		e.first = before == nil
	}
	if e.accept {
		for i, r := range results {
			if isOther(r) {
				results[i] = checks.New(r.Check, checks.Note, "accepted: %s", r.Message)
			}
		}
	}
	return e.tell(results...)
}

// A lastLook is the content of the file of --state.
type lastLook struct {
	Namespace string `json:"namespace"`
	doctor.State
}

// A stateError reports a problem with the file of --state.
type stateError struct {
	path string
	err  error
}

func (e *stateError) Error() string { return fmt.Sprintf("--state %s: %v", e.path, e.err) }
func (e *stateError) Unwrap() error { return e.err }

var errNoState = errors.New("the file was not written by idmint doctor: name another file")

// remembered reads the last look, or returns nil if there was none.
func (e *examination) remembered() (*lastLook, error) {
	if e.state == "" {
		return nil, nil
	}
	data, err := os.ReadFile(e.state)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var last lastLook
	if err == nil && (json.Unmarshal(data, &last) != nil || last.Namespace == "") {
		err = errNoState
	}
	if err == nil && last.Namespace != e.flags.namespace {
		err = fmt.Errorf("the file is for namespace %q, not for %q: name another file",
			last.Namespace, e.flags.namespace)
	}
	if err != nil {
		return nil, &stateError{e.state, err}
	}
	return &last, nil
}

// remember writes the look, and replaces an existing file in one step.
func (e *examination) remember(last lastLook) error {
	data, err := json.Marshal(last)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(e.state), filepath.Base(e.state)+".*")
	if err != nil {
		return &stateError{e.state, err}
	}
	_, err = f.Write(append(data, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), e.state)
	}
	if err != nil {
		return &stateError{e.state, errors.Join(err, os.Remove(f.Name()))}
	}
	return nil
}

// tell writes results, and counts them.
func (e *examination) tell(results ...checks.Result) error {
	for _, r := range results {
		if err := e.tellAs(r, r); err != nil {
			return err
		}
	}
	return nil
}

// tellAs writes and counts a result. As JSON it writes object instead.
func (e *examination) tellAs(r checks.Result, object any) error {
	e.count[r.Level]++
	e.badInput = e.badInput || r.Level == checks.Finding
	if r.Check == "schema" {
		e.toldSchema = true
	}
	if r.Level == checks.Passed && !e.verbose {
		return nil
	}
	if e.json {
		return e.out.json(object)
	}
	err := e.out.printf("%s: %s: %s\n", r.Level, r.Check, r.Message)
	if err == nil && r.Remedy != "" {
		err = e.out.printf("  %s\n", r.Remedy)
	}
	return err
}

// sum writes how many checks there were, unless the output is JSON.
func (e *examination) sum() error {
	if e.json {
		return nil
	}
	remembered := ""
	if e.first {
		remembered = fmt.Sprintf("; the first look is saved in %s", e.state)
	}
	return e.out.printf("%d passed, %d unknown, %s, %s%s\n", e.count[checks.Passed],
		e.count[checks.Unknown], plural(e.count[checks.Note], "note"),
		plural(e.count[checks.Finding], "finding"), remembered)
}

// plural formats a number of things.
func plural(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
