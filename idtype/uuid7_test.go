package idtype_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/idmint/idmint/idtype"
)

// TestUUID7TakesOldRows: UUIDs of other versions are read, and Validate tells them.
func TestUUID7TakesOldRows(t *testing.T) {
	const text = "f81d4fae-7dec-41d0-a765-00a0c91e6bf6"
	old := foreignUUID(idtype.MustParse[idtype.UUID7ID](text))
	for _, src := range []any{text, old[:], [16]byte(old), old, []byte(text)} {
		var id idtype.UUID7[Event]
		if err := id.Scan(src); err != nil || foreignUUID(id) != old {
			t.Errorf("Scan(%T) = %v, %v", src, id, err)
		}
		wantRangeError(t, id.Validate(), "UUID7ID", "version")
	}
}

// TestUUID7Bad: what is no UUID as it is written here is refused, with its reason.
func TestUUID7Bad(t *testing.T) {
	const text = "01932c07-209d-7c3a-8f5e-2b1a90d4e6f7"
	for _, k := range kindsThat(func(k kind) bool { return k.scheme == idtype.SchemeUUID7 }) {
		for _, bad := range []badText{
			{"empty", "", "0 bytes", nil},
			{"upper case", strings.ToUpper(text), "lower-case", nil},
			{"without hyphens", strings.ReplaceAll(text, "-", ""), "32 bytes", nil},
			{"braces", "{" + text + "}", "38 bytes", nil},
			{"a hyphen moved", "01932c072-09d-7c3a-8f5e-2b1a90d4e6f7", "not a UUID", nil},
			{"not UTF-8", text[:35] + "\xff", "not a UUID", nil},
			{"zero", nilUUID, "", idtype.ErrZero},
			{"quoted, and right without", `"` + text + `"`, "in double quotes", nil},
			{"megabyte", strings.Repeat("2", 1<<20), "1048576 bytes", nil},
		} {
			t.Run(k.name+"/"+bad.name, func(t *testing.T) {
				k.refuses(t, bad)
				testScan(t, k, bad.text, map[bool]string{true: none}[bad.reason != nil])
			})
		}
		for _, src := range []any{1.5, int64(7), true, [15]byte{1}, make([]byte, 15), `\x01`} {
			testScan(t, k, src, "")
		}
		testScan(t, k, make([]byte, 16), none)
		testScan(t, k, [16]byte{}, none)
		if err := k.new(k.before()).Scan(nil); !errors.Is(err, idtype.ErrNull) {
			t.Errorf("NULL: %v", err)
		}
	}
}
