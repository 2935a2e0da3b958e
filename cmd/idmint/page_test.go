//go:build cgo

package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "write the commands into the page of the command line")

// The page of the command line ends with the help of all commands.
func TestPage(t *testing.T) {
	const page, begin, end = "../../docs/reference/cli.md", "<!-- commands -->\n", "<!-- end -->"
	content, err := os.ReadFile(page)
	head, rest, ok := strings.Cut(string(content), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if err != nil || !ok || !ok2 {
		t.Fatalf("%s has no place for the commands: %v", page, err)
	}
	var list, all strings.Builder
	list.WriteString("| command | what it does |\n|---|---|\n")
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		if c.Hidden || c.Name() == "completion" || c.Name() == "help" { // which are cobra's
			return
		}
		path := c.CommandPath()
		fmt.Fprintf(&list, "| [%s](#%s) | %s |\n", path, strings.ReplaceAll(path, " ", "-"), cell(c.Short))
		section(&all, c)
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit((&app{out: printer{w: bufio.NewWriter(io.Discard)}}).command())
	want := head + begin + list.String() + all.String() + end + tail
	if *update {
		err = os.WriteFile(page, []byte(want), 0o644)
	}
	if err != nil || !*update && want != string(content) {
		t.Errorf("%s differs from the help, %v: go test -run TestPage . -update", page, err)
	}
}

// flagTypes are the names of types for a reader.
var flagTypes = map[string]string{
	"string": "TEXT", "stringArray": "TEXT", "dsn": "DSN", "int": "N", "duration": "DURATION",
}

// section writes what a command's help says.
func section(w io.Writer, c *cobra.Command) {
	fmt.Fprintf(w, "\n### %s\n\n", c.CommandPath())
	if c.Runnable() && !c.HasSubCommands() {
		fmt.Fprintf(w, "```\n%s\n```\n\n", c.UseLine())
	}
	text := c.Long
	if text == "" {
		text = c.Short + "."
	}
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		if strings.HasPrefix(paragraph, "  ") { // columns
			fmt.Fprintf(w, "```\n%s\n```\n\n", unindented(paragraph))
			continue
		}
		fmt.Fprintf(w, "%s\n\n", wrapped(linked(paragraph)))
	}
	if flags := c.NonInheritedFlags(); flags.HasAvailableFlags() {
		fmt.Fprint(w, "| flag | default | meaning |\n|---|---|---|\n")
		flags.VisitAll(func(f *pflag.Flag) {
			if f.Hidden || f.Name == "help" || f.Name == "version" {
				return
			}
			name := "--" + f.Name
			if f.Shorthand != "" {
				name = "-" + f.Shorthand + ", " + name
			}
			kind, usage := pflag.UnquoteUsage(f)
			if of, ok := flagTypes[kind]; ok {
				kind = of
			}
			preset := ""
			if !slices.Contains([]string{"", "0", "0s", "false", "[]"}, f.DefValue) {
				preset = "`" + f.DefValue + "`"
			}
			fmt.Fprintf(w, "| `%s` | %s | %s |\n", strings.TrimSpace(name+" "+kind), cell(preset),
				cell(linked(usage)))
		})
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "```\n%s\n```\n", unindented(c.Example))
}

// linked is a text in which pages are links, flags are code, and nothing else is a mark.
func linked(text string) string {
	text = strings.NewReplacer("*", `\*`, "<", `\<`).Replace(text)
	text = regexp.MustCompile(`(^|[\s(])(--[a-z-]+)`).ReplaceAllString(text, "$1`$2`")
	return regexp.MustCompile(`docs/([\w/-]+\.md)`).ReplaceAllString(text, "[$1](../$1)")
}

// cell is a text in a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

func unindented(text string) string {
	return strings.TrimPrefix(strings.ReplaceAll("\n"+text, "\n  ", "\n"), "\n")
}

// wrapped is a paragraph in lines of 100 columns, none of which begins as an item of a list.
func wrapped(text string) string {
	item := regexp.MustCompile(`^(\d+[.)]|[-+#>])$`)
	lines := []string{""}
	for word := range strings.FieldsSeq(text) {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case len(*last)+1+len(word) > 100 && !item.MatchString(word):
			lines = append(lines, word)
		default:
			*last += " " + word
		}
	}
	return strings.Join(lines, "\n")
}
