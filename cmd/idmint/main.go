// Command idmint mints and explains primary keys, keeps the launch log, and imports files into
// tables with keys of their own.
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

// app is what the commands share.
type app struct {
	in       io.Reader
	out      printer
	err      io.Writer
	json     bool
	badInput bool // a line was refused, and said so

	explained bool // inspect has explained an ID, and the next one is set off from it
}

// usageError is about the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// usage makes a usageError. The texts among the arguments are made visible, and short where they
// are quoted.
func usage(format string, args ...any) error {
	for i, arg := range args {
		if text, ok := arg.(string); ok { // and no error: %w needs it as it is
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

// newLines are those that drivers indent where they list servers, and others.
var newLines = strings.NewReplacer(":\n\t", ": ", "\n\t", "; ", "\n", "; ")

// packages are the names with which errors of this module, and of encoding/json, begin.
var packages = regexp.MustCompile(`(^|: |; )(?:(?:claims|clickhouse|doctor|functions|generator|` +
	`idtype|importer|json|launchlog(?:/[a-z]+)?|measure|migrations|mysql|postgres|` +
	`sqlid|sqlite|telemetry|viewer): )+`)

// longestError is how much of an error is shown. A server or a file may say anything, at any
// length.
const longestError = 4 << 10

// inWords says an error in one line, and without the names of packages, which mean nothing to who
// runs a command. A long one is shown by its beginning and its end.
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
		Short: "Primary keys: mint, explain, import, and the launch log behind them",
		Long: `idmint mints primary keys that are unique by construction. It explains them,
and keeps the launch log that makes them so. Its IDs are of one of the schemes
` + schemeNames() + `.

A database is named by a DSN: sqlite:PATH,
postgres://USER:PASSWORD@HOST:PORT/DATABASE, or mysql://… (MariaDB, too). The
launch log may also lie in etcd://HOST:PORT,…/PREFIX, zookeeper://…/PATH or
cassandra://…/KEYSPACE. An import also takes clickhouse://…. Where --db is not
given, ` + dsnVariable + ` in the environment names it: on a command line, others
see a password.

Data goes to standard output, everything else to standard error. The exit
status is 1 when an input was bad or the work could not be done, 2 for wrong
usage, and 130 after Ctrl-C.`,
		Example: `  idmint inspect 14150009200065
  idmint launch list --db sqlite:app.db`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       "of an unknown build",
	})
	if info, ok := debug.ReadBuildInfo(); ok { // a version has the commit, where Go knows it
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
		a.trimCommand(), a.migrateCommand(), a.doctorCommand(), a.auditCommand(), a.functionsCommand(),
		a.columnsCommand(), a.schemaCommand(), a.serveCommand())
	root.AddCommand(a.wholeCommands()...)
	root.InitDefaultCompletionCmd()
	completeHelp(root)
	markArgs(root)
	return root
}

// oneArg wants the one argument that the usage line names behind the command.
func oneArg(c *cobra.Command, args []string) error {
	_, path, _ := strings.Cut(c.CommandPath(), " ")
	name := strings.Fields(c.Use)[1]
	switch len(args) {
	case 0:
		return fmt.Errorf("%s: %s is missing", path, name)
	case 1:
		return nil
	}
	return fmt.Errorf("%s: %q is one argument too many: want one %s", path, args[1], name)
}

// markArgs makes wrong arguments of every command usage errors.
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

// sameRequest is how long a further signal counts as the first one. The command gets two from
// timeout(1), which sends its signal to the command and to its group.
const sameRequest = time.Second

// interruptible gives a command a context that ends with Ctrl-C or a request to terminate. After
// sameRequest, the next Ctrl-C ends the process at once. Commands that only read and write streams do
// without, and end at the first.
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

// warn writes a line to standard error, as [printer.printf] does. Any goroutine may call it.
func (a *app) warn(format string, args ...any) {
	seen(args)
	fmt.Fprintln(a.err, "idmint: "+fmt.Sprintf(format, args...))
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
