package publicid_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/quick"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/publicid"
)

var (
	users  *publicid.Codec[UserID]
	events *publicid.Codec[EventID]
)

type (
	inUsers  struct{}
	inEvents struct{}
	nowhere  struct{}

	PublicUserID  = publicid.ID[UserID, inUsers]
	PublicEventID = publicid.ID[EventID, inEvents]
)

func (inUsers) Codec() *publicid.Codec[UserID]   { return users }
func (inEvents) Codec() *publicid.Codec[EventID] { return events }
func (nowhere) Codec() *publicid.Codec[UserID]   { return nil }

func init() {
	k := must(publicid.ParseKey(key0))
	users = must(publicid.NewScrambled[UserID]("user", k))
	events = must(publicid.NewEncrypted[EventID]("event", k))
}

type response struct {
	ID     PublicUserID            `json:"id"`
	Boss   *PublicUserID           `json:"boss"`
	Event  PublicEventID           `json:"event"`
	Absent PublicUserID            `json:"absent,omitzero"`
	Teams  map[PublicUserID]string `json:"teams"`
	All    []PublicUserID          `json:"all"`
}

func TestJSON(t *testing.T) {
	boss := publicid.Of[inUsers](UserID(57))
	in := response{
		ID: publicid.Of[inUsers](UserID(14150009200065)), Boss: &boss,
		Event: publicid.Of[inEvents](EventID(idtype.MustParse[idtype.SnoID]("8fhmi7mfls62jp64"))),
		Teams: map[PublicUserID]string{boss: "x"}, All: []PublicUserID{boss, {}},
	}
	data := must(json.Marshal(in))
	want := fmt.Sprintf(`{"id":"%s","boss":"%s","event":"%s","teams":{"%s":"x"},"all":["%s",null]}`,
		must(users.Format(in.ID.Internal())), boss, in.Event, boss, boss)
	if string(data) != want {
		t.Errorf("%s, want %s", data, want)
	}
	var out response
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	if again := must(json.Marshal(out)); string(again) != want || out.ID != in.ID ||
		out.Event != in.Event || *out.Boss != boss {
		t.Errorf("%s", again)
	}
	if strings.Contains(want+fmt.Sprint(in), "14150009200065") {
		t.Errorf("the stored ID is shown: %v", in)
	}
}

func TestJSONRefuses(t *testing.T) {
	text := must(users.Format(57))
	for _, data := range []string{
		"57", `"57"`, `""`, "true", `{"ID":57}`, `["` + text + `"]`, `"\u0075` + text[1:] + `"`,
		`"` + must(events.Format(EventID{1})) + `"`, `"` + strings.ToUpper(text) + `"`, "", `"`,
	} {
		id := publicid.Of[inUsers](UserID(1))
		var input *publicid.InputError
		if err := id.UnmarshalJSON([]byte(data)); !errors.As(err, &input) || id.Internal() != 1 {
			t.Errorf("%s: %v, %v", data, id.Internal(), err)
		}
	}
	id := publicid.Of[inUsers](UserID(1))
	if err := json.Unmarshal([]byte("null"), &id); err != nil || !id.IsZero() {
		t.Error(id, err)
	}
	if data, err := json.Marshal(publicid.Of[inUsers](UserID(-1))); err == nil {
		t.Errorf("%s", data)
	}
}

func TestText(t *testing.T) {
	text, id := must(users.Format(57)), PublicUserID{}
	if err := id.UnmarshalText([]byte(text)); err != nil || id.Internal() != 57 || id.String() != text {
		t.Error(id, err)
	}
	if err := id.UnmarshalText([]byte(text + "0")); err == nil || id.Internal() != 57 {
		t.Error(id, err)
	}
	if b, err := (PublicUserID{}).MarshalText(); b != nil || !errors.Is(err, idtype.ErrZero) {
		t.Errorf("%s, %v", b, err)
	}
	for id, want := range map[UserID]string{0: "(0)", -1: `(publicid: "-1" as user ID: `} {
		if s := publicid.Of[inUsers](id).String(); !strings.HasPrefix(s, want) {
			t.Error(s)
		}
	}
}

