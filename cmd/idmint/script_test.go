package main

import (
	"io"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// Scripts of testdata/script say what idmint answers. Beside the commands of package testscript
// they have these:
//
//	idmint ARGS… [< FILE]   succeeds, or with ! before it fails with status 1
//	says ANSWER ARGS…       succeeds, and writes this alone; of several lines with | between them
//	refuse TEXT ARGS…       has status 1, and a line with the text on standard error alone
//	usage TEXT ARGS…        has status 2, and such a line, and says where to look
//	sql FILE STATEMENT      changes a file of SQLite
func TestScripts(t *testing.T) {
	testscript.RunT(serial{t}, testscript.Params{
		Dir: "testdata/script", ContinueOnError: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"idmint": func(ts *testscript.TestScript, fails bool, args []string) {
				got, want := inScript(ts, args), 0
				if fails {
					want = statusBadInput
				}
				io.WriteString(ts.Stdout(), got.stdout)
				io.WriteString(ts.Stderr(), got.stderr)
				if got.status != want {
					ts.Fatalf("%v, want status %d", got, want)
				}
			},
			"says": func(ts *testscript.TestScript, _ bool, args []string) {
				got := inScript(ts, args[1:])
				said := strings.ReplaceAll(strings.TrimSuffix(got.stdout, "\n"), "\n", "|")
				if said != args[0] || got.status != 0 || got.stderr != "" {
					ts.Fatalf("%v, want %s", got, args[0])
				}
			},
			"refuse": func(ts *testscript.TestScript, _ bool, args []string) {
				complains(ts, args, statusBadInput, 1)
			},
			"usage": func(ts *testscript.TestScript, _ bool, args []string) {
				complains(ts, args, statusUsage, 2)
			},
			"sql": func(ts *testscript.TestScript, _ bool, args []string) {
				s := &shell{TB: t, dir: ts.MkAbs(".")}
				s.exec(args[0], args[1])
			},
		},
	})
}

// complains runs a command that says what is wrong with it, and writes nothing else.
func complains(ts *testscript.TestScript, args []string, status, lines int) {
	got := inScript(ts, args[1:])
	if got.status != status || got.stdout != "" || !strings.Contains(got.stderr, args[0]) ||
		!strings.HasPrefix(got.stderr, "idmint: ") || strings.Count(got.stderr, "\n") != lines ||
		lines == 2 && !strings.Contains(got.stderr, "\nSee 'idmint") {
		ts.Fatalf("%v, want status %d and %q", got, status, args[0])
	}
	for _, name := range []string{
		"idtype:", "launchlog:", "generator:", "migrations:", "importer:", "sqlid:", "scramble:", "json:",
	} {
		if strings.Contains(got.stderr, name) {
			ts.Fatalf("the name of a package: %v", got)
		}
	}
}

// inScript runs idmint in the folder and the environment of a script.
func inScript(ts *testscript.TestScript, args []string) answer {
	input := ""
	if n := len(args); n > 1 && args[n-2] == "<" {
		args, input = args[:n-2], ts.ReadFile(args[n-1])
	}
	s := shell{dir: ts.MkAbs("."), env: environment()}
	for _, name := range []string{launchVariable, dsnVariable, logVariable} {
		if value := ts.Getenv(name); value != "" {
			s.env = append(s.env, name+"="+value)
		}
	}
	got, err := s.call(input, args)
	ts.Check(err)
	return got
}

// serial runs scripts one after another: the folder and the environment are the process's.
type serial struct{ *testing.T }

func (serial) Parallel()     {}
func (serial) Verbose() bool { return testing.Verbose() }

func (t serial) Run(name string, f func(testscript.T)) {
	t.T.Run(name, func(t *testing.T) { f(serial{t}) })
}
