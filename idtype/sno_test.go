package idtype_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/idmint/idmint/idtype"
)

// snoVector is a line of the file that muyo/sno made, not this package.
type snoVector struct {
	Kind, Hex, Text string

	UnixMs    int64  `json:"unix_ms"`
	Units     uint64 `json:"timestamp"` // of 4 ms since 2010
	TickTock  int    `json:"ticktock"`
	Meta      int
	Partition int
	Sequence  int
	Input     string `json:"input_unix_ns"` // the time that the ID was asked for
}

func (v snoVector) parts() idtype.SnoParts {
	return idtype.SnoParts{
		UnixMs: v.UnixMs, TickTock: v.TickTock, Meta: v.Meta,
		Partition: v.Partition, Sequence: v.Sequence,
	}
}

func TestSnoVectors(t *testing.T) {
	kinds := map[string]int{}
	for _, v := range readVectors[snoVector](t, "sno.jsonl", 200) {
		kinds[v.Kind]++
		kinds["tick-tock "+strconv.Itoa(v.TickTock)]++
		t.Run(v.Text, func(t *testing.T) { testSnoVector(t, v) })
	}
	for _, kind := range []string{"bytes", "bytes_boundary", "newwithtime", "newwithtime_boundary", "tick-tock 0", "tick-tock 1"} {
		if kinds[kind] == 0 {
			t.Errorf("kinds of vectors: %v, want %s among them", kinds, kind)
		}
	}
}

