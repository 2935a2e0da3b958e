package idtype_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/idmint/idmint/idtype"
)

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkByteText holds all text functions of an ID against the reference.
func checkByteText(t fataler, k byteKind, raw []byte) {
	t.Helper()
	id, want := k.new(raw), k.refText(raw)
	if got := id.String(); got != want {
		t.Fatalf("String of %x = %s, want %s", raw, got, want)
	}
	if got, err := id.MarshalText(); string(got) != want || err != nil {
		t.Fatalf("MarshalText of %x = %s, %v, want %s", raw, got, err, want)
	}
	// Appending keeps what is there, be there room behind it or not.
	for _, room := range []int{0, 1, 8, 15, 16, 64} {
		b := append(make([]byte, 0, 2+room), "x="...)
		if got, err := id.AppendText(b); string(got) != "x="+want || err != nil {
			t.Fatalf("AppendText of %x after %q, with room for %d = %q, %v", raw, b, room, got, err)
		}
	}
	if isZero(raw) { // printable, but no ID
		return
	}
	checkByteParse(t, k, want, raw)
}

// checkByteParse wants the bytes, or an error for nil, from all readers of a text.
func checkByteParse(t fataler, k byteKind, text string, want []byte) {
	t.Helper()
	for name, parse := range map[string]func(string) ([]byte, error){"Parse": k.parse, "Parse of the typed key": k.parseTyped} {
		if got, err := parse(text); (err == nil) != (want != nil) || err == nil && !bytes.Equal(got, want) {
			t.Fatalf("%s(%q) = %x, %v, want %x", name, text, got, err, want)
		}
	}
	id, after := k.new(k.before()), want
	if want == nil {
		after = k.before()
	}
	if err := id.UnmarshalText([]byte(text)); (err == nil) != (want != nil) || !bytes.Equal(rawOf(id), after) {
		t.Fatalf("UnmarshalText(%q) = %x, %v, want %x", text, rawOf(id), err, want)
	}
}

func TestByteTextAgainstReference(t *testing.T) {
	eachByteKind(t, func(t *testing.T, k byteKind) {
		t.Run("special values", func(t *testing.T) {
			for _, raw := range append(k.domain(), k.zero()) {
				checkByteText(t, k, raw)
			}
		})
		t.Run("every character in every place", func(t *testing.T) {
			for place := range 16 {
				for _, c := range k.alphabet {
					text := []byte(strings.Repeat(k.alphabet[:1], 15) + k.alphabet[1:2]) // not zero
					text[place] = byte(c)
					if raw := k.refRaw(string(text)); raw != nil {
						checkByteText(t, k, raw)
					}
				}
			}
		})
		t.Run("any", rapid.MakeCheck(func(t *rapid.T) {
			for range 20 {
				checkByteText(t, k, k.draw(t, "id"))
			}
		}))
	})
}

// TestByteParseAgainstReference damages texts: a parser that reads eight characters at a time could mistake a neighbour of the
// alphabet, a byte with its top bit set, or what such a byte carries or borrows over to the next.
func TestByteParseAgainstReference(t *testing.T) {
	eachByteKind(t, func(t *testing.T, k byteKind) {
		check := func(t fataler, text []byte) { checkByteParse(t, k, string(text), k.refRaw(string(text))) }
		t.Run("every byte in every place", func(t *testing.T) {
			for _, c := range []byte{k.alphabet[0], '9', 'a', k.alphabet[k.size], k.alphabet[len(k.alphabet)-1]} {
				for place := range 16 {
					for b := range 256 {
						text := bytes.Repeat([]byte{c}, 16)
						text[place] = byte(b)
						check(t, text)
					}
				}
			}
		})
		if k.form == idtype.StorageBytes { // it takes long, and a text is read the same in all forms
			t.Run("every pair of bytes", func(t *testing.T) {
				for _, place := range []int{3, 7} { // within a word, and across two
					for pair := range 1 << 16 {
						text := bytes.Repeat([]byte{'5'}, 16)
						binary.BigEndian.PutUint16(text[place:], uint16(pair))
						raw := k.refRaw(string(text))
						got, err := k.parse(string(text))
						if (err == nil) != (raw != nil) || err == nil && !bytes.Equal(got, raw) {
							t.Fatalf("Parse(%q) = %x, %v, want %x", text, got, err, raw)
						}
					}
				}
			})
		}
		t.Run("some bytes changed", rapid.MakeCheck(func(t *rapid.T) {
			for range 20 {
				text := []byte(k.refText(k.draw(t, "id")))
				for range rapid.IntRange(1, 4).Draw(t, "changes") {
					text[rapid.IntRange(0, 15).Draw(t, "place")] = rapid.Byte().Draw(t, "byte")
				}
				check(t, text)
			}
		}))
		t.Run("of any length", rapid.MakeCheck(func(t *rapid.T) {
			check(t, []byte(rapid.StringMatching("["+k.alphabet+"]{0,40}").Draw(t, "text")))
		}))
		t.Run("any", rapid.MakeCheck(func(t *rapid.T) { check(t, []byte(rapid.String().Draw(t, "text"))) }))
	})
}

