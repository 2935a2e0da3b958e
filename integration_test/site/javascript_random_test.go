package site_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/scramble"
)

const rounds = 500 // for each scheme

// A randomSource draws what the decoder is asked. The seed is fixed: a failure comes again.
type randomSource struct{ *rand.Rand }

func newRandomSource() randomSource { return randomSource{rand.New(rand.NewPCG(14, 92))} }

// pick is one of some values.
func pick[V any](s randomSource, values ...V) V { return values[s.IntN(len(values))] }

// within is a number of a range. Small ones, powers of two, the ends and what is just beyond them
// are frequent.
func (s randomSource) within(least, most int64) int64 {
	switch s.IntN(8) {
	case 0:
		return least
	case 1:
		return most
	case 2:
		return least + min(most-least, 1<<s.IntN(42))
	case 3:
		return least + s.Int64N(min(most-least, 9)+1)
	}
	return least + s.Int64N(most-least+1)
}

// beyond is within, and now and then outside.
func (s randomSource) beyond(least, most int64) int64 {
	switch s.IntN(24) {
	case 0:
		return least - 1
	case 1:
		return most + 1
	case 2:
		return -most
	}
	return s.within(least, most)
}

// parts are some of a scheme as JSON, and drawn by a function of each part's range.
func (s randomSource) parts(w twin, value func(least, most int64) int64) json.RawMessage {
	var members []string
	for _, r := range w.ranges {
		v := strconv.FormatInt(value(r.least, r.most), 10)
		if r.name == "mode" {
			v = pick(s, `"SPREAD"`, `"TIME_SEQUENTIAL"`)
		}
		if r.name == "number" { // floats do not hold it
			v = strconv.Quote(v)
		}
		members = append(members, fmt.Sprintf("%q:%s", r.name, v))
	}
	return json.RawMessage("{" + strings.Join(members, ",") + "}")
}

// of are characters of an alphabet.
func (s randomSource) of(alphabet string, length int) string {
	text := make([]byte, length)
	for i := range text {
		text[i] = alphabet[s.IntN(len(alphabet))]
	}
	return string(text)
}

// strange are characters that some parser takes for others, or does not expect.
var strange = []rune("09afgxyzAFGZ-_+ .eE\"'\n\t\x00\\/:@`é２٣Kſ\u2028\U0001f600\u202e")

// text is a text in a form: of an ID, of an ID damaged in a place or two, or of other characters.
func (s randomSource) text(t *testing.T, w twin, form string) string {
	t.Helper()
	text := s.of(w.alphabet, s.IntN(w.longest+3))
	if s.IntN(2) == 0 {
		composed, err := w.compose(s.parts(w, s.within), "")
		if err == nil {
			text = s.write(t, w, composed.ID, form)
		}
	}
	runes := []rune(text)
	for range max(0, s.IntN(8)-5) {
		at := s.IntN(len(runes) + 1)
		switch c := pick(s, strange...); s.IntN(3) {
		case 0:
			runes = slices.Insert(runes, at, c)
		case 1:
			runes = slices.Delete(runes, at, min(len(runes), at+1))
		default:
			runes = slices.Replace(runes, at, min(len(runes), at+1), c)
		}
	}
	text = string(runes)
	switch s.IntN(16) {
	case 0:
		return strings.ToUpper(text)
	case 1:
		return `\x` + text
	case 2:
		return "0x" + text
	case 3:
		return "-" + text
	}
	return text
}

// write is an ID's form, by its number.
func (s randomSource) write(t *testing.T, w twin, id, form string) string {
	t.Helper()
	at := slices.Index(w.forms, form)
	hexadecimal := map[string]int{"eightbyte": 16, "sno": 20}[w.name]
	first, number := "number", id
	if hexadecimal > 0 {
		first, number = "hex", hexOf(id, hexadecimal)
	}
	a, err := w.parse(number, first, time.Now())
	if err != nil {
		t.Fatalf("%s %s: %v", w.name, id, err)
	}
	return a.Texts[at]
}

