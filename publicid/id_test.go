package publicid_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

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
	boss := PublicUserID{ID: 57}
	in := response{
		ID: PublicUserID{ID: 14150009200065}, Boss: &boss,
		Event: PublicEventID{ID: EventID(idtype.MustParse[idtype.SnoID]("8fhmi7mfls62jp64"))},
		Teams: map[PublicUserID]string{boss: "x"}, All: []PublicUserID{boss, {}},
	}
	data := must(json.Marshal(in))
	want := fmt.Sprintf(`{"id":"%s","boss":"%s","event":"%s","teams":{"%s":"x"},"all":["%s",null]}`,
		must(users.Format(in.ID.ID)), boss, in.Event, boss, boss)
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
		`"` + must(events.Format(EventID{1})) + `"`, `"` + strings.ToUpper(text) + `"`,
	} {
		id := PublicUserID{ID: 1}
		err := json.Unmarshal([]byte(data), &id)
		var input *publicid.InputError
		if !errors.As(err, &input) || id.ID != 1 {
			t.Errorf("%s: %v, %v", data, id.ID, err)
		}
	}
	id := PublicUserID{ID: 1}
	for _, data := range []string{"", `"`, `"user_`} { // which encoding/json does not hand over
		if err := id.UnmarshalJSON([]byte(data)); err == nil || id.ID != 1 {
			t.Errorf("%s: %v, %v", data, id.ID, err)
		}
	}
	if err := json.Unmarshal([]byte("null"), &id); err != nil || !id.IsZero() {
		t.Error(id, err)
	}
	if data, err := json.Marshal(PublicUserID{ID: -1}); err == nil {
		t.Errorf("%s", data)
	}
}

func TestText(t *testing.T) {
	text := must(users.Format(57))
	var id PublicUserID
	if err := id.UnmarshalText([]byte(text)); err != nil || id.ID != 57 || id.String() != text {
		t.Error(id, err)
	}
	if b := must(id.MarshalText()); string(b) != text {
		t.Errorf("%s", b)
	}
	if err := id.UnmarshalText([]byte(text + "0")); err == nil || id.ID != 57 {
		t.Error(id, err)
	}
	if b, err := (PublicUserID{}).MarshalText(); b != nil || !errors.Is(err, idtype.ErrZero) {
		t.Errorf("%s, %v", b, err)
	}
	if s := (PublicUserID{}).String(); s != "(0)" {
		t.Error(s)
	}
	if s := (PublicUserID{ID: -1}).String(); !strings.HasPrefix(s, `(publicid: "-1" as user ID: `) {
		t.Error(s)
	}
}

func TestColumn(t *testing.T) {
	id := PublicUserID{ID: 14150009200065}
	if v := must(id.Value()); v != int64(14150009200065) {
		t.Errorf("%T %v", v, v)
	}
	if _, err := (PublicUserID{}).Value(); !errors.Is(err, idtype.ErrZero) {
		t.Error(err)
	}
	for _, src := range []any{
		int64(57), "57", []byte("57"), PublicUserID{ID: 57}, &PublicUserID{ID: 57},
	} {
		id := PublicUserID{ID: 1}
		if err := id.Scan(src); err != nil || id.ID != 57 {
			t.Errorf("%T: %v, %v", src, id.ID, err)
		}
	}
	for _, src := range []any{
		nil, int64(0), int64(-1), must(users.Format(57)), true, PublicUserID{}, (*PublicUserID)(nil),
	} {
		id := PublicUserID{ID: 1}
		if err := id.Scan(src); err == nil || id.ID != 1 {
			t.Errorf("%v: %v, %v", src, id.ID, err)
		}
	}
	if got := id.GormDataType(); got != "bigint" {
		t.Error(got)
	}
}

// An app that forgot to make its codec.
func TestNoCodec(t *testing.T) {
	id := publicid.ID[UserID, nowhere]{ID: 57}
	_, marshal := json.Marshal(id)
	for name, err := range map[string]error{
		"marshal": marshal, "unmarshal": json.Unmarshal([]byte(`"user_"`), &id),
		"number": json.Unmarshal([]byte(`57`), &id), "text": id.UnmarshalText([]byte("user_")),
	} {
		var source *publicid.SourceError
		if !errors.As(err, &source) || source.Source != "publicid_test.nowhere" || id.ID != 57 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s := id.String(); !strings.Contains(s, "publicid_test.nowhere has no codec") {
		t.Error(s)
	}
}