func testSnoVector(t *testing.T, v snoVector) {
	raw, err := hex.DecodeString(v.Hex)
	if err != nil {
		t.Fatal(err)
	}
	if v.Hex == "00000000000000000000" {
		// The reference reads this ID too. Here zero is nobody's: it is composed of its parts by no
		// function, and read by none.
		id, err := v.parts().ID()
		if !errors.Is(err, idtype.ErrZero) || !id.IsZero() {
			t.Errorf("%+v = %v, %v, want ErrZero", v.parts(), id, err)
		}
		if _, err := idtype.ParseSnoID(v.Text); !errors.Is(err, idtype.ErrZero) {
			t.Errorf("Parse(%q): %v, want ErrZero", v.Text, err)
		}
		if err := id.UnmarshalBinary(raw); !errors.Is(err, idtype.ErrZero) {
			t.Errorf("UnmarshalBinary of zeros: %v, want ErrZero", err)
		}
		return
	}
	id, err := v.parts().ID()
	if err != nil || id.String() != v.Text || hex.EncodeToString(id[:]) != v.Hex {
		t.Fatalf("%+v = %x, %s, %v, want %s, %s", v.parts(), id[:], id, err, v.Hex, v.Text)
	}
	parsed, err := idtype.ParseSnoID(v.Text)
	if err != nil || parsed != id || parsed.Parts() != v.parts() {
		t.Errorf("%s = %+v, %v, want %+v", v.Text, parsed.Parts(), err, v.parts())
	}
	if units := uint64(id.UnixMs()-1262304000000) / 4; units != v.Units {
		t.Errorf("%d units since 2010, want %d", units, v.Units)
	}
	if v.Input == "" {
		return
	}
	ns, err := strconv.ParseInt(v.Input, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	// Milliseconds within a unit of 4 are rounded down as the reference does.
	asked := v.parts()
	asked.UnixMs = time.Unix(0, ns).UnixMilli()
	if got, err := asked.ID(); err != nil || got != id {
		t.Errorf("at %d ms: %v, %v, want %v", asked.UnixMs, got, err, id)
	}
}

// TestSnoBounds states the layout's bounds as numbers, so that a changed constant is seen.
func TestSnoBounds(t *testing.T) {
	const epoch, last = 1262304000000, 3461327255551
	testPartBounds(t, "SnoID", []partBound[idtype.SnoParts, idtype.SnoID]{
		{"above the type", idtype.SnoParts{1703587783960, 1, 158, 34824, 56450}, "335f48168d9e8808dc82"},
		{"largest", idtype.SnoParts{last, 1, 255, 65535, 65535}, "ffffffffffffffffffff"},
		{"largest, from the start of its unit", idtype.SnoParts{last - 3, 1, 255, 65535, 65535}, "ffffffffffffffffffff"},
		{"the unit before the last", idtype.SnoParts{last - 4, 0, 0, 0, 0}, "fffffffffc0000000000"},
		{"smallest", idtype.SnoParts{epoch, 0, 0, 0, 1}, "00000000000000000001"},
		{"tick-tock", idtype.SnoParts{epoch, 1, 0, 0, 0}, "00000000010000000000"},
		{"meta", idtype.SnoParts{epoch, 0, 1, 0, 0}, "00000000000100000000"},
		{"partition", idtype.SnoParts{epoch, 0, 0, 1, 0}, "00000000000000010000"},
		{"the last millisecond of a unit", idtype.SnoParts{epoch + 7, 0, 0, 0, 0}, "00000000020000000000"},
		{"the first of the next", idtype.SnoParts{epoch + 8, 0, 0, 0, 0}, "00000000040000000000"},
		// The reference wraps around at both ends, and makes an ID of 2037 of the first of these,
		// one of 2010 of the second.
		{"time below", idtype.SnoParts{epoch - 1, 0, 0, 0, 0}, "unix_ms"},
		{"time above", idtype.SnoParts{last + 1, 0, 0, 0, 0}, "unix_ms"},
		{"time above by a unit", idtype.SnoParts{last + 4, 0, 0, 0, 0}, "unix_ms"},
		{"1970", idtype.SnoParts{0, 0, 0, 0, 0}, "unix_ms"},
		{"time far above", idtype.SnoParts{math.MaxInt64, 0, 0, 0, 0}, "unix_ms"},
		{"time far below", idtype.SnoParts{math.MinInt64, 0, 0, 0, 0}, "unix_ms"},
		{"tick-tock 2", idtype.SnoParts{epoch, 2, 0, 0, 0}, "tick_tock"},
		{"tick-tock -1", idtype.SnoParts{epoch, -1, 0, 0, 0}, "tick_tock"},
		{"meta 256", idtype.SnoParts{epoch, 0, 256, 0, 0}, "meta"},
		{"meta -1", idtype.SnoParts{epoch, 0, -1, 0, 0}, "meta"},
		{"partition 65536", idtype.SnoParts{epoch, 0, 0, 65536, 0}, "partition"},
		{"partition -1", idtype.SnoParts{epoch, 0, 0, -1, 0}, "partition"},
		{"sequence 65536", idtype.SnoParts{epoch, 0, 0, 0, 65536}, "sequence"},
		{"sequence -1", idtype.SnoParts{epoch, 0, 0, 0, -1}, "sequence"},
		{"the first bad part is named", idtype.SnoParts{epoch, 0, 256, -1, -1}, "meta"},
	})
	if idtype.SnoEpoch != epoch || idtype.SnoMaxUnixMs != last || idtype.SnoTimeUnit != 4 ||
		idtype.SnoMaxMeta != 255 || idtype.SnoMaxPartition != 65535 || idtype.SnoMaxSequence != 65535 {
		t.Error("the exported bounds are not those of the layout")
	}
	if got := time.UnixMilli(epoch).UTC(); got != time.Date(2010, 1, 1, 0, 0, 0, 0, time.UTC) {
		t.Errorf("the first time is %v", got)
	}
	if got := time.UnixMilli(last).UTC(); got != time.Date(2079, 9, 7, 15, 47, 35, 551e6, time.UTC) {
		t.Errorf("the last time is %v", got)
	}
	for _, err := range []error{idtype.SnoID{}.Validate(), errOf(idtype.SnoParts{UnixMs: epoch}.ID()), errOf(idtype.SnoParts{UnixMs: epoch + 3}.ID())} {
		wantInputError(t, err, "SnoID", "2222222222222222", idtype.ErrZero)
	}
	if err := idtype.MustParseSnoID("2222222222222223").Validate(); err != nil {
		t.Errorf("Validate of the smallest: %v", err)
	}
	if got := idtype.MustParseSnoID("8fhmi7mfls62jp64").Time(); got != time.Date(2023, 12, 26, 10, 49, 43, 960e6, time.UTC) {
		t.Errorf("the ID above the type is of %v", got)
	}
	b, err := json.Marshal(idtype.SnoParts{5, 4, 3, 2, 1})
	if want := `{"unix_ms":5,"tick_tock":4,"meta":3,"partition":2,"sequence":1}`; err != nil ||
		string(b) != want {
		t.Errorf("parts as JSON = %s, %v, want %s", b, err, want)
	}
}

func TestSnoMinMax(t *testing.T) {
	ms := func(n int64) time.Time { return time.UnixMilli(n) }
	const epoch, last = 1262304000000, 3461327255551
	for _, tt := range []struct {
		name     string
		t        time.Time
		min, max string // texts, "" for an error
	}{
		{"a time", ms(1703587783960), "8fhmi7me22222222", "8fhmi7mfxxxxxxxx"},
		{"the end of its unit", ms(1703587783963).Add(999_999), "8fhmi7me22222222", "8fhmi7mfxxxxxxxx"},
		{"the unit before", ms(1703587783959), "8fhmi7mc22222222", "8fhmi7mdxxxxxxxx"},
		{"first", ms(epoch), "2222222222222223", "22222223xxxxxxxx"}, // zero is none
		{"last", ms(last).Add(999_999), "xxxxxxxw22222222", "xxxxxxxxxxxxxxxx"},
		{"the start of the last unit", ms(last - 3), "xxxxxxxw22222222", "xxxxxxxxxxxxxxxx"},
		{"after the last", ms(last + 1), "", ""},
		{"a nanosecond before the first", ms(epoch).Add(-1), "", ""},
		{"1970", ms(0), "", ""},
		{"zero", time.Time{}, "", ""},
		{"so late that it wraps", time.Unix(math.MaxInt64/1000*2+2, 0), "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			id, err := idtype.MinSnoID(tt.t)
			testBound(t, "SnoID", tt.min, id, err)
			id, err = idtype.MaxSnoID(tt.t)
			testBound(t, "SnoID", tt.max, id, err)
		})
	}
	least, _ := idtype.MinSnoID(ms(1703587783960))
	most, _ := idtype.MaxSnoID(ms(1703587783960))
	for _, delta := range []int64{-4, 0, 4} {
		for _, p := range []idtype.SnoParts{{0, 0, 0, 0, 0}, {0, 1, 255, 65535, 65535}, {0, 1, 0, 0, 0}, {0, 0, 255, 65535, 65535}} {
			p.UnixMs = 1703587783960 + delta
			id, err := p.ID()
			if within := id.Compare(least) >= 0 && id.Compare(most) <= 0; err != nil ||
				within != (delta == 0) {
				t.Errorf("%+v is within the bounds of its neighbour: %v, %v", p, within, err)
			}
		}
	}
}

