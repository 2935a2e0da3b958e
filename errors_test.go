package idmint_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// within names what an error comes in that leaves the package's name to that: a typed error of the
// package, or what a call adds.
var within = map[string]string{
	"idtype.ErrZero": "InputError", "idtype.ErrNull": "InputError",
	"idtype.ErrTraceTime":    "InputError",
	"idtype.ErrSpanInverted": "SpanError", "idtype.ErrSpanPeriod": "SpanError",
	"generator.ErrRepeated": "NumberError",
	"generator.ErrNotMade":  "NumberError", "generator.NotBeforeError": "NumberError",
	"generator.PanicError": "NumberError", "generator.ErrClockBehind": "ClockError",
	"generator.ErrClockStopped": "ClockError", "generator.ErrMaxWait": "ClockError",
	"clickhouse.ErrCompact": "TableError", "clickhouse.ErrNoRows": "TableError",
	"clickhouse.ErrNoColumn": "TableError",
	"launchlog.AttemptError": "nothing: it says what the store's error does",
}

// Every exported error of a library package begins with the package's name. So whoever shows errors to
// people can take it off, by the type that it is of, and nobody has to guess where an error is from.
func TestErrorsNameTheirPackage(t *testing.T) {
	found := 0
	seen := map[string]bool{}
	for _, f := range fences {
		for _, p := range f.packages {
			if !seen[p] && !strings.Contains("/"+p, "/internal/") && !strings.HasPrefix(p, "cmd/") {
				found += checkErrors(t, p)
			}
			seen[p] = true
		}
	}
	if found < 30 {
		t.Errorf("%d errors: the test shows too little", found)
	}
}

// checkErrors looks at the exported sentinels and types of errors in a package's files.
func checkErrors(t *testing.T, p string) (found int) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(p, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string][]string{} // what the Error methods of types say, by the type
	sentinels := map[string]ast.Expr{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.Name == "Error" && d.Recv != nil {
					texts[receiver(d)] = literals(d.Body)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					v, ok := spec.(*ast.ValueSpec)
					if ok && d.Tok == token.VAR && strings.HasPrefix(v.Names[0].Name, "Err") {
						sentinels[v.Names[0].Name] = v.Values[0]
					}
				}
			}
		}
	}
	check := func(what string, said []string) {
		found++
		if within[path.Base(p)+"."+what] != "" {
			return
		}
		for _, text := range said {
			if strings.HasPrefix(text, p+": ") || strings.HasPrefix(text, path.Base(p)+": ") {
				return
			}
		}
		t.Errorf("%s.%s does not begin with %q: %q", p, what, path.Base(p)+": ", said)
	}
	for name, said := range texts {
		if ast.IsExported(name) {
			check(name, said)
		}
	}
	for name, value := range sentinels {
		said := literals(value)
		if call, ok := value.(*ast.CallExpr); ok {
			if of, ok := call.Fun.(*ast.Ident); ok {
				said = append(said, texts[of.Name]...)
			}
		}
		check(name, said)
	}
	return found
}

func receiver(d *ast.FuncDecl) string {
	t := d.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if name, ok := t.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

// literals are the texts in a piece of code.
func literals(n ast.Node) (all []string) {
	ast.Inspect(n, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil {
				all = append(all, text)
			}
		}
		return true
	})
	return all
}
