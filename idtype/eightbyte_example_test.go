package idtype_test

import (
	"fmt"
	"time"

	"github.com/idmint/idmint/idtype"
)

func ExampleEightByteParts_ID() {
	parts := idtype.EightByteParts{
		Mode: idtype.EightByteTimeSequential, UnixMs: 1573827159591, Sequence: 33, Generator: 1161,
		Cluster: 11,
	}
	id, err := parts.ID()
	fmt.Println(id, err)

	parts.Mode = idtype.EightByteSpread
	id, err = parts.ID()
	fmt.Println(id, err)

	// The first layout has generators up to 63, the second and the third up to 255.
	_, err = parts.V1ID()
	fmt.Println(err)
	_, err = parts.V3ID()
	fmt.Println(err)
	// Output:
	// 5b9bda2989e1989b <nil>
	// e46516f676a1889b <nil>
	// idtype: EightByteID: generator_id 1161 is outside 0..63
	// idtype: EightByteID: generator_id 1161 is outside 0..255
}

func ExampleParseEightByteID() {
	id, err := idtype.ParseEightByteID("5b9bda2989e1989b")
	fmt.Printf("%v %+v %v\n", id.Time(), id.Parts(), err)

	_, err = idtype.ParseEightByteID("5B9BDA2989E1989B")
	fmt.Println(err)
	// Output:
	// 2019-11-15 14:12:39.591 +0000 UTC {Mode:TIME_SEQUENTIAL UnixMs:1573827159591 Sequence:33 Generator:1161 Cluster:11} <nil>
	// idtype: "5B9BDA2989E1989B" as EightByteID: "B" at index 1 is upper case, want lower case
}

// The IDs of a day, of those made in mode TIME_SEQUENTIAL.
func ExampleMinEightByteID() {
	day := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	from, err := idtype.MinEightByteID(day)
	fmt.Println(from, err)
	to, err := idtype.MaxEightByteID(day.AddDate(0, 0, 1).Add(-1))
	fmt.Println(to, err)
	// db.Query("SELECT … WHERE id BETWEEN ? AND ?", from, to)

	// Output:
	// 687ed9c600001000 <nil>
	// 6880235cffffffff <nil>
}
