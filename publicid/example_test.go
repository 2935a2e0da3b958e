package publicid_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/publicid"
)

type (
	Order   struct{}
	OrderID = idtype.Decimal[Order]
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
	fmt.Println(users.Parse("user_04tj6jeh7nggw1ak"))
	fmt.Println(users.Parse("user_04tj6jeh7nggwak1")) // two characters changed places
	// Output:
	// 14150009200065 user_04tj6jeh7nggw1ak <nil>
	// 14160009200065 user_028qb9jn01jcq5ty <nil>
	// 14150009200065 <nil>
	// 0 publicid: "user_04tj6jeh7nggwak1" as user ID: a wrong character: the last two do not fit the others
}

// Texts that attackers learn nothing from, of IDs of any type.
func ExampleNewEncrypted() {
	key, _ := publicid.ParseKey("0-9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")
	events, err := publicid.NewEncrypted[EventID]("event", key)
	if err != nil {
		panic(err)
	}
	text, err := events.Format(EventID(idtype.MustParse[idtype.SnoID]("8fhmi7mfls62jp64")))
	fmt.Println(text, err)
	fmt.Println(events.Parse(text))
	// Output:
	// event_02948xj00wpp8n6sdxkb8s17h6cv6 <nil>
	// 8fhmi7mfls62jp64 <nil>
}

// What a client sends. A handler may say the same of all that it does not find.
func ExampleCodec_Parse() {
	key, _ := publicid.ParseKey("0-9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")
	orders, _ := publicid.NewScrambled[OrderID]("order", key)
	names := map[OrderID]string{10000000001: "two teapots"}

	mux := http.NewServeMux()
	mux.HandleFunc("GET /orders/{id}", func(w http.ResponseWriter, r *http.Request) {
		id, err := orders.Parse(r.PathValue("id"))
		if err != nil || names[id] == "" {
			http.Error(w, "no such order", http.StatusNotFound)
			return
		}
		fmt.Fprint(w, names[id])
	})

	text, _ := orders.Format(10000000001)
	for _, path := range []string{
		text, "user" + text[5:], text[:len(text)-1] + "x", "10000000001",
	} {
		answer := httptest.NewRecorder()
		mux.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/orders/"+path, nil))
		fmt.Println(path, answer.Code, strings.TrimSpace(answer.Body.String()))
	}
	// Output:
	// order_01jbka9p0ck3xabk 200 two teapots
	// user_01jbka9p0ck3xabk 404 no such order
	// order_01jbka9p0ck3xabx 404 no such order
	// 10000000001 404 no such order
}

// The types of an API. inUsers names the codec of the app: see [publicid.Source].
func ExampleID() {
	type UserResponse struct {
		ID   PublicUserID `json:"id"`
		Name string       `json:"name"`
	}
	data, err := json.Marshal(UserResponse{PublicUserID{ID: 14150009200065}, "Ann"})
	fmt.Println(string(data), err)

	var request UserResponse
	err = json.Unmarshal(data, &request)
	column, _ := request.ID.Value()
	fmt.Println(column, err)

	err = json.Unmarshal([]byte(`{"id":"14150009200065"}`), &request)
	fmt.Println(err)
	// Output:
	// {"id":"user_04tj6jeh7nggw1ak","name":"Ann"} <nil>
	// 14150009200065 <nil>
	// publicid: "14150009200065" as user ID: another prefix: none, want user_
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
	// true publicid: "user_16yj8d46rpn8r0re" as user ID: not made with a key of this codec: its key is number 1
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

	_, err = publicid.ParseKey("0-9f86d081")
	fmt.Println(err)
	// Output:
	// user_03md469r5w71s6pe true
	// publicid key 0
	// publicid: key 0 has 8 bytes behind the hyphen: want 64 hexadecimal digits in lower case
}
