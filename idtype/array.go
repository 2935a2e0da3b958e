package idtype

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// PostgreSQL's arrays reach [Slice] in the form that the driver uses: text in database/sql, and the
// binary form in pgx. Neither can be mistaken for JSON, which begins with white space or with a
// bracket that is not followed by the bounds of an array.

var (
	errArrayText   = errors.New("not a flat array of IDs in PostgreSQL's text form")
	errArrayBinary = errors.New("not a flat array of IDs in PostgreSQL's binary form")
)

func isArray(data []byte) bool {
	return len(data) != 0 && (data[0] == '{' || data[0] == 0 ||
		data[0] == '[' && bytes.Contains(data, []byte("]={")))
}

// arrayColumns returns the elements, each in the form of a column. NULL is nil.
func arrayColumns(data []byte, form Storage) ([]any, error) {
	if data[0] == 0 {
		return binaryColumns(data, form)
	}
	return textColumns(string(data), form)
}

// textColumns reads {8,9}, or [0:1]={8,9} for an array whose first index is not 1. Only elements of
// bytes, such as "\\x0a", are in quotes.
func textColumns(text string, form Storage) ([]any, error) {
	var bounds string
	if text[0] == '[' {
		bounds, text, _ = strings.Cut(text, "=")
	}
	inner, opened := strings.CutPrefix(text, "{")
	inner, closed := strings.CutSuffix(inner, "}")
	if !opened || !closed {
		return nil, errArrayText
	}
	if inner == "" {
		return []any{}, nil
	}
	var columns []any
	for element := range strings.SplitSeq(inner, ",") {
		var column any = element
		switch {
		case element == "NULL":
			column = nil
		case form == StorageBytes:
			digits, prefixed := strings.CutPrefix(element, `"\\x`)
			digits, suffixed := strings.CutSuffix(digits, `"`)
			raw, err := hex.DecodeString(digits)
			if !prefixed || !suffixed || err != nil {
				return nil, errArrayText
			}
			column = raw
		}
		columns = append(columns, column)
	}
	if bounds != "" && !spans(bounds, len(columns)) {
		return nil, errArrayText
	}
	return columns, nil
}

// spans reports whether bounds, such as [0:1], fit n elements.
func spans(bounds string, n int) bool {
	var first, last int
	_, err := fmt.Sscanf(bounds, "[%d:%d]", &first, &last)
	return err == nil && last-first+1 == n && fmt.Sprintf("[%d:%d]", first, last) == bounds
}

// arrayTypes lists the OIDs of PostgreSQL's bigint, bytea, uuid, and text, char(n), and varchar.
var arrayTypes = map[Storage][]int32{
	StorageBigint: {20}, StorageBytes: {17}, StorageUUID: {2950}, StorageText: {25, 1042, 1043},
}

// binaryColumns reads a sequence of 32-bit numbers: the number of dimensions, whether there is a
// NULL, and the type of the elements. If there is a dimension, its length and first index follow,
// and then the elements, each after its size. A size of −1 means NULL.
func binaryColumns(data []byte, form Storage) ([]any, error) {
	number := func(i int) int32 { return int32(binary.BigEndian.Uint32(data[4*i:])) }
	if len(data) == 12 && number(0) == 0 {
		return []any{}, nil
	}
	if len(data) < 20 || number(0) != 1 {
		return nil, errArrayBinary
	}
	if !slices.Contains(arrayTypes[form], number(2)) {
		return nil, fmt.Errorf("%w: elements of type %d", errArrayBinary, number(2))
	}
	n := int(number(3))
	var columns []any
	for data = data[20:]; len(data) >= 4; {
		size := int(number(0))
		data = data[4:]
		if size > len(data) {
			return nil, errArrayBinary
		}
		switch {
		case size < 0:
			columns = append(columns, nil)
			continue
		case form == StorageBigint && size != 8:
			return nil, fmt.Errorf("%w: an integer of %d bytes", errArrayBinary, size)
		case form == StorageBigint:
			columns = append(columns, int64(binary.BigEndian.Uint64(data)))
		default:
			columns = append(columns, data[:size])
		}
		data = data[size:]
	}
	if len(data) != 0 || len(columns) != n {
		return nil, errArrayBinary
	}
	return columns, nil
}
