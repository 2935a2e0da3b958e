package idtype_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/idmint/idmint/idtype"
)

func ExampleDecimalParts_ID() {
	id, err := idtype.DecimalParts{Counter: 1415, Generator: 92, Launch: 65}.ID()
	fmt.Println(id, err)

	_, err = idtype.DecimalParts{Counter: 922_337_203, Generator: 92, Launch: 65}.ID()
	fmt.Println(err)
	// Output:
	// 14150009200065 <nil>
	// idtype: DecimalID: counter 922337203 is outside 1..922337202
}

// A key type per entity is one line. Keys of two entities do not compile into each other.
func ExampleDecimal() {
	// At package level: type UserID = idtype.Decimal[User]
	var minted idtype.DecimalID = 14150009200065 // from a generator

	user := User{ID: UserID(minted)}
	fmt.Println(user.ID, user.ID.Parts().Counter)
	// user.ID = OrderID(minted) does not compile.

	// Output: 14150009200065 1415
}

func ExampleParse() {
	id, err := idtype.Parse[OrderID]("14150009200065")
	fmt.Printf("%v %+v %v\n", Order{ID: id}.ID, id.Parts(), err)

	_, err = idtype.Parse[OrderID]("014150009200065")
	fmt.Println(err)
	// Output:
	// 14150009200065 {Counter:1415 Generator:92 Launch:65} <nil>
	// idtype: "014150009200065" as DecimalID: not a plain decimal number: digits only, without sign, spaces or leading zeros
}

func ExampleDecimal_Validate() {
	old := idtype.MustParse[idtype.DecimalID]("57") // a row that AUTO_INCREMENT numbered
	fmt.Println(old.Validate())
	// Output: idtype: DecimalID: counter 0 is outside 1..922337202
}

// A nullable column is sql.Null of the ID, or a pointer to it.
func ExampleDecimal_Scan() {
	var id UserID
	fmt.Println(id.Scan(nil))

	var boss sql.Null[UserID]
	fmt.Println(boss.Scan(nil), boss.Valid)
	fmt.Println(boss.Scan(int64(14150009200065)), boss.Valid, boss.V)
	// Output:
	// idtype: NULL as DecimalID: NULL: scan into sql.Null of this type, or into a pointer to it
	// <nil> false
	// <nil> true 14150009200065
}

// IDs are strings in JSON, so that readers whose numbers are floats lose no digits. Zero is null.
func ExampleDecimal_MarshalJSON() {
	type Post struct {
		ID     idtype.DecimalID `json:"id"`
		Author UserID           `json:"author"`
		Editor UserID           `json:"editor,omitzero"`
	}
	b, _ := json.Marshal(Post{ID: 9223372029999999999})
	fmt.Println(string(b))

	var post Post
	err := json.Unmarshal([]byte(`{"id": 14150009200065, "author": "14150009200065"}`), &post)
	fmt.Println(post.ID, post.Author, post.Editor.IsZero(), err)
	// Output:
	// {"id":"9223372029999999999","author":null}
	// 14150009200065 14150009200065 true <nil>
}

// OrZero is for a NOT NULL column in which 0 means none.
func ExampleOrZero() {
	var team idtype.OrZero[UserID]
	v, err := team.Value()
	fmt.Println(v, err)

	err = team.Scan(int64(14150009200065))
	fmt.Println(team, team.IsZero(), err)
	err = team.Scan(int64(0))
	fmt.Println(team.IsZero(), err)
	// Output:
	// 0 <nil>
	// 14150009200065 false <nil>
	// true <nil>
}

func ExampleSlice() {
	ids := []UserID{14150009200065, 14160009200065}
	v, err := idtype.Slice[UserID](ids).Value()
	fmt.Println(v, err)

	var back idtype.Slice[UserID]
	err = back.Scan(v)
	fmt.Println(back, err)
	// Output:
	// ["14150009200065","14160009200065"] <nil>
	// [14150009200065 14160009200065] <nil>
}

