package idtype_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

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

// IDs are strings in JSON, so that readers whose numbers are floats lose no digits, and zero is null.
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
