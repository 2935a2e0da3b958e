package main

import (
	"debug/buildinfo"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// --version tells what the Go command wrote into the program.
func TestVersion(t *testing.T) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	want := "idmint " + info.Main.Version + ", " + info.GoVersion + "\n"
	if got := newShell(t).must("--version"); got != want || !strings.Contains(want, ", go1.") {
		t.Errorf("%q, want %q", got, want)
	}
}

// The program holds nothing that starts containers, and no machinery of plots.
func TestDependencies(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(out))
	if len(packages) < 100 {
		t.Fatalf("only %d packages", len(packages))
	}
	for _, p := range packages {
		for _, no := range []string{
			"testcontainers", "moby", "docker", "gonum",
			"idmint/integration_test",
		} {
			if strings.Contains(p, no) {
				t.Errorf("the program holds %s", p)
			}
		}
	}
}

// The program stays small.
func TestWeight(t *testing.T) {
	// In bytes, without symbols and debugging information, which are 16 million more. The clients of
	// etcd, ZooKeeper and Cassandra have 11 million of them with those.
	const most = 38_000_000
	info, err := os.Stat(binary)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > most {
		t.Errorf("%d bytes, want at most %d", info.Size(), most)
	}
}

// A program that takes a launch log keeps no methods that nobody calls. The linker keeps them all
// where a method is looked up by a name that is no constant.
func TestMethodsByName(t *testing.T) {
	cmd := exec.Command("go", "build", "-ldflags=-dumpdep", "-o", filepath.Join(t.TempDir(), "x"),
		"./claims")
	cmd.Dir = "../../examples"
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	lookups := 0
	for line := range strings.Lines(string(out)) {
		if !strings.Contains(line, "idmint/idmint/") {
			continue
		}
		lookups++
		if strings.Contains(line, "<ReflectMethod>") {
			t.Fatalf("it looks up a method by name: %s", line)
		}
	}
	if lookups < 1000 {
		t.Fatalf("the linker lists only %d dependencies", lookups)
	}
}
