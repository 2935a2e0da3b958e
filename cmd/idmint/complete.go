package main

import (
	"context"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/idmint/idmint/internal/explain"
	"github.com/idmint/idmint/internal/visible"
	"github.com/idmint/idmint/launchlog"
)

// Shells ask while somebody types: a database that is slow completes nothing.
const (
	completionWait = 2 * time.Second
	completionMost = 50 // launches, the newest
)

// outcomes are the usual ones. A launch may end with any other word.
var outcomes = []string{
	string(launchlog.Succeeded), string(launchlog.Failed), string(launchlog.Aborted),
	string(launchlog.RolledBack), string(launchlog.Superseded),
}

// dialects are how names of databases begin.
var dialects = []string{
	"sqlite:", "postgres://", "mysql://", "mariadb://", "clickhouse://", "etcd://", "zookeeper://",
	"cassandra://",
}

// completions are those of flags, by their names in all commands.
func (a *app) completions() map[string]cobra.CompletionFunc {
	var names []string
	for _, s := range schemes {
		names = append(names, string(s.Name()))
	}
	return map[string]cobra.CompletionFunc{
		"scheme":  words(names...),
		"form":    words(explain.Text, "number", "hex", "uuid"),
		"layout":  words("v1", "v2", "v3"),
		"outcome": words(outcomes...),
		"launch":  a.launchFlags, "rolls-back": a.launchFlags, "known": a.launchFlags,
		"db": databaseNames, "log": databaseNames,
	}
}

// complete makes shells complete what follows flags and commands. What is not listed completes to
// names of files, as shells do.
func (a *app) complete(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	byName := a.completions()
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if found, ok := byName[f.Name]; ok {
				c.RegisterFlagCompletionFunc(f.Name, found) // fails for a second one only
			}
		})
		if c.Name() == "completion" {
			c.Example = `  eval "$(idmint completion bash)" && complete -p idmint`
		} else if c.HasParent() && c.Parent().Name() == "completion" {
			name := "idmint." + c.Name()
			c.Example = "  idmint completion " + c.Name() + " > " + name + " && ls " + name
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(root)
}

func words(all ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(all, cobra.ShellCompDirectiveNoFileComp)
}

// databaseNames completes how the name of one begins, and behind that names of files.
func databaseNames(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return dialects, cobra.ShellCompDirectiveNoSpace
}

// launches completes the newest launches of the database that the command line, or the environment,
// names. An error completes nothing: it cannot be said there.
func (a *app) launches(c *cobra.Command, running bool) []string {
	named, ok := c.Flag("db").Value.(*databaseFlag)
	if !ok {
		return nil
	}
	flags := storeFlags{
		name: *named, namespace: c.Flag("namespace").Value.String(), wait: completionWait,
	}
	ctx, cancel := context.WithTimeout(context.Background(), completionWait)
	defer cancel()
	log, done, err := flags.open(ctx, &app{err: io.Discard})
	if err != nil {
		return nil
	}
	defer done()
	list, err := log.List(ctx, launchlog.Filter{Running: running, Limit: completionMost})
	if err != nil {
		return nil
	}
	found := make([]string, 0, len(list))
	for _, l := range list {
		found = append(found, cobra.CompletionWithDesc(strconv.Itoa(l.ID),
			visible.Text(l.Service+" "+l.Environment+", "+state(l))))
	}
	return found
}

// newestFirst keeps the newest launch first.
const newestFirst = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder

// launchFlags completes a flag.
func (a *app) launchFlags(c *cobra.Command, _ []string, _ string) (
	[]string, cobra.ShellCompDirective,
) {
	return a.launches(c, false), newestFirst
}

// launchArg completes the one argument of a command: a launch that runs for end, else any.
func (a *app) launchArg(c *cobra.Command, args []string, _ string) (
	[]string, cobra.ShellCompDirective,
) {
	if len(args) > 0 {
		return nil, newestFirst
	}
	return a.launches(c, c.Name() == "end"), newestFirst
}
