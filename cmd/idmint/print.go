package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/idmint/idmint/internal/explain"
	"github.com/idmint/idmint/internal/visible"
)

// A printer writes what a command answers. It has a method for each kind of answer, and no other
// way leads to the terminal. A text of a database, a file or an argument always passes through
// [visible.Text].
type printer struct {
	w       *bufio.Writer
	columns int // of the terminal, or 0 where none reads it
	ascii   bool
}

// printf writes a text. The format is ours and may end lines. What it formats is made visible.
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

// A given is a cell whose text a person chose. A list cuts it where the terminal is too narrow.
type given string

// leastGiven is the length that no such text is cut below.
const leastGiven = 12

// list writes rows in columns as table does, under a heading. On a terminal it cuts long given
// texts, all to the same length, so that a row takes one line. Elsewhere, and in JSON, they are
// whole.
func (p printer) list(heading []any, rows [][]any) error {
	widths := make([]int, len(heading))
	longest := make([]int, len(heading)) // of what is given
	for _, row := range append(rows, heading) {
		for i, cell := range row {
			n := utf8.RuneCountInString(visible.Text(fmt.Sprint(cell)))
			if _, ok := cell.(given); ok {
				longest[i] = max(longest[i], n)
			} else {
				widths[i] = max(widths[i], n)
			}
		}
	}
	most := slices.Max(longest)
	for ; p.columns > 0 && most > leastGiven; most-- {
		line := gap * (len(heading) - 1)
		for i := range heading {
			line += max(widths[i], min(longest[i], most))
		}
		if line <= p.columns {
			break
		}
	}
	return p.table(func(write func(...any)) {
		write(heading...)
		for _, row := range rows {
			for i, cell := range row {
				if n, ok := cell.(given); ok {
					row[i] = p.cut(visible.Text(string(n)), most)
				}
			}
			write(row...)
		}
	})
}

// cut is a text of at most so many characters. An ellipsis stands for what is cut off.
func (p printer) cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	end := p.signs("…")
	return string([]rune(text)[:most-utf8.RuneCountInString(end)]) + end
}

// gap is the number of spaces between two columns.
const gap = 2

// table writes rows in columns. Rows hands the cells of each row to the function that it is given.
func (p printer) table(rows func(row func(cells ...any))) error {
	w := tabwriter.NewWriter(p.w, 0, 0, gap, ' ', 0)
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

// id writes an ID as a line: its text, or its fields. They are letters, digits and our own names.
func (p printer) id(id identified, asJSON bool) error {
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
func (p printer) draw(d drawing, colour bool) error { return d.write(p, colour) }

func (p printer) flush() error { return p.w.Flush() }

// seen makes the texts among the arguments of a format visible.
func seen(args []any) {
	for i, arg := range args {
		switch arg.(type) {
		case nil, bool, int, int64, float64: // a width may be among them
		default:
			args[i] = seenArg{arg}
		}
	}
}

// A seenArg is formatted as its value is, and made visible. Of a quoted string, the beginning is.
type seenArg struct{ value any }

func (a seenArg) Format(s fmt.State, verb rune) {
	if text, ok := a.value.(string); ok && verb == 'q' {
		io.WriteString(s, visible.Text(explain.Quoted(text)))
		return
	}
	io.WriteString(s, visible.Text(fmt.Sprintf(fmt.FormatString(s, verb), a.value)))
}
