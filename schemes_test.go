package idmint_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// schemeLists are the files that name every scheme by its type or its name, with the exceptions.
// Nothing else misses a scheme in one of them.
var schemeLists = map[string][]string{
	"docs/design/formats.md": nil, "docs/design/js/layouts.js": nil,

	"idtype/formats/formats.go": {"sequence"}, // it has no parts
	"idtype/doc.go":             nil, "idtype/kinds_test.go": nil, "idtype/models_test.go": nil,
	"idtype/vectors_test.go": nil,

	"generator/doc.go": nil, "generator/zero_test.go": nil,
	// they carry no time
	"generator/schemes_test.go": {"decimal", "sequence"},
	"generator/window.go":       {"decimal", "sequence"},

	"internal/schemes/find_test.go": nil,

	"cmd/idmint/vectors_test.go":           {"sequence"}, // it has no vectors
	"cmd/idmint/testdata/script/new.txtar": nil,

	"integration_test/adapters/schema_test.go":              nil,
	"integration_test/adapters/functions_questions_test.go": {"sequence"},
	"integration_test/adapters/sql_columns_test.go":         nil,
	"integration_test/adapters/sql_driver_test.go":          nil,
	"integration_test/gorm/columns_test.go":                 nil,
	"integration_test/gorm/matrix_test.go":                  nil,
	"integration_test/gorm/schemes_test.go":                 {"decimal"}, // the suite's other tests use it
	"internal/chsuite/chsuite.go":                           nil,
	"sqlid/pgxid/pgxsuite/pgxsuite.go":                      nil,

	"cmd/idmint/measure/keys.go": nil,
	"bench/mint_test.go":         {"sequence"}, // as fast as its counter
	"bench/page/targets.go":      {"sequence", "trace"},
}

var schemeConstant = regexp.MustCompile(`(?m)^\tScheme\w+ +Scheme = "(\w+)"$`)

// TestEveryListHasEveryScheme reads the texts: most of these lists are of other packages' tests.
func TestEveryListHasEveryScheme(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	constants := schemeConstant.FindAllStringSubmatch(read("idtype/id.go"), -1)
	if len(constants) < 6 {
		t.Fatalf("only %d schemes in idtype/id.go", len(constants))
	}
	for file, exceptions := range schemeLists {
		text := strings.ToLower(read(file))
		for _, c := range constants {
			if !slices.Contains(exceptions, c[1]) && !strings.Contains(text, c[1]) {
				t.Errorf("%s does not name the scheme %s", file, c[1])
			}
		}
	}
}
