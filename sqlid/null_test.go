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
