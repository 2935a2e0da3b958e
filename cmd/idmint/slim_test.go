package main

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
)

// slim builds the program as pipelines use it, beside the whole one.
var slim = sync.OnceValues(func() (string, error) {
	name := filepath.Join(filepath.Dir(binary), "slim")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", name, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return name, nil
})

// Without cgo the program is static and light. It has what pipelines need, and says what it lacks.
func TestSlim(t *testing.T) {
	const most = 26_250_000 // bytes, of which serve has 1.9 million: half are its metrics
	slim, err := slim()
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(slim)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes", info.Size())
	if info.Size() > most {
		t.Errorf("%d bytes, want at most %d", info.Size(), most)
	}
	if runtime.GOOS == "linux" {
		checkStatic(t, slim)
	}
	s := newShell(t)
	s.program = slim
	if got := s.must("inspect", "--scheme", "decimal", "14150009200065"); !strings.Contains(got,
		"launch_id (65)") {
		t.Error(got)
	}
	id := strings.TrimSpace(s.must("new", "short"))
	if got := s.must("inspect", "--scheme", "short", "--", id); !strings.Contains(got, id) {
		t.Error(got)
	}
	for args, want := range map[string]string{
		"migrate --db sqlite:app.db":     "--db: this idmint was built without cgo, and opens no SQLite",
		"launch list --db sqlite:app.db": "--db: this idmint was built without cgo, and opens no SQLite",
		"doctor --db sqlite:app.db":      "--db: this idmint was built without cgo, and opens no SQLite",
		"demo":                           "demo: this idmint was built without cgo, and lacks this command",
		"import a.csv --db x --table t":  "import: this idmint was built without cgo",
		"backup --to b.db":               "backup: this idmint was built without cgo",
		"report --rows 10":               "report: this idmint was built without cgo",
	} {
		got := s.run(strings.Fields(args)...)
		if got.status != statusUsage || got.stdout != "" ||
			!strings.HasPrefix(got.stderr, "idmint: "+want) {
			t.Errorf("%s: %v", args, got)
		}
	}
	help := s.must("--help")
	for _, name := range []string{"launch", "migrate", "inspect", "new", "doctor", "advance"} {
		if !strings.Contains(help, "\n  "+name+" ") {
			t.Errorf("help lacks %s: %s", name, help)
		}
	}
	for _, name := range []string{"demo", "import", "backup", "report"} {
		if strings.Contains(help, "\n  "+name+" ") {
			t.Errorf("help has %s", name)
		}
	}
}

// checkStatic wants a program that no loader has to complete.
func checkStatic(t *testing.T, name string) {
	t.Helper()
	file, err := elf.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, p := range file.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("the program has a segment %v", p.Type)
		}
	}
	if libraries, _ := file.ImportedLibraries(); len(libraries) > 0 {
		t.Errorf("the program loads %q", libraries)
	}
}

// The light program keeps the log of every server, as the whole one does.
func TestSlimLaunch(t *testing.T) {
	slim, err := slim()
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range append(databases.Stores(), databases.Postgres, databases.MariaDB) {
		t.Run(string(kind), func(t *testing.T) {
			s := newShell(t)
			s.program, s.db = slim, dbtest.New(t, kind).URL()
			for range 2 {
				if id := s.start("a"); id != "1" {
					t.Errorf("launch %s", id)
				}
			}
			if id := s.start("b"); id != "2" {
				t.Errorf("launch %s", id)
			}
			if got := s.must("new", "decimal", "--db", "sqlite:app.db", "--launch", "1"); got !=
				"10000000001\n" {
				t.Error(got)
			}
			s.must("launch", "end", "1", "--db", "sqlite:app.db", "--outcome", "succeeded")
			if got := s.run("doctor", "--db", "sqlite:app.db"); !strings.Contains(got.stdout,
				"finding") {
				t.Error(got)
			}
		})
	}
}
