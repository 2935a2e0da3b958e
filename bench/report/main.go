// Command report makes a page of the output of the benchmarks, which it reads from a file: our
// targets, met or missed, and all figures. What it prints is measured: nothing is typed in. It adds
// a line with the main figures to a second file, the history.
package main

import (
	"bufio"
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf(
			"got %d arguments, not the names of a file with the output of the benchmarks "+
				"and of the history", len(args))
	}
	f, err := os.Open(args[0])
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := read(f, args[0])
	if err != nil {
		return err
	}
	out := bufio.NewWriter(os.Stdout)
	if err := page(out, r, targets); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return remember(args[1], r, columns)
}
