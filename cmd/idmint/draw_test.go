package main

import (
	"bufio"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/idtype"
)

var escapes = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// Colours are added to a drawing, and change nothing else. Each part has its own, in all its lines.
func TestColours(t *testing.T) {
	for text, id := range map[string]identified{
		bitDrawings["--scheme eightbyte 5b9bda2989e1989b"]: eightByteKind.of(
			idtype.MustParse[idtype.EightByteID]("5b9bda2989e1989b")),
		bitDrawings["8fhmi7mfls62jp64"]: snoKind.of(
			idtype.MustParse[idtype.SnoID]("8fhmi7mfls62jp64")),
		documented: decimalKind.of(14150009200065),
	} {
		draw := func(colour bool) string {
			var b strings.Builder
			p := printer{w: bufio.NewWriter(&b)}
			if err := id.drawing(time.Now()).write(p, colour); err != nil {
				t.Fatal(err)
			}
			p.flush()
			return b.String()
		}
		if plain := draw(false); plain != text {
			t.Errorf("plain:\n%s\nwant\n%s", plain, text)
		}
		coloured := draw(true)
		if escapes.ReplaceAllString(coloured, "") != text ||
			strings.Count(coloured, "\x1b[0m") == 0 {
			t.Errorf("%q", coloured)
		}
		for _, line := range lines(coloured) {
			if strings.Contains(line, "\x1b") && !strings.HasSuffix(line, "\x1b[0m") {
				t.Errorf("a colour does not end with its line: %q", line)
			}
		}
	}
	sno := snoKind.of(idtype.MustParse[idtype.SnoID]("8fhmi7mfls62jp64")).drawing(time.Now())
	colour := map[rune]byte{}
	for column, c := range sno[4] { // the letters, beneath the bits
		if c.colour == 0 || sno[3][column].colour != c.colour ||
			colour[c.char] != 0 && colour[c.char] != c.colour {
			t.Errorf("column %d: %v under %v", column, c, sno[3][column])
		}
		colour[c.char] = c.colour
	}
	different := map[byte]bool{}
	for _, c := range colour {
		different[c] = true
	}
	if len(colour) != 5 || len(different) != 5 {
		t.Errorf("colours %v", colour)
	}
}
