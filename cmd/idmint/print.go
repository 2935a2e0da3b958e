package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// A printer writes what a command answers. It has a method for each kind of answer, and no other
// way leads to the terminal. A text of a database, a file or an argument always passes through
// [visible].
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
	p.w.WriteString(visible(text))
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
			n := utf8.RuneCountInString(visible(fmt.Sprint(cell)))
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
					row[i] = p.cut(visible(string(n)), most)
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
			io.WriteString(w, visible(fmt.Sprint(cell)))
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
	p.w.Write(visibleJSON(b))
	return p.w.WriteByte('\n')
}

// id writes an ID as a line: its text, or its fields. They are letters, digits and our own names.
func (p printer) id(id identified, asJSON bool) error {
	b, err := p.w.AvailableBuffer(), error(nil)
	if asJSON {
		b, err = id.appendJSON(b)
	} else {
		b, err = id.appendText(b)
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
		io.WriteString(s, visible(quoted(text)))
		return
	}
	io.WriteString(s, visible(fmt.Sprintf(fmt.FormatString(s, verb), a.value)))
}

// visible makes a text fit for a terminal. It is on one line. Nothing in it moves the cursor,
// changes the direction of writing or is not seen at all. What is not graphic becomes the escape of
// a Go string: \x1b, \n, \u202e, and \xff for a byte that is no UTF-8. A backslash stays as it is,
// because errors hold texts that are quoted already. So the result is for people to read, and
// --json has the text itself. A text that is visible stays the same.
func visible(s string) string {
	return escaped(s, func(b []byte, _ rune, text string) []byte {
		quote := strconv.Quote(text)
		return append(b, quote[1:len(quote)-1]...)
	})
}

// visibleJSON writes what is not graphic as JSON escapes it, which means the same. All of it is
// within strings: json.Marshal leaves no white space. A byte that is no UTF-8 becomes what
// encoding/json makes of it elsewhere, U+FFFD.
func visibleJSON(data []byte) []byte {
	return escaped(data, func(b []byte, r rune, _ string) []byte {
		if r > 0xffff {
			high, low := utf16.EncodeRune(r)
			return fmt.Appendf(b, `\u%04x\u%04x`, high, low)
		}
		return fmt.Appendf(b, `\u%04x`, r)
	})
}

// escaped is a text whose runes that are not graphic are written by escape: the rune, and its
// bytes.
func escaped[S string | []byte](text S, escape func([]byte, rune, string) []byte) S {
	var b []byte // nil while all is graphic
	for i, n := 0, 0; i < len(text); i += n {
		r := rune(text[i])
		if n = 1; r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(string(text[i:min(i+utf8.UTFMax, len(text))]))
		}
		graphic := unicode.IsGraphic(r) && (r != utf8.RuneError || n > 1)
		if !graphic && b == nil {
			b = append(make([]byte, 0, len(text)+16), text[:i]...)
		}
		switch {
		case !graphic:
			b = escape(b, r, string(text[i:i+n]))
		case b != nil:
			b = append(b, text[i:i+n]...)
		}
	}
	if b == nil {
		return text
	}
	return S(b)
}
