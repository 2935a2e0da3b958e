// Command importbench compares `idmint import` with the databases' own tools: `psql \copy`,
// `LOAD DATA LOCAL` and `sqlite3 .import`. It takes the processor time of client and server, in
// pairs that take turns, and our peak memory for files of three sizes. It writes the tables of
// docs/import.md:
//
//	make import-bench
//
// It runs psql, mariadb and sqlite3, which must be installed, and servers in containers.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
)

func main() {
	var o options
	flag.IntVar(&o.pairs, "pairs", 6, "pairs for each database")
	flag.IntVar(&o.rows, "rows", 500_000, "rows of a file")
	flag.StringVar(&o.only, "only", "", "measure this database alone")
	flag.StringVar(&o.binary, "idmint", "", "the program (default: built from ./cmd/idmint)")
	flag.BoolVar(&o.growth, "growth", true, "measure the memory for 50,000 rows to 5,000,000")
	flag.StringVar(&o.page, "page", "", "the page whose tables are written (default: none)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "importbench:", err)
		os.Exit(1)
	}
}

type options struct {
	pairs, rows int
	only        string
	binary      string
	growth      bool
	page        string
}

// sizes are the rows of files for which the peak memory is taken.
var sizes = []int{50_000, 500_000, 5_000_000}

func run(ctx context.Context, o options) (err error) {
	if o.pairs < 1 || o.rows < 1 {
		return fmt.Errorf("-pairs %d, -rows %d: want 1 or more", o.pairs, o.rows)
	}
	dir, err := os.MkdirTemp("", "importbench")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if o.binary == "" {
		o.binary = filepath.Join(dir, "idmint")
		build := exec.CommandContext(ctx, "go", "build", "-o", o.binary, "./cmd/idmint")
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("go build: %w: %s", err, out)
		}
	}
	b := &bench{options: o, dir: dir, load: load()}
	if err := b.writeFiles(); err != nil {
		return err
	}
	var results []result
	for _, p := range places {
		if o.only != "" && o.only != p.name {
			continue
		}
		r, err := b.measure(ctx, p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		results = append(results, r)
	}
	if len(results) == 0 {
		return fmt.Errorf("-only %q: no such database", o.only)
	}
	text := b.tables(ctx, results)
	fmt.Print(text)
	if err := withinMemory(results); err != nil || o.page == "" {
		return err
	}
	return writePage(o.page, text)
}

// mostMemory is the peak that docs/import.md promises.
const mostMemory = 150 << 20

// withinMemory checks the promise for each of our imports.
func withinMemory(results []result) (err error) {
	for _, r := range results {
		for _, c := range slices.Concat(r.ours, r.growth) {
			if c.peak > mostMemory {
				err = errors.Join(err, fmt.Errorf("%s: an import took %d MiB: want at most %d", r.name,
					c.peak>>20, mostMemory>>20))
			}
		}
	}
	return err
}
