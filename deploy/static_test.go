package deploy

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// Without cgo the program is static and light. It has what pipelines need, and says what it lacks.
func TestStatic(t *testing.T) {
	const most = 27_200_000 // bytes: serve has 1.9 million, half of it its metrics, layouts of snowflake 0.6, and uuid7 0.2
	info, err := os.Stat(static)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes", info.Size())
	if info.Size() > most {
		t.Errorf("%d bytes, want at most %d", info.Size(), most)
	}
	if runtime.GOOS == "linux" {
		checkStatic(t, static)
	}
	const lacks = "this idmint was built without cgo"
	for _, test := range []struct {
		args   string
		status int
		want   string
	}{
		{"inspect --scheme decimal 14150009200065", 0, "launch_id (65)"},
		{"new short", 0, "\n"},
		{"migrate --db sqlite:app.db", 2, "idmint: --db: " + lacks + ", and cannot open SQLite"},
		{"launch list --db sqlite:app.db", 2, "idmint: --db: " + lacks + ", and cannot open SQLite"},
		{"doctor --db sqlite:app.db", 2, "idmint: --db: " + lacks + ", and cannot open SQLite"},
		{"demo", 2, "idmint: demo: " + lacks + ", and lacks this command"},
		{"import a.csv --db x --table t", 2, "idmint: import: " + lacks},
		{"backup --to b.db", 2, "idmint: backup: " + lacks},
		{"report --rows 10", 2, "idmint: report: " + lacks},
		// It has the clients of all servers.
		{"launch list --db postgres://127.0.0.1:1/x --wait 1ms", 1, "postgres://127.0.0.1:1/x: "},
		{"launch list --db mysql://127.0.0.1:1/x --wait 1ms", 1, "mysql://127.0.0.1:1/x: "},
		{"launch list --db etcd://127.0.0.1:1/x --wait 1ms", 1, "etcd://127.0.0.1:1/x: "},
		{"launch list --db zookeeper://127.0.0.1:1/x --wait 1ms", 1, "zookeeper://127.0.0.1:1/x: "},
		{"launch list --db cassandra://127.0.0.1:1/x --wait 1ms", 1, "cassandra://127.0.0.1:1/x: "},
	} {
		cmd := exec.Command(static, strings.Fields(test.args)...)
		cmd.Dir = t.TempDir()
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		_ = cmd.Run()
		text, other := stdout.String(), stderr.String()
		if test.status != 0 {
			text, other = other, text
		}
		if cmd.ProcessState.ExitCode() != test.status || other != "" ||
			!strings.Contains(text, test.want) {
			t.Errorf("idmint %s: %v, %q, %q; want %d, %q", test.args, cmd.ProcessState, text, other,
				test.status, test.want)
		}
	}
	help, err := exec.Command(static, "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	for name, has := range map[string]bool{
		"launch": true, "migrate": true, "inspect": true, "new": true, "doctor": true,
		"advance": true, "serve": true,
		"demo": false, "import": false, "backup": false, "report": false,
	} {
		if strings.Contains(string(help), "\n  "+name+" ") != has {
			t.Errorf("help has %s: %v, want %v", name, !has, has)
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
