// Package schema describes the JSON of IDs to other languages: as OpenAPI, TypeScript and Protocol
// Buffers.
package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/idmint/idmint/idtype"
)

// A Type describes the IDs of a scheme. Their JSON is a string.
type Type struct {
	Scheme            idtype.Scheme
	Name              string // in other languages
	Pattern           string // takes the texts that Parse takes, and no others
	Shortest, Longest int    // in characters
	Example           string
	About             string // what the text is
	field             string // of a message: the type whose JSON is the ID's
}

// Types are all schemes, in the order in which the command line lists them.
var Types = []Type{
	{
		idtype.SchemeDecimal, "DecimalID", number, 1, 19, "14150009200065", decimalDigits, "int64",
	},
	{
		idtype.SchemeTrace, "TraceID", number, 1, 19, "4646428214845635103", decimalDigits,
		"sfixed64",
	},
	{
		idtype.SchemeEightByte, "EightByteID", eightByte, 16, 16, "5b9bda2989e1989b",
		"16 hexadecimal digits in lower case", "string",
	},
	{
		idtype.SchemeShort, "ShortID", short, 1, 11, "xinaS8QBh", "1 to 11 characters of base 64",
		"string",
	},
	{
		idtype.SchemeSno, "SnoID", sno, 16, 16, "8fhmi7mfls62jp64", "16 characters of base 32",
		"string",
	},
	{
		idtype.SchemeSequence, "SequenceID", number, 1, 19, "57", decimalDigits, "int64",
	},
}

const decimalDigits = "the digits of 1 to 9223372036854775807"

// The patterns are of what all dialects of regular expressions have in common. They hold no
// lookahead, which Go has not, and no \d, which takes other digits elsewhere. In Python and Java a
// dollar also stands before a line's end.
var (
	number    = "^(?:[1-9][0-9]{0,17}|" + below("9223372036854775807") + "|9223372036854775807)$"
	eightByte = "^(?:" + notZero("0", "[1-9a-f]", "[0-9a-f]") + ")$"
	sno       = "^(?:" + notZero("2", "[3-9a-x]", "[2-9a-x]") + ")$"
)

// short: the two lowest digits come first. The highest is no A, which is 0. Of eleven it is at most
// H, which is 7.
const short = "^(?:[B-Za-z0-9_-][A-Za-z0-9_-]?|[A-Za-z0-9_-]{2}" +
	"(?:[B-Za-z0-9_-][A-Za-z0-9_-]{0,7}|[B-H][A-Za-z0-9_-]{8}))$"

// below takes the numbers of as many digits that are smaller. They have its first digits, then a
// smaller one, then any.
func below(largest string) string {
	var all []string
	for i := range len(largest) {
		switch d := largest[i]; {
		case i == 0:
			all = append(all, fmt.Sprintf("[1-%c][0-9]{%d}", d-1, len(largest)-1))
		case d > '0':
			all = append(all, fmt.Sprintf("%s[0-%c][0-9]{%d}", largest[:i], d-1, len(largest)-1-i))
		}
	}
	return strings.Join(all, "|")
}

// notZero takes 16 digits that are not all zero: so many zeros, another digit, and any.
func notZero(zero, other, any string) string {
	var all []string
	for i := range 16 {
		all = append(all, fmt.Sprintf("%s{%d}%s%s{%d}", zero, i, other, any, 15-i))
	}
	return strings.Join(all, "|")
}

// OpenAPI is a document of OpenAPI 3.0, as JSON, whose components are the types.
func OpenAPI(types []Type) ([]byte, error) {
	type property struct {
		Type        string `json:"type"`
		Description string `json:"description"`
		Pattern     string `json:"pattern"`
		MinLength   int    `json:"minLength"`
		MaxLength   int    `json:"maxLength"`
		Example     string `json:"example"`
	}
	schemas := map[string]property{}
	for _, t := range types {
		schemas[t.Name] = property{
			"string", fmt.Sprintf("idmint ID of the scheme %s: %s", t.Scheme, t.About),
			t.Pattern, t.Shortest, t.Longest, t.Example,
		}
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(map[string]any{
		"openapi":    "3.0.3",
		"info":       map[string]string{"title": "idmint IDs", "version": "1"},
		"paths":      map[string]any{},
		"components": map[string]any{"schemas": schemas},
	})
	return text.Bytes(), err
}

// TypeScript is a module with a type and a guard for each scheme. A type has the entity as its
// parameter, so that the keys of two entities are two types.
func TypeScript(types []Type) string {
	text := "declare const entity: unique symbol;\n"
	for _, t := range types {
		lower := strings.ToLower(t.Name[:1]) + t.Name[1:]
		text += fmt.Sprintf(`
/** ID of the scheme %s: %s, such as %q. */
export type %s<Entity = unknown> = string & { readonly [entity]: [%[1]q, Entity] };

export const %[5]sPattern = /%s/;

export function is%[4]s<Entity = unknown>(value: unknown): value is %[4]s<Entity> {
  return typeof value === "string" && %[5]sPattern.test(value);
}
`, t.Scheme, t.About, t.Example, t.Name, lower, t.Pattern)
	}
	return text
}

// Protobuf is a file with a message that has a field for each scheme. The JSON that Protocol
// Buffers make of a field is the ID's.
func Protobuf(types []Type) string {
	text := `syntax = "proto3";

package idmint;

// IDs has a field of each scheme, to copy. Its JSON is the ID's. Absent or zero is no ID.
message IDs {
`
	for i, t := range types {
		text += fmt.Sprintf("  // %s: %s.\n  %s %s_id = %d;\n", t.Name, t.About, t.field, t.Scheme, i+1)
	}
	return text + "}\n"
}