// The decoder and package idtype agree about texts, of all forms.
func TestJavaScriptRandomTexts(t *testing.T) {
	t.Parallel()
	s := newRandomSource()
	var k talk
	for _, w := range twins {
		for range rounds {
			for _, form := range w.forms {
				now := time.UnixMilli(s.Int64N(1<<45) - 1<<44)
				text := s.text(t, w, form)
				want, err := w.parse(text, form, now)
				if err != nil {
					want = refused
				}
				k.add(question{
					Op: "parse", Scheme: w.name, Text: text, Form: form, Now: now.UnixMilli(),
				}, want)
				if form != "text" {
					continue
				}
				var fits []string
				for _, other := range twins {
					a, err := other.parse(text, "text", now)
					if err == nil && a.Valid[0] {
						fits = append(fits, other.name)
					}
				}
				slices.Sort(fits)
				if fits == nil {
					fits = []string{}
				}
				k.add(question{Op: "inspect", Text: text}, answer{Fits: fits})
			}
		}
	}
	k.compare(t)
}

// They agree about parts, by each layout.
func TestJavaScriptRandomParts(t *testing.T) {
	t.Parallel()
	s := newRandomSource()
	var k talk
	for _, w := range twins {
		if w.name == "sequence" { // its part is the ID
			continue
		}
		for range rounds {
			layout := ""
			if w.name == "eightbyte" {
				layout = pick(s, "", "v1", "v2", "v3")
			}
			parts := s.parts(w, s.beyond)
			want, err := w.compose(parts, layout)
			if err != nil {
				want = refused
			}
			k.add(question{Op: "compose", Scheme: w.name, Parts: parts, Layout: layout}, want)
		}
	}
	k.compare(t)
}

// They agree about spans of time.
func TestJavaScriptRandomBounds(t *testing.T) {
	t.Parallel()
	s := newRandomSource()
	var k talk
	for _, w := range twins {
		if w.bounds == nil {
			k.add(question{Op: "bounds", Scheme: w.name, From: 1, To: 2}, refused)
			continue
		}
		for range rounds {
			least, most := int64(-1<<36), int64(1<<36) // of trace IDs
			for _, r := range w.ranges {
				if r.name == "unix_ms" {
					least, most = r.least, r.most
				}
			}
			from := s.beyond(least, most)
			to := pick(s, s.beyond(least, most), from+s.Int64N(5), from+s.Int64N(1<<36), from-1)
			ranges, err := w.bounds(time.UnixMilli(from), time.UnixMilli(to))
			want := answer{Ranges: ranges}
			if err != nil || to < from {
				want = refused
			}
			k.add(question{Op: "bounds", Scheme: w.name, From: from, To: to}, want)
		}
	}
	k.compare(t)
}

// The permutations are those of package scramble.
func TestJavaScriptRandomScrambled(t *testing.T) {
	t.Parallel()
	s := newRandomSource()
	var k talk
	for range rounds {
		var key scramble.Key
		for i := range key {
			key[i] = byte(s.Uint64())
		}
		domain := pick(s, scramble.Int53, scramble.Int63)
		id := s.beyond(1, domain.Max())
		kind := pick(s, "Multiplicative", "Network")
		var p scramble.Permutation
		var err error
		if kind == "Network" {
			p, err = scramble.NewNetwork(domain, key)
		} else {
			p, err = scramble.NewMultiplicative(domain, key)
		}
		if err != nil {
			t.Fatal(err)
		}
		want := refused
		forth, err := p.Scramble(id)
		back, err2 := p.Unscramble(id)
		if err == nil && err2 == nil {
			want = answer{IDs: []string{fmt.Sprint(forth), fmt.Sprint(back)}}
		}
		k.add(question{
			Op: "scramble", Kind: kind, Bits: int(domain), Key: fmt.Sprintf("%x", key),
			Text: fmt.Sprint(id),
		}, want)
	}
	k.compare(t)
}
