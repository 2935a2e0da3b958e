package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A field is consecutive bits of an ID, or decimal places, as they are drawn: a letter for each,
// and what they say.
type field struct {
	letter byte // '0' for reserved bits
	width  int
	label  string // empty for reserved bits, and for the first of two fields that are one part
}

// A drawing is lines of cells.
type drawing [][]cell

type cell struct {
	char   rune
	colour byte // the SGR code of a text colour; 0 is none
}

// colours are those of the fields, in their order. None of them is dark.
var colours = [...]byte{36, 33, 32, 35, 91}

const drawingWidth = 80

// useColour reports whether colours are wanted, by the conventions of no-color.org and terminfo.
func useColour(terminal bool) bool {
	return terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

func line(text string) []cell { return put(nil, 0, text, 0) }

// put writes a text into a line, which grows as it must.
func put(to []cell, column int, text string, colour byte) []cell {
	if to == nil {
		to = make([]cell, 0, drawingWidth)
	}
	for end := column + utf8.RuneCountInString(text); len(to) < end; {
		to = append(to, cell{' ', 0})
	}
	for _, char := range text {
		to[column] = cell{char, colour}
		column++
	}
	return to
}

func (d drawing) write(p printer, colour bool) error {
	w := p.w
	for _, l := range d {
		for len(l) > 0 && l[len(l)-1].char == ' ' {
			l = l[:len(l)-1]
		}
		now := byte(0)
		change := func(to byte) {
			if colour && to != now {
				now = to
				fmt.Fprintf(w, "\x1b[%dm", now) // 0 resets
			}
		}
		for _, c := range l {
			change(c.colour)
			w.WriteString(p.sign(c.char))
		}
		change(0)
		if err := w.WriteByte('\n'); err != nil { // the first error stays
			return err
		}
	}
	return nil
}

// drawBits draws bits as the documentation of the types does, and what they say beneath:
//
//	010110111001101111011010001010011000100111 100001 100 1 10001001 1011
//	tttttttttttttttttttttttttttttttttttttttttt ssssss ggg m gggggggg cccc
//	▲                                          ▲      ▲   ▲ ▲        ▲
//	│                                          │      │   │ │        └ cluster_id 11
//	│                                          │      └───┼─┘ generator_id 1161
//	│                                          │          └ mode TIME_SEQUENTIAL
//	│                                          └ sequence 33
//	└ unix_ms 1573827159591, 2019-11-15T14:12:39.591Z
func drawBits(bits string, fields []field) drawing {
	gap := 1
	if len(bits)+len(fields)-1 > drawingWidth {
		gap = 0 // the letters say where a field ends
	}
	columns := make([]int, len(fields))
	rows := make([]int, len(fields)) // in the row of which field each is labelled; -1 for none
	tints := make([]byte, len(fields))
	var values, letters, heads []cell
	var parts []byte // the letters so far
	column, bit := 0, 0
	for i, f := range fields {
		columns[i] = column
		rows[i] = slices.IndexFunc(fields,
			func(g field) bool { return g.letter == f.letter && g.label != "" })
		if rows[i] >= 0 {
			if !slices.Contains(parts, f.letter) {
				parts = append(parts, f.letter)
			}
			tints[i] = colours[slices.Index(parts, f.letter)]
			heads = put(heads, column, "▲", tints[i])
		}
		values = put(values, column, bits[bit:bit+f.width], tints[i])
		letters = put(letters, column, strings.Repeat(string(f.letter), f.width), tints[i])
		column, bit = column+f.width+gap, bit+f.width
	}
	d := drawing{values, letters, heads}
	for i := len(fields) - 1; i >= 0; i-- {
		if rows[i] != i {
			continue
		}
		var l []cell
		corner, first := "└", slices.Index(rows, i)
		if first < i { // another field is of the same part
			corner = "┘"
			l = put(l, columns[first], "└"+strings.Repeat("─", columns[i]-columns[first]-1),
				tints[i])
		}
		for j := range i {
			switch {
			case rows[j] < 0 || rows[j] >= i:
			case first < j:
				l = put(l, columns[j], "┼", tints[i])
			default:
				l = put(l, columns[j], "│", tints[j])
			}
		}
		l = put(l, columns[i], corner+" "+fields[i].label, tints[i])
		d = append(d, l)
	}
	return d
}

// drawPlaces draws decimal places as "Pattern: ID Generation" does:
//
//	               ID 14150009200065
//	                  ccccggggglllll
//	                   ▲    ▲    ▲
//	   counter (1415) ─┘    │    │
//	generator_id (92) ──────┘    │
//	   launch_id (65) ───────────┘
func drawPlaces(id int64, fields []field) drawing {
	digits := strconv.FormatInt(id, 10)
	margin := 0
	for _, f := range fields {
		margin = max(margin, len(f.label)+1)
	}
	places := put(nil, margin-len("ID "), "ID ", 0)
	var letters, heads []cell
	column, place := margin, 0
	middles := make([]int, len(fields))
	for i, f := range fields {
		middles[i] = column + (f.width-1)/2
		colour := colours[i]
		places = put(places, column, digits[place:place+f.width], colour)
		letters = put(letters, column, strings.Repeat(string(f.letter), f.width), colour)
		heads = put(heads, middles[i], "▲", colour)
		column, place = column+f.width, place+f.width
	}
	d := drawing{places, letters, heads}
	for i, f := range fields {
		l := put(nil, margin-1-len(f.label), f.label, colours[i])
		l = put(l, margin, strings.Repeat("─", middles[i]-margin)+"┘", colours[i])
		for j := i + 1; j < len(fields); j++ {
			l = put(l, middles[j], "│", colours[j])
		}
		d = append(d, l)
	}
	return d
}
