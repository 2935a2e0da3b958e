// Command mutants breaks the code on purpose, one place at a time, and reports whether the tests
// notice. It works on a copy of the checkout, and ends with status 1 if a mutant survives:
//
//	go run ./integration_test/mutants [words of a mutant's reason, or its file]
package main

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/idmint/idmint/integration_test/internal/checkout"
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
	if err := checkout.Copy(dir); err != nil {
		return err
	}
	sound := map[string]bool{} // tests that pass as long as nothing is broken
	caught, others := 0, 0
	for _, m := range mutants {
		if !strings.Contains(m.why, only) && !strings.HasPrefix(m.file, only) {
			continue
		}
		began := time.Now()
		if tests := strings.Join(m.test, " "); !sound[tests] {
			if out, err := test(dir, m.test); err != nil {
				return fmt.Errorf("go test %s fails on the code as it is:\n%s", tests, out)
			}
			sound[tests] = true
		}
		by, err := try(dir, m)
		switch {
		case err != nil:
			others++
			fmt.Printf("ERROR     %s: %v\n", m.why, err)
		case by == nil:
			others++
			fmt.Printf("SURVIVED  %s (%s)\n", m.why, m.file)
		default:
			caught++
			fmt.Printf("caught    %s, by %s (%.1f s)\n", m.why, strings.Join(by, ", "),
				time.Since(began).Seconds())
		}
	}
	fmt.Printf("%d mutants caught, %d not\n", caught, others)
	if others > 0 || caught == 0 {
		return errors.New("the tests miss something")
	}
	return nil
}

// parse reads blocks, separated by empty lines, of a line for each of the mutant's parts: "# why",
// "file test…", "- old", "+ new".
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

// place finds the one place of a mutant in a file.
func (m mutant) place(root string) (whole []byte, err error) {
	whole, err = os.ReadFile(filepath.Join(root, m.file))
	if n := strings.Count(string(whole), m.old); err == nil && n != 1 {
		err = fmt.Errorf("%s has %q %d times", m.file, m.old, n)
	}
	return whole, err
}

// failing finds the tests that failed, not their subtests, or none that crashed.
var failing = regexp.MustCompile(`(?m)^--- FAIL: (\S+)`)

// try runs the tests on the broken code, and returns which of them failed, or nil. A mutant that
// does not compile is an error: nothing was tested.
func try(dir string, m mutant) (by []string, err error) {
	whole, err := m.place(dir)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, m.file)
	defer func() { err = errors.Join(err, os.WriteFile(path, whole, 0o644)) }()
	if err := os.WriteFile(path, []byte(strings.Replace(string(whole), m.old, m.new, 1)),
		0o644); err != nil {
		return nil, err
	}
	out, failed := test(dir, m.test)
	if strings.Contains(out, "[build failed]") || strings.Contains(out, "[setup failed]") {
		return nil, fmt.Errorf("does not compile:\n%s", out)
	}
	if failed == nil {
		return nil, nil
	}
	for _, found := range failing.FindAllStringSubmatch(out, -1) {
		by = append(by, found[1])
	}
	if by == nil {
		by = []string{"a crash or time-out"}
	}
	return by, nil
}

// test does without go test's cache, which does not know of the programs that tests build and run.
func test(dir string, args []string) (string, error) {
	flags := []string{"test", "-short", "-count=1", "-timeout=100s", "-vet=off"}
	cmd := exec.Command("go", append(flags, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}
