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

func TestMain(m *testing.M) {
	code := m.Run()
	if theServer.Process != nil {
		_ = theServer.Process.Kill()
		_ = theServer.Wait()
	}
	if theServer.dir != "" {
		_ = os.RemoveAll(theServer.dir)
	}
	os.Exit(code)
}

// A process is a server with the real engine.
type process struct {
	exec.Cmd
	dir, native string
}

var theServer process

// startServer builds the program as it is shipped, without cgo, and starts it.
var startServer = sync.OnceValue(func() (err error) {
	p := &theServer
	if p.dir, err = os.MkdirTemp("", "clickhouseserver"); err != nil {
		return err
	}
	program := filepath.Join(p.dir, "clickhouseserver")
	build := exec.Command("go", "build", "-ldflags=-w", "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	p.Cmd = *exec.Command(program, "--library", os.Getenv("IDMINT_LIBCHDB"), "--path", p.dir,
		"--listen", "127.0.0.1:0")
	p.Env = append(os.Environ(), "CLICKHOUSE_USER="+testUser, "CLICKHOUSE_PASSWORD="+testPassword,
		"CLICKHOUSE_DB="+testDatabase)
	p.Stderr = os.Stderr
	out, err := p.StdoutPipe()
	if err != nil {
		return err
	}
	if err := p.Start(); err != nil {
		return err
	}
	lines := bufio.NewScanner(out)
	lines.Scan()
	m := regexp.MustCompile(` on (\S+)$`).FindStringSubmatch(lines.Text())
	if m == nil {
		return fmt.Errorf("the server says %q", lines.Text())
	}
	p.native = m[1]
	return nil
})

// start is the server, without the tables of other tests.
func start(t testing.TB) *process {
	t.Helper()
	if os.Getenv("IDMINT_LIBCHDB") == "" {
		t.Skip("IDMINT_LIBCHDB names no libchdb.so: nothing is tested with the real engine")
	}
	if err := startServer(); err != nil {
		t.Fatal(err)
	}
	o := theServer.options()
	o.Auth.Database = ""
	const quoted = "`" + testDatabase + "`"
	do(t, open(t, o), "DROP DATABASE "+quoted, "CREATE DATABASE "+quoted)
	return &theServer
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
