package main

import (
	"slices"
	"strconv"
	"strings"
)

// A field is a run of bits or decimal places of an ID as it is drawn: one letter for each, and a
// label with their value.
type field struct {
	letter byte // '0' for reserved bits
	width  int
	label  string // empty for reserved bits, and for the first of two fields of one part
}

// A drawing is a list of lines, each of whose runes takes one column.
type drawing [][]rune

const drawingWidth = 80

func line(text string) []rune { return []rune(text) }

// put writes a text into a line at a column, and lengthens the line as needed.
func put(to []rune, column int, text string) []rune {
	letters := []rune(text)
	for len(to) < column+len(letters) {
		to = append(to, ' ')
	}
	copy(to[column:], letters)
	return to
}

// drawBits draws bits as the documentation of the types does, with their meaning beneath:
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
		gap = 0 // the letters show where a field ends
	}
	columns := make([]int, len(fields))
	rows := make([]int, len(fields)) // the field in whose row each is labeled; -1 for none
	var values, letters, heads []rune
	column, bit := 0, 0
	for i, f := range fields {
		columns[i] = column
		rows[i] = slices.IndexFunc(fields,
			func(g field) bool { return g.letter == f.letter && g.label != "" })
		if rows[i] >= 0 {
			heads = put(heads, column, "▲")
		}
		values = put(values, column, bits[bit:bit+f.width])
		letters = put(letters, column, strings.Repeat(string(f.letter), f.width))
		column, bit = column+f.width+gap, bit+f.width
	}
	d := drawing{values, letters, heads}
	for i := len(fields) - 1; i >= 0; i-- {
		if rows[i] != i {
			continue
		}
		var l []rune
		corner, first := "└", slices.Index(rows, i)
		if first < i { // another field belongs to the same part
			corner = "┘"
			l = put(l, columns[first], "└"+strings.Repeat("─", columns[i]-columns[first]-1))
		}
		for j := range i {
			switch {
			case rows[j] < 0 || rows[j] >= i:
			case first < j:
				l = put(l, columns[j], "┼")
			default:
				l = put(l, columns[j], "│")
			}
		}
		l = put(l, columns[i], corner+" "+fields[i].label)
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
	places := put(nil, margin-len("ID "), "ID ")
	var letters, heads []rune
	column, place := margin, 0
	middles := make([]int, len(fields))
	for i, f := range fields {
		middles[i] = column + (f.width-1)/2
		places = put(places, column, digits[place:place+f.width])
		letters = put(letters, column, strings.Repeat(string(f.letter), f.width))
		heads = put(heads, middles[i], "▲")
		column, place = column+f.width, place+f.width
	}
	d := drawing{places, letters, heads}
	for i, f := range fields {
		l := put(nil, margin-1-len(f.label), f.label)
		l = put(l, margin, strings.Repeat("─", middles[i]-margin)+"┘")
		for j := i + 1; j < len(fields); j++ {
			l = put(l, middles[j], "│")
		}
		d = append(d, l)
	}
	return d
}
