package idtype_test

import (
	"fmt"

	"github.com/idmint/idmint/idtype"
)

// The declaration of the key says how a column holds it.
func ExampleStorage() {
	// At package level: type EventUUIDID = idtype.Sno[idtype.AsUUID[Event]], and so on.
	id := idtype.MustParseSnoID("8fhmi7mfls62jp64")

	asBytes, _ := EventSnoID(id).Value()
	asText, _ := EventTextID(id).Value()
	asUUID, _ := EventUUIDID(id).Value()
	fmt.Printf("%x\n%s\n%s\n", asBytes, asText, asUUID)

	// Its text and its JSON are the same in all forms.
	fmt.Println(EventUUIDID(id))
	// Output:
	// 335f48168d9e8808dc82
	// 8fhmi7mfls62jp64
	// 3866686d-6937-6d66-6c73-36326a703634
	// 8fhmi7mfls62jp64
}

func ExampleAsUUID() {
	// At package level: type EventUUIDID = idtype.Sno[idtype.AsUUID[Event]].
	var event Event
	err := event.ID.Scan("3866686d-6937-6d66-6c73-36326a703634")
	fmt.Println(event.ID, event.ID.Storage(), err)

	// A UUID that is none of ours is no ID.
	fmt.Println(event.ID.Scan("f81d4fae-7dec-11d0-a765-00a0c91e6bf6"))
	// Output:
	// 8fhmi7mfls62jp64 uuid <nil>
	// idtype: "f81d4fae-7dec-11d0-a765-00a0c91e6bf6" as SnoID: "\xf8" at index 0, want 2-9 or a-x
}

// An integer column sorts eightbyte IDs as signed numbers.
func ExampleAsBigint() {
	// At package level: type EventBigintID = idtype.EightByte[idtype.AsBigint[Event]].
	// 2019
	early, _ := idtype.EightByteParts{
		Mode: idtype.EightByteTimeSequential, UnixMs: 1573827159591,
	}.ID()
	// 2039
	late, _ := idtype.EightByteParts{Mode: idtype.EightByteTimeSequential, UnixMs: 1 << 41}.ID()
	fmt.Println(early.Compare(late))

	a, _ := EventBigintID(early).Value()
	b, _ := EventBigintID(late).Value()
	fmt.Println(a, b)
	// Output:
	// -1
	// 6601109550781173760 -9223372036854771712
}
