package adapters_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bufbuild/protocompile"
	"github.com/evanw/esbuild/pkg/api"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/idmint/idmint/cmd/idmint/schema"
	"github.com/idmint/idmint/idtype"
)

// A scheme is what decides about its texts, and IDs of it.
type scheme struct {
	parse  func(string) (json.Marshaler, error)
	random func(*rand.Rand) fmt.Stringer
}

func schemeOf[T json.Marshaler](
	parse func(string) (T, error), random func(r *rand.Rand) fmt.Stringer,
) scheme {
	return scheme{func(s string) (json.Marshaler, error) { return parse(s) }, random}
}

func randomNumber(r *rand.Rand) int64 { return 1 + r.Int64()>>r.IntN(63) }

var schemes = map[idtype.Scheme]scheme{
	idtype.SchemeDecimal: schemeOf(idtype.Parse[idtype.DecimalID],
		func(r *rand.Rand) fmt.Stringer { return idtype.DecimalID(randomNumber(r)) }),
	idtype.SchemeTrace: schemeOf(idtype.Parse[idtype.TraceID],
		func(r *rand.Rand) fmt.Stringer { return idtype.TraceID(randomNumber(r)) }),
	idtype.SchemeSequence: schemeOf(idtype.Parse[idtype.SequenceID],
		func(r *rand.Rand) fmt.Stringer { return idtype.SequenceID(randomNumber(r)) }),
	idtype.SchemeShort: schemeOf(idtype.Parse[idtype.ShortID],
		func(r *rand.Rand) fmt.Stringer { return idtype.ShortID(randomNumber(r)) }),
	idtype.SchemeEightByte: schemeOf(idtype.Parse[idtype.EightByteID], func(r *rand.Rand) fmt.Stringer {
		return idtype.EightByteFromUint64(1 + r.Uint64()>>r.IntN(64))
	}),
	idtype.SchemeSno: schemeOf(idtype.Parse[idtype.SnoID], func(r *rand.Rand) fmt.Stringer {
		var id idtype.SnoID
		for i := r.IntN(len(id)); i < len(id); i++ {
			id[i] = byte(1 + r.IntN(255))
		}
		return id
	}),
}

// worked are texts at the edges of the domains.
var workedTexts = []string{
	"", "0", "1", "9", "10", "01", "+1", "-1", "1.0", "1e3", " 1", "1 ", "1\n", "\n1", "１",
	"9223372036854775806", "9223372036854775807", "9223372036854775808", "9223372036854775799",
	"9223372036854775817", "9300000000000000000", "9999999999999999999", "10000000000000000000",
	"999999999999999999", "8999999999999999999", "A", "B", "AB", "BA", "AAB", "AAA", "AAAB",
	"__H________", "__I________", "__A________", "__B________", "____________", "(0)",
	"xinaS8QBh", "0000000000000000", "0000000000000001", "ffffffffffffffff", "FFFFFFFFFFFFFFFF",
	"2222222222222222", "2222222222222223", "xxxxxxxxxxxxxxxx", "xxxxxxxxxxxxxxxy",
	"1000000000000000\n", "8fhmi7mfls62jp64", "8fhmi7mfls62jp6", "8fhmi7mfls62jp641", "ſſſ", "Kk",
}

// texts are of IDs, and of what is nearly one: a character more, less, or another.
func (s scheme) texts(r *rand.Rand) []string {
	all := append([]string{}, workedTexts...)
	const strange = "\x00\n\r -+._/=0129AaBbHhIiVvXxYyZz\u00e9\u0660\u2028"
	for range 3000 {
		text := []rune(s.random(r).String())
		all = append(all, string(text))
		at := r.IntN(len(text) + 1)
		other := []rune(strange)[r.IntN(len([]rune(strange)))]
		all = append(all, string(text[:at])+string(other)+string(text[at:]))
		if at < len(text) {
			all = append(all, string(text[:at])+string(text[at+1:]),
				string(text[:at])+string(other)+string(text[at+1:]))
		}
	}
	for range 3000 { // numbers near the largest
		all = append(all, fmt.Sprint(uint64(math.MaxInt64)-500+r.Uint64N(1000)))
	}
	return all
}

// A case is a text, and whether Parse takes it.
type schemaCase struct {
	Type string `json:"type"`
	Text string `json:"text"`
	OK   bool   `json:"ok"`
}

func schemaCases(t *testing.T) (all []schemaCase) {
	t.Helper()
	r := rand.New(rand.NewPCG(20, 26))
	for _, typ := range schema.Types {
		s, ok := schemes[typ.Scheme]
		if !ok {
			t.Fatalf("nothing parses %s IDs", typ.Scheme)
		}
		good := 0
		for _, text := range s.texts(r) {
			_, err := s.parse(text)
			all = append(all, schemaCase{typ.Name, text, err == nil})
			if err == nil {
				good++
			}
		}
		if good < 3000 {
			t.Errorf("%s: only %d texts are IDs", typ.Scheme, good)
		}
	}
	return all
}

