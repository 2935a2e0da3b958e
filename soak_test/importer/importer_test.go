// Package importer_test shows what idmint import promises where it is killed at any moment, and on
// servers of MariaDB whose settings are as bad as they can be.
package importer_test

import (
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/mattn/go-sqlite3"

	"github.com/idmint/idmint/integration_test/dbtest"
)

// program is idmint, which the tests run as a process.
var program string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "idmint")
	if err != nil {
		panic(err)
	}
	program = filepath.Join(dir, "idmint")
	build := exec.Command("go", "build", "-o", program, "../../cmd/idmint")
	if out, err := build.CombinedOutput(); err != nil {
		panic(fmt.Sprintf("go build: %v\n%s", err, out))
	}
	code := dbtest.Code(m)
	os.RemoveAll(dir)
	os.Exit(code)
}

// A shell runs idmint in a folder of its own, with the database db.
type shell struct {
	testing.TB
	dir, db string
}

func (s *shell) write(text string) {
	s.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, "f.csv"), []byte(text), 0o600); err != nil {
		s.Fatal(err)
	}
}

// command imports f.csv into a table.
func (s *shell) command(table string, flags ...string) *exec.Cmd {
	args := append([]string{"import", "f.csv", "--db", s.db, "--table", table}, flags...)
	cmd := exec.Command(program, args...)
	cmd.Dir = s.dir
	return cmd
}

func (s *shell) imports(table string, flags ...string) {
	s.Helper()
	if out, err := s.command(table, flags...).CombinedOutput(); err != nil {
		s.Fatalf("%v: %s", err, out)
	}
}

// fails runs an import, which must say what is wanted.
func (s *shell) fails(want, table string, flags ...string) {
	s.Helper()
	out, err := s.command(table, flags...).CombinedOutput()
	if err == nil || !strings.Contains(string(out), want) {
		s.Errorf("%v: %s, want %q", err, out, want)
	}
}

// numbered is a file of n rows whose first column counts from 0.
func numbered(n int) string {
	var b strings.Builder
	b.WriteString("n,name\n")
	for i := range n {
		fmt.Fprintf(&b, "%d,name %d %s\n", i, i, "of a row that makes the file a few batches long")
	}
	return b.String()
}

func number(t testing.TB, db *sql.DB, query string) (n int) {
	t.Helper()
	if err := db.QueryRow(query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}
