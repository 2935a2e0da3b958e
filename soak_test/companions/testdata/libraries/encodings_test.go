package libraries

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/fxamacker/cbor/v2"
	"github.com/gocarina/gocsv"
	gojson "github.com/goccy/go-json"
	goyaml "github.com/goccy/go-yaml"
	"github.com/hamba/avro/v2"
	jsoniter "github.com/json-iterator/go"
	"github.com/parquet-go/parquet-go"
	pelletier "github.com/pelletier/go-toml/v2"
	"github.com/vmihailenco/msgpack/v5"
	"go.mongodb.org/mongo-driver/v2/bson"
	yaml3 "gopkg.in/yaml.v3"

	"github.com/idmint/idmint/idtype"
)

func TestJSON(t *testing.T) {
	bad := []string{
		`{"user":0}`, `{"user":-1}`, `{"user":true}`, `{"user":1.5}`, `{"user":9007199254740993}`,
		`{"event":1}`, `{"event":""}`, `{"null":"0"}`, `{"public":57}`, `{"public":"57"}`,
	}
	for name, lib := range map[string]struct {
		marshal   func(any) ([]byte, error)
		unmarshal func([]byte, any) error
	}{
		"encoding/json": {json.Marshal, json.Unmarshal},
		"goccy/go-json": {gojson.Marshal, gojson.Unmarshal},
		"json-iterator": {jsoniter.ConfigCompatibleWithStandardLibrary.Marshal, jsoniter.ConfigCompatibleWithStandardLibrary.Unmarshal},
	} {
		t.Run(name, func(t *testing.T) {
			is(t, name)
			roundTrips(t, lib.marshal, lib.unmarshal)
			refuses(t, lib.unmarshal, bad...)
		})
	}
}

func TestYAML(t *testing.T) {
	bad := []string{"user: 0", "user: \"0\"", "user: -1", "user: true", "user: 1.5", "event: 1", "\"null\": \"0\"", "public: 57"}
	t.Run("yaml.v3", func(t *testing.T) {
		is(t, "yaml.v3")
		roundTrips(t, yaml3.Marshal, yaml3.Unmarshal)
		refuses(t, yaml3.Unmarshal, bad...)
	})
	t.Run("goccy/go-yaml", func(t *testing.T) {
		is(t, "goccy/go-yaml")
		roundTrips(t, goyaml.Marshal, func(b []byte, v any) error { return goyaml.Unmarshal(b, v) })
		refuses(t, func(b []byte, v any) error { return goyaml.Unmarshal(b, v) }, bad...)
	})
}

func TestTOML(t *testing.T) {
	bad := []string{`user = "0"`, `user = true`, `user = 1.5`, `event = 1`, `null = "0"`, `public = 57`}
	for name, lib := range map[string]struct {
		marshal   func(any) ([]byte, error)
		unmarshal func([]byte, any) error
	}{
		"BurntSushi/toml":   {toml.Marshal, toml.Unmarshal},
		"pelletier/go-toml": {pelletier.Marshal, pelletier.Unmarshal},
	} {
		t.Run(name, func(t *testing.T) {
			is(t, name)
			for _, want := range []row{full(), sparse()} {
				data, err := lib.marshal(want)
				got := full()
				if err != nil || lib.unmarshal(data, &got) != nil || got != want {
					t.Errorf("%s is %+v, %v", data, got, err)
				}
			}
			refuses(t, lib.unmarshal, bad...)
			// pelletier/go-toml takes an integer by the kind of the ID, and asks nobody.
			got := full()
			err := lib.unmarshal([]byte("user = 0"), &got)
			if taken := err == nil; taken != (name == "pelletier/go-toml") || taken && got.User.Validate() == nil {
				t.Errorf("%s: 0 is %v, %v", name, got.User, err)
			}
		})
	}
}

func TestCBOR(t *testing.T) {
	is(t, "fxamacker/cbor")
	roundTrips(t, cbor.Marshal, cbor.Unmarshal)
	for _, v := range []any{0, -1, true, 1.5, "57", []byte{1, 2, 3}, map[string]int{"ID": 57}, nil} {
		for _, name := range []string{"user", "event", "eight", "public"} {
			refuses(t, cbor.Unmarshal, string(must(cbor.Marshal(map[string]any{name: v}))))
		}
	}
}

func TestMsgpack(t *testing.T) {
	is(t, "vmihailenco/msgpack")
	roundTrips(t, msgpack.Marshal, msgpack.Unmarshal)
	for _, v := range []any{0, -1, true, 1.5, "57", []byte{1, 2, 3}, map[string]int{"ID": 57}} {
		for _, name := range []string{"User", "Event", "Eight", "Public"} {
			refuses(t, msgpack.Unmarshal, string(must(msgpack.Marshal(map[string]any{name: v}))))
		}
	}
}

