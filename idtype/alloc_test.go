package idtype_test

import (
	"database/sql/driver"
	"testing"
	"time"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/schemes"
)

// Where results go: assigned to globals, nothing is optimised away, and what escapes is what
// escapes in a real program.
var (
	sinkInt    int64
	sinkString string
	sinkBytes  []byte
	sinkValue  driver.Value
	sinkTime   time.Time
	sinkErr    error
)

type allocation struct {
	name string
	want float64
	fn   func()
}

func testAllocs(t *testing.T, all []allocation) {
	for _, tt := range all {
		t.Run(tt.name, func(t *testing.T) {
			sinkErr = nil
			got := testing.AllocsPerRun(1000, tt.fn)
			if sinkErr != nil {
				t.Fatal(sinkErr) // an error path would be measured
			}
			if got != tt.want {
				t.Errorf("%v allocations, want %v", got, tt.want)
			}
		})
	}
}

// TestAllocs has the methods that all types share. The numbers are so large that the runtime has no
// preallocated interface value for them.
func TestAllocs(t *testing.T) {
	value := map[idtype.Storage]float64{ // the bytes or characters, and the interface around them
		asBigint: 1, asBytes: 2, asText: 2, asUUID: 2,
	}
	eachKind(t, func(t *testing.T, k kind) {
		raw := snoRaw[max(0, 10-k.size):]
		switch {
		case k.isInteger():
			raw = bigEndian(1<<60 - 1) // in every layout
		case k.size == 16:
			raw = k.read(schemes.Of(k.scheme).Text.Example)
		}
		var (
			id, dst  = k.new(raw), k.new(k.zero())
			orZero   = k.orZero(k.zero())
			none     = k.orZero(k.zero())
			text     = id.String()
			asText   = []byte(text)
			asJSON   = []byte(`"` + text + `"`)
			asNumber = []byte("9007199254740991")
			null, _  = none.Value()
			buf      = make([]byte, 0, 64)
		)
		for _, src := range forms(k.refColumn(raw)) {
			switch src := src.(type) {
			case string:
				if k.refusesRaw(src) {
					continue
				}
			case [8]byte, [10]byte, foreignUUID:
				continue // these take the detour of reflection
			}
			testAllocs(t, []allocation{
				{"Scan", 0, func() { sinkErr = dst.Scan(src) }},
				{"Scan, OrZero", 0, func() { sinkErr = orZero.Scan(src) }},
			})
		}
		testAllocs(t, []allocation{
			{"AppendText", 0, func() { sinkBytes, sinkErr = id.AppendText(buf) }},
			{"UnmarshalText", 0, func() { sinkErr = dst.UnmarshalText(asText) }},
			{"UnmarshalJSON", 0, func() { sinkErr = dst.UnmarshalJSON(asJSON) }},
			{"Scan of none, OrZero", 0, func() { sinkErr = orZero.Scan(null) }},
			{"Validate, IsZero, Storage", 0, func() { sinkErr = id.Validate(); _, _ = id.IsZero(), id.Storage() }},
			{"String", 1, func() { sinkString = id.String() }},
			{"MarshalText", 1, func() { sinkBytes, sinkErr = id.MarshalText() }},
			{"MarshalJSON", 1, func() { sinkBytes, sinkErr = id.MarshalJSON() }},
			{"Value", value[k.form], func() { sinkValue, sinkErr = id.Value() }},
		})
		if k.isInteger() {
			testAllocs(t, []allocation{
				{"UnmarshalJSON number", 0, func() { sinkErr = dst.UnmarshalJSON(asNumber) }},
				{"Value, OrZero of none", 0, func() { sinkValue, sinkErr = none.Value() }},
			})
		}
	})
}

func TestAllocsOfLayouts(t *testing.T) {
	layout(t, "9223372029999999999", idtype.Parse[UserID], idtype.Compare[UserID],
		UserID.Parts, idtype.DecimalParts.ID)
	layout(t, "4646428214845635103", idtype.Parse[UserTraceID], idtype.Compare[UserTraceID],
		UserTraceID.Parts, idtype.TraceParts.ID)
	layout(t, "xinaS8QBh", idtype.Parse[UserShortID], idtype.Compare[UserShortID],
		UserShortID.Parts, idtype.ShortParts.ID)
	layout(t, eightText, idtype.Parse[EventEightID], idtype.Compare[EventEightID],
		EventEightID.Parts, idtype.EightByteParts.ID)
	layout(t, snoText, idtype.Parse[EventSnoID], idtype.Compare[EventSnoID],
		EventSnoID.Parts, idtype.SnoParts.ID)
	at, trace := time.Unix(1_700_000_000, 0), idtype.TraceID(publishedTrace)
	short, sno := idtype.ShortID(publishedShort), idtype.SnoID(snoRaw)
	var ranges []idtype.Range[idtype.TraceID]
	testAllocs(t, []allocation{
		{"Times", 0, func() { sinkTime, _ = trace.Times(at) }},
		{"Time of a short ID", 0, func() { sinkTime = short.Time() }},
		{"Time of a sno ID", 0, func() { sinkTime = sno.Time() }},
		{"Bounds", 1, func() { ranges, sinkErr = idtype.Bounds[idtype.TraceID](at, at) }},
		{"ValidateFormer", 0, func() { sinkErr = idtype.EightByteFromUint64(1).ValidateFormer(1) }},
	})
	if len(ranges) != 1 {
		t.Error(ranges)
	}
}

func layout[T, S idtype.ID, P any](
	t *testing.T, text string, parse func(string) (T, error), compare func(a, b T) int,
	parts func(T) P, compose func(P) (S, error),
) {
	id, _ := parse(text)
	raw, buf := rawOf(id), make([]byte, 0, 16)
	var composed S
	var p P
	testAllocs(t, []allocation{
		{"AppendBytes " + text, 0, func() { sinkBytes = idtype.AppendBytes(buf[:0], id) }},
		{"FromBytes " + text, 1, func() { id, sinkErr = idtype.FromBytes[T](raw) }},
		{"Parse " + text, 0, func() { id, sinkErr = parse(text) }},
		{"Compare " + text, 0, func() { sinkInt = int64(compare(id, id)) }},
		{"Parts of " + text, 0, func() { p = parts(id) }},
		{"ID of the parts of " + text, 0, func() { composed, sinkErr = compose(p) }},
	})
	if composed.String() != text {
		t.Errorf("parts of %s make %s", text, composed)
	}
}
