package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/idmint/idmint/internal/explain"
)

// Help is as wide as the terminal, within these bounds. Narrower terminals break lines themselves,
// and wider lines are hard to read.
const (
	helpWidth     = 80
	leastWidth    = 40
	widthVariable = "COLUMNS"
)

// widthOfHelp asks the environment, and then the terminal, where there is one.
func (a *app) widthOfHelp() int {
	n, err := strconv.Atoi(os.Getenv(widthVariable))
	if err != nil || n < 1 {
		n = cmp.Or(a.out.columns, helpWidth)
	}
	return min(max(n, leastWidth), helpWidth)
}

// help writes what a command does, and how it is used. Cobra would do that by templates, which
// break no lines.
func (a *app) help(c *cobra.Command, w io.Writer) {
	width := a.widthOfHelp()
	var b strings.Builder
	b.WriteString(wrap(cmp.Or(c.Long, c.Short), width) + "\n\nUsage:\n")
	if c.Runnable() && !c.HasAvailableSubCommands() {
		b.WriteString(fill(c.UseLine(), "  ", 4, width))
	}
	if c.HasAvailableSubCommands() {
		b.WriteString("  " + c.CommandPath() + " [command]\n")
	}
	if c.HasExample() { // to be copied as it is
		b.WriteString("\nExamples:\n" + c.Example + "\n")
	}
	if c.HasAvailableSubCommands() {
		b.WriteString("\nAvailable Commands:\n")
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() || sub.Name() == "help" {
				name := fmt.Sprintf("  %-*s ", sub.NamePadding(), sub.Name())
				b.WriteString(fill(sub.Short, name, len(name), width))
			}
		}
	}
	flags := func(title string, of *pflag.FlagSet) {
		if of.HasAvailableFlags() {
			b.WriteString("\n" + title + ":\n" + flagUsages(of, width))
		}
	}
	flags("Flags", c.LocalFlags())
	flags("Global Flags", c.InheritedFlags())
	if c.HasAvailableSubCommands() {
		b.WriteString("\n" + wrap(fmt.Sprintf(
			"Use '%s [command] --help' for more information about a command.", c.CommandPath()),
			width) + "\n")
	}
	io.WriteString(w, a.out.signs(b.String()))
}

// flagUsages explains flags. A narrow terminal has no room for two columns.
func flagUsages(of *pflag.FlagSet, width int) string {
	if width >= helpWidth {
		return of.FlagUsagesWrapped(width)
	}
	var b strings.Builder
	of.VisitAll(func(f *pflag.Flag) {
		only := pflag.NewFlagSet("", pflag.ContinueOnError)
		only.AddFlag(f)
		_, usage := pflag.UnquoteUsage(f)
		line := strings.TrimSuffix(only.FlagUsages(), "\n")
		if column := strings.Index(line, usage); column > 0 { // no hidden flag
			b.WriteString(strings.TrimRight(line[:column], " ") + "\n")
			b.WriteString(fill(line[column:], strings.Repeat(" ", 8), 8, width))
		}
	})
	return b.String()
}

// wrap breaks the lines of a text anew where some are wider. An indented line is an entry of a
// list, and what is below its second column goes on with it. A line behind a tab is a command.
func wrap(text string, width int) string {
	fits := func(line string) bool { return utf8.RuneCountInString(line) <= width }
	if !slices.ContainsFunc(strings.Split(text, "\n"), func(l string) bool { return !fits(l) }) {
		return text
	}
	var b strings.Builder
	entry, prefix, hang := "", "", 0
	end := func() {
		if entry != "" {
			b.WriteString(fill(entry, prefix, hang, width))
		}
		entry, prefix, hang = "", "", 0
	}
	for line := range strings.SplitSeq(text, "\n") {
		words := strings.TrimLeft(line, " ")
		indent := len(line) - len(words)
		switch {
		case words == "", words[0] == '\t':
			end()
			b.WriteString(line + "\n")
		case entry != "" && indent == hang:
			entry += " " + words
		default:
			end()
			entry, prefix, hang = words, line[:indent], indent
			if _, rest, ok := strings.Cut(words, "  "); ok && indent > 0 {
				entry = strings.TrimLeft(rest, " ")
				hang = len(line) - len(entry)
				prefix = line[:hang]
			}
		}
	}
	end()
	return strings.TrimSuffix(b.String(), "\n")
}

// fill writes words in lines of a width. The first line begins with the prefix, the others with as
// many spaces as they hang. A word that is wider stands alone.
func fill(words, prefix string, hang, width int) string {
	var b strings.Builder
	line, fresh := prefix, true
	for word := range strings.FieldsSeq(words) {
		if !fresh && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			b.WriteString(line + "\n")
			line, fresh = strings.Repeat(" ", hang), true
		}
		if !fresh {
			line += " "
		}
		line, fresh = line+word, false
	}
	return b.String() + line + "\n"
}

// A group is a command that has commands. It helps where none is named.
func group(c *cobra.Command, subs ...*cobra.Command) *cobra.Command {
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return errors.New(unknownCommand(c, args[0]))
	}
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	c.AddCommand(subs...)
	return c
}

// unknownCommand names those that may be meant.
func unknownCommand(parent *cobra.Command, name string) string {
	parent.SuggestionsMinimumDistance = 2
	return "unknown command " + explain.Quoted(name) + meant(parent.SuggestionsFor(name))
}

func meant(near []string) string {
	if len(near) == 0 {
		return ""
	}
	return ": did you mean " + strings.Join(near, " or ") + "?"
}

// helpCommand tells of a topic that is no command, and of those that are meant.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Help about any command",
		Example: "  idmint help launch start",
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) (
			[]string, cobra.ShellCompDirective,
		) {
			found, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []string
			for _, sub := range found.Commands() {
				if sub.IsAvailableCommand() {
					names = append(names, cobra.CompletionWithDesc(sub.Name(), sub.Short))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			found, rest, err := root.Find(args)
			if err == nil && len(rest) == 0 {
				found.InitDefaultHelpFlag()
				return found.Help()
			}
			unknown := args[len(args)-1]
			if len(rest) > 0 {
				unknown = rest[0]
			}
			return usageError{errors.New("help: " + unknownCommand(found, unknown))}
		},
	}
}

// flagError says of a flag what is wrong, in words: pflag quotes what it quotes already, and names
// functions of Go.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var bad *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "":
		name := unknown.GetSpecifiedName()
		return usage("unknown flag: --%s%s", name, meant(flagsNear(c, name)))
	case errors.As(err, &bad):
		want := map[string]string{
			"int": "want a whole number", "int64": "want a whole number",
			"bool": "want true or false", "duration": "want a time such as 30s or 2m",
		}[bad.GetFlag().Value.Type()]
		if _, ours := bad.GetFlag().Value.(*numberFlag); ours || want == "" {
			want = errors.Unwrap(bad).Error()
		}
		return usage("--%s %q: %s", bad.GetFlag().Name, bad.GetValue(), want)
	}
	return usageError{err}
}

// flagsNear are those that cobra would suggest if they were commands.
func flagsNear(c *cobra.Command, name string) (near []string) {
	all := &cobra.Command{} // cobra compares names of commands
	all.SuggestionsMinimumDistance = 2
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			all.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
		}
	})
	for _, found := range all.SuggestionsFor(name) {
		near = append(near, "--"+found)
	}
	return near
}
