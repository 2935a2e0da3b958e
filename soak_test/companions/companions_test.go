// Package companions builds and runs small apps that use idmint beside the libraries that apps with
// GORM, database/sql and pgx often have. Go takes the highest version that anybody asks for, so a
// requirement of ours can break the build of another library that the app has.
package companions

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Each file of testdata but app.go is a companion. It begins with its versions, the newest when it
// was written. Package gen alone asks for a dbresolver that no recent GORM compiles with.
func TestCompanions(t *testing.T) {
	files, err := filepath.Glob("testdata/*.go")
	if err != nil || len(files) != 16 {
		t.Fatalf("%q, %v: want app.go and 15 companions", files, err)
	}
	app := read(t, "testdata/app.go")
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".go")
		if name == "app" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			program := read(t, file)
			head, _, ok := strings.Cut(program, "\n\n")
			if !ok || !strings.HasPrefix(head, "//require ") {
				t.Fatalf("%s begins with %q: want //require MODULE VERSION", file, head)
			}
			dir := scratch(t, map[string]string{
				"go.mod":  strings.ReplaceAll(head, "//require", "require"),
				"app.go":  app,
				"main.go": program,
			})
			run(t, dir, "mod", "tidy")
			run(t, dir, "run", ".")
		})
	}
}

// TestLibraries runs the tests of docs/use/companions.md, whose module asks for some forty libraries. It
// is not part of go.work, where each of them would raise what others ask for.
func TestLibraries(t *testing.T) {
	run(t, "testdata/libraries", "mod", "tidy", "-diff")
	t.Log(run(t, "testdata/libraries", "test", "-count=1", "./..."))
}

// TestOldest runs the library's own tests with the versions that its go.mod asks for: go.work has
// newer ones, which other modules ask for. docs/reference/versions.md says why these are the oldest.
func TestOldest(t *testing.T) {
	run(t, "../..", "test", "-count=1", "./idtype/...", "./sqlid/...", "./publicid", "./gormid/...",
		"./clickhouse/...", "./generator", "./launchlog/...")
}

// scratch writes the files of an app that uses the checkout, and returns its folder.
func scratch(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	files["go.mod"] = "module example.com/shop\n\ngo 1.26\n\nreplace github.com/idmint/idmint => " +
		root + "\n\n" + files["go.mod"] + "\n"
	dir = t.TempDir()
	for name, text := range files {
		name = filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(name), 0o700)
		if err == nil {
			err = os.WriteFile(name, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// run runs a go command in the folder, and returns what it writes.
func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s%s", args, err, out, stderr.String())
	}
	return string(out)
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
