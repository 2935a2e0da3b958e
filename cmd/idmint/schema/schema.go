// Package schema describes the JSON of IDs to other languages, as OpenAPI, TypeScript and Protocol
// Buffers.
package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/schemes"
)

// A Type describes the IDs of a scheme. Their JSON is a string.
type Type struct {
	Scheme idtype.Scheme
	schemes.Texts
}

// Types returns all schemes, in the order in which the command line lists them.
func Types() (types []Type) {
	for _, s := range schemes.All() {
		types = append(types, Type{s.Name(), s.Known().Text})
	}
	return types
}

// OpenAPI returns a document of OpenAPI 3.0, as JSON, whose components are the types.
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

// TypeScript returns a module with a type and a guard for each scheme. The entity is a parameter of
// the type, so that the keys of two entities have different types.
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

// Protobuf returns a file with a message that has a field for each scheme. The JSON that Protocol
// Buffers produce for a field is the ID's JSON.
func Protobuf(types []Type) string {
	text := `syntax = "proto3";

package idmint;

// IDs has a field of each scheme, to copy. Its JSON is the ID's. Absent or zero is no ID.
message IDs {
`
	for i, t := range types {
		text += fmt.Sprintf("  // %s: %s.\n  %s %s_id = %d;\n", t.Name, t.About, t.Proto, t.Scheme,
			i+1)
	}
	return text + "}\n"
}
