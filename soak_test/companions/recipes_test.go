package companions

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// swag writes string for the keys of docs/use/http.md.
func TestSwag(t *testing.T) {
	dir := scratch(t, map[string]string{
		"go.mod": "", "main.go": read(t, "testdata/swag/main.go"), ".swaggo": recipe(t, "swaggo"),
	})
	run(t, dir, "mod", "tidy")
	run(t, dir, "vet", ".")
	run(t, dir, "run", "github.com/swaggo/swag/cmd/swag@v1.16.6", "init", "--outputTypes", "json")
	type schema struct {
		Type       string
		Items      *schema
		Properties map[string]*schema
	}
	var api struct {
		Definitions map[string]*schema
	}
	text := read(t, filepath.Join(dir, "docs", "swagger.json"))
	if err := json.Unmarshal([]byte(text), &api); err != nil {
		t.Fatal(err)
	}
	user := api.Definitions["main.User"]
	if user == nil || len(user.Properties) != 5 || len(api.Definitions) != 1 {
		t.Fatal(text)
	}
	for name, property := range user.Properties {
		if property.Items != nil {
			property = property.Items
		}
		if property.Type != "string" {
			t.Errorf("%s is of type %q, want string", name, property.Type)
		}
	}
}

// gqlgen generates code for the keys of two entities, by the recipe of docs/use/http.md.
func TestGqlgen(t *testing.T) {
	ids := "package shop\n\nimport (\n\t\"github.com/99designs/gqlgen/graphql\"\n\n" +
		"\t\"github.com/idmint/idmint/idtype\"\n)\n\n" + recipe(t, "go")
	dir := scratch(t, map[string]string{
		"go.mod": "require github.com/99designs/gqlgen v0.17.98\n\n" +
			"tool github.com/99designs/gqlgen\n",
		"ids.go":         ids,
		"shop.go":        read(t, "testdata/gqlgen/shop.go"),
		"shop.graphql":   read(t, "testdata/gqlgen/shop.graphql"),
		"gqlgen.yml":     read(t, "testdata/gqlgen/gqlgen.yml") + recipe(t, "yaml"),
		"server/main.go": read(t, "testdata/gqlgen/main.go"),
		"graph/doc.go":   "package graph\n", // is generated
	})
	run(t, dir, "mod", "tidy")
	run(t, dir, "tool", "gqlgen", "generate")
	queries := map[string]string{ // and the answer
		`{ user(id: \"10000000001\") { id orders { id } } }`: `{"data":{"user":{"id":"10000000001",` +
			`"orders":[{"id":"20000000001"}]}}}`,
		`{ user(id: 10000000001) { id } }`: `{"data":{"user":{"id":"10000000001"}}}`,
		`{ user(id: \"+1\") { id } }`:      `"message":"idtype: \"+1\" as DecimalID: `,
		`{ user(id: 0) { id } }`:           `"message":"idtype: \"0\" as DecimalID: `,
		`{ order(id: \"1\") { id } }`:      `"message":"cannot return null for non-null field Order.id`,
	}
	args := []string{"run", "./server"}
	order := slices.Sorted(maps.Keys(queries))
	for _, query := range order {
		args = append(args, `{"query": "`+query+`"}`)
	}
	answers := strings.Split(strings.TrimSpace(run(t, dir, args...)), "\n")
	if len(answers) != len(order) {
		t.Fatalf("%q", answers)
	}
	for i, query := range order {
		if !strings.Contains(answers[i], queries[query]) {
			t.Errorf("%s: %s, want %s", query, answers[i], queries[query])
		}
	}
}

// recipe returns the block of docs/use/http.md in a language.
func recipe(t *testing.T, language string) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/use/http.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(page), "\n```"+language+"\n")
	block, _, closed := strings.Cut(rest, "```\n")
	if !ok || !closed {
		t.Fatalf("docs/use/http.md has no block of %s", language)
	}
	return block
}