// TestByteOrder: bytes, numbers, texts and UUIDs of IDs have one order.
func TestByteOrder(t *testing.T) {
	eachByteKind(t, func(t *testing.T, k byteKind) {
		t.Run("any", rapid.MakeCheck(func(t *rapid.T) {
			a, b := k.draw(t, "a"), k.draw(t, "b")
			if rapid.Bool().Draw(t, "with a common start") {
				copy(b, a[:rapid.IntRange(0, k.size).Draw(t, "length")])
			}
			want := cmp.Compare(refBits(a), refBits(b))
			textA, textB := k.refText(a), k.refText(b)
			for name, got := range map[string]int{
				"Compare": k.compare(a, b),
				"texts":   cmp.Compare(k.new(a).String(), k.new(b).String()),
				"UUIDs":   cmp.Compare(refUUID(textA), refUUID(textB)),
			} {
				if got != want {
					t.Fatalf("%s of %x, %x: %d, want %d", name, a, b, got, want)
				}
			}
		}))
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Uint64().Draw(t, "a"), rapid.Uint64().Draw(t, "b")
		if got, want := idtype.EightByteFromUint64(a).Compare(idtype.EightByteFromUint64(b)), cmp.Compare(a, b); got != want {
			t.Fatalf("Compare of the IDs of %d, %d = %d, want %d", a, b, got, want)
		}
	})
}

// The layouts, as strings of bits.

func refEightByte(p idtype.EightByteParts) string {
	time := fmt.Sprintf("%042b", p.UnixMs)
	mode := "1"
	if p.Mode == idtype.EightByteSpread {
		time, mode = reversed(time), "0"
	}
	generator := fmt.Sprintf("%011b", p.Generator)
	return time + fmt.Sprintf("%06b", p.Sequence) + generator[:3] + mode + generator[3:] + fmt.Sprintf("%04b", p.Cluster)
}

func refEightByteParts(b string) idtype.EightByteParts {
	time, mode := b[:42], idtype.EightByteTimeSequential
	if b[51] == '0' {
		time, mode = reversed(time), idtype.EightByteSpread
	}
	return idtype.EightByteParts{
		Mode: mode, UnixMs: int64(refNumber(time)), Sequence: refNumber(b[42:48]),
		Generator: refNumber(b[48:51] + b[52:60]), Cluster: refNumber(b[60:]),
	}
}

func reversed(s string) (r string) {
	for _, c := range s {
		r = string(c) + r
	}
	return r
}

const snoEpoch = 1_262_304_000_000 // 2010-01-01T00:00:00Z

func refSno(p idtype.SnoParts) string {
	return fmt.Sprintf("%039b%b%08b%016b%016b", (p.UnixMs-snoEpoch)/4, p.TickTock, p.Meta, p.Partition, p.Sequence)
}

func refSnoParts(b string) idtype.SnoParts {
	return idtype.SnoParts{
		UnixMs: snoEpoch + 4*int64(refNumber(b[:39])), TickTock: refNumber(b[39:40]), Meta: refNumber(b[40:48]),
		Partition: refNumber(b[48:64]), Sequence: refNumber(b[64:]),
	}
}

func drawEightByteParts(t *rapid.T) idtype.EightByteParts {
	return idtype.EightByteParts{
		Mode:   rapid.SampledFrom([]idtype.EightByteMode{idtype.EightByteSpread, idtype.EightByteTimeSequential}).Draw(t, "mode"),
		UnixMs: rapid.Int64Range(0, 1<<42-1).Draw(t, "ms"), Sequence: rapid.IntRange(0, 63).Draw(t, "sequence"),
		Generator: rapid.IntRange(0, 2047).Draw(t, "generator"), Cluster: rapid.IntRange(0, 15).Draw(t, "cluster"),
	}
}

