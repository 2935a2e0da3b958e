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
		if c.Hidden || c.Name() == "completion" { // which is cobra's
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
		if c.Example == "" || !strings.Contains(got.stdout, c.Example+"\n") {
			t.Errorf("idmint %v --help has no example: %v", path, got)
		}
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
	if got := s.run("launch"); got.status != 0 || !strings.Contains(got.stdout, "show") {
		t.Errorf("idmint launch: %v", got)
	}
}

// prepare makes what examples speak of.
func (s *shell) prepare() {
	s.Helper()
	s.must("migrate", "--db", "sqlite:app.db")
	s.advanceLaunches(64)
	if id := s.start("a"); id != "65" {
		s.Fatalf("launch %s", id)
	}
	s.run("counter", "advance", "orders", "--to", "70", "--db", "sqlite:app.db")
	for _, name := range []string{"zones.tsv", "big.csv"} {
		s.write(name, "a\n1\n")
	}
	s.write("ids.txt", "14150009200065\n10000000001\n")
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
