package idtype_test

import (
	"fmt"
	"time"

	"github.com/idmint/idmint/idtype"
)

func ExampleSnoParts_ID() {
	id, err := idtype.SnoParts{
		// the time is rounded down to 4 ms
		UnixMs: 1703587783962, TickTock: 1, Meta: 158, Partition: 34824, Sequence: 56450,
	}.ID()
	fmt.Println(id, id.UnixMs(), err)

	_, err = idtype.SnoParts{UnixMs: 1_000_000_000_000}.ID()
	fmt.Println(err)
	// Output:
	// 8fhmi7mfls62jp64 1703587783960 <nil>
	// idtype: SnoID: unix_ms 1000000000000 is outside 1262304000000..3461327255551
}

func ExampleParseSnoID() {
	id, err := idtype.ParseSnoID("8fhmi7mfls62jp64")
	fmt.Printf("%v %+v %v\n", id.Time(), id.Parts(), err)

	_, err = idtype.ParseSnoID("8fhmi7mfls62jp01")
	fmt.Println(err)
	// Output:
	// 2023-12-26 10:49:43.96 +0000 UTC {UnixMs:1703587783960 TickTock:1 Meta:158 Partition:34824 Sequence:56450} <nil>
	// idtype: "8fhmi7mfls62jp01" as SnoID: "0" at index 14, want 2-9 or a-x
}

func ExampleMaxSnoID() {
	day := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	from, err := idtype.MinSnoID(day)
	fmt.Println(from, err)
	to, err := idtype.MaxSnoID(day.AddDate(0, 0, 1).Add(-1))
	fmt.Println(to, err)
	// Output:
	// 9q73qm2222222222 <nil>
	// 9q8cwxhxxxxxxxxx <nil>
}