func TestEightByteAgainstReference(t *testing.T) {
	t.Run("parts to ID", rapid.MakeCheck(func(t *rapid.T) {
		p := drawEightByteParts(t)
		id, err := p.ID()
		if p == (idtype.EightByteParts{}) {
			return // TestEightByteBounds has it
		}
		if err != nil || refBits(id[:]) != refEightByte(p) || id.Parts() != p || id.Validate() != nil {
			t.Fatalf("%+v = %s, %v, want %s; its parts are %+v", p, refBits(id[:]), err, refEightByte(p), id.Parts())
		}
		for _, former := range []struct {
			name     string
			compose  func(idtype.EightByteParts) (idtype.EightByteID, error)
			validate func(idtype.EightByteID) error
			has      bool
		}{
			{"first", idtype.EightByteParts.V1ID, idtype.EightByteID.ValidateV1, p.Mode == idtype.EightByteSpread && p.Generator <= 63},
			{"second", idtype.EightByteParts.V2ID, idtype.EightByteID.ValidateV2, p.Mode == idtype.EightByteSpread && p.Generator <= 255},
			{"third", idtype.EightByteParts.V3ID, idtype.EightByteID.ValidateV3, p.Generator <= 255},
		} {
			got, err := former.compose(p)
			if (err == nil) != former.has || former.has && got != id || !former.has && got != (idtype.EightByteID{}) || (former.validate(id) == nil) != former.has {
				t.Fatalf("%+v by the %s layout = %v, %v, validated %v", p, former.name, got, err, former.validate(id))
			}
		}
	}))
	t.Run("ID to parts", rapid.MakeCheck(func(t *rapid.T) {
		raw := byteKinds[0].draw(t, "id")
		id := idtype.EightByteID(raw)
		want := refEightByteParts(refBits(raw))
		if got := id.Parts(); got != want {
			t.Fatalf("parts of %x = %+v, want %+v", raw, got, want)
		}
		if id.Mode() != want.Mode || id.UnixMs() != want.UnixMs || id.Sequence() != want.Sequence ||
			id.Generator() != want.Generator || id.Cluster() != want.Cluster || id.Time().UnixMilli() != want.UnixMs {
			t.Fatalf("%x is %v %v %v %v %v %v", raw, id.Mode(), id.UnixMs(), id.Sequence(), id.Generator(), id.Cluster(), id.Time())
		}
		if v := binary.BigEndian.Uint64(raw); id.Uint64() != v || idtype.EightByteFromUint64(v) != id {
			t.Fatalf("%x as a number is %x, which is %v", raw, id.Uint64(), idtype.EightByteFromUint64(v))
		}
	}))
	t.Run("parts out of range", rapid.MakeCheck(func(t *rapid.T) {
		p := idtype.EightByteParts{
			Mode:   idtype.EightByteMode(rapid.IntRange(-1, 2).Draw(t, "mode")),
			UnixMs: rapid.Int64().Draw(t, "ms"), Sequence: rapid.IntRange(-1, 64).Draw(t, "sequence"),
			Generator: rapid.IntRange(-1, 2048).Draw(t, "generator"), Cluster: rapid.IntRange(-1, 16).Draw(t, "cluster"),
		}
		// Whatever is accepted is what was asked for: nothing wraps around or spills into the next part.
		if id, err := p.ID(); err == nil && id.Parts() != p {
			t.Fatalf("%+v gives %v, which is %+v", p, id, id.Parts())
		}
	}))
}

func TestSnoAgainstReference(t *testing.T) {
	t.Run("parts to ID", rapid.MakeCheck(func(t *rapid.T) {
		p := idtype.SnoParts{
			UnixMs: rapid.Int64Range(snoEpoch, 3461327255551).Draw(t, "ms"), TickTock: rapid.IntRange(0, 1).Draw(t, "tick-tock"),
			Meta: rapid.IntRange(0, 255).Draw(t, "meta"), Partition: rapid.IntRange(0, 65535).Draw(t, "partition"),
			Sequence: rapid.IntRange(0, 65535).Draw(t, "sequence"),
		}
		want := refSno(p)
		if !strings.Contains(want, "1") {
			return // TestSnoBounds has it
		}
		id, err := p.ID()
		if err != nil || refBits(id[:]) != want || id.Validate() != nil {
			t.Fatalf("%+v = %s, %v, want %s", p, refBits(id[:]), err, want)
		}
		floored := p
		floored.UnixMs -= floored.UnixMs % 4 // the epoch is a whole number of units
		if id.Parts() != floored {
			t.Fatalf("%+v came back as %+v", p, id.Parts())
		}
	}))
	t.Run("ID to parts", rapid.MakeCheck(func(t *rapid.T) {
		raw := byteKinds[2].draw(t, "id")
		id := idtype.SnoID(raw)
		want := refSnoParts(refBits(raw))
		if got := id.Parts(); got != want {
			t.Fatalf("parts of %x = %+v, want %+v", raw, got, want)
		}
		if id.UnixMs() != want.UnixMs || id.TickTock() != want.TickTock || id.Meta() != want.Meta ||
			id.Partition() != want.Partition || id.Sequence() != want.Sequence || id.Time().UnixMilli() != want.UnixMs {
			t.Fatalf("%x is %v %v %v %v %v %v", raw, id.UnixMs(), id.TickTock(), id.Meta(), id.Partition(), id.Sequence(), id.Time())
		}
	}))
	t.Run("parts out of range", rapid.MakeCheck(func(t *rapid.T) {
		p := idtype.SnoParts{
			UnixMs: rapid.Int64().Draw(t, "ms"), TickTock: rapid.IntRange(-1, 2).Draw(t, "tick-tock"),
			Meta: rapid.IntRange(-1, 256).Draw(t, "meta"), Partition: rapid.IntRange(-1, 65536).Draw(t, "partition"),
			Sequence: rapid.IntRange(-1, 65536).Draw(t, "sequence"),
		}
		if id, err := p.ID(); err == nil && (id.Parts().UnixMs > p.UnixMs || id.Parts().UnixMs+4 <= p.UnixMs ||
			id.TickTock() != p.TickTock || id.Meta() != p.Meta || id.Partition() != p.Partition || id.Sequence() != p.Sequence) {
			t.Fatalf("%+v gives %v, which is %+v", p, id, id.Parts())
		}
	}))
}
