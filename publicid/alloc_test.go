package publicid_test

import (
	"encoding/json"
	"testing"
)

// Where results go, so that nothing is optimised away.
var (
	sinkID    UserID
	sinkText  string
	sinkBytes []byte
	sinkErr   error
)

// Each allocation has its reason: the string of Format, and bytes that go through an interface, of
// AES and of the ID's type.
func TestAllocs(t *testing.T) {
	all := codecs()
	scrambled, encrypted := all["scrambled"], all["encrypted"]
	id := UserID(14150009200065)
	texts := map[string]string{
		"scrambled": must(scrambled.Format(id)), "encrypted": must(encrypted.Format(id)),
	}
	buf := make([]byte, 0, 64)
	quoted := must(json.Marshal(texts["scrambled"]))
	var field PublicUserID
	for _, tt := range []struct {
		name string
		want float64
		fn   func()
	}{
		{"scrambled AppendText", 0, func() { sinkBytes, sinkErr = scrambled.AppendText(buf, id) }},
		{"scrambled Format", 1, func() { sinkText, sinkErr = scrambled.Format(id) }},
		{"scrambled Parse", 0, func() { sinkID, sinkErr = scrambled.Parse(texts["scrambled"]) }},
		{"encrypted AppendText", 2, func() { sinkBytes, sinkErr = encrypted.AppendText(buf, id) }},
		{"encrypted Format", 3, func() { sinkText, sinkErr = encrypted.Format(id) }},
		{"encrypted Parse", 2, func() { sinkID, sinkErr = encrypted.Parse(texts["encrypted"]) }},
		{"UnmarshalJSON", 0, func() { sinkErr = field.UnmarshalJSON(quoted) }},
		{"MarshalJSON", 1, func() { sinkBytes, sinkErr = field.MarshalJSON() }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := testing.AllocsPerRun(1000, tt.fn)
			if sinkErr != nil {
				t.Fatal(sinkErr) // an error path would be measured
			}
			if got != tt.want {
				t.Errorf("%v allocations, want %v", got, tt.want)
			}
		})
	}
}
