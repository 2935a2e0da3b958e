// Package imports_test compares `idmint import` with the databases' own tools: `psql \copy`, `LOAD
// DATA LOCAL` and `sqlite3 .import`, which must be installed. ClickHouse is left out, since its
// client is not among Debian's packages. bench/import runs it, and writes the tables of
// docs/reference/import.md.
package imports_test

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
)

// dir holds the program and the files.
var dir string

func TestMain(m *testing.M) {
	var err error
	if dir, err = os.MkdirTemp("", "imports"); err != nil {
		panic(err)
	}
	code := dbtest.Code(m)
	os.RemoveAll(dir)
	os.Exit(code)
}

// A place is a database with its own tool for files, which imports one with IDs into table t.
type place struct {
	name   string
	kind   databases.Kind // "" for SQLite
	native func(d dsn.DSN, file string) []string
}

var places = []place{
	{"PostgreSQL", databases.Postgres, func(d dsn.DSN, file string) []string {
		return psql(d, fmt.Sprintf(`\copy t from '%s' with (format csv)`, file))
	}},
	{"MariaDB", databases.MariaDB, func(d dsn.DSN, file string) []string {
		host, port, _ := strings.Cut(d.Host(), ":")
		return []string{
			"mariadb", "--local-infile=1", "-uroot", "-pidmint", "-h" + host, "-P" + port, d.Database(),
			"-e", fmt.Sprintf(`LOAD DATA LOCAL INFILE '%s' INTO TABLE t CHARACTER SET utf8mb4 `+
				`FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '"'`, file),
		}
	}},
	{"SQLite", "", func(d dsn.DSN, file string) []string {
		return []string{"sqlite3", d.Path, fmt.Sprintf(".import --csv %s t", file)}
	}},
}

func psql(d dsn.DSN, text string) []string { return []string{"psql", d.URL(), "-qc", text} }

// file is a file of so many rows, the same with IDs and without. It is written once.
func file(b *testing.B, rows int, ids bool) string {
	b.Helper()
	path := filepath.Join(dir, fmt.Sprintf("%d-%t.csv", rows, ids))
	if _, err := os.Stat(path); err == nil {
		return path
	}
	to, err := os.Create(path)
	try(b, err)
	w := bufio.NewWriter(to)
	random := mathrand.New(mathrand.NewPCG(1, 2))
	if !ids {
		fmt.Fprintln(w, "n,name,city,amount")
	}
	cities := []string{"Amsterdam", "Berlin", "Köln", "s-Hertogenbosch"}
	for i := range rows {
		if ids {
			fmt.Fprintf(w, "%d00000%05d,", i+1, 1) // decimal IDs, as an import has them
		}
		fmt.Fprintf(w, "%d,customer %d,%s,%.2f\n", i, random.IntN(10_000_000),
			cities[random.IntN(len(cities))], float64(random.IntN(10_000_000))/100)
	}
	try(b, errors.Join(w.Flush(), to.Close()))
	return path
}

// A cost is what an import took.
type cost struct {
	client, server time.Duration // of processors
	wall           time.Duration
	peak           int64 // bytes of the client's memory
}

// command runs a command, and returns what its process took.
func command(b *testing.B, args ...string) cost {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), args[0], args[1:]...)
	began := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%s: %v: %s", args[0], err, out)
	}
	return cost{
		client: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(),
		wall:   time.Since(began),
		peak:   cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10, // Linux counts in KiB
	}
}

// A target is a place with a server that runs.
type target struct {
	place
	server *databases.Server // nil for SQLite
}

func open(b *testing.B, p place) target {
	b.Helper()
	if _, err := os.Stat(filepath.Join(dir, "idmint")); err != nil {
		out, err := exec.Command("go", "build", "-o", dir, "github.com/idmint/idmint/cmd/idmint").CombinedOutput()
		if err != nil {
			b.Fatalf("go build: %v: %s", err, out)
		}
	}
	t := target{place: p}
	if p.kind != "" {
		t.server = dbtest.Run(b, p.kind)
		fmt.Println("database: " + t.server.Version)
	}
	return t
}

func ours(d dsn.DSN, file string) []string {
	return []string{filepath.Join(dir, "idmint"), "import", file, "--db", d.URL(), "--table", "t"}
}

// one takes what an import of a file costs, by our program or by the tool, client and server. It
// has a database of its own, in which an import of ours has made the table.
func (t target) one(b *testing.B, path string, by func(d dsn.DSN, file string) []string) (c cost) {
	b.Helper()
	header := file(b, 0, false)
	if t.server == nil {
		d := dsn.DSN{Kind: dsn.SQLite, Path: filepath.Join(b.TempDir(), "app.db")}
		command(b, ours(d, header)...)
		return command(b, by(d, path)...)
	}
	d, drop, err := t.server.Create(b.Context(), "t_"+strings.ToLower(rand.Text()))
	try(b, err)
	command(b, ours(d, header)...)
	if t.kind == databases.Postgres { // what was written before is not this import's
		command(b, psql(d, "CHECKPOINT")...)
	}
	before, err := t.server.CPU(b.Context())
	try(b, err)
	c = command(b, by(d, path)...)
	after, err := t.server.CPU(b.Context())
	try(b, err)
	c.server = after - before
	try(b, drop(b.Context())) // the next import meets no more than this one
	return c
}

// mostMemory is the peak that docs/reference/import.md promises.
const mostMemory = 150 << 20

func (c cost) checkMemory(b *testing.B) {
	b.Helper()
	if c.peak > mostMemory {
		b.Errorf("an import took %d MiB: want at most %d", c.peak>>20, mostMemory>>20)
	}
}

// oursFirst takes turns.
var oursFirst bool

// BenchmarkImport is a pair of imports of the same rows, by us and by the tool.
func BenchmarkImport(b *testing.B) {
	const rows = 500_000
	for _, p := range places {
		b.Run(p.name, func(b *testing.B) {
			t := open(b, p)
			var our, its cost
			for range b.N {
				if oursFirst = !oursFirst; oursFirst {
					our = t.one(b, file(b, rows, false), ours)
				}
				its = t.one(b, file(b, rows, true), p.native)
				if !oursFirst {
					our = t.one(b, file(b, rows, false), ours)
				}
				our.checkMemory(b)
			}
			ourCPU, itsCPU := (our.client + our.server).Seconds(), (its.client + its.server).Seconds()
			b.ReportMetric(ourCPU/itsCPU, "cpu-ratio")
			b.ReportMetric(itsCPU, "its-cpu-s")
			b.ReportMetric(ourCPU, "our-cpu-s")
			b.ReportMetric(our.client.Seconds(), "our-client-s")
			b.ReportMetric(our.wall.Seconds()/its.wall.Seconds(), "elapsed-ratio")
		})
	}
}

// BenchmarkMemory is an import of ours, of files of several lengths.
func BenchmarkMemory(b *testing.B) {
	for _, p := range places {
		for _, rows := range []int{50_000, 500_000, 5_000_000} {
			b.Run(fmt.Sprintf("%s/%d", p.name, rows), func(b *testing.B) {
				t := open(b, p)
				var c cost
				for range b.N {
					c = t.one(b, file(b, rows, false), ours)
					c.checkMemory(b)
				}
				b.ReportMetric(float64(c.peak)/(1<<20), "peak-MiB")
			})
		}
	}
}

func try(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
