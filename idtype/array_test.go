package idtype_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/idmint/idmint/idtype"
)

// refArray is an array in PostgreSQL's binary form; nil is NULL. OIDs are those of pg_type.
func refArray(form idtype.Storage, elements ...[]byte) []byte {
	numbers := func(all ...int32) (b []byte) {
		for _, n := range all {
			b = binary.BigEndian.AppendUint32(b, uint32(n))
		}
		return b
	}
	oid := map[idtype.Storage]int32{
		idtype.StorageBigint: 20, idtype.StorageBytes: 17, idtype.StorageUUID: 2950,
		idtype.StorageText: 25,
	}[form]
	if len(elements) == 0 {
		return numbers(0, 0, oid)
	}
	b := numbers(1, 0, oid, int32(len(elements)), 1)
	for _, e := range elements {
		if e == nil {
			b = append(b, numbers(-1)...)
			continue
		}
		b = append(append(b, numbers(int32(len(e)))...), e...)
	}
	return b
}

func TestSliceOfArrays(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		want := k.domain()
		var texts []string
		var elements [][]byte
		for _, raw := range want {
			text := k.write(raw)
			element := raw
			switch k.form {
			case idtype.StorageBytes:
				texts = append(texts, `"\\x`+hex.EncodeToString(raw)+`"`)
			case idtype.StorageBigint:
				texts = append(texts, fmt.Sprint(k.refColumn(raw)))
			case idtype.StorageText:
				texts, element = append(texts, text), []byte(text)
			case idtype.StorageUUID:
				texts, element = append(texts, refUUID(text)), []byte(text)
			}
			elements = append(elements, element)
		}
		whole := "{" + strings.Join(texts, ",") + "}"
		shifted := fmt.Sprintf("[-1:%d]=", len(want)-2) + whole // by UPDATE … SET ids[-1] = …
		for _, src := range []any{
			whole, []byte(whole), shifted, []byte(shifted), refArray(k.form, elements...),
		} {
			if got, err := k.scanSlice(src, k.before()); err != nil ||
				!slices.EqualFunc(got, want, bytes.Equal) {
				t.Errorf("from %.60q: %x, %v", src, got, err)
			}
		}
		for _, src := range []any{"{}", refArray(k.form)} {
			if got, err := k.scanSlice(src, k.before()); err != nil || len(got) != 0 {
				t.Errorf("from the empty %q: %x, %v", src, got, err)
			}
		}
		one, good := elements[0], refArray(k.form, elements[0])
		zero := make([]byte, len(one))
		bad := []any{
			"{", "}", "{" + texts[0], "{" + texts[0] + ",}", "{," + texts[0] + "}",
			"{{" + texts[0] + "}}", "{NULL}", "{" + texts[0] + ",NULL}",
			"{ " + texts[0] + "}", "[1:2]={" + texts[0] + "}",
			"[1:1]=" + texts[0], "[1:1={" + texts[0] + "}", "[01:1]={" + texts[0] + "}",
			"[1:1][1:1]={{" + texts[0] + "}}", "[1:1]=[1:1]={" + texts[0] + "}", `{"` + texts[0] + `"}`, `{"\\x0"}`,
			`{"x"}`,
			good[:4], good[:19], good[:20], good[:len(good)-1], append(slices.Clone(good), 0),
			append(slices.Clone(good), 0, 0, 0, 1),
			refArray(k.form, nil), refArray(k.form, one, nil), refArray(k.form, zero),
			refArray(k.form, one[1:]), refArray(k.form, []byte{}),
			append([]byte{0, 0, 0, 2}, good[4:]...),
			// timestamptz, whose values are 8 bytes as well
			append(append(slices.Clone(good[:8]), 0, 0, 4, 0xa0), good[12:]...),
			append(slices.Clone(good[:20]), 0x7f, 0xff, 0xff, 0xff, 1),
		}
		for _, src := range bad {
			got, err := k.scanSlice(src, k.before())
			wantInputError(t, err, "Slice", "", nil)
			if !slices.EqualFunc(got, [][]byte{k.before()}, bytes.Equal) {
				t.Errorf("from %q: the slice is %x after an error", src, got)
			}
		}
	})
}
