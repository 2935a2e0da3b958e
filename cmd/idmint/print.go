package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/idmint/idmint/internal/schemes"
	"github.com/idmint/idmint/internal/visible"
)

// A printer writes the output of a command. It has a method for each kind of output, and nothing
// else writes to the terminal, so that any text from a database, a file or an argument passes
// through [visible.Text].
type printer struct {
	w *bufio.Writer
}

// printf writes a formatted text. It escapes the arguments, but not the format, which may end
// lines.
func (p printer) printf(format string, args ...any) error {
	seen(args)
	_, err := fmt.Fprintf(p.w, format, args...)
	return err
}

// line writes a text as a line.
func (p printer) line(text string) error {
	p.w.WriteString(visible.Text(text))
	return p.w.WriteByte('\n') // the first error stays
}

// table writes rows in columns. Rows calls row with the cells of each.
func (p printer) table(rows func(row func(cells ...any))) error {
	w := tabwriter.NewWriter(p.w, 0, 0, 2, ' ', 0)
	rows(func(cells ...any) {
		for i, cell := range cells {
			if i > 0 {
				io.WriteString(w, "\t")
			}
			io.WriteString(w, visible.Text(fmt.Sprint(cell)))
		}
		io.WriteString(w, "\n")
	})
	return w.Flush()
}

// json writes a value as a line of JSON.
func (p printer) json(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	p.w.Write(visible.JSON(b))
	return p.w.WriteByte('\n')
}

// answer writes a command's answer: a value as JSON, or a text as [printer.printf] does.
func (a *app) answer(value any, format string, args ...any) error {
	if a.json {
		return a.out.json(value)
	}
	return a.out.printf(format, args...)
}

// writeList writes a list as lines of JSON, or as columns under a heading.
func writeList[T any](a *app, all []T, heading []any, row func(T) []any) error {
	if a.json {
		for _, one := range all {
			if err := a.out.json(one); err != nil {
				return err
			}
		}
		return nil
	}
	return a.out.table(func(write func(...any)) {
		write(heading...)
		for _, one := range all {
			write(row(one)...)
		}
	})
}

// id writes an ID as a line: its text, or its fields as JSON. Both consist of letters, digits and
// our own names, and need no escaping.
func (p printer) id(id schemes.ID, asJSON bool) error {
	b, err := p.w.AvailableBuffer(), error(nil)
	if asJSON {
		b, err = id.AppendJSON(b)
	} else {
		b, err = id.AppendText(b)
	}
	if err == nil {
		_, err = p.w.Write(append(b, '\n'))
	}
	return err
}

// draw writes a drawing of an ID.
func (p printer) draw(d drawing) error {
	for _, line := range d {
		p.w.WriteString(strings.TrimRight(string(line), " "))
		if err := p.w.WriteByte('\n'); err != nil { // the first error stays
			return err
		}
	}
	return nil
}

func (p printer) flush() error { return p.w.Flush() }

// seen escapes the texts among the arguments of a format.
func seen(args []any) {
	for i, arg := range args {
		switch arg.(type) {
		case nil, bool, int, int64, float64: // may be a width
		default:
			args[i] = seenArg{arg}
		}
	}
}

// A seenArg is formatted as its value is, and escaped. A quoted string is shortened to its
// beginning.
type seenArg struct{ value any }

func (a seenArg) Format(s fmt.State, verb rune) {
	if text, ok := a.value.(string); ok && verb == 'q' {
		io.WriteString(s, visible.Text(schemes.Quoted(text)))
		return
	}
	io.WriteString(s, visible.Text(fmt.Sprintf(fmt.FormatString(s, verb), a.value)))
}
