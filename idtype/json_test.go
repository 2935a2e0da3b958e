package idtype_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/idmint/idmint/idtype"
)

type document struct {
	ID      UserID                 `json:"id"`
	Parent  *UserID                `json:"parent"`
	Omitted UserID                 `json:"omitted,omitzero"`
	None    idtype.OrZero[UserID]  `json:"none"`
	Some    idtype.OrZero[OrderID] `json:"some,omitzero"`
	Orders  []OrderID              `json:"orders"`
	Names   map[UserID]string      `json:"names"`
	Slice   idtype.Slice[UserID]   `json:"slice"`
}

func TestJSONDocument(t *testing.T) {
	parent := UserID(9223372036854775807)
	for _, tt := range []struct {
		name string
		doc  document
		want string
	}{
		{
			"all set",
			document{
				ID: published, Parent: &parent, Omitted: 1,
				None:   idtype.OrZero[UserID]{ID: 5},
				Some:   idtype.OrZero[OrderID]{ID: 6},
				Orders: []OrderID{7, 8}, Names: map[UserID]string{9: "nine"}, Slice: idtype.Slice[UserID]{10},
			},
			`{"id":"14150009200065","parent":"9223372036854775807","omitted":"1","none":"5","some":"6",` +
				`"orders":["7","8"],"names":{"9":"nine"},"slice":["10"]}`,
		},
		{
			"all zero",
			document{},
			`{"id":null,"parent":null,"none":null,"orders":null,"names":null,"slice":null}`,
		},
		{
			"zero within",
			document{Parent: new(UserID), Orders: []OrderID{0, 1}},
			`{"id":null,"parent":null,"none":null,"orders":[null,"1"],"names":null,"slice":null}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, err := json.Marshal(tt.doc)
			if err != nil {
				t.Fatal(err)
			}
			if string(b) != tt.want {
				t.Errorf("wrote %s\n want %s", b, tt.want)
			}
			var got document
			if err := json.Unmarshal(b, &got); err != nil {
				t.Fatal(err)
			}
			want := tt.doc
			if want.Parent != nil && want.Parent.IsZero() {
				want.Parent = nil // both are null
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("came back as %+v\n want %+v", got, want)
			}
		})
	}
}

// TestJSONForms: other writers send numbers, and readers of ours may be ECMAScript.
func TestJSONForms(t *testing.T) {
	for _, tt := range []struct {
		name, data string
		want       UserID
	}{
		{"string", `"14150009200065"`, published},
		{"exact integer", `14150009200065`, published},
		{"integer above 2^53", `9223372036854775807`, 9223372036854775807},
		{"string above 2^53", `"9223372036854775807"`, 9223372036854775807},
		{"smallest", `1`, 1},
		{"null", `null`, 0},
		{"spaces around", " \n\"1\"\t", 1},
	} {
		got := UserID(77)
		if err := json.Unmarshal([]byte(tt.data), &got); err != nil || got != tt.want {
			t.Errorf("%s: %s = %d, %v, want %d", tt.name, tt.data, got, err, tt.want)
		}
	}
	var generic any
	b, _ := json.Marshal(UserID(9223372036854775807))
	if err := json.Unmarshal(b, &generic); err != nil || generic != "9223372036854775807" {
		t.Errorf("a reader without our types gets %v, %v, want every digit", generic, err)
	}
}

// TestJSONErrors: the error reaches the caller of encoding/json, wherever the key is.
func TestJSONErrors(t *testing.T) {
	for name, data := range map[string]string{
		"value":       `{"id":1.5}`,
		"negative":    `{"id":-1}`,
		"zero":        `{"id":0}`,
		"pointer":     `{"parent":"x"}`,
		"element":     `{"orders":["1",true]}`,
		"map key":     `{"names":{"01":"one"}}`,
		"zero as key": `{"names":{"0":"none"}}`,
		"OrZero":      `{"some":{}}`,
	} {
		var got document
		err := json.Unmarshal([]byte(data), &got)
		if e := new(idtype.InputError); !errors.As(err, &e) {
			t.Errorf("%s: error for %s is %v, want an *InputError", name, data, err)
		}
	}
}

func TestGob(t *testing.T) {
	type row struct {
		ID, Unset UserID
		Ref       *OrderID
		Slice     idtype.Slice[UserID]
		Names     map[UserID]string
	}
	ref := OrderID(9223372036854775807)
	want := row{ID: published, Ref: &ref, Slice: idtype.Slice[UserID]{1, 2}, Names: map[UserID]string{3: "three"}}
	var buf bytes.Buffer
	if err := gob.NewEncoder(&buf).Encode(want); err != nil {
		t.Fatal(err)
	}
	var got row
	if err := gob.NewDecoder(&buf).Decode(&got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("came back as %+v, %v, want %+v", got, err, want)
	}
}

// TestTypedKeysOfBytes takes keys through JSON documents, as map keys too, and through gob.
func TestTypedKeysOfBytes(t *testing.T) {
	type row struct {
		ID      EventUUIDID                  `json:"id"`
		Parent  *EventEightID                `json:"parent"`
		Omitted EventTextID                  `json:"omitted,omitzero"`
		None    idtype.OrZero[EventSnoID]    `json:"none"`
		Some    idtype.OrZero[EventBigintID] `json:"some,omitzero"`
		List    []EventBigintID              `json:"list"`
		Names   map[EventSnoID]string        `json:"names"`
	}
	eight, sno := idtype.MustParseEightByteID(eightText), idtype.MustParseSnoID(snoText)
	parent := EventEightID(eight)
	want := row{
		ID: EventUUIDID(sno), Parent: &parent, Some: idtype.OrZero[EventBigintID]{ID: EventBigintID(eight)},
		List: []EventBigintID{EventBigintID(eight)}, Names: map[EventSnoID]string{EventSnoID(sno): "sno"},
	}
	b, err := json.Marshal(want)
	const text = `{"id":"8fhmi7mfls62jp64","parent":"5b9bda2989e1989b","none":null,"some":"5b9bda2989e1989b",` +
		`"list":["5b9bda2989e1989b"],"names":{"8fhmi7mfls62jp64":"sno"}}`
	if err != nil || string(b) != text {
		t.Errorf("as JSON %s, %v\n   want %s", b, err, text)
	}
	var got row
	if err := json.Unmarshal(b, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("came back as %+v, %v, want %+v", got, err, want)
	}
	for name, data := range map[string]string{
		"value": `{"id":5}`, "pointer": `{"parent":"x"}`, "element": `{"list":["5b9bda2989e1989b",true]}`,
		"map key": `{"names":{"1":"one"}}`, "zero as key": `{"names":{"2222222222222222":"none"}}`, "OrZero": `{"some":{}}`,
	} {
		var got row
		err := json.Unmarshal([]byte(data), &got)
		if e := new(idtype.InputError); !errors.As(err, &e) {
			t.Errorf("%s: error for %s is %v, want an *InputError", name, data, err)
		}
	}

	want.None, got = idtype.OrZero[EventSnoID]{ID: EventSnoID(sno)}, row{}
	want.Omitted = EventTextID(sno)
	var buf bytes.Buffer
	if err := gob.NewEncoder(&buf).Encode(want); err != nil {
		t.Fatal(err)
	}
	if err := gob.NewDecoder(&buf).Decode(&got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("came back from gob as %+v, %v, want %+v", got, err, want)
	}
	// The type parameter says whose key it is, and how it is stored, and costs nothing.
	if keys := map[any]bool{EventSnoID(sno): true, EventTextID(sno): true, sno: true}; len(keys) != 3 {
		t.Errorf("keys of three types are %d", len(keys))
	}
	if fmt.Sprint(sno, eight, want.None) != "8fhmi7mfls62jp64 5b9bda2989e1989b 8fhmi7mfls62jp64" {
		t.Errorf("printed as %v %v %v", sno, eight, want.None)
	}
}
