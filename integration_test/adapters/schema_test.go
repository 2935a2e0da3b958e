package adapters_test

import (
	"bytes"
	"encoding/json"
	"fmt"
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
	"github.com/idmint/idmint/internal/schemes"
)

// parse decides about a text.
func parse(scheme idtype.Scheme, text string) (schemes.ID, error) {
	i := slices.IndexFunc(schemes.All(), func(s schemes.Scheme) bool { return s.Name() == scheme })
	return schemes.All()[i].Parse(schemes.Text, text)
}

// near are a text, and those that have a character more, less or another.
func near(text string) []string {
	all := []string{text}
	runes := []rune(text)
	for at := range len(runes) + 1 {
		before, after := string(runes[:at]), string(runes[at:])
		rest := string(runes[min(at+1, len(runes)):])
		all = append(all, before+rest)
		for _, c := range "\n -+._/012789AaBbHIVvXxYy\u00e9\u0660ſK" {
			all = append(all, before+string(c)+after, before+string(c)+rest)
		}
	}
	return all
}

// A case is a text, and whether Parse takes it.
type schemaCase struct {
	Type string `json:"type"`
	Text string `json:"text"`
	OK   bool   `json:"ok"`
}

// schemaCases are the texts of vectors, and what is near some.
func schemaCases(t *testing.T) (all []schemaCase) {
	t.Helper()
	for _, typ := range schema.Types() {
		file := readVectors(t, string(typ.Scheme))
		texts := append(near("9223372036854775807"), near("__H________")...)
		for i, v := range slices.Concat(file.Invalid, file.Older, file.Valid) {
			texts = append(texts, v.Text)
			if i < len(file.Invalid)+10 {
				texts = append(texts, near(v.Text)...)
			}
		}
		for _, text := range texts {
			_, err := parse(typ.Scheme, text)
			all = append(all, schemaCase{typ.Name, text, err == nil})
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
	built := api.Transform(schema.TypeScript(schema.Types())+`
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
	text, err := schema.OpenAPI(schema.Types())
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
		document.Paths == nil || len(schemas) != len(schema.Types()) {
		t.Errorf("%s", text)
	}
	patterns := map[string]*regexp.Regexp{}
	for _, typ := range schema.Types() {
		s := schemas[typ.Name]
		patterns[typ.Name] = regexp.MustCompile(s.Pattern)
		if _, err := parse(typ.Scheme, s.Example); err != nil || s.Type != "string" ||
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
				"ids.proto": schema.Protobuf(schema.Types()),
			}),
		},
	}).Compile(t.Context(), "ids.proto")
	try(t, err)
	message := files[0].Messages().ByName("IDs")
	for _, typ := range schema.Types() {
		field := message.Fields().ByName(protoreflect.Name(typ.Scheme + "_id"))
		for _, v := range readVectors(t, string(typ.Scheme)).Valid {
			id, err := parse(typ.Scheme, v.Text)
			try(t, err)
			inGo, err := json.Marshal(id.Value())
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
			if field.Kind() != protoreflect.StringKind && fmt.Sprint(read.Get(field).Int()) != v.Text {
				t.Errorf("%s is %v", v.Text, read.Get(field))
			}
		}
	}
}

// A vector is a case of docs/design/vectors, whose README says what the fields mean.
type vector struct {
	Source, Text, Number, Hex, UUID string
	Parts                           map[string]any // json.Number or string
}

// A vectorFile has the cases of a scheme that tests of this folder ask for.
type vectorFile struct {
	Valid, Older, Invalid []vector
	Bounds                []struct {
		From, To int64 // Unix milliseconds
		Ranges   []struct{ Min, Max string }
	}
	Times []struct {
		Text   string
		Around int64
		Times  []string
	}
}

func readVectors(t *testing.T, scheme string) (file vectorFile) {
	t.Helper()
	f, err := os.Open("../../docs/design/vectors/" + scheme + ".json")
	try(t, err)
	defer f.Close()
	d := json.NewDecoder(f)
	d.UseNumber()
	try(t, d.Decode(&file))
	return file
}
