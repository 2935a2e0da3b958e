package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/integration_test/databases"
)

// A place is a database with its own tool for files. ClickHouse has none here: its client is not
// among Debian's packages.
type place struct {
	name string
	kind databases.Kind // "" for SQLite
	tool string         // as people know it
	// copies is the table t without its rows, under the name %s
	copies string
	// query runs a statement, native imports a file with IDs into a table
	query  func(d dsn.DSN, text string) []string
	native func(d dsn.DSN, file, table string) []string
}

var places = []place{
	{
		name: "PostgreSQL", kind: databases.Postgres, tool: "`psql \\copy`",
		copies: `CREATE TABLE %s (LIKE t INCLUDING ALL)`,
		query: func(d dsn.DSN, text string) []string {
			return []string{"psql", d.URL(), "-qc", text}
		},
		native: func(d dsn.DSN, file, table string) []string {
			return []string{
				"psql", d.URL(), "-qc",
				fmt.Sprintf(`\copy %s from '%s' with (format csv)`, table, file),
			}
		},
	},
	{
		name: "MariaDB", kind: databases.MariaDB, tool: "`LOAD DATA LOCAL`",
		copies: `CREATE TABLE %s LIKE t`,
		query:  mariadb,
		native: func(d dsn.DSN, file, table string) []string {
			return mariadb(d, fmt.Sprintf(`LOAD DATA LOCAL INFILE '%s' INTO TABLE %s CHARACTER SET `+
				`utf8mb4 FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '"'`, file, table))
		},
	},
	{
		name: "SQLite", tool: "`sqlite3 .import`",
		copies: ``, // a file of its own, which has the table: see fresh
		query: func(d dsn.DSN, text string) []string {
			return []string{"sqlite3", d.Path, text}
		},
		native: func(d dsn.DSN, file, table string) []string {
			return []string{"sqlite3", d.Path, fmt.Sprintf(".import --csv %s %s", file, table)}
		},
	},
}

func mariadb(d dsn.DSN, text string) []string {
	host, port, _ := strings.Cut(d.Host(), ":")
	return []string{
		"mariadb", "--local-infile=1", "-uroot", "-pidmint", "-h" + host, "-P" + port, d.Database(),
		"-e", text,
	}
}

type bench struct {
	options
	dir, load   string
	bare, keyed string // the files, without and with IDs
}

// A cost is what an import took.
type cost struct {
	client, server time.Duration // of processors
	wall           time.Duration
	peak           int64 // bytes of the client's memory
}

func (c cost) cpu() time.Duration { return c.client + c.server }

// A result is what was measured in a place.
type result struct {
	place
	version      string
	ours, native []cost
	growth       []cost // ours, for each of sizes
}

// writeFiles writes a file for us, and the same with IDs for the tools.
func (b *bench) writeFiles() error {
	b.bare, b.keyed = filepath.Join(b.dir, "ours.csv"), filepath.Join(b.dir, "native.csv")
	return errors.Join(writeFile(b.bare, b.rows, false), writeFile(b.keyed, b.rows, true))
}

func writeFile(path string, rows int, ids bool) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	w := bufio.NewWriter(file)
	random := rand.New(rand.NewPCG(1, 2)) // the same rows in both files
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
	return w.Flush()
}

// command runs a command, and returns what its process took.
func command(ctx context.Context, args ...string) (cost, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	began := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return cost{}, fmt.Errorf("%s: %w: %s", args[0], err, out)
	}
	c := cost{
		client: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(),
		wall:   time.Since(began),
	}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		c.peak = usage.Maxrss << 10 // Linux counts in KiB
	}
	return c, nil
}

// A target is a place with a server that runs.
type target struct {
	*bench
	place
	server *databases.Server // nil for SQLite
	db     dsn.DSN
	tables int // made so far
}

// costs runs a command and adds what the server took meanwhile.
func (t *target) costs(ctx context.Context, args []string) (cost, error) {
	var before, after time.Duration
	var err error
	if t.server != nil {
		if before, err = t.server.CPU(ctx); err != nil {
			return cost{}, err
		}
	}
	c, err := command(ctx, args...)
	if err == nil && t.server != nil {
		after, err = t.server.CPU(ctx)
	}
	c.server = after - before
	return c, err
}

