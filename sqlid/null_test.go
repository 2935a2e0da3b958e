package sqlid_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"slices"
	"testing"
	"testing/quick"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/sqlid"
)

type nulls struct {
	Attr  sqlid.Null[UserID]         `xml:"attr,attr" json:"attr"`
	Elem  sqlid.Null[idtype.SnoID]   `xml:"elem" json:"elem"`
	Short sqlid.Null[idtype.ShortID] `xml:"short" json:"short"`
}

// What a Null writes it reads, NULL included, and no reader sees its fields.
func TestNullIsAWholeValue(t *testing.T) {
	some := nulls{
		sqlid.NullOf(UserID(14150009200065)), sqlid.NullOf(idtype.MustParse[idtype.SnoID]("8fhmi7mfls62jp64")),
		sqlid.NullOf(idtype.ShortID(52)), // the text 0
	}
	for want, in := range map[string]nulls{
		`<nulls attr="14150009200065"><elem>8fhmi7mfls62jp64</elem><short>0</short></nulls>`: some,
		`<nulls attr=""><elem></elem><short></short></nulls>`:                                {},
	} {
		data, err := xml.Marshal(in)
		out := some // a stale value must not stay
		if err := errors.Join(err, xml.Unmarshal(data, &out)); err != nil || string(data) != want || out != in {
			t.Errorf("XML %s is %v, %v", data, out, err)
		}
		var buf bytes.Buffer
		list := []nulls{in, some, {}}
		var back []nulls
		err = errors.Join(gob.NewEncoder(&buf).Encode(list), gob.NewDecoder(&buf).Decode(&back))
		if err != nil || !slices.Equal(back, list) {
			t.Errorf("gob: %v, %v", back, err)
		}
		set := flag.NewFlagSet("", flag.ContinueOnError)
		flagged := some.Attr
		set.TextVar(&flagged, "user", sqlid.Null[UserID]{}, "")
		if err := set.Parse([]string{"-user", text(in.Attr)}); err != nil || flagged != in.Attr {
			t.Errorf("flag: %v, %v", flagged, err)
		}
		byKey := map[sqlid.Null[UserID]]int{in.Attr: 1}
		data, err = json.Marshal(byKey)
		var keys map[sqlid.Null[UserID]]int
		if err := errors.Join(err, json.Unmarshal(data, &keys)); err != nil || keys[in.Attr] != 1 {
			t.Errorf("keys of a map: %s, %v, %v", data, keys, err)
		}
	}
	if s := fmt.Sprint(some.Attr, nulls{}.Attr); s != "14150009200065 NULL" {
		t.Error(s)
	}
	kept := some.Attr
	for _, err := range []error{
		kept.UnmarshalText([]byte("0")), kept.UnmarshalParam("+1"), kept.UnmarshalBinary([]byte{1}),
		kept.UnmarshalBinary(make([]byte, 8)),
	} {
		if !errors.As(err, new(*idtype.InputError)) || kept != some.Attr {
			t.Errorf("%v, %v", kept, err)
		}
	}
	less := sqlid.NullOf(UserID(57))
	sorted := []sqlid.Null[UserID]{some.Attr, {}, less}
	slices.SortFunc(sorted, sqlid.Null[UserID].Compare)
	if sorted[0].Valid || sorted[1] != less || less.Compare(less) != 0 {
		t.Error(sorted)
	}
}

func text(n sqlid.Null[UserID]) string {
	b, err := n.MarshalText()
	if err != nil || b == nil {
		panic(fmt.Sprint(b, err))
	}
	return string(b)
}

// In BSON and CBOR a Null is the ID, or null.
func TestNullEncodings(t *testing.T) {
	some, none := sqlid.NullOf(UserID(1000)), sqlid.Null[UserID]{}
	for _, tt := range []struct {
		n    sqlid.Null[UserID]
		kind byte
		bson string
		cbor string
	}{
		{some, 0x12, "\xe8\x03\x00\x00\x00\x00\x00\x00", "\x19\x03\xe8"},
		{none, 0x0a, "", "\xf6"},
	} {
		kind, bson, err := tt.n.MarshalBSONValue()
		cbor, err2 := tt.n.MarshalCBOR()
		byBSON, byCBOR := sqlid.NullOf(UserID(57)), sqlid.NullOf(UserID(57))
		err = errors.Join(err, err2, byBSON.UnmarshalBSONValue(kind, bson), byCBOR.UnmarshalCBOR(cbor))
		if err != nil || kind != tt.kind || string(bson) != tt.bson || string(cbor) != tt.cbor ||
			byBSON != tt.n || byCBOR != tt.n {
			t.Errorf("%v: %#x %x and %x, read as %v and %v, %v", tt.n, kind, bson, cbor, byBSON, byCBOR, err)
		}
	}
	kept := some
	for _, err := range []error{
		kept.UnmarshalBSONValue(0x12, make([]byte, 8)), kept.UnmarshalBSONValue(0x08, []byte{1}),
		kept.UnmarshalCBOR([]byte{0}), kept.UnmarshalCBOR([]byte{0xf5}), kept.UnmarshalCBOR(nil),
	} {
		if !errors.As(err, new(*idtype.InputError)) || kept != some {
			t.Errorf("%v, %v", kept, err)
		}
	}
}

func TestNullFormat(t *testing.T) {
	some, none := sqlid.NullOf(UserID(0x148b9369)), sqlid.Null[UserID]{}
	got := fmt.Sprintf("%016x %q %10v %d|%v %q %10d %#v", some, some, some, some, none, none, none, none)
	want := `00000000148b9369 "344691561"  344691561 344691561|NULL NULL       NULL NULL`
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestNullGenerate(t *testing.T) {
	nulls := 0
	err := quick.Check(func(n sqlid.Null[UserID]) bool {
		if !n.Valid {
			nulls++
			return n == sqlid.Null[UserID]{}
		}
		return n.V.Validate() == nil
	}, &quick.Config{MaxCount: 1000})
	if err != nil || nulls < 100 || nulls > 500 {
		t.Errorf("%d of 1000 are NULL, %v", nulls, err)
	}
}
