package object

import (
	"encoding/json"
	"strings"
	"testing"
)

// The reader of objects agrees with encoding/json, except that it takes no field twice.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`{"counter":1415,"generator_id":92,"launch_id":65}`,
		// what ends a value, within values
		" {\t\"a\" :\r\n\"b,}\\\"\" , \"c\\u0064\":[{\"e\":\"]\"},2 ],\"\":{}}\n",
		// a value that ends with the object
		`{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `{"a":-1.5e3,"b":true,"c":null }`,
		``, `null`, `[]`, `{`, `{}`, `{}{}`, `{"a"}`, `{"a":}`, `{"a":1,}`, `"{"`,
		"{\"\xff\":\"\xff\",\"\ufffd\":1}", `{"a":"\\"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		members, err := Read(data)
		var want map[string]json.RawMessage
		wantErr := json.Unmarshal(data, &want)
		if err != nil {
			if wantErr == nil && want != nil && !strings.Contains(err.Error(), "comes twice") {
				t.Errorf("%q: %v", data, err)
			}
			return
		}
		if wantErr != nil || len(members) != len(want) {
			t.Fatalf("%q: %d fields, want %d, %v", data, len(members), len(want), wantErr)
		}
		for _, m := range members {
			if string(want[m.Field]) != string(m.Value) {
				t.Errorf("%q: field %q is %s, want %s", data, m.Field, m.Value, want[m.Field])
			}
		}
	})
}