func TestBSON(t *testing.T) {
	is(t, "MongoDB's bson")
	roundTrips(t, bson.Marshal, bson.Unmarshal)
	for _, v := range []any{int64(0), int32(0), int64(-1), true, 1.0, "57", []byte{1, 2, 3}, bson.M{"ID": 57}, nil} {
		for _, name := range []string{"user", "event", "eight", "public"} {
			refuses(t, bson.Unmarshal, string(must(bson.Marshal(bson.M{name: v}))))
		}
	}
	if data, err := bson.Marshal(bson.M{"_id": UserID(0)}); err == nil {
		t.Errorf("a forgotten key is %x", data)
	}
	raw := bson.Raw(must(bson.Marshal(full())))
	if raw.Lookup("user").Int64() != decimal || raw.Lookup("public").StringValue() != full().Public.String() {
		t.Error(raw)
	}
	if _, data := raw.Lookup("event").Binary(); len(data) != 10 {
		t.Errorf("%x", data)
	}
	if null := bson.Raw(must(bson.Marshal(sparse()))).Lookup("null"); null.Type != bson.TypeNull {
		t.Error(null)
	}
}

func TestDynamoDB(t *testing.T) {
	is(t, "DynamoDB attributevalue")
	texts := func(o *attributevalue.EncoderOptions) { o.UseEncodingMarshalers = true }
	read := func(o *attributevalue.DecoderOptions) { o.UseEncodingUnmarshalers = true }
	for _, want := range []row{full(), sparse()} {
		item, err := attributevalue.MarshalMapWithOptions(want, texts)
		if err != nil {
			t.Fatal(err)
		}
		for name, v := range item {
			if _, isText := v.(*types.AttributeValueMemberS); !isText {
				t.Errorf("%s is %T", name, v)
			}
		}
		got := full()
		if err := attributevalue.UnmarshalMapWithOptions(item, &got, read); err != nil || got != want {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if item, err := attributevalue.MarshalMapWithOptions(row{}, texts); err == nil {
		t.Errorf("zero is %v", item)
	}
}

func TestAvro(t *testing.T) {
	is(t, "hamba/avro")
	type record struct {
		User  int64    `avro:"user"`
		Event [10]byte `avro:"event"`
	}
	schema := avro.MustParse(`{"type":"record","name":"r","fields":[{"name":"user","type":"long"},
		{"name":"event","type":{"type":"fixed","name":"sno","size":10}}]}`)
	in := full()
	data := must(avro.Marshal(schema, record{int64(in.User), in.Event}))
	var out record
	err := avro.Unmarshal(schema, data, &out)
	user, err2 := idtype.FromInt64[UserID](out.User)
	event, err3 := idtype.FromBytes[EventID](out.Event[:])
	if err != nil || err2 != nil || err3 != nil || user != in.User || event != in.Event {
		t.Error(user, event, err, err2, err3)
	}
	if _, err := idtype.FromInt64[UserID](0); !isInput(err) {
		t.Error(err)
	}
}

func TestParquet(t *testing.T) {
	is(t, "parquet-go")
	type record struct {
		User   int64
		Public string
	}
	in := full()
	var buf bytes.Buffer
	if err := parquet.Write(&buf, []record{{int64(in.User), in.Public.String()}}); err != nil {
		t.Fatal(err)
	}
	rows, err := parquet.Read[record](bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	if err != nil || len(rows) != 1 {
		t.Fatal(rows, err)
	}
	user, err := idtype.FromInt64[UserID](rows[0].User)
	var public PublicID
	err2 := public.UnmarshalText([]byte(rows[0].Public))
	if err != nil || err2 != nil || user != in.User || public != in.Public {
		t.Error(user, public, err, err2)
	}
}

func TestXML(t *testing.T) {
	is(t, "encoding/xml")
	for _, want := range []row{full(), sparse()} {
		data, err := xml.Marshal(want)
		got := full()
		if err != nil || xml.Unmarshal(data, &got) != nil || got != want {
			t.Errorf("%s is %+v, %v", data, got, err)
		}
	}
	refuses(t, xml.Unmarshal, "<row><user>0</user></row>", "<row><event></event></row>")
}

func TestCSV(t *testing.T) {
	is(t, "gocsv")
	want := []row{full(), sparse()}
	text, err := gocsv.MarshalString(want)
	var got []row
	if err != nil || gocsv.UnmarshalString(text, &got) != nil || len(got) != 2 || got[0] != want[0] ||
		got[1] != want[1] || strings.Contains(text, "{") {
		t.Errorf("%s is %+v, %v", text, got, err)
	}
	if err := gocsv.UnmarshalString(strings.ReplaceAll(text, "14150009200065", "0"), &got); err == nil {
		t.Error("0 is an ID")
	}
}
