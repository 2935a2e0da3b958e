// Command mutants breaks the code on purpose, one place at a time, and reports whether the tests notice. It works on a copy
// of the checkout, and ends with status 1 if a mutant survives:
//
//	go run ./internal/mutants [words of a mutant's reason]
package main

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

//go:embed mutants.txt
var list string

// A mutant replaces the one place in a file where old stands by new.
type mutant struct {
	why, file, old, new string
	test                []string // arguments of go test
}

func main() {
	if err := run(strings.Join(os.Args[1:], " ")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(only string) error {
	mutants, err := parse(list)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := copyCheckout(dir); err != nil {
		return err
	}
	caught, survivors := 0, 0
	for _, m := range mutants {
		if !strings.Contains(m.why, only) {
			continue
		}
		began := time.Now()
		survived, err := try(dir, m)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", m.why, err)
		case survived:
			survivors++
			fmt.Printf("SURVIVED  %s (%s)\n", m.why, m.file)
		default:
			caught++
			fmt.Printf("caught    %s (%.1f s)\n", m.why, time.Since(began).Seconds())
		}
	}
	fmt.Printf("%d mutants caught, %d survived\n", caught, survivors)
	if survivors > 0 {
		return fmt.Errorf("the tests miss something")
	}
	return nil
}

// parse reads blocks, separated by empty lines, of a line for each of the mutant's parts: "# why", "file test…", "- old", "+ new".
func parse(list string) ([]mutant, error) {
	var all []mutant
	for block := range strings.SplitSeq(strings.TrimSpace(list), "\n\n") {
		lines := strings.Split(block, "\n")
		if len(lines) != 4 {
			return nil, fmt.Errorf("a mutant has %d lines:\n%s", len(lines), block)
		}
		words := strings.Fields(lines[1])
		all = append(all, mutant{
			why: strings.TrimPrefix(lines[0], "# "), file: words[0], test: words[1:],
			old: strings.TrimPrefix(lines[2], "- "), new: strings.TrimPrefix(lines[3], "+ "),
		})
	}
	return all, nil
}

func copyCheckout(dir string) error {
	out, err := exec.Command("git", "ls-files", "-co", "--exclude-standard").Output()
	if err != nil {
		return err
	}
	for _, name := range strings.Fields(string(out)) {
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, content, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// try runs the tests on the broken code. A mutant that does not compile is an error: nothing was tested.
func try(dir string, m mutant) (survived bool, err error) {
	path := filepath.Join(dir, m.file)
	whole, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	if n := strings.Count(string(whole), m.old); n != 1 {
		return false, fmt.Errorf("%s has %q %d times", m.file, m.old, n)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(whole), m.old, m.new, 1)), 0o644); err != nil {
		return false, err
	}
	defer func() { err = firstError(err, os.WriteFile(path, whole, 0o644)) }()
	cmd := exec.Command("go", append([]string{"test", "-short", "-count=1", "-timeout=40s", "-vet=off"}, m.test...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "[build failed]") || strings.Contains(string(out), "[setup failed]") {
		return false, fmt.Errorf("does not compile:\n%s", out)
	}
	return err == nil, nil
}

func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
