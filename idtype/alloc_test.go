package idtype_test

import (
	"database/sql/driver"
	"testing"
	"time"

	"github.com/idmint/idmint/idtype"
)

// Where results go: assigned to globals, nothing is optimised away, and what escapes is what escapes in a real program.
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

// TestAllocs has the methods that all types share. The number is so large that the runtime has no preallocated interface value
// for it, and is in every layout.
func TestAllocs(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		const v = 1<<60 - 1
		var (
			id, dst  = k.new(v), k.new(0)
			orZero   = k.orZero(0)
			text     = id.String()
			digits   = refDigits(v)
			asText   = []byte(text)
			asJSON   = []byte(`"` + text + `"`)
			asNumber = []byte(digits)
			asBinary = []byte("\x0f\xff\xff\xff\xff\xff\xff\xff")
			asInt    = any(int64(v))
			asUint   = any(uint64(v))
			asString = any(digits)
			asBytes  = any([]byte(digits))
			buf      = make([]byte, 0, 64)
			none     = k.orZero(0)
		)
		testAllocs(t, []allocation{
			{"AppendText", 0, func() { sinkBytes, sinkErr = id.AppendText(buf) }},
			{"AppendBinary", 0, func() { sinkBytes, sinkErr = id.AppendBinary(buf) }},
			{"Parse", 0, func() { sinkInt, sinkErr = k.parse(text) }},
			{"UnmarshalText", 0, func() { sinkErr = dst.UnmarshalText(asText) }},
			{"UnmarshalJSON string", 0, func() { sinkErr = dst.UnmarshalJSON(asJSON) }},
			{"UnmarshalJSON number", 0, func() { sinkErr = dst.UnmarshalJSON(asNumber) }},
			{"UnmarshalBinary", 0, func() { sinkErr = dst.UnmarshalBinary(asBinary) }},
			{"Scan int64", 0, func() { sinkErr = dst.Scan(asInt) }},
			{"Scan uint64", 0, func() { sinkErr = dst.Scan(asUint) }},
			{"Scan string", 0, func() { sinkErr = dst.Scan(asString) }},
			{"Scan bytes", 0, func() { sinkErr = dst.Scan(asBytes) }},
			{"Scan int64, OrZero", 0, func() { sinkErr = orZero.Scan(asInt) }},
			{"Validate, IsZero", 0, func() { sinkErr = id.Validate(); _ = id.IsZero() }},

			{"String", 1, func() { sinkString = id.String() }},
			{"MarshalText", 1, func() { sinkBytes, sinkErr = id.MarshalText() }},
			{"MarshalJSON", 1, func() { sinkBytes, sinkErr = id.MarshalJSON() }},
			{"MarshalBinary", 1, func() { sinkBytes, sinkErr = id.MarshalBinary() }},
			{"Value", 1, func() { sinkValue, sinkErr = id.Value() }},
			{"Value, OrZero of none", 0, func() { sinkValue, sinkErr = none.Value() }},
		})
	})
}

func TestAllocsOfLayouts(t *testing.T) {
	const (
		decimal = idtype.DecimalID(9_223_372_029_999_999_999)
		trace   = idtype.TraceID(publishedTrace)
		short   = idtype.ShortID(publishedShort)
	)
	parts, traceParts, shortParts := decimal.Parts(), trace.Parts(), short.Parts()
	at := short.Time()
	testAllocs(t, []allocation{
		{"Decimal.Parts", 0, func() { sinkParts = decimal.Parts() }},
		{"Decimal.Compare, IsTest", 0, func() { _ = decimal.Compare(sinkID) < 0 || decimal.IsTest() }},
		{"DecimalParts.ID", 0, func() { sinkID, sinkErr = parts.ID() }},
		{"ParseDecimalID", 0, func() { sinkID, sinkErr = idtype.ParseDecimalID("9223372029999999999") }},
		{"Trace.Parts", 0, func() { sinkTraceParts = trace.Parts() }},
		{"Trace.Times", 0, func() { sinkTime, _ = trace.Times(at) }},
		{"Trace.ValidateAt", 0, func() { sinkErr = trace.ValidateAt(at, idtype.TracePeriod) }},
		{"TraceParts.ID", 0, func() { sinkTrace, sinkErr = traceParts.ID() }},
		{"MinTraceID, MaxTraceID", 0, func() { sinkTrace = max(idtype.MinTraceID(at), idtype.MaxTraceID(at)) }},
		{"TraceBounds", 1, func() { sinkRanges, sinkErr = idtype.TraceBounds(at, at) }},
		{"ParseTraceID", 0, func() { sinkTrace, sinkErr = idtype.ParseTraceID("4646428214845635103") }},
		{"Short.Parts", 0, func() { sinkShortParts = short.Parts() }},
		{"Short.Time", 0, func() { sinkTime = short.Time() }},
		{"ShortParts.ID", 0, func() { sinkShort, sinkErr = shortParts.ID() }},
		{"MinShortID", 0, func() { sinkShort, sinkErr = idtype.MinShortID(at) }},
		{"MaxShortID", 0, func() { sinkShort, sinkErr = idtype.MaxShortID(at) }},
		{"ParseShortID", 0, func() { sinkShort, sinkErr = idtype.ParseShortID("xinaS8QBh") }},
	})
}
