package idtype_test

import (
	"database/sql"
	"encoding/json"
	"errors"
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

func ExampleParseDecimalID() {
	id, err := idtype.ParseDecimalID("14150009200065")
	fmt.Printf("%+v %v\n", id.Parts(), err)

	_, err = idtype.ParseDecimalID("014150009200065")
	fmt.Println(err)
	// Output:
	// {Counter:1415 Generator:92 Launch:65} <nil>
	// idtype: "014150009200065" as DecimalID: not a plain decimal number: digits only, without sign, spaces or leading zeros
}

// A key type per entity is one line. Keys of two entities do not compile into each other.
func ExampleDecimal() {
	// At package level: type UserID = idtype.Decimal[User]
	var minted idtype.DecimalID = 14150009200065 // from a generator

	user := User{ID: UserID(minted)}
	fmt.Println(user.ID, user.ID.Counter())
	// user.ID = OrderID(minted) does not compile.

	// Output: 14150009200065 1415
}

func ExampleParse() {
	id, err := idtype.Parse[OrderID]("14150009200065")
	fmt.Printf("%v %v %v\n", Order{ID: id}.ID, id.Launch(), err)
	// Output: 14150009200065 65 <nil>
}

func ExampleDecimal_Validate() {
	old := idtype.MustParseDecimalID("57") // a row that AUTO_INCREMENT numbered
	fmt.Println(old.Validate())
	// Output: idtype: DecimalID: counter 0 is outside 1..922337202
}

// A forgotten key does not reach the database.
func ExampleDecimal_Value() {
	var order Order
	_, err := order.ID.Value()
	fmt.Println(errors.Is(err, idtype.ErrZero))
	// Output: true
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
	id := idtype.MustParseTraceID("4646428214845635103")
	fmt.Printf("%+v\n", id.Parts())
	fmt.Println(id.Chunk(), id.Counter())
	fmt.Println(id.Times(time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC)))
	// Output:
	// {Timestamp:16903607 Node:24528 Bottom:3799583}
	// 3710 543
	// 2022-08-21 08:32:55 +0000 UTC 2023-09-13 17:13:27 +0000 UTC
}

// A query for a span of time has one range, or two where timestamps start again.
func ExampleTraceBounds() {
	day := time.Date(2024, 3, 24, 0, 0, 0, 0, time.UTC)
	ranges, err := idtype.TraceBounds(day, day.Add(24*time.Hour-1))
	for _, r := range ranges {
		fmt.Println("id BETWEEN", r.Min, "AND", r.Max)
	}
	fmt.Println(err)

	_, err = idtype.TraceBounds(day, day.Add(idtype.TracePeriod))
	fmt.Println(err)
	// Output:
	// id BETWEEN 9213027831460659201 AND 9223372036854775807
	// id BETWEEN 1 AND 13405245765844991
	// <nil>
	// idtype: TraceID: from 2024-03-24T00:00:00Z to 2025-04-16T08:40:32Z: it is so long that timestamps repeat within it
}

// An ID from outside may be asked to be of the present.
func ExampleTrace_ValidateAt() {
	id := idtype.MustParseTraceID("4646428214845635103")
	made := time.Date(2023, 9, 13, 17, 13, 27, 0, time.UTC)
	fmt.Println(id.ValidateAt(made.Add(3*time.Second), 5*time.Second))
	fmt.Println(id.ValidateAt(made.Add(time.Minute), 5*time.Second))
	// Output:
	// <nil>
	// idtype: "4646428214845635103" as TraceID: the timestamp is too far from now: it is 1m0s away, allowed are 5s
}

// The text of a short ID is for people and URLs, its number for the database.
func ExampleShort() {
	id := idtype.MustParseShortID("xinaS8QBh")
	fmt.Println(id, id.Time(), id.Sequence(), id.Random())

	v, err := id.Value()
	fmt.Println(v, err)
	b, err := json.Marshal(id)
	fmt.Println(string(b), err)
	// Output:
	// xinaS8QBh 2019-07-03 18:45:04.129 +0000 UTC 270 98
	// 11093174944930914 <nil>
	// "xinaS8QBh" <nil>
}

// The bounds of a span of time, for a range of the primary key.
func ExampleMinShortID() {
	first, err := idtype.MinShortID(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC))
	fmt.Println(int64(first), err)

	_, err = idtype.MinShortID(time.Date(2018, 2, 28, 0, 0, 0, 0, time.UTC))
	fmt.Println(err)
	// Output:
	// 48288183091200000 <nil>
	// idtype: ShortID: unix_ms 1519776000000 is outside 1519862400000..5917908911103
}

// A number that the database gave, as a typed key.
func ExampleSequence() {
	type InvoiceID = idtype.Sequence[Order]
	var id InvoiceID
	err := id.Scan(int64(57)) // as a driver hands it over
	fmt.Println(id, id.Validate(), err)
	// Output: 57 <nil> <nil>
}

// A browser reads a number above 2^53−1 as another.
func ExampleIsSafeInteger() {
	fmt.Println(idtype.IsSafeInteger(idtype.DecimalID(14150009200065)))
	fmt.Println(idtype.IsSafeInteger(idtype.ShortID(11093174944930914)))
	// Output:
	// true
	// false
}