func TestColumn(t *testing.T) {
	id := publicid.Of[inUsers](UserID(57))
	if v := must(id.Value()); v != int64(57) || id.GormDataType() != "bigint" {
		t.Errorf("%T %v in a %s", v, v, id.GormDataType())
	}
	if _, err := (PublicUserID{}).Value(); !errors.Is(err, idtype.ErrZero) {
		t.Error(err)
	}
	for i, src := range []any{
		int64(57), "57", []byte("57"), id, &id, // and these are refused:
		nil, int64(0), int64(-1), must(users.Format(57)), true, PublicUserID{}, (*PublicUserID)(nil),
	} {
		got, want := publicid.Of[inUsers](UserID(1)), UserID(1)
		err := got.Scan(src)
		if err == nil {
			want = 57
		}
		if got.Internal() != want || (err == nil) != (i < 5) {
			t.Errorf("%T %v: %v, %v", src, src, got.Internal(), err)
		}
	}
}

// An app that forgot to make its codec.
func TestNoCodec(t *testing.T) {
	id := publicid.Of[nowhere](UserID(57))
	_, marshal := json.Marshal(id)
	for name, err := range map[string]error{
		"marshal": marshal, "unmarshal": json.Unmarshal([]byte(`"user_"`), &id),
		"number": json.Unmarshal([]byte(`57`), &id), "text": id.UnmarshalText([]byte("user_")),
	} {
		var source *publicid.SourceError
		if !errors.As(err, &source) || source.Source != "publicid_test.nowhere" || id.Internal() != 57 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s := id.String(); !strings.Contains(s, "publicid_test.nowhere has no codec") {
		t.Error(s)
	}
}

// No way out shows the ID behind a text. Numbers are looked for in decimal, in hexadecimal, and as
// the bytes that an encoder may make of them.
func TestNoEncoderShowsTheID(t *testing.T) {
	const stored = 14150009200065
	id := publicid.Of[inUsers](UserID(stored))
	text := id.String()
	out := map[string]string{}
	for _, flags := range []string{"", "+", "#", "0", "30", "-30", " ", "+#"} {
		for _, verb := range "vsqxXdobcUteEgGT" {
			format := "%" + flags + string(verb)
			out[format] = fmt.Sprintf(format, id)
			out[format+" of a pointer"] = fmt.Sprintf(format, &id)
			out[format+" of a field"] = fmt.Sprintf(format, response{ID: id})
		}
	}
	var asGob, logged, asXML bytes.Buffer
	err := gob.NewEncoder(&asGob).Encode(response{ID: id, All: []PublicUserID{id}})
	for _, h := range []slog.Handler{
		slog.NewTextHandler(&logged, nil), slog.NewJSONHandler(&logged, nil),
	} {
		slog.New(h).Info("", "id", id, "row", response{ID: id})
	}
	err = errors.Join(err, xml.NewEncoder(&asXML).Encode(struct {
		XMLName struct{}     `xml:"x"`
		ID      PublicUserID `xml:"id,attr"`
	}{ID: id}))
	out["gob"], out["slog"], out["XML"] = asGob.String(), logged.String(), asXML.String()
	if err != nil {
		t.Fatal(err)
	}
	raw := idtype.AppendBytes(nil, UserID(stored))
	for name, s := range out {
		for _, bad := range []string{
			strconv.Itoa(stored), strconv.FormatInt(stored, 8), strconv.FormatInt(stored, 2),
			strconv.FormatInt(stored, 16), strings.ToUpper(strconv.FormatInt(stored, 16)),
			string(raw[2:]),
		} {
			if strings.Contains(s, bad) {
				t.Errorf("%s shows the ID: %s", name, s)
			}
		}
	}
	for _, name := range []string{"%v", "%s", "%+v", "%d", "gob", "slog", "XML"} {
		if !strings.Contains(out[name], text) {
			t.Errorf("%s is %s, want the text in it", name, out[name])
		}
	}
	// What looks for the fields of a struct finds none.
	if fields := reflect.VisibleFields(reflect.TypeFor[PublicUserID]()); len(fields) != 1 ||
		fields[0].IsExported() {
		t.Errorf("a field is exported: %v", fields)
	}
	var back response
	if err := gob.NewDecoder(&asGob).Decode(&back); err != nil || back.ID != id || back.All[0] != id {
		t.Error(back, err)
	}
	other := publicid.Of[inUsers](UserID(stored + 1))
	if !id.Equal(id) || id.Equal(other) || id.Compare(other) != -1 || id.Compare(id) != 0 {
		t.Error("not equal to itself, or not below the next")
	}
	param := other
	if err := param.UnmarshalParam(text); err != nil || param != id {
		t.Error(param, err)
	}
	if err := param.UnmarshalBinary(raw); err == nil || param != id {
		t.Error(param, err)
	}
}

// Texts in BSON and CBOR, of fewer than 24 bytes and of more.
func TestStringsOfEncodings(t *testing.T) {
	id := publicid.Of[inUsers](UserID(57))
	event := publicid.Of[inEvents](EventID{1})
	for want, v := range map[string]interface {
		fmt.Stringer
		MarshalBSONValue() (byte, []byte, error)
		UnmarshalBSONValue(byte, []byte) error
		MarshalCBOR() ([]byte, error)
		UnmarshalCBOR([]byte) error
	}{"\x75": &id, "\x78\x23": &event} {
		text := v.String()
		kind, bson, err := v.MarshalBSONValue()
		cbor, err2 := v.MarshalCBOR()
		if kind != 2 || string(bson) != string(rune(len(text)+1))+"\x00\x00\x00"+text+"\x00" ||
			string(cbor) != want+text || errors.Join(err, err2) != nil {
			t.Errorf("%s: %#x %q and %q, %v, %v", text, kind, bson, cbor, err, err2)
		}
		for i := range cbor {
			if err := v.UnmarshalCBOR(cbor[:i]); err == nil || v.String() != text {
				t.Errorf("%q is %v", cbor[:i], v)
			}
		}
		var input *publicid.InputError
		for _, bad := range []struct {
			kind byte
			data []byte
		}{
			{2, bson[:len(bson)-1]},
			{2, nil},
			{2, make([]byte, 4)},
			{10, nil},
			{0x12, make([]byte, 8)},
			{5, bson},
		} {
			if err := v.UnmarshalBSONValue(bad.kind, bad.data); !errors.As(err, &input) || v.String() != text {
				t.Errorf("%#x %q is %v, %v", bad.kind, bad.data, v, err)
			}
		}
		if err := errors.Join(v.UnmarshalBSONValue(kind, bson), v.UnmarshalCBOR(cbor)); err != nil {
			t.Error(err)
		}
	}
	back := publicid.Of[inUsers](UserID(1))
	_, bson, _ := id.MarshalBSONValue()
	if err := back.UnmarshalBSONValue(2, bson); err != nil || back != id {
		t.Error(back, err)
	}
	cbor, _ := id.MarshalCBOR()
	back = publicid.Of[inUsers](UserID(1))
	if err := back.UnmarshalCBOR(cbor); err != nil || back != id {
		t.Error(back, err)
	}
	if _, _, err := (PublicUserID{}).MarshalBSONValue(); !errors.Is(err, idtype.ErrZero) {
		t.Error(err)
	}
}

func TestGenerate(t *testing.T) {
	err := quick.Check(func(id PublicUserID, event PublicEventID) bool {
		return id.Internal().Validate() == nil && event.Internal().Validate() == nil
	}, nil)
	if err != nil {
		t.Error(err)
	}
}
