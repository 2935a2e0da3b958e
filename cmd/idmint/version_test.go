package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// --version tells what the Go command wrote into the program, as text and as JSON.
func TestVersion(t *testing.T) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	want := versionOf(info)
	if want.Version == "" || !strings.HasPrefix(want.Go, "go1.") {
		t.Errorf("%+v", want)
	}
	s := newShell(t)
	if got := s.must("--version"); got != want.String()+"\n" {
		t.Errorf("%q, want %q", got, want)
	}
	var got version
	if err := json.Unmarshal([]byte(s.must("--version", "--json")), &got); err != nil ||
		got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	if got := s.run("--version", "x"); got.status != statusUsage || got.stdout != "" {
		t.Errorf("%+v", got)
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

// To start costs little: packages do little before main. It is counted, for a busy machine takes
// any time for it. Most of it is for the clients of servers.
func TestStart(t *testing.T) {
	const most, mostOfOurs = 17_000, 1_500 // allocations
	cmd := exec.Command(binary, "--version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	trace, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, trace)
	}
	total, ours := 0, 0
	inits := regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) allocs$`).FindAllSubmatch(trace, -1)
	for _, init := range inits {
		n, err := strconv.Atoi(string(init[2]))
		if err != nil {
			t.Fatal(err)
		}
		total += n
		if bytes.HasPrefix(init[1], []byte("github.com/idmint/")) || string(init[1]) == "main" {
			ours += n
		}
	}
	t.Logf("%d packages allocate %d times, ours %d", len(inits), total, ours)
	if total == 0 || total > most || ours > mostOfOurs {
		t.Errorf("packages allocate %d times, and ours %d: want at most %d and %d", total, ours,
			most, mostOfOurs)
	}
}
