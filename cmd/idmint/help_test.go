package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Each command explains itself: on standard output, with status 0, with every flag and what it is
// for.
func TestHelp(t *testing.T) {
	s, stage := inside(t), inside(t)
	stage.prepare()
	var commands int
	var visit func(c *cobra.Command, path []string)
	visit = func(c *cobra.Command, path []string) {
		if c.Hidden {
			return
		}
		commands++
		got := s.run(append(path, "--help")...)
		if got.status != 0 || got.stderr != "" || !strings.Contains(got.stdout, "Usage:") {
			t.Errorf("idmint %v --help: %v", path, got)
		}
		if again := s.run(append([]string{"help"}, path...)...); again != got {
			t.Errorf("idmint help %v differs: %v", path, again)
		}
		if c.Short == "" || len(path) > 0 && !strings.Contains(got.stdout, c.Short) &&
			c.Long == "" {
			t.Errorf("idmint %v does not say what it is for", path)
		}
		check := func(f *pflag.Flag) {
			if !strings.Contains(got.stdout, "--"+f.Name) || f.Usage == "" {
				t.Errorf("idmint %v --help does not explain --%s", path, f.Name)
			}
		}
		c.LocalFlags().VisitAll(check)
		c.InheritedFlags().VisitAll(check)
		checkWidth(t, path, c, got.stdout, helpWidth)
		narrow := *s
		narrow.env = append(s.env, "COLUMNS=40")
		got = narrow.run(append(path, "--help")...)
		checkWidth(t, path, c, got.stdout, 40)
		t.Run(strings.Join(path, " "), func(t *testing.T) {
			t.Parallel()
			runExample(t, stage.dir, c.Example)
		})
		for _, sub := range c.Commands() {
			if !sub.Hidden && !strings.Contains(got.stdout, sub.Name()) {
				t.Errorf("idmint %v --help does not name %s", path, sub.Name())
			}
			visit(sub, append(path[:len(path):len(path)], sub.Name()))
		}
	}
	visit((&app{out: printer{w: bufio.NewWriter(io.Discard)}}).command(), nil)
	if commands < 22 {
		t.Errorf("only %d commands", commands)
	}
	if got, help := s.run(), s.run("--help"); got != help {
		t.Errorf("idmint alone: %v", got)
	}
	if got := s.run("launch"); got.status != 0 || !strings.Contains(got.stdout, "advance") {
		t.Errorf("idmint launch: %v", got)
	}
}

// checkWidth looks at the lines of a help text. What is to be copied is not broken, and a word
// neither: it stands alone.
func checkWidth(t *testing.T, path []string, c *cobra.Command, help string, width int) {
	t.Helper()
	if c.Example == "" || !strings.Contains(help, "\nExamples:\n"+c.Example+"\n") {
		t.Fatalf("idmint %v --help has no example: %s", path, help)
	}
	for line := range strings.SplitSeq(strings.Replace(help, c.Example, "", 1), "\n") {
		alone := len(strings.Fields(line)) == 1
		typed := strings.HasPrefix(line, "\t") // in cobra's text about completion
		if n := len([]rune(line)); n > width && !alone && !typed {
			t.Errorf("idmint %v --help: a line of %d characters: %s", path, n, line)
		}
	}
}

// Narrow help has the same words. Entries of lists stay entries.
func TestWrap(t *testing.T) {
	const text = `Explain IDs, given as arguments or one per line on standard input.

--form says how:

  text     as the app and idmint write them (default)
  hex      their bytes in hexadecimal digits, as a column of bytes shows them,
           also behind it

postgres://USER:PASSWORD@HOST:PORT/DATABASE`
	const want = `Explain IDs, given as arguments or one
per line on standard input.

--form says how:

  text     as the app and idmint write
           them (default)
  hex      their bytes in hexadecimal
           digits, as a column of bytes
           shows them, also behind it

postgres://USER:PASSWORD@HOST:PORT/DATABASE`
	if got := wrap(text, 40); got != want {
		t.Errorf("%s", got)
	}
	if got := wrap(text, 78); got != text {
		t.Errorf("%s", got)
	}
}

// Help is as wide as the environment or the terminal says, in bounds.
func TestWidthOfHelp(t *testing.T) {
	for _, c := range []struct {
		variable       string
		terminal, want int
	}{
		{"", 0, 80},
		{"", 60, 60},
		{"", 200, 80},
		{"", 20, 40},
		{"50", 60, 50},
		{"x", 60, 60},
		{"0", 60, 60},
		{"-3", 0, 80},
	} {
		t.Setenv(widthVariable, c.variable)
		a := &app{out: printer{columns: c.terminal}}
		if got := a.widthOfHelp(); got != c.want {
			t.Errorf("%q on %d columns: %d, want %d", c.variable, c.terminal, got, c.want)
		}
	}
}

// prepare makes what examples speak of.
func (s *shell) prepare() {
	s.Helper()
	s.must("migrate", "--db", "sqlite:app.db")
	s.run("launch", "advance", "--to", "64", "--db", "sqlite:app.db")
	if id := s.start("a"); id != "65" {
		s.Fatalf("launch %s", id)
	}
	s.run("counter", "advance", "orders", "--to", "70", "--db", "sqlite:app.db")
	for _, name := range []string{"zones.tsv", "big.csv"} {
		s.write(name, "a\n1\n")
	}
	s.write("ids.txt", "14150009200065\n10000000001\n")
	s.write("shorts.txt", "xinaS8QBh\n")
}

// runExample runs the commands of an example, in a copy of a folder that has what they speak of.
func runExample(t *testing.T, folder, example string) {
	t.Helper()
	s := newShell(t)
	if err := os.CopyFS(s.dir, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(example, "claims free") { // for doctor they would be findings
		s.lockAhead("sno/7", 4)
		s.lockAhead("eightbyte/11/1161", 1)
	}
	// Pages are served until somebody ends that.
	const serve = `serve() {
	coproc idmint serve "$@"
	local pid=$COPROC_PID
	head -1 <&"${COPROC[0]}"
	kill "$pid"
	wait "$pid"
}
`
	cmd := exec.Command("bash", "-euo", "pipefail", "-c",
		"gzip big.csv\n"+serve+strings.ReplaceAll(example, "idmint serve", "serve"))
	cmd.Dir = s.dir
	cmd.Env = append(s.env, "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH"),
		"CI_PIPELINE_URL=https://ci/7")
	out, err := cmd.Output()
	if err != nil || len(out) == 0 && !strings.Contains(example, "launch end") {
		t.Errorf("%s\n%v, it said %q", example, err, out)
	}
}
