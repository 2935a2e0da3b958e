package orms

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/idmint/idmint/integration_test/internal/checkout"
)

// What is committed is what ent generates of the schema.
func TestGenerated(t *testing.T) {
	t.Chdir("../..")
	dir, release, err := checkout.Hold()
	try(t, err)
	defer func() {
		if err := release(); err != nil {
			t.Error(err)
		}
	}()
	cmd := exec.Command("go", "generate", "./...")
	cmd.Dir = filepath.Join(dir, "examples/ent")
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-ldflags=-w")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	committed, generated := files(t, "examples/ent"), files(t, cmd.Dir)
	if len(committed) < 20 {
		t.Errorf("%d files", len(committed))
	}
	for name := range generated {
		if _, ok := committed[name]; !ok {
			t.Errorf("examples/ent/%s is new: run go generate ./... there", name)
		}
	}
	for name, content := range committed {
		if !bytes.Equal(content, generated[name]) {
			t.Errorf("examples/ent/%s differs: run go generate ./... there", name)
		}
	}
}

// files are those below a folder, by their paths.
func files(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all[path], err = os.ReadFile(filepath.Join(dir, path))
		}
		return err
	})
	try(t, err)
	return all
}
