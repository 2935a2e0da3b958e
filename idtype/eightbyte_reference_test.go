package idtype_test

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/idmint/idmint/idtype"
)

// The reference is the layout as a string of bits.

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
		if err != nil || refBits(id[:]) != refEightByte(p) || id.Parts() != p ||
			id.Validate() != nil {
			t.Fatalf("%+v = %s, %v, want %s; its parts are %+v", p, refBits(id[:]), err,
				refEightByte(p), id.Parts())
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
			if (err == nil) != former.has || former.has && got != id ||
				!former.has && got != (idtype.EightByteID{}) || (former.validate(id) == nil) != former.has {
				t.Fatalf("%+v by the %s layout = %v, %v, validated %v", p, former.name, got, err,
					former.validate(id))
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
			t.Fatalf("%x is %v %v %v %v %v %v", raw, id.Mode(), id.UnixMs(), id.Sequence(),
				id.Generator(), id.Cluster(), id.Time())
		}
		if v := binary.BigEndian.Uint64(raw); id.Uint64() != v ||
			idtype.EightByteFromUint64(v) != id {
			t.Fatalf("%x as a number is %x, which is %v", raw, id.Uint64(),
				idtype.EightByteFromUint64(v))
		}
	}))
	t.Run("parts out of range", rapid.MakeCheck(func(t *rapid.T) {
		p := idtype.EightByteParts{
			Mode:   idtype.EightByteMode(rapid.IntRange(-1, 2).Draw(t, "mode")),
			UnixMs: rapid.Int64().Draw(t, "ms"), Sequence: rapid.IntRange(-1, 64).Draw(t, "sequence"),
			Generator: rapid.IntRange(-1, 2048).Draw(t, "generator"), Cluster: rapid.IntRange(-1, 16).Draw(t, "cluster"),
		}
		// Whatever is accepted is what was asked for: nothing wraps around or spills into the next
		// part.
		if id, err := p.ID(); err == nil && id.Parts() != p {
			t.Fatalf("%+v gives %v, which is %+v", p, id, id.Parts())
		}
	}))
}

// TestEightByteOrder: IDs sort as their numbers do.
func TestEightByteOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Uint64().Draw(t, "a"), rapid.Uint64().Draw(t, "b")
		got := idtype.EightByteFromUint64(a).Compare(idtype.EightByteFromUint64(b))
		if want := cmp.Compare(a, b); got != want {
			t.Fatalf("Compare of the IDs of %d, %d = %d, want %d", a, b, got, want)
		}
	})
}
