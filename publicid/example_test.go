package publicid_test

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/publicid"
)

// A key of the configuration, a codec for each entity.
func Example() {
	key, err := publicid.ParseKey("0-9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")
	if err != nil {
		panic(err)
	}
	users, err := publicid.NewScrambled[UserID]("user", key)
	if err != nil {
		panic(err)
	}
	for _, id := range []UserID{14150009200065, 14160009200065} {
		text, err := users.Format(id)
		fmt.Println(id, text, err)
	}
	// The encrypted form tells attackers nothing, and takes IDs of any type.
	events, _ := publicid.NewEncrypted[EventID]("event", key)
	fmt.Println(events.Format(idtype.MustParse[EventID]("8fhmi7mfls62jp64")))

	fmt.Println(users.Parse("user_04tj6jeh7nggw1ak"))
	fmt.Println(users.Parse("user_04tj6jeh7nggwak1")) // two characters changed places
	// Output:
	// 14150009200065 user_04tj6jeh7nggw1ak <nil>
	// 14160009200065 user_028qb9jn01jcq5ty <nil>
	// event_02948xj00wpp8n6sdxkb8s17h6cv6 <nil>
	// 14150009200065 <nil>
	// 0 publicid: "user_04tj6jeh7nggwak1" as user ID: wrong character: the last two do not match the others
}

// The types of an API. inUsers names the codec of the app: see [publicid.Source].
func ExampleID() {
	type UserResponse struct {
		ID   PublicUserID `json:"id"`
		Name string       `json:"name"`
	}
	data, err := json.Marshal(UserResponse{publicid.Of[inUsers](UserID(14150009200065)), "Ann"})
	fmt.Println(string(data), err)

	var request UserResponse
	err = json.Unmarshal(data, &request)
	column := request.ID.Internal()
	fmt.Println(column, err)

	err = json.Unmarshal([]byte(`{"id":"14150009200065"}`), &request)
	fmt.Println(err)
	// Output:
	// {"id":"user_04tj6jeh7nggw1ak","name":"Ann"} <nil>
	// 14150009200065 <nil>
	// publicid: "14150009200065" as user ID: wrong prefix: want user_
}

// A new key in front of the old one: texts that are out stay valid.
func ExampleNewScrambled_rotation() {
	old, _ := publicid.ParseKey("0-9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")
	recent, _ := publicid.ParseKey("1-2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae")
	before, _ := publicid.NewScrambled[UserID]("user", old)
	after, _ := publicid.NewScrambled[UserID]("user", recent, old)

	text, _ := before.Format(57)
	id, err := after.Parse(text)
	fmt.Println(text, "is", id, err)
	text, err = after.Format(57)
	fmt.Println(text, err)

	_, err = before.Parse(text)
	fmt.Println(errors.Is(err, publicid.ErrKey), err)
	// Output:
	// user_04dp2gydzxzm5s9k is 57 <nil>
	// user_16yj8d46rpn8r0re <nil>
	// true publicid: "user_16yj8d46rpn8r0re" as user ID: not made with a key of this codec: it names key 1
}

// An app that keeps one text beside its key does not start with another key.
func ExampleParseKey() {
	const textOf1 = "user_03md469r5w71s6pe"

	key, err := publicid.ParseKey("0-9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")
	if err != nil {
		panic(err)
	}
	users, _ := publicid.NewScrambled[UserID]("user", key)
	text, _ := users.Format(1)
	fmt.Println(text, text == textOf1)
	fmt.Println(key)
	// Output:
	// user_03md469r5w71s6pe true
	// publicid key 0
}
