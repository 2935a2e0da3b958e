package schemes

import (
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/idtype/formats"
)

// UUID7 is the kind of UUIDs of version 7, which need no SQL functions because databases have their
// own.
var UUID7 = add(&Kind[idtype.UUID7ID]{
	Facts: Facts{
		Scheme: idtype.SchemeUUID7, Place: 8, Size: len(idtype.UUID7ID{}),
		Storages: []idtype.Storage{idtype.StorageUUID, idtype.StorageBytes},
		Fields: []Field{
			{Letter: TimeLetter, Width: 48, Name: "unix_ms"},
			{Letter: 'v', Width: 4, Name: "version", Min: formats.UUID7Version, Max: formats.UUID7Version},
			{Letter: 'a', Width: 12, Name: "rand_a"},
			{Letter: 'x', Width: 2, Name: "variant", Min: formats.UUID7Variant, Max: formats.UUID7Variant},
			{Letter: 'b', Width: 30, Name: "rand_b"},
			{Letter: 'c', Width: 32, Name: "rand_c"},
		},
		Unit:       time.Millisecond,
		BoundsHelp: "  uuid7      The ranges include UUIDs of other versions.\n",
		Names:      []Name{{"id", Text}},
		Text: Texts{
			Name: "UUID7ID", Pattern: uuidPattern(), Shortest: 36, Longest: 36,
			Example: "01932c07-209d-7c3a-8f5e-2b1a90d4e6f7", Alphabet: "0123456789abcdef",
			About: "a UUID in lower case", Proto: "string",
		},
		Codecs: map[idtype.Storage]Codec{"": {
			"ZSTD(1)", "random bits do not compress, but the time before them does",
		}},
	},
	Forms: []Form[idtype.UUID7ID]{
		{Name: Text, Read: idtype.Parse[idtype.UUID7ID], Write: idtype.UUID7ID.String},
		{
			Name: Hex, Read: hexReader[idtype.UUID7ID]("UUID7ID"),
			Write: func(id idtype.UUID7ID) string { return hex.EncodeToString(id[:]) },
		},
	},
	Values: parts(idtype.UUID7ID.Parts),
	Span:   within(idtype.Bounds[idtype.UUID7ID]),
})

// uuidPattern matches UUIDs that are not nil: zeros, a digit other than zero, and any digits.
func uuidPattern() string {
	groups := []int{8, 4, 4, 4, 12}
	var all []string
	zeros := ""
	for i, n := range groups {
		rest := ""
		for _, m := range groups[i+1:] {
			rest += fmt.Sprintf("-[0-9a-f]{%d}", m)
		}
		for k := range n {
			all = append(all, fmt.Sprintf("%s0{%d}[1-9a-f][0-9a-f]{%d}%s", zeros, k, n-1-k, rest))
		}
		zeros += fmt.Sprintf("0{%d}-", n)
	}
	return "^(?:" + strings.Join(all, "|") + ")$"
}
