package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/idmint/idmint/internal/schemes"
)

// group returns a command that has subcommands. Without one it prints its help.
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

// unknownCommand returns the error text for an unknown command, with suggestions.
func unknownCommand(parent *cobra.Command, name string) string {
	parent.SuggestionsMinimumDistance = 2
	text := "unknown command " + schemes.Quoted(name)
	if near := parent.SuggestionsFor(name); len(near) > 0 {
		text += ": did you mean " + strings.Join(near, " or ") + "?"
	}
	return text
}

// completeHelp makes cobra's help command reject a topic that is not a command, with suggestions.
func completeHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	help, _, _ := root.Find([]string{"help"})
	help.Example = "  idmint help launch start"
	help.Args = func(_ *cobra.Command, args []string) error {
		found, rest, err := root.Find(args)
		if err == nil && len(rest) > 0 {
			err = errors.New("help: " + unknownCommand(found, rest[0]))
		}
		return err
	}
}

// flagError says in plain words what is wrong with a flag, because errors of pflag quote values
// twice and name Go functions.
func flagError(_ *cobra.Command, err error) error {
	var bad *pflag.InvalidValueError
	if errors.As(err, &bad) {
		want := map[string]string{
			"int": "must be a whole number", "int64": "must be a whole number",
			"bool": "must be true or false", "duration": "must be a time such as 30s or 2m",
		}[bad.GetFlag().Value.Type()]
		if _, ours := bad.GetFlag().Value.(*numberFlag); ours || want == "" {
			want = errors.Unwrap(bad).Error()
		}
		return usage("--%s %q: %s", bad.GetFlag().Name, bad.GetValue(), want)
	}
	return usageError{err}
}
