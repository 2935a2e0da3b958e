// Command mutants breaks the code on purpose, one place at a time, and reports whether the tests
// notice. It does not change the checkout, because the go command reads the broken file from
// another place. The exit status is 1 unless every mutant is caught:
//
//	go run ./integration_test/mutants [-p N] [pattern]
//
// The pattern is a regular expression for a mutant's reason, or for its file and tests. Mutants of
// N packages run side by side. Tests find servers by the environment, as in go test.
package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

//go:embed mutants.txt
var list string

// A mutant replaces the only occurrence of old in a file by new.
type mutant struct {
	why, file, old, new string
	run                 string   // the pattern of -run, or none for all tests
	packages            []string // whose tests notice it
}

func main() {
	beside := flag.Int("p", 1, "how many packages are tested side by side")
	flag.Parse()
	if err := run(strings.Join(flag.Args(), " "), *beside); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(pattern string, beside int) error {
	only, err := regexp.Compile(pattern)
	if err != nil {
		return fmt.Errorf("the pattern: %w", err)
	}
	all, err := parse(list)
	if err != nil {
		return err
	}
	mutants := slices.DeleteFunc(all, func(m mutant) bool {
		tests := strings.Join(append([]string{m.file, m.run}, m.packages...), " ")
		return !only.MatchString(m.why) && !only.MatchString(tests)
	})
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	began := time.Now()
	r := report{count: map[verdict]int{}}
	work := make(chan []mutant)
	var workers sync.WaitGroup
	for i := range max(beside, 1) {
		b := bench{root, filepath.Join(dir, fmt.Sprint(i))}
		if err := os.Mkdir(b.dir, 0o755); err != nil {
			return err
		}
		workers.Go(func() {
			for together := range work {
				b.tryAll(together, &r)
			}
		})
	}
	for _, together := range byPackages(mutants) {
		work <- together
	}
	close(work)
	workers.Wait()
	return r.end(time.Since(began))
}

// parse reads blocks that are separated by empty lines. A block has a line for each part of the
// mutant: "# why", "file [-run=pattern] package…", "- old", "+ new".
func parse(list string) ([]mutant, error) {
	var all []mutant
	for block := range strings.SplitSeq(strings.TrimSpace(list), "\n\n") {
		lines := strings.Split(block, "\n")
		if len(lines) != 4 {
			return nil, fmt.Errorf("a mutant has %d lines:\n%s", len(lines), block)
		}
		m := mutant{
			why: strings.TrimPrefix(lines[0], "# "),
			old: strings.TrimPrefix(lines[2], "- "), new: strings.TrimPrefix(lines[3], "+ "),
		}
		for i, word := range strings.Fields(lines[1]) {
			pattern, isRun := strings.CutPrefix(word, "-run=")
			switch {
			case i == 0:
				m.file = word
			case isRun:
				m.run = pattern
			default:
				m.packages = append(m.packages, word)
			}
		}
		if len(m.packages) == 0 {
			return nil, fmt.Errorf("a mutant has no package:\n%s", block)
		}
		all = append(all, m)
	}
	return all, nil
}

// byPackages groups mutants that the same packages should notice. The largest groups come first, so
// that no long group is left to the end.
func byPackages(mutants []mutant) (groups [][]mutant) {
	at := map[string]int{}
	for _, m := range mutants {
		packages := strings.Join(m.packages, " ")
		i, ok := at[packages]
		if !ok {
			i = len(groups)
			at[packages] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], m)
	}
	slices.SortStableFunc(groups, func(a, b []mutant) int { return len(b) - len(a) })
	return groups
}

// place finds the only place of a mutant in a file.
func (m mutant) place(root string) (whole []byte, err error) {
	whole, err = os.ReadFile(filepath.Join(root, m.file))
	if n := strings.Count(string(whole), m.old); err == nil && n != 1 {
		err = fmt.Errorf("%s has %q %d times", m.file, m.old, n)
	}
	return whole, err
}

// A bench is a folder in which a worker keeps a broken file.
type bench struct{ root, dir string }

// tryAll tries mutants of the same packages, provided that the tests that should notice them pass
// on the unbroken code.
func (b bench) tryAll(mutants []mutant, r *report) {
	began := time.Now()
	if out, err := b.test(mutants[0].packages, union(mutants), 0, ""); err != nil {
		for _, m := range mutants {
			r.add(m, untried, 0, "the tests fail on the code as it is:\n"+out)
			out = "as above"
		}
		return
	}
	limit := time.Minute + 10*time.Since(began)
	for _, m := range mutants {
		began := time.Now()
		v, what := b.try(m, limit)
		r.add(m, v, time.Since(began), what)
	}
}

