package idtype_test

import (
	"testing"

	"github.com/idmint/idmint/idtype"
)

var (
	sinkEight      idtype.EightByteID
	sinkEightParts idtype.EightByteParts
	sinkSno        idtype.SnoID
	sinkSnoParts   idtype.SnoParts
	sinkStorage    idtype.Storage
)

// TestByteAllocs has the methods that all byte IDs share.
func TestByteAllocs(t *testing.T) {
	value := map[idtype.Storage]float64{ // the bytes or characters, and the interface around them
		idtype.StorageBigint: 1, idtype.StorageBytes: 2, idtype.StorageText: 2, idtype.StorageUUID: 2,
	}
	eachByteKind(t, func(t *testing.T, k byteKind) {
		raw := snoRaw[10-k.size:]
		var (
			id, dst  = k.new(raw), k.new(k.zero())
			orZero   = k.orZero(k.zero())
			asText   = []byte(id.String())
			asJSON   = []byte(`"` + id.String() + `"`)
			asBinary = raw
			column   = forms(k.refColumn(raw))
			null, _  = k.orZero(k.zero()).Value()
			buf      = make([]byte, 0, 64)
		)
		for _, src := range column {
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
			{"UnmarshalBinary", 0, func() { sinkErr = dst.UnmarshalBinary(asBinary) }},
			{"Scan of none, OrZero", 0, func() { sinkErr = orZero.Scan(null) }},
			{"Validate", 0, func() { sinkErr = id.Validate() }},
			{"Storage", 0, func() { sinkStorage = k.storage() }},
			{"String", 1, func() { sinkString = id.String() }},
			{"MarshalText", 1, func() { sinkBytes, sinkErr = id.MarshalText() }},
			{"MarshalJSON", 1, func() { sinkBytes, sinkErr = id.MarshalJSON() }},
			{"MarshalBinary", 1, func() { sinkBytes, sinkErr = id.MarshalBinary() }},
			{"Value", value[k.form], func() { sinkValue, sinkErr = id.Value() }},
		})
	})
}

// TestByteAllocsOfTypes has what each type has of its own.
func TestByteAllocsOfTypes(t *testing.T) {
	eight, sno := idtype.MustParseEightByteID(eightText), idtype.MustParseSnoID(snoText)
	eightParts, snoParts := eight.Parts(), sno.Parts()
	testAllocs(t, []allocation{
		{"ParseEightByteID", 0, func() { sinkEight, sinkErr = idtype.ParseEightByteID(eightText) }},
		{"EightByte.Parts", 0, func() { sinkEightParts = eight.Parts() }},
		{"EightByteParts.ID", 0, func() { sinkEight, sinkErr = eightParts.ID() }},
		{"EightByteFromUint64", 0, func() { sinkEight = idtype.EightByteFromUint64(eight.Uint64()) }},
		{"EightByte.Compare", 0, func() { _ = eight.Compare(sinkEight) < 0 || eight.IsZero() }},
		{"EightByte.ValidateV1", 0, func() { sinkErr = idtype.EightByteFromUint64(1).ValidateV1() }},
		{"EightByte.ValidateV3", 0, func() { sinkErr = idtype.EightByteFromUint64(1).ValidateV3() }},
		{"MinEightByteID", 0, func() { sinkEight, sinkErr = idtype.MinEightByteID(eight.Time()) }},
		{"ParseSnoID", 0, func() { sinkSno, sinkErr = idtype.ParseSnoID(snoText) }},
		{"Sno.Parts", 0, func() { sinkSnoParts = sno.Parts() }},
		{"SnoParts.ID", 0, func() { sinkSno, sinkErr = snoParts.ID() }},
		{"Sno.Compare", 0, func() { _ = sno.Compare(sinkSno) < 0 || sno.IsZero() }},
		{"MinSnoID", 0, func() { sinkSno, sinkErr = idtype.MinSnoID(sno.Time()) }},
	})
}
