package idtype_test

import (
	"database/sql/driver"
	"testing"

	"github.com/idmint/idmint/idtype"
)

// Where results go: assigned to globals, nothing is optimised away, and what escapes is what escapes in a real program.
var (
	sinkID     idtype.DecimalID
	sinkString string
	sinkBytes  []byte
	sinkValue  driver.Value
	sinkParts  idtype.DecimalParts
	sinkErr    error
)

func TestAllocs(t *testing.T) {
	// Large enough that the runtime has no preallocated interface value for it.
	const id = idtype.DecimalID(9_223_372_029_999_999_999)
	const text = "9223372029999999999"
	var (
		asText   = []byte(text)
		asJSON   = []byte(`"` + text + `"`)
		asNumber = []byte(text)
		asBinary = []byte("\x7f\xff\xff\xfe\x67\x89\x67\xff")
		asInt    = any(int64(id))
		asString = any(text)
		asBytes  = any([]byte(text))
		parts    = id.Parts()
		buf      = make([]byte, 0, 64)
		typed    UserID
		orZero   idtype.OrZero[UserID]
	)
	for _, tt := range []struct {
		name string
		want float64
		fn   func()
	}{
		{"AppendText", 0, func() { sinkBytes, sinkErr = id.AppendText(buf) }},
		{"AppendBinary", 0, func() { sinkBytes, sinkErr = id.AppendBinary(buf) }},
		{"ParseDecimalID", 0, func() { sinkID, sinkErr = idtype.ParseDecimalID(text) }},
		{"UnmarshalText", 0, func() { sinkErr = sinkID.UnmarshalText(asText) }},
		{"UnmarshalJSON string", 0, func() { sinkErr = sinkID.UnmarshalJSON(asJSON) }},
		{"UnmarshalJSON number", 0, func() { sinkErr = sinkID.UnmarshalJSON(asNumber) }},
		{"UnmarshalBinary", 0, func() { sinkErr = sinkID.UnmarshalBinary(asBinary) }},
		{"Scan int64", 0, func() { sinkErr = sinkID.Scan(asInt) }},
		{"Scan string", 0, func() { sinkErr = sinkID.Scan(asString) }},
		{"Scan bytes", 0, func() { sinkErr = sinkID.Scan(asBytes) }},
		{"Scan int64, typed key", 0, func() { sinkErr = typed.Scan(asInt) }},
		{"Scan int64, OrZero", 0, func() { sinkErr = orZero.Scan(asInt) }},
		{"Parts", 0, func() { sinkParts = id.Parts() }},
		{"Parts.ID", 0, func() { sinkID, sinkErr = parts.ID() }},
		{"Compare, IsZero, IsTest", 0, func() { _ = id.Compare(sinkID) < 0 || id.IsZero() || id.IsTest() }},

		{"String", 1, func() { sinkString = id.String() }},
		{"MarshalText", 1, func() { sinkBytes, sinkErr = id.MarshalText() }},
		{"MarshalJSON", 1, func() { sinkBytes, sinkErr = id.MarshalJSON() }},
		{"MarshalBinary", 1, func() { sinkBytes, sinkErr = id.MarshalBinary() }},
		{"Value", 1, func() { sinkValue, sinkErr = id.Value() }},
		{"Value, OrZero of none", 0, func() { sinkValue, sinkErr = idtype.OrZero[UserID]{}.Value() }},
	} {
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

func TestAllocsValidate(t *testing.T) {
	id := idtype.DecimalID(9_223_372_029_999_999_999)
	if got := testing.AllocsPerRun(1000, func() { sinkErr = id.Validate() }); got != 0 {
		t.Errorf("%v allocations, want 0", got)
	}
}
