package idtype_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/idtype"
)

func TestSliceBadScan(t *testing.T) {
	for _, tt := range []struct {
		src    any
		shows  string
		reason error
	}{
		{nil, "NULL", idtype.ErrNull},
		{"null", `"null"`, idtype.ErrNull},
		{int64(1), "int64", nil},
		{1.5, "float64", nil},
		{time.Unix(1, 0), "time.Time", nil},
		{"", `""`, nil},
		{[]byte(nil), `""`, nil},
		{"garbage", `"garbage"`, nil},
		{`{"1":"2"}`, `{`, nil},
		{`"1"`, `"\"1\""`, nil},
		{`["1"`, `"[\"1\""`, nil},
		{`["1"] x`, `x"`, nil},
		{`["1",null]`, "index 1", idtype.ErrZero},
		{`["1","0"]`, `\"0\"`, idtype.ErrZero},
		{`[0]`, `"[0]"`, idtype.ErrZero},
		{`[-1]`, `"[-1]"`, nil},
		{`[1e3]`, `"[1e3]"`, nil},
		{`[["1"]]`, `"[[`, nil},
		{`["9223372036854775808"]`, "9223372036854775807", nil},
		{"[" + strings.Repeat("1,", 1<<19) + "0]", "(1048579 bytes)", idtype.ErrZero},
		{strings.Repeat("[", 1<<20), "(1048576 bytes)", nil},
	} {
		got := idtype.Slice[UserID]{77, 2}
		err := got.Scan(tt.src)
		wantInputError(t, err, "Slice", "", tt.reason)
		if !strings.Contains(err.Error(), tt.shows) || !slices.Equal(got, idtype.Slice[UserID]{77, 2}) {
			t.Errorf("%.40v: error is %q, want %q in it; slice is %v", tt.src, err, tt.shows, got)
		}
	}
}

func TestSliceGoodScan(t *testing.T) {
	for src, want := range map[any]idtype.Slice[UserID]{
		"[]": {}, `["1","9223372036854775807"]`: {1, math.MaxInt64},
		`[1,9223372036854775807]`: {1, math.MaxInt64}, `[ "1" , 2 ]`: {1, 2}, // as jsonb writes it
	} {
		got := idtype.Slice[UserID]{7, 8, 9} // what was there goes, also where it was longer
		alias := got
		if err := got.Scan(src); err != nil || got == nil || !slices.Equal(got, want) {
			t.Errorf("%v is %v, %v, want %v", src, got, err, want)
		}
		// A row's slice may still be in use when the next row is scanned.
		if !slices.Equal(alias, idtype.Slice[UserID]{7, 8, 9}) {
			t.Errorf("Scan wrote into the array of the old slice: %v", alias)
		}
	}
	// Of none it is [] as well: a NULL parameter would make IN unknown instead of false.
	if got, err := idtype.Slice[UserID](nil).Value(); got != "[]" || err != nil {
		t.Errorf("Value of nil = %v, %v", got, err)
	}
	got, err := idtype.Slice[UserID]{1, 2, 0}.Value()
	if !errors.Is(err, idtype.ErrZero) || !strings.Contains(err.Error(), "index 2") || got != "" {
		t.Errorf("Value with a zero = %v, %v, want an empty text and an error about index 2", got, err)
	}
	if _, err := (idtype.Slice[UserID]{-1}).Value(); err == nil {
		t.Error("Value with a negative ID is no error")
	}
}

// TestSliceOfForms: the elements are what a query compares with the column.
func TestSliceOfForms(t *testing.T) {
	// The digits of an int64 ID, whatever its own text is.
	if got, err := short.slice(bigEndian(publishedShort)); got != `["11093174944930914"]` || err != nil {
		t.Errorf("Value of a short ID = %v, %v", got, err)
	}
	for i, want := range []string{
		`["5b9bda2989e1989b","b7b7b7b7b7b7b7b7"]`,
		`["6601109550783371419","-5208492444341520457"]`,
		`["335f48168d9e8808dc82","b7b7b7b7b7b7b7b7b7b7"]`,
		`["8fhmi7mfls62jp64","owtthfvpowtthfvp"]`,
		`["3866686d-6937-6d66-6c73-36326a703634","6f777474-6866-7670-6f77-747468667670"]`,
	} {
		k := byteKinds[i]
		raw := snoRaw
		if k.size == 8 {
			raw = eightRaw
		}
		got, err := k.slice(raw, k.before())
		if got != want || err != nil {
			t.Errorf("%s: %v, %v, want %s", k.name, got, err, want)
		}
		if upper, err := k.scanSlice(strings.ToUpper(want), k.before()); k.form == asBytes &&
			// as SQLite's hex writes them
			(err != nil || !slices.EqualFunc(upper, [][]byte{raw, k.before()}, bytes.Equal)) {
			t.Errorf("%s: in upper case %x, %v", k.name, upper, err)
		}
		if got, err := k.slice(); got != "[]" || err != nil {
			t.Errorf("%s: Value of no IDs = %v, %v", k.name, got, err)
		}
	}
	if raws, err := byteKinds[1].scanSlice(`[ 6601109550783371419, -1]`, eightRaw); err != nil ||
		!slices.EqualFunc(raws, [][]byte{eightRaw, bytes.Repeat([]byte{0xff}, 8)}, bytes.Equal) {
		t.Errorf("numbers are %x, %v", raws, err)
	}
	if raws, err := byteKinds[0].scanSlice(`[2333333333333333]`, eightRaw); err == nil {
		t.Errorf("a number in place of hexadecimal digits is %x", raws)
	}
	for _, k := range kinds {
		for _, bad := range []string{
			`[null]`, `["1","x"]`, `[""]`, `[1.5]`, `[{}]`, `["5x"]`, `null`, `"`, `{"a":1}`,
			`["` + strings.Repeat("0", 16) + `"]`, `["` + strings.Repeat("0", 20) + `"]`,
		} {
			if k.size == 16 && len(bad) == 20 {
				continue // 16 bytes, as the elements of a binary array are
			}
			ids, err := k.scanSlice(bad, k.before())
			wantInputError(t, err, "Slice", bad, nil)
			if !slices.EqualFunc(ids, [][]byte{k.before()}, bytes.Equal) {
				t.Errorf("%s: slice is %x after an error, want it untouched", k.name, ids)
			}
		}
	}
}

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
				texts = append(texts, k.uuid(raw))
				if k.size < 16 {
					element = []byte(text)
				}
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
