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
	if err != nil || len(files) != 15 {
		t.Fatalf("%q, %v: want app.go and 14 companions", files, err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
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
			dir := t.TempDir()
			for name, text := range map[string]string{
				"go.mod": "module example.com/shop\n\ngo 1.26\n\n" +
					strings.ReplaceAll(head, "//require", "require") +
					"\n\nreplace github.com/idmint/idmint => " + root + "\n",
				"app.go":  app,
				"main.go": program,
			} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for _, args := range [][]string{{"mod", "tidy"}, {"run", "."}} {
				cmd := exec.CommandContext(t.Context(), "go", args...)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("go %s: %v\n%s", args, err, out)
				}
			}
		})
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