// The reference is the layout as a string of bits.

const snoEpoch = 1_262_304_000_000 // 2010-01-01T00:00:00Z

func refSno(p idtype.SnoParts) string {
	return fmt.Sprintf("%039b%b%08b%016b%016b", (p.UnixMs-snoEpoch)/4, p.TickTock, p.Meta,
		p.Partition, p.Sequence)
}

func refSnoParts(b string) idtype.SnoParts {
	return idtype.SnoParts{
		UnixMs: snoEpoch + 4*int64(refNumber(b[:39])), TickTock: refNumber(b[39:40]), Meta: refNumber(b[40:48]),
		Partition: refNumber(b[48:64]), Sequence: refNumber(b[64:]),
	}
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
			t.Fatalf("%x is %v %v %v %v %v %v", raw, id.UnixMs(), id.TickTock(), id.Meta(),
				id.Partition(), id.Sequence(), id.Time())
		}
	}))
	t.Run("parts out of range", rapid.MakeCheck(func(t *rapid.T) {
		p := idtype.SnoParts{
			UnixMs: rapid.Int64().Draw(t, "ms"), TickTock: rapid.IntRange(-1, 2).Draw(t, "tick-tock"),
			Meta: rapid.IntRange(-1, 256).Draw(t, "meta"), Partition: rapid.IntRange(-1, 65536).Draw(t, "partition"),
			Sequence: rapid.IntRange(-1, 65536).Draw(t, "sequence"),
		}
		if id, err := p.ID(); err == nil &&
			(id.Parts().UnixMs > p.UnixMs || id.Parts().UnixMs+4 <= p.UnixMs ||
				id.TickTock() != p.TickTock || id.Meta() != p.Meta || id.Partition() != p.Partition || id.Sequence() != p.Sequence) {
			t.Fatalf("%+v gives %v, which is %+v", p, id, id.Parts())
		}
	}))
}