// A trace ID says when it was made, up to a multiple of 388 days.
func ExampleTrace() {
	id := idtype.MustParse[idtype.TraceID]("4646428214845635103")
	fmt.Printf("%+v\n", id.Parts())
	fmt.Println(id.Times(time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC)))
	// Output:
	// {Timestamp:16903607 Node:24528 Bottom:3799583}
	// 2022-08-21 08:32:55 +0000 UTC 2023-09-13 17:13:27 +0000 UTC
}

// A query for a span of time has one range. Of trace IDs it has two where timestamps start again.
func ExampleBounds() {
	day := time.Date(2024, 3, 24, 0, 0, 0, 0, time.UTC)
	snos, err := idtype.Bounds[idtype.SnoID](day, day.Add(24*time.Hour-1))
	fmt.Println("id BETWEEN", snos[0].Min, "AND", snos[0].Max, err)
	ranges, _ := idtype.Bounds[idtype.TraceID](day, day.Add(24*time.Hour-1))
	for _, r := range ranges {
		fmt.Println("id BETWEEN", r.Min, "AND", r.Max)
	}

	_, err = idtype.Bounds[idtype.TraceID](day, day.AddDate(1, 1, 0))
	fmt.Println(err)
	_, err = idtype.Bounds[idtype.ShortID](time.Date(2018, 2, 28, 0, 0, 0, 0, time.UTC), day)
	fmt.Println(err)
	// Output:
	// id BETWEEN 8j3mlc2222222222 AND 8j4vrnhxxxxxxxxx <nil>
	// id BETWEEN 9213027831460659201 AND 9223372036854775807
	// id BETWEEN 1 AND 13405245765844991
	// idtype: 2024-03-24T00:00:00Z to 2025-04-24T00:00:00Z as TraceID: the span is so long that timestamps repeat within it
	// idtype: ShortID: unix_ms 1519776000000 is outside 1519862400000..5917908911103
}

// The text of a short ID is for people and URLs, its number for the database.
func ExampleShort() {
	id := idtype.MustParse[idtype.ShortID]("xinaS8QBh")
	fmt.Println(id, id.Time(), id.Parts().Sequence, id.Parts().Random)

	v, err := id.Value()
	fmt.Println(v, err)
	b, err := json.Marshal(id)
	fmt.Println(string(b), err)
	// Output:
	// xinaS8QBh 2019-07-03 18:45:04.129 +0000 UTC 270 98
	// 11093174944930914 <nil>
	// "xinaS8QBh" <nil>
}

// A number that the database gave, as a typed key.
func ExampleSequence() {
	type InvoiceID = idtype.Sequence[Order]
	var id InvoiceID
	err := id.Scan(int64(57)) // as a driver hands it over
	fmt.Println(id, id.Validate(), err)
	// Output: 57 <nil> <nil>
}

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
	_, err = parts.FormerID(1)
	fmt.Println(err)
	_, err = parts.FormerID(3)
	fmt.Println(err)
	// Output:
	// 5b9bda2989e1989b <nil>
	// e46516f676a1889b <nil>
	// idtype: EightByteID: generator_id 1161 is outside 0..63
	// idtype: EightByteID: generator_id 1161 is outside 0..255
}

func ExampleSnoParts_ID() {
	id, err := idtype.SnoParts{
		// the time is rounded down to 4 ms
		UnixMs: 1703587783962, TickTock: 1, Meta: 158, Partition: 34824, Sequence: 56450,
	}.ID()
	fmt.Println(id, id.Parts().UnixMs, err)

	_, err = idtype.SnoParts{UnixMs: 1_000_000_000_000}.ID()
	fmt.Println(err)
	// Output:
	// 8fhmi7mfls62jp64 1703587783960 <nil>
	// idtype: SnoID: unix_ms 1000000000000 is outside 1262304000000..3461327255551
}

// The declaration of the key says how a column holds it.
func ExampleStorage() {
	// At package level: type EventUUIDID = idtype.Sno[idtype.AsUUID[Event]], and so on.
	id := idtype.MustParse[idtype.SnoID]("8fhmi7mfls62jp64")

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
	fmt.Println(idtype.Compare(early, late))

	a, _ := EventBigintID(early).Value()
	b, _ := EventBigintID(late).Value()
	fmt.Println(a, b)
	// Output:
	// -1
	// 6601109550781173760 -9223372036854771712
}
