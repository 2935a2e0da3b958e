// Command page writes pages from the output of benchmarks, which it reads from a file, so that no
// figure is typed in. Run it in the checkout's folder:
//
//	go run ./bench/page speed FILE    docs/results/speed.md
//	go run ./bench/page import FILE   the tables of docs/reference/import.md
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	if err := run(".", os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "page:", err)
		os.Exit(1)
	}
}

func run(dir string, args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("got %d arguments: want speed or import, and the name of a file with "+
			"the output of the benchmarks", len(args))
	}
	f, err := os.Open(args[1])
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := read(f, args[1])
	if err != nil {
		return err
	}
	switch args[0] {
	case "speed":
		text, err := speedPage(r, targets)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, "docs/results/speed.md"), []byte(text), 0o644)
	case "import":
		text, err := importTables(r)
		if err != nil {
			return err
		}
		return replace(filepath.Join(dir, "docs/reference/import.md"), "import", text)
	}
	return fmt.Errorf("%q: want speed or import", args[0])
}

// replace puts a text into a document, between a comment with its name and the comment that ends
// it.
func replace(path, name, text string) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	first, last := "<!-- figures: "+name+" -->\n", "<!-- end -->\n"
	before, rest, found := strings.Cut(string(old), first)
	_, after, ended := strings.Cut(rest, last)
	if !found || !ended {
		return fmt.Errorf("%s: want %q and %q after it", path, first, last)
	}
	return os.WriteFile(path, []byte(before+first+text+last+after), 0o644)
}