// fresh is a database with an empty table of a new name, which an import of ours has made.
func (t *target) fresh(ctx context.Context) (table string, err error) {
	t.tables++
	if t.server == nil {
		t.db.Path = filepath.Join(t.dir, fmt.Sprintf("%d.db", t.tables))
	}
	if t.server == nil || t.tables == 1 {
		header := filepath.Join(t.dir, "header.csv")
		if err := writeFile(header, 0, false); err != nil {
			return "", err
		}
		if _, err := command(ctx, t.imports(header, "t")...); err != nil {
			return "", err
		}
	}
	if t.server == nil {
		return "t", nil
	}
	table = fmt.Sprintf("t%d", t.tables)
	return table, t.run(ctx, fmt.Sprintf(t.copies, table))
}

func (t *target) run(ctx context.Context, text string) error {
	_, err := command(ctx, t.query(t.db, text)...)
	return err
}

func (t *target) imports(file, table string) []string {
	return []string{t.binary, "import", file, "--db", t.db.URL(), "--table", table}
}

// drop makes room, so that the next import meets no more than this one.
func (t *target) drop(ctx context.Context, table string) error {
	if t.server != nil {
		return t.run(ctx, "DROP TABLE "+table)
	}
	for _, end := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(t.db.Path + end); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// one takes what one import costs, by our program or by the tool.
func (t *target) one(ctx context.Context, args func(table string) []string) (cost, error) {
	table, err := t.fresh(ctx)
	if err != nil {
		return cost{}, err
	}
	if t.kind == databases.Postgres { // what was written before is not this import's
		if err := t.run(ctx, "CHECKPOINT"); err != nil {
			return cost{}, err
		}
	}
	c, err := t.costs(ctx, args(table))
	if err != nil {
		return cost{}, err
	}
	return c, t.drop(ctx, table)
}

func (b *bench) measure(ctx context.Context, p place) (r result, err error) {
	t := &target{bench: b, place: p}
	r = result{place: p}
	if p.kind == "" {
		if t.db, err = dsn.Parse("sqlite:" + filepath.Join(b.dir, "app.db")); err != nil {
			return r, err
		}
		out, err := exec.CommandContext(ctx, "sqlite3", "--version").Output()
		if err != nil {
			return r, err
		}
		version, _, _ := strings.Cut(string(out), " ")
		r.version = "SQLite, its tool " + version
	} else {
		t.server, err = databases.Run(ctx, p.kind, "")
		if err != nil {
			return r, err
		}
		defer func() { err = errors.Join(err, t.server.Stop()) }()
		t.db, r.version = t.server.DSN, t.server.Version
	}
	ours := func(table string) []string { return t.imports(b.bare, table) }
	native := func(table string) []string { return t.native(t.db, b.keyed, table) }
	for i := range b.pairs {
		var c [2]cost
		for turn := range 2 {
			which := (turn + i) % 2 // who begins takes turns, too
			run := ours
			if which == 1 {
				run = native
			}
			if c[which], err = t.one(ctx, run); err != nil {
				return r, err
			}
		}
		r.ours, r.native = append(r.ours, c[0]), append(r.native, c[1])
		fmt.Fprintf(os.Stderr, "importbench: %s, pair %d of %d: %.2f\n", p.name, i+1, b.pairs,
			float64(c[0].cpu())/float64(c[1].cpu()))
	}
	if !b.growth {
		return r, nil
	}
	for _, rows := range sizes {
		file := filepath.Join(b.dir, fmt.Sprintf("%d.csv", rows))
		if err := writeFile(file, rows, false); err != nil {
			return r, err
		}
		c, err := t.one(ctx, func(table string) []string { return t.imports(file, table) })
		if err != nil {
			return r, err
		}
		r.growth = append(r.growth, c)
		fmt.Fprintf(os.Stderr, "importbench: %s, %d rows: %d MiB\n", p.name, rows, c.peak>>20)
		if err := os.Remove(file); err != nil {
			return r, err
		}
	}
	return r, nil
}
