package idtype_test

import (
	"database/sql/driver"
	"testing"
	"time"

	"github.com/idmint/idmint/idtype"
)

// Where results go: assigned to globals, nothing is optimised away, and what escapes is what
// escapes in a real program.
var (
	sinkID         idtype.DecimalID
	sinkTrace      idtype.TraceID
	sinkShort      idtype.ShortID
	sinkInt        int64
	sinkString     string
	sinkBytes      []byte
	sinkValue      driver.Value
	sinkParts      idtype.DecimalParts
	sinkTraceParts idtype.TraceParts
	sinkShortParts idtype.ShortParts
	sinkRanges     []idtype.TraceRange
	sinkTime       time.Time
	sinkEight      idtype.EightByteID
	sinkEightParts idtype.EightByteParts
	sinkSno        idtype.SnoID
	sinkSnoParts   idtype.SnoParts
	sinkStorage    idtype.Storage
	sinkErr        error
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
		raw := snoRaw[10-k.size:]
		if k.isInteger() {
			raw = bigEndian(1<<60 - 1) // in every layout
		}
		var (
			id, dst  = k.new(raw), k.new(k.zero())
			orZero   = k.orZero(k.zero())
			none     = k.orZero(k.zero())
			text     = id.String()
			asText   = []byte(text)
			asJSON   = []byte(`"` + text + `"`)
			asNumber = []byte(digits.write(raw))
			null, _  = none.Value()
			buf      = make([]byte, 0, 64)
		)
		for _, src := range forms(k.refColumn(raw)) {
			switch src.(type) {
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
			{"AppendBinary", 0, func() { sinkBytes, sinkErr = id.AppendBinary(buf) }},
			{"UnmarshalText", 0, func() { sinkErr = dst.UnmarshalText(asText) }},
			{"UnmarshalJSON", 0, func() { sinkErr = dst.UnmarshalJSON(asJSON) }},
			{"UnmarshalBinary", 0, func() { sinkErr = dst.UnmarshalBinary(raw) }},
			{"Scan of none, OrZero", 0, func() { sinkErr = orZero.Scan(null) }},
			{"Validate, IsZero", 0, func() { sinkErr = id.Validate(); _ = id.IsZero() }},
			{"Storage", 0, func() { sinkStorage = id.Storage() }},
			{"String", 1, func() { sinkString = id.String() }},
			{"MarshalText", 1, func() { sinkBytes, sinkErr = id.MarshalText() }},
			{"MarshalJSON", 1, func() { sinkBytes, sinkErr = id.MarshalJSON() }},
			{"MarshalBinary", 1, func() { sinkBytes, sinkErr = id.MarshalBinary() }},
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
	const (
		decimal = idtype.DecimalID(9_223_372_029_999_999_999)
		trace   = idtype.TraceID(publishedTrace)
		short   = idtype.ShortID(publishedShort)
	)
	eight, sno := idtype.MustParseEightByteID(eightText), idtype.MustParseSnoID(snoText)
	eightParts, snoParts := eight.Parts(), sno.Parts()
	parts, traceParts, shortParts := decimal.Parts(), trace.Parts(), short.Parts()
	at := short.Time()
	testAllocs(t, []allocation{
		{"Decimal.Parts", 0, func() { sinkParts = decimal.Parts() }},
		{
			"Decimal.Compare, IsTest", 0,
			func() { _ = decimal.Compare(sinkID) < 0 || decimal.IsTest() },
		},
		{"DecimalParts.ID", 0, func() { sinkID, sinkErr = parts.ID() }},
		{
			"ParseDecimalID", 0,
			func() { sinkID, sinkErr = idtype.ParseDecimalID("9223372029999999999") },
		},
		{
			"ParseSequenceID", 0,
			func() { sinkSequence, sinkErr = idtype.ParseSequenceID("1234567") },
		},
		{"Trace.Parts", 0, func() { sinkTraceParts = trace.Parts() }},
		{"Trace.Times", 0, func() { sinkTime, _ = trace.Times(at) }},
		{"Trace.ValidateAt", 0, func() { sinkErr = trace.ValidateAt(at, idtype.TracePeriod) }},
		{"TraceParts.ID", 0, func() { sinkTrace, sinkErr = traceParts.ID() }},
		{
			"MinTraceID, MaxTraceID", 0,
			func() { sinkTrace = max(idtype.MinTraceID(at), idtype.MaxTraceID(at)) },
		},
		{"TraceBounds", 1, func() { sinkRanges, sinkErr = idtype.TraceBounds(at, at) }},
		{
			"ParseTraceID", 0,
			func() { sinkTrace, sinkErr = idtype.ParseTraceID("4646428214845635103") },
		},
		{"Short.Parts", 0, func() { sinkShortParts = short.Parts() }},
		{"Short.Time", 0, func() { sinkTime = short.Time() }},
		{"ShortParts.ID", 0, func() { sinkShort, sinkErr = shortParts.ID() }},
		{"MinShortID", 0, func() { sinkShort, sinkErr = idtype.MinShortID(at) }},
		{"MaxShortID", 0, func() { sinkShort, sinkErr = idtype.MaxShortID(at) }},
		{"ParseShortID", 0, func() { sinkShort, sinkErr = idtype.ParseShortID("xinaS8QBh") }},
		{"ParseEightByteID", 0, func() { sinkEight, sinkErr = idtype.ParseEightByteID(eightText) }},
		{"EightByte.Parts", 0, func() { sinkEightParts = eight.Parts() }},
		{"EightByteParts.ID", 0, func() { sinkEight, sinkErr = eightParts.ID() }},
		{
			"EightByteFromUint64", 0,
			func() { sinkEight = idtype.EightByteFromUint64(eight.Uint64()) },
		},
		{"EightByte.Compare", 0, func() { _ = eight.Compare(sinkEight) < 0 || eight.IsZero() }},
		{
			"EightByte.ValidateV1", 0,
			func() { sinkErr = idtype.EightByteFromUint64(1).ValidateV1() },
		},
		{
			"EightByte.ValidateV3", 0,
			func() { sinkErr = idtype.EightByteFromUint64(1).ValidateV3() },
		},
		{"MinEightByteID", 0, func() { sinkEight, sinkErr = idtype.MinEightByteID(eight.Time()) }},
		{"ParseSnoID", 0, func() { sinkSno, sinkErr = idtype.ParseSnoID(snoText) }},
		{"Sno.Parts", 0, func() { sinkSnoParts = sno.Parts() }},
		{"SnoParts.ID", 0, func() { sinkSno, sinkErr = snoParts.ID() }},
		{"Sno.Compare", 0, func() { _ = sno.Compare(sinkSno) < 0 || sno.IsZero() }},
		{"MinSnoID", 0, func() { sinkSno, sinkErr = idtype.MinSnoID(sno.Time()) }},
	})
}