// The guards of TypeScript take what Parse takes, in Node. Esbuild reads the types, and leaves them
// out.
func TestSchemaTypeScript(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is missing: install Debian's package nodejs")
	}
	built := api.Transform(schema.TypeScript(schema.Types)+`
const user: DecimalID<"User"> | null = null;
export const taken = (id: DecimalID<"User"> | SnoID): string => id;
`, api.TransformOptions{Loader: api.LoaderTS, Format: api.FormatESModule})
	if len(built.Errors)+len(built.Warnings) > 0 {
		t.Fatalf("%v %v", built.Errors, built.Warnings)
	}
	all := schemaCases(t)
	data, err := json.Marshal(all)
	try(t, err)
	dir := t.TempDir()
	for name, content := range map[string]string{
		"ids.mjs": string(built.Code), "cases.json": string(data),
		"main.mjs": `import * as ids from "./ids.mjs";
import { readFileSync } from "node:fs";
const all = JSON.parse(readFileSync("cases.json", "utf8"));
for (const c of all) {
  if (ids["is" + c.type](c.text) !== c.ok) console.log("differs", JSON.stringify(c));
}
for (const other of [1, null, undefined, {}, ["1"], 10000000001n]) {
  if (ids.isDecimalID(other)) console.log("takes", other);
}
console.log(all.length);
`,
	} {
		try(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	cmd := exec.Command("node", "main.mjs")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != fmt.Sprintln(len(all)) {
		t.Errorf("%.2000s %v", out, err)
	}
}

// The document has what OpenAPI 3.0 asks of one, and nothing else. A pattern takes what Parse takes,
// and the lengths are those of the shortest and the longest ID.
func TestSchemaOpenAPI(t *testing.T) {
	t.Parallel()
	text, err := schema.OpenAPI(schema.Types)
	try(t, err)
	type property struct {
		Type, Description, Pattern, Example string
		MinLength, MaxLength                int
	}
	var document struct {
		OpenAPI    string
		Info       struct{ Title, Version string }
		Paths      map[string]struct{}
		Components struct{ Schemas map[string]property }
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	try(t, d.Decode(&document))
	schemas := document.Components.Schemas
	if document.OpenAPI != "3.0.3" || document.Info.Title == "" || document.Info.Version == "" ||
		document.Paths == nil || len(schemas) != len(schema.Types) {
		t.Errorf("%s", text)
	}
	patterns := map[string]*regexp.Regexp{}
	for _, typ := range schema.Types {
		s := schemas[typ.Name]
		patterns[typ.Name] = regexp.MustCompile(s.Pattern)
		if _, err := schemes[typ.Scheme].parse(s.Example); err != nil || s.Type != "string" ||
			s.Description == "" {
			t.Errorf("%s: %+v, %v", typ.Name, s, err)
		}
	}
	lengths := map[string][]int{} // of IDs
	for _, c := range schemaCases(t) {
		s, n := schemas[c.Type], len([]rune(c.Text))
		got := patterns[c.Type].MatchString(c.Text)
		if got != c.OK || got && (n < s.MinLength || n > s.MaxLength) {
			t.Errorf("%s %q: the schema says %v, Parse says %v", c.Type, c.Text, got, c.OK)
		}
		if c.OK {
			lengths[c.Type] = append(lengths[c.Type], n)
		}
	}
	for name, s := range schemas {
		if slices.Min(lengths[name]) != s.MinLength || slices.Max(lengths[name]) != s.MaxLength {
			t.Errorf("%s: no ID is as short or as long as the type says", name)
		}
	}
}

// Protocol Buffers write and read a field's JSON as Go does an ID's.
func TestSchemaProtobuf(t *testing.T) {
	t.Parallel()
	files, err := (&protocompile.Compiler{
		Resolver: &protocompile.SourceResolver{
			Accessor: protocompile.SourceAccessorFromMap(map[string]string{
				"ids.proto": schema.Protobuf(schema.Types),
			}),
		},
	}).Compile(t.Context(), "ids.proto")
	try(t, err)
	message := files[0].Messages().ByName("IDs")
	r := rand.New(rand.NewPCG(20, 26))
	for _, typ := range schema.Types {
		field := message.Fields().ByName(protoreflect.Name(typ.Scheme + "_id"))
		for range 100 {
			id, err := schemes[typ.Scheme].parse(schemes[typ.Scheme].random(r).String())
			try(t, err)
			inGo, err := id.MarshalJSON()
			try(t, err)
			read := dynamicpb.NewMessage(message)
			text := fmt.Sprintf(`{"%s":%s}`, field.JSONName(), inGo)
			if err := protojson.Unmarshal([]byte(text), read); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			written, err := protojson.Marshal(read)
			if err != nil || strings.ReplaceAll(string(written), " ", "") != text {
				t.Errorf("%s, %v; want %s", written, err, text)
			}
			if field.Kind() != protoreflect.StringKind && fmt.Sprint(read.Get(field).Int()) !=
				fmt.Sprint(id) {
				t.Errorf("%v is %v", id, read.Get(field))
			}
		}
	}
}