// union returns the pattern for all tests that mutants name.
func union(mutants []mutant) string {
	var all []string
	for _, m := range mutants {
		if m.run == "" {
			return ""
		}
		all = append(all, m.run)
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), "|")
}

func (b bench) try(m mutant, limit time.Duration) (verdict, string) {
	whole, err := m.place(b.root)
	if err != nil {
		return untried, err.Error()
	}
	broken, overlay := filepath.Join(b.dir, "broken"), filepath.Join(b.dir, "overlay.json")
	replace, err := json.Marshal(map[string]any{
		"Replace": map[string]string{filepath.Join(b.root, m.file): broken},
	})
	if err == nil {
		err = errors.Join(os.WriteFile(overlay, replace, 0o644), os.WriteFile(broken,
			[]byte(strings.Replace(string(whole), m.old, m.new, 1)), 0o644))
	}
	if err != nil {
		return untried, err.Error()
	}
	return judge(b.test(m.packages, m.run, limit, overlay))
}

// test runs the tests without go test's cache, which ignores the programs that tests build and run.
// Those are broken too, because the environment passes the overlay on.
func (b bench) test(packages []string, run string, limit time.Duration, overlay string) (
	string, error,
) {
	args := []string{
		"test", "-count=1", "-failfast", "-vet=off", "-ldflags=-w", "-run=" + run,
		"-timeout=" + limit.String(),
	}
	cmd := exec.Command("go", append(args, packages...)...)
	cmd.Dir = b.root
	if overlay != "" {
		cmd.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -overlay="+overlay)
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// A verdict is the outcome of a mutant.
type verdict string

const (
	caught   verdict = "caught"
	survived verdict = "SURVIVED"
	endless  verdict = "ENDLESS" // no test failed within the time limit, maybe by chance
	untried  verdict = "UNTRIED"
)

var (
	unbuilt = regexp.MustCompile(`(?m)\[(build|setup) failed\]$`)
	failing = regexp.MustCompile(`(?m)^--- FAIL: (\S+)`) // not its subtests
	late    = regexp.MustCompile(`(?m)^(panic: test timed out|\*\*\* Test killed)[^\n]*` +
		`(\n\trunning tests:(\n\t\t[^\n]*)*)?`)
	crash = regexp.MustCompile(`(?m)^(panic|fatal error): [^\n]*`)
)

// judge returns the outcome of a mutant from the output of go test, and what caught it. Only a
// failed test or a crash of the program has caught it.
func judge(out string, failed error) (verdict, string) {
	switch {
	case failed == nil:
		return survived, ""
	case unbuilt.MatchString(out):
		return untried, "it does not compile:\n" + out
	case failing.MatchString(out):
		var by []string
		for _, found := range failing.FindAllStringSubmatch(out, -1) {
			by = append(by, found[1])
		}
		return caught, "by " + strings.Join(by, ", ")
	case late.MatchString(out):
		return endless, late.FindString(out)
	case crash.MatchString(out):
		return caught, "by a crash: " + crash.FindString(out)
	}
	return untried, failed.Error() + ", and no test failed:\n" + out
}

// A report prints the outcome of each mutant at once, and counts them.
type report struct {
	mu    sync.Mutex
	count map[verdict]int
	bad   []string
}

func (r *report) add(m mutant, v verdict, took time.Duration, what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count[v]++
	fmt.Printf("%-8s %5.1f s  %s (%s): %s\n", v, took.Seconds(), m.why, m.file, what)
	if v != caught {
		r.bad = append(r.bad, fmt.Sprintf("%-8s  %s (%s)", v, m.why, m.file))
	}
}

func (r *report) end(took time.Duration) error {
	all := r.count[caught] + len(r.bad)
	fmt.Printf("\n%d mutants in %s: %d caught, %d survived, %d ran too long, %d could not be "+
		"tried\n",
		all, took.Round(time.Second), r.count[caught], r.count[survived], r.count[endless],
		r.count[untried])
	switch {
	case all == 0:
		return errors.New("there is no such mutant")
	case len(r.bad) > 0:
		return errors.New(strings.Join(r.bad, "\n"))
	}
	return nil
}
