// Command idmint mints and explains primary keys, keeps the launch log, and imports files into
// tables with new keys.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/idmint/idmint/internal/schemes"
)

// Exit statuses.
const (
	statusBadInput    = 1   // some input was bad, or the work could not be done
	statusUsage       = 2   // the command line itself is wrong
	statusInterrupted = 130 // Ctrl-C, as shells report it
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// app holds what the commands share.
type app struct {
	in       io.Reader
	out      printer
	err      io.Writer
	json     bool
	badInput bool // an input was rejected, and the error written

	explained bool // inspect has explained an ID, so a blank line comes before the next
}

// A usageError reports a wrong command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// usage returns a usageError. It escapes the strings among the arguments, and shortens those that
// the format quotes.
func usage(format string, args ...any) error {
	for i, arg := range args {
		if text, ok := arg.(string); ok { // errors stay as they are, for %w
			args[i] = seenArg{text}
		}
	}
	return usageError{fmt.Errorf(format, args...)}
}

var errInterrupted = errors.New("interrupted")

func run(args []string, in io.Reader, out, stderr io.Writer) int {
	a := &app{in: in, out: printer{bufio.NewWriterSize(out, 64<<10)}, err: stderr}
	root := a.command()
	root.SetArgs(args)
	command, err := root.ExecuteC()
	err = errors.Join(err, a.out.flush())
	if errors.Is(err, context.Canceled) && !errors.Is(err, errInterrupted) { // nothing else cancels
		err = fmt.Errorf("%w: %w", errInterrupted, err)
	}
	var wrong usageError
	switch {
	case err == nil && a.badInput:
		return statusBadInput
	case err == nil:
		return 0
	case errors.As(err, &wrong):
		a.warn("%s\nSee '%s --help'.", inWords(err), command.CommandPath())
		return statusUsage
	case errors.Is(err, errInterrupted):
		a.warn("%s", inWords(err))
		return statusInterrupted
	default:
		a.warn("%s", inWords(err))
		return statusBadInput
	}
}

// newLines puts an error on one line: drivers list servers on indented lines.
var newLines = strings.NewReplacer(":\n\t", ": ", "\n\t", "; ", "\n", "; ")

// packages matches the package names at the beginning of errors of this module and of
// encoding/json.
var packages = regexp.MustCompile(`(^|: |; )(?:(?:claims|clickhouse|doctor|functions|generator|` +
	`idtype|importer|json|launchlog(?:/[a-z]+)?|measure|migrations|mysql|postgres|` +
	`sqlid|sqlite|telemetry|viewer): )+`)

// longestError limits how many bytes of an error are shown, because a server or a file may cause an
// error of any length.
const longestError = 4 << 10

// inWords returns an error as one line, without the names of packages, which mean nothing to
// somebody who runs a command. It shortens a long error to its beginning and its end.
func inWords(err error) string {
	text := packages.ReplaceAllString(newLines.Replace(err.Error()), "$1")
	if len(text) <= longestError {
		return text
	}
	head := schemes.Beginning(text, longestError*3/4)
	tail := schemes.Beginning(text, len(text)-longestError/4)
	return head + " … " + text[len(tail):]
}

func (a *app) command() *cobra.Command {
	root := group(&cobra.Command{
		Use:   "idmint",
		Short: "Mint, explain and import primary keys, and keep their launch log",
		Long: `idmint mints primary keys, explains them, and keeps the launch log, which hands
out each number in them once. Its IDs have one of the schemes
` + schemeNames() + `.

A database is named by a DSN: sqlite:PATH,
postgres://USER:PASSWORD@HOST:PORT/DATABASE, or mysql://…, also for MariaDB. The
launch log can also be in etcd://HOST:PORT,…/PREFIX, zookeeper://…/PATH or
cassandra://…/KEYSPACE, and an import can also write to clickhouse://…. Without
--db, the environment variable ` + dsnVariable + ` names the database. Prefer it
for a DSN with a password, because other users can see a command line.

Results go to standard output, everything else to standard error. The exit
status is 1 if an input was bad or the work could not be done, 2 for wrong
usage, and 130 after Ctrl-C.`,
		Example: `  idmint inspect 14150009200065
  idmint launch list --db sqlite:app.db`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       "of an unknown build",
	})
	if info, ok := debug.ReadBuildInfo(); ok { // the version includes the commit, if Go knows it
		root.Version = info.Main.Version + ", " + info.GoVersion
	}
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetIn(a.in)
	root.SetOut(a.out.w)
	root.SetErr(a.err)
	root.PersistentFlags().BoolVar(&a.json, "json", false, "write JSON lines")
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(a.newCommand(), a.inspectCommand(), a.composeCommand(), a.boundsCommand(),
		a.launchCommand(), a.counterCommand(), a.claimsCommand(), a.advanceCommand(),
		a.trimCommand(), a.migrateCommand(), a.doctorCommand(), a.auditCommand(),
		a.functionsCommand(), a.columnsCommand(), a.schemaCommand(), a.serveCommand())
	root.AddCommand(a.wholeCommands()...)
	root.InitDefaultCompletionCmd()
	completeHelp(root)
	markArgs(root)
	return root
}

// oneArg requires exactly one argument, which the usage line names after the command.
func oneArg(c *cobra.Command, args []string) error {
	_, path, _ := strings.Cut(c.CommandPath(), " ")
	name := strings.Fields(c.Use)[1]
	switch len(args) {
	case 0:
		return fmt.Errorf("%s: %s is missing", path, name)
	case 1:
		return nil
	}
	return fmt.Errorf("%s: unexpected argument %q after %s", path, args[1], name)
}

// markArgs turns errors about the arguments of any command into usage errors.
func markArgs(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			if err := check(c, args); err != nil {
				return usageError{err}
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		markArgs(sub)
	}
}

// sameRequest is how long further signals count as a repetition of the first. A command that
// timeout(1) runs gets two, because timeout signals both the command and its process group.
const sameRequest = time.Second

// interruptible returns a command's context, which ends on Ctrl-C or SIGTERM. After sameRequest,
// the next Ctrl-C ends the process at once. Commands that only read and write streams do not use
// it, and end at the first signal.
func interruptible(c *cobra.Command) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(c.Context())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-signals:
			cancel(errInterrupted)
			time.Sleep(sameRequest)
		case <-ctx.Done():
		}
		signal.Stop(signals)
	}()
	return ctx, func() { cancel(nil) }
}

// warn writes a line to standard error, formatted as by [printer.printf]. It is safe for concurrent
// use.
func (a *app) warn(format string, args ...any) {
	seen(args)
	fmt.Fprintln(a.err, "idmint: "+fmt.Sprintf(format, args...))
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
