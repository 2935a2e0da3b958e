package idtype_test

import (
	"bytes"
	"database/sql"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/idmint/idmint/idtype"
)

// document has a key in all the places that a program's types have for it.
type document[T idtype.ID] struct {
	ID      T                `json:"id"`
	Parent  *T               `json:"parent"`
	Omitted T                `json:"omitted,omitzero"`
	None    idtype.OrZero[T] `json:"none"`
	Some    idtype.OrZero[T] `json:"some,omitzero"`
	List    []T              `json:"list"`
	Slice   idtype.Slice[T]  `json:"slice"`
	Map     map[T]string     `json:"map"`
}

// TestDocuments takes keys of all kinds through documents of JSON and of gob.
func TestDocuments(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) { k.inDocument(t, k.before()) })
}

func testDocument[T idtype.ID](t *testing.T, id T) {
	text := id.String()
	if got := (idtype.OrZero[T]{ID: id}).String(); got != text {
		t.Errorf("OrZero is %s, want %s", got, text)
	}
	var zero T
	if none := (idtype.OrZero[T]{}).String(); none != fmt.Sprint(zero) {
		t.Errorf("none is %q, want the zero ID's text, %v", none, zero)
	}
	full := document[T]{
		ID: id, Parent: &id, Omitted: id,
		None: idtype.OrZero[T]{ID: id}, Some: idtype.OrZero[T]{ID: id},
		List: []T{id}, Slice: idtype.Slice[T]{id}, Map: map[T]string{id: "x"},
	}
	for _, tt := range []struct {
		name      string
		doc, back document[T]
		want      string
	}{
		{
			"all set", full, full,
			`{"id":"ID","parent":"ID","omitted":"ID","none":"ID","some":"ID","list":["ID"],` +
				`"slice":["ID"],"map":{"ID":"x"}}`,
		},
		{
			"all zero",
			document[T]{},
			document[T]{},
			`{"id":null,"parent":null,"none":null,"list":null,"slice":null,"map":null}`,
		},
		{
			"zero within",
			document[T]{Parent: new(T), List: []T{*new(T), id}},
			document[T]{List: []T{*new(T), id}},
			`{"id":null,"parent":null,"none":null,"list":[null,"ID"],"slice":null,"map":null}`,
		},
	} {
		b, err := json.Marshal(tt.doc)
		if want := strings.ReplaceAll(tt.want, "ID", text); err != nil || string(b) != want {
			t.Errorf("%s: wrote %s, %v\n want %s", tt.name, b, err, want)
		}
		var got document[T]
		if err := json.Unmarshal(b, &got); err != nil || !reflect.DeepEqual(got, tt.back) {
			t.Errorf("%s: came back as %+v, %v\n want %+v", tt.name, got, err, tt.back)
		}
	}
	var buf bytes.Buffer
	err := gob.NewEncoder(&buf).Encode(full)
	var got document[T]
	if err := errors.Join(err, gob.NewDecoder(&buf).Decode(&got)); err != nil ||
		!reflect.DeepEqual(got, full) {
		t.Errorf("came back from gob as %+v, %v, want %+v", got, err, full)
	}

	// The error reaches the caller of encoding/json, wherever the key is.
	for name, data := range map[string]string{
		"value": `{"id":1.5}`, "pointer": `{"parent":"/"}`, "element": `{"list":[true]}`,
		"OrZero": `{"some":{}}`, "empty": `{"id":""}`, "key of a map": `{"map":{"/":"x"}}`,
	} {
		err := json.Unmarshal([]byte(data), new(document[T]))
		if !errors.As(err, new(*idtype.InputError)) {
			t.Errorf("%s: error for %s is %v, want an *InputError", name, data, err)
		}
	}

	testOptional(t, id)
	testEncodings(t, id)

	null := sql.Null[T]{V: id, Valid: true}
	if err := null.Scan(nil); err != nil || null.Valid {
		t.Errorf("sql.Null of NULL = %+v, %v", null, err)
	}
	v, err := id.Value()
	if err := errors.Join(err, null.Scan(v)); err != nil || !null.Valid || any(null.V) != any(id) {
		t.Errorf("sql.Null of %v = %+v, %v", id, null, err)
	}
	if column := id.GormDataType(); (idtype.OrZero[T]{}).GormDataType() != column {
		t.Errorf("GormDataType of OrZero is not %s", column)
	}
}

// optional has an OrZero in all places of XML.
type optional[T idtype.ID] struct {
	Attr idtype.OrZero[T] `xml:"attr,attr"`
	Elem idtype.OrZero[T] `xml:"elem"`
}

type required[T idtype.ID] struct{ ID T }

// testOptional: what an OrZero writes it reads, none included, and an ID that is zero is no text.
func testOptional[T idtype.ID](t *testing.T, id T) {
	some, none := idtype.OrZero[T]{ID: id}, idtype.OrZero[T]{}
	raw, err := id.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if id.Storage() == asText { // as clickhouse-go writes a FixedString
		raw = []byte(id.String())
	}
	for _, tt := range []struct {
		o         idtype.OrZero[T]
		text, bin string
	}{{some, id.String(), string(raw)}, {none, "", ""}} {
		text, err := tt.o.MarshalText()
		bin, err2 := tt.o.MarshalBinary()
		if string(text) != tt.text || string(bin) != tt.bin || text == nil || bin == nil ||
			errors.Join(err, err2) != nil {
			t.Errorf("%v is %q and %x, %v, %v", tt.o, text, bin, err, err2)
		}
		// A receiver that held something else holds what was read.
		for _, before := range []idtype.OrZero[T]{some, none} {
			byText, byParam, byBinary := before, before, before
			err := errors.Join(byText.UnmarshalText(text), byParam.UnmarshalParam(tt.text),
				byBinary.UnmarshalBinary(bin))
			if byText != tt.o || byParam != tt.o || byBinary != tt.o || err != nil {
				t.Errorf("%q and %x are %v, %v and %v, %v", text, bin, byText, byParam, byBinary, err)
			}
		}
		doc := optional[T]{tt.o, tt.o}
		data, err := xml.Marshal(doc)
		back := optional[T]{some, some}
		if err := errors.Join(err, xml.Unmarshal(data, &back)); err != nil || back != doc {
			t.Errorf("XML %s is %v, %v", data, back, err)
		}
		if order := tt.o.Compare(none); order != map[bool]int{true: 1}[tt.text != ""] || tt.o.Compare(tt.o) != 0 ||
			none.Compare(tt.o) != -order {
			t.Errorf("%v beside none: %d", tt.o, order)
		}
	}
	kept := some
	for name, err := range map[string]error{
		"text": kept.UnmarshalText([]byte("/")), "binary": kept.UnmarshalBinary([]byte{1}),
		"param": kept.UnmarshalParam(" "), "JSON": kept.UnmarshalJSON([]byte("-1")),
	} {
		if !errors.As(err, new(*idtype.InputError)) || kept != some {
			t.Errorf("%s: %v, %v", name, kept, err)
		}
	}
	// Zero, as other programs have it.
	zeros := kept
	if err := zeros.UnmarshalBinary(make([]byte, len(raw))); err != nil || zeros != none {
		t.Errorf("bytes that are zero are %v, %v", zeros, err)
	}
	if data, err := json.Marshal(map[T]int{*new(T): 1}); err == nil {
		t.Errorf("zero is a key of %s, %v", data, err)
	}
	if data, err := xml.Marshal(required[T]{}); !errors.Is(err, idtype.ErrZero) {
		t.Errorf("zero is written as %s, %v", data, err)
	}
}
