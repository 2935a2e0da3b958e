package main

import (
	"fmt"
	"strconv"
	"strings"
)

type kind int

const (
	fixed kind = iota // of a width
	text              // of a length each
	nullable
	array
	tuple
	lowCardinality
)

// A dataType is as much of a column's type as says how its values lie in a block.
type dataType struct {
	kind  kind
	width uint64 // in bytes
	parts []*dataType
}

// widths are those of types whatever their arguments.
var widths = map[string]uint64{
	"Int8": 1, "Int16": 2, "Int32": 4, "Int64": 8, "Int128": 16, "Int256": 32,
	"UInt8": 1, "UInt16": 2, "UInt32": 4, "UInt64": 8, "UInt128": 16, "UInt256": 32,
	"Float32": 4, "Float64": 8, "Bool": 1, "Nothing": 1, "Enum8": 1, "Enum16": 2,
	"Date": 2, "Date32": 4, "DateTime": 4, "DateTime64": 8,
	"UUID": 16, "IPv4": 4, "IPv6": 16,
	"Decimal32": 4, "Decimal64": 8, "Decimal128": 16, "Decimal256": 32,
}

// maxDepth is more than a schema has and less than a stack holds.
const maxDepth = 64

func parseType(s string) (*dataType, error) { return parseTypeAt(s, 0) }

func parseTypeAt(s string, depth int) (*dataType, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("type of more than %d levels", maxDepth)
	}
	name, args, err := splitType(s)
	if err != nil {
		return nil, err
	}
	if width, ok := widths[name]; ok {
		return &dataType{width: width}, nil
	}
	bad := &exception{
		codeNotImplemented, fmt.Sprintf("type %q is not one that the stand-in carries", s),
	}
	parts := func(kind kind, of ...string) (*dataType, error) {
		t := &dataType{kind: kind}
		for _, arg := range of {
			part, err := parseTypeAt(arg, depth+1)
			if err != nil {
				return nil, err
			}
			t.parts = append(t.parts, part)
		}
		return t, nil
	}
	switch {
	case name == "String":
		return &dataType{kind: text}, nil
	case name == "FixedString" && len(args) == 1:
		n, err := strconv.ParseUint(args[0], 10, 24)
		if err != nil {
			return nil, bad
		}
		return &dataType{width: n}, nil
	case name == "Decimal" && len(args) == 2:
		digits, err := strconv.ParseUint(args[0], 10, 8)
		if err != nil {
			return nil, bad
		}
		t := &dataType{width: 4}
		for _, max := range []uint64{9, 18, 38} {
			if digits > max {
				t.width *= 2
			}
		}
		return t, nil
	case name == "Nullable" && len(args) == 1:
		return parts(nullable, args...)
	case name == "Array" && len(args) == 1:
		return parts(array, args...)
	case name == "LowCardinality" && len(args) == 1:
		t, err := parts(lowCardinality, args...)
		if err == nil && t.parts[0].kind == nullable { // NULL is a place in the dictionary
			t.parts = t.parts[0].parts
		}
		return t, err
	case name == "Map" && len(args) == 2:
		return parts(array, "Tuple("+s[len("Map("):])
	case name == "Tuple" && len(args) > 0: // without names
		return parts(tuple, args...)
	}
	return nil, bad
}

// splitType returns a type's name and arguments.
func splitType(s string) (name string, args []string, err error) {
	name, rest, has := strings.Cut(s, "(")
	if !has {
		return name, nil, nil
	}
	depth, start := 0, 0
	var quote byte
	for i := 0; i < len(rest); i++ {
		c := rest[i]
		switch {
		case quote != 0:
			if c == '\\' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '\'' || c == '`' || c == '"':
			quote = c
		case c == '(':
			depth++
		case c == ',' && depth == 0:
			args = append(args, strings.TrimSpace(rest[start:i]))
			start = i + 1
		case c == ')' && depth > 0:
			depth--
		case c == ')':
			if i != len(rest)-1 {
				return "", nil, fmt.Errorf("type %q has more than a type", s)
			}
			if arg := strings.TrimSpace(rest[start:i]); arg != "" {
				args = append(args, arg)
			}
			return name, args, nil
		}
	}
	return "", nil, fmt.Errorf("type %q does not end", s)
}
