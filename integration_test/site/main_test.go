// Package site_test holds the README and the pages of docs to what they say: their commands run,
// their programs compile, what they name is there. It also looks at the library from a module that
// uses it, and runs what the pages have in other languages.
package site_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/integration_test/internal/checkout"
)

func TestMain(m *testing.M) {
	// Where a reader of the README stands. Tests wait for other programs more than they compute, but
	// the command line may say otherwise.
	check(nil, os.Chdir("../.."))
	check(nil, flag.Set("test.parallel", "4"))
	code := dbtest.Code(m)
	if programs != "" {
		check(nil, os.RemoveAll(programs))
	}
	if theCopy.dir != "" {
		check(nil, theCopy.release())
	}
	os.Exit(code)
}

// programs is the folder of the command line, once it is built.
var programs string

var buildIdmint = sync.OnceValue(func() (err error) {
	if programs, err = os.MkdirTemp("", "idmint-bin-"); err != nil {
		return err
	}
	cmd := exec.Command("go", "build", "-ldflags=-w", "-o", programs, "./cmd/idmint")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
})

// withIdmint is the environment of a command that calls idmint.
func withIdmint(t *testing.T, env ...string) []string {
	t.Helper()
	check(t, buildIdmint())
	return append(append(os.Environ(), "PATH="+programs+":"+os.Getenv("PATH")), env...)
}

// theCopy is a copy of the checkout, for commands that write into their folder.
var theCopy struct {
	sync.Mutex // of the test that has it
	dir        string
	release    func() error
}

// copied is the copy, without databases. The test has it for itself until it ends.
func copied(t *testing.T) (dir string) {
	t.Helper()
	theCopy.Lock()
	t.Cleanup(theCopy.Unlock)
	if theCopy.dir == "" {
		var err error
		theCopy.dir, theCopy.release, err = checkout.Hold()
		check(t, err)
	}
	forget(t, theCopy.dir)
	return theCopy.dir
}

// forget removes the databases of a folder.
func forget(t *testing.T, dir string) {
	t.Helper()
	for _, file := range must(filepath.Glob(filepath.Join(dir, "*.db*"))) {
		check(t, os.Remove(file))
	}
}

// heard runs commands from their beginning until the log has answered each start of an app within
// two seconds, five times at most. Otherwise IDs begin at counter 1, below those that are stored.
func heard(run func() (said string)) (said string) {
	for range 5 {
		said = run()
		if ids := atOne.FindAllString(said, -1); !slices.ContainsFunc(ids, func(id string) bool {
			return !strings.HasSuffix(id, " 10000000001")
		}) {
			break
		}
	}
	return said
}

// atOne is a line of an app up to an ID with counter 1. The first of a log is 10000000001.
var atOne = regexp.MustCompile(`(?m)^Ann .*? 1\d{10}\b`)

// sh runs a block of commands in a folder, and returns all that it writes.
func sh(t *testing.T, dir, block string, env ...string) string {
	t.Helper()
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", block)
	cmd.Dir = dir
	// Without what debuggers read, programs are linked sooner.
	cmd.Env = append(append(os.Environ(), "GOFLAGS=-ldflags=-w"), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s%v\n%s", block, err, out)
	}
	return string(out)
}

var fenced = regexp.MustCompile("(?ms)^```.*?^```")

// blocks are a page's code blocks of a language.
func blocks(t *testing.T, page, language string) (found []string) {
	t.Helper()
	for _, block := range fenced.FindAllString(read(t, page), -1) {
		head, body, _ := strings.Cut(block, "\n")
		if head == "```"+language {
			found = append(found, strings.TrimSuffix(body, "```"))
		}
	}
	if len(found) == 0 {
		t.Fatalf("%s has no blocks of %q", page, language)
	}
	return found
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	check(t, err)
	return string(text)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// check ends the test, or without one the program.
func check(t *testing.T, err error) {
	switch {
	case err == nil:
	case t == nil:
		panic(err)
	default:
		t.Helper()
		t.Fatal(err)
	}
}
