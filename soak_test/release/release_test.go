// Package release_test rehearses a release: what a user's first commands find on its day.
package release_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

const (
	root    = "../.."
	path    = "github.com/idmint/idmint"
	version = "v0.1.0"
)

// run runs a command in a folder, and returns what it prints.
func run(t *testing.T, folder string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	return string(out)
}

// release makes a release, and returns its folder and its modules.
func release(t *testing.T) (folder string, modules []string) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "release")
	out := run(t, root, nil, "scripts/release", version, folder)
	for line := range strings.Lines(out) {
		module, its, _ := strings.Cut(strings.TrimSpace(line), " ")
		if its != version {
			t.Fatalf("scripts/release prints %q", line)
		}
		modules = append(modules, module)
	}
	return folder, modules
}

// user is the environment of somebody who has nothing of this project but the proxy. Other modules come
// from where they come from here.
func user(t *testing.T, released string) []string {
	t.Helper()
	env := func(name string) string {
		return strings.TrimSpace(run(t, root, nil, "go", "env", name))
	}
	return []string{
		"GOPROXY=file://" + released + "/proxy,file://" + env("GOMODCACHE") + "/cache/download," + env("GOPROXY"),
		"GONOSUMDB=" + path, "GOMODCACHE=" + filepath.Join(t.TempDir(), "modules"), "GOWORK=off",
		"GOFLAGS=-modcacherw -trimpath", "GOBIN=" + filepath.Join(t.TempDir(), "bin"),
	}
}

// TestRehearsal: from an empty folder, go get has each module, the quick start of README.md runs, and so
// does the command's demo, which go install has.
func TestRehearsal(t *testing.T) {
	released, modules := release(t)
	env := user(t, released)
	app, all := t.TempDir(), t.TempDir()
	quickstart, err := os.ReadFile(filepath.Join(root, "examples/quickstart/main.go"))
	if err == nil {
		err = os.WriteFile(filepath.Join(app, "main.go"), quickstart, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	run(t, app, env, "go", "mod", "init", "example.com/shop")
	run(t, app, env, "go", "get", path+"@"+version)
	run(t, app, env, "go", "mod", "tidy")
	if out := run(t, app, env, "go", "run", "."); !strings.Contains(out, "1") {
		t.Errorf("the quick start prints %q", out)
	}

	run(t, app, env, "go", "install", path+"/cmd/idmint@"+version)
	var bin string
	for _, v := range env {
		if dir, ok := strings.CutPrefix(v, "GOBIN="); ok {
			bin = dir
		}
	}
	idmint := filepath.Join(bin, "idmint")
	if out := run(t, app, nil, idmint, "--version"); !strings.HasPrefix(out, "idmint "+version+", go") {
		t.Errorf("its version is %q", out)
	}
	run(t, app, nil, idmint, "demo")
	binaries := filepath.Join(released, "binaries")
	run(t, binaries, nil, "sha256sum", "--check", "--strict", "checksums.txt")
	for _, arch := range []string{"amd64", "arm64"} {
		archive := filepath.Join(binaries, "idmint_0.1.0_linux_"+arch+".tar.gz")
		run(t, all, nil, "tar", "xzf", archive, "idmint")
		if arch == runtime.GOARCH {
			if out := run(t, all, nil, "./idmint", "--version"); !strings.HasPrefix(out, "idmint "+version+", go") {
				t.Errorf("the binary's version is %q", out)
			}
		}
	}

	run(t, all, env, "go", "mod", "init", "example.com/all")
	for _, module := range modules {
		run(t, all, env, "go", "get", module+"@"+version)
	}
}

// TestReproducible: the same commit gives the same tags, modules with the same hashes, and the same
// binaries and SBOMs.
func TestReproducible(t *testing.T) {
	of := func() (all string) {
		folder, modules := release(t)
		all = run(t, filepath.Join(folder, "tree"), nil, "git", "show-ref", "--tags")
		for _, module := range modules {
			hash, err := os.ReadFile(filepath.Join(folder, "proxy", module, "@v", version+".ziphash"))
			if err != nil {
				t.Fatal(err)
			}
			all += string(hash) + "\n"
		}
		sums, err := os.ReadFile(filepath.Join(folder, "binaries", "checksums.txt"))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(sums), "\n"); n != 12 {
			t.Errorf("%d files have checksums: want six archives and their SBOMs", n)
		}
		return all + string(sums)
	}
	if one, other := of(), of(); one != other {
		t.Errorf("%s\nthe second time:\n%s", one, other)
	}
}
