package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

const (
	testUser     = "tester"
	testPassword = "p'w"
	testDatabase = "the db"
)

// build builds the program once, as it is shipped: without cgo.
var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "clickhouseserver")
	if err != nil {
		return "", err
	}
	program := filepath.Join(dir, "clickhouseserver")
	cmd := exec.Command("go", "build", "-o", program, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return program, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if program, err := build(); err == nil {
		_ = os.RemoveAll(filepath.Dir(program))
	}
	os.Exit(code)
}

// A process is a server with the real engine.
type process struct {
	*exec.Cmd
	native, http string
	ended        chan error
}

func start(t testing.TB, dir string) *process {
	t.Helper()
	library := os.Getenv("IDMINT_LIBCHDB")
	if library == "" {
		t.Skip("IDMINT_LIBCHDB names no libchdb.so: nothing is tested with the real engine")
	}
	program, err := build()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{
		Cmd: exec.Command(program, "--library", library, "--path", dir, "--listen", "127.0.0.1:0",
			"--http", "127.0.0.1:0"),
		ended: make(chan error, 1),
	}
	p.Env = append(os.Environ(), "CLICKHOUSE_USER="+testUser, "CLICKHOUSE_PASSWORD="+testPassword,
		"CLICKHOUSE_DB="+testDatabase)
	p.Stderr = os.Stderr
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Scan()
	m := regexp.MustCompile(`native on (\S+), http on (\S+)$`).FindStringSubmatch(lines.Text())
	if m == nil {
		t.Fatalf("the server says %q: %v", lines.Text(), p.Wait())
	}
	p.native, p.http = m[1], m[2]
	go func() { p.ended <- p.Wait() }()
	t.Cleanup(func() {
		_ = p.Process.Kill()
		<-p.ended
	})
	return p
}

func (p *process) options() *clickhouse.Options {
	return &clickhouse.Options{
		Addr: []string{p.native},
		Auth: clickhouse.Auth{Username: testUser, Password: testPassword, Database: testDatabase},
	}
}

func open(t testing.TB, o *clickhouse.Options) driver.Conn {
	t.Helper()
	c, err := clickhouse.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}
