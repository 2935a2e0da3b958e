package idmint_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
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

	"publicid.ErrPrefix": "InputError", "publicid.ErrCheck": "InputError",
	"publicid.ErrKey": "InputError",

	"generator.ErrRepeated":    "NumberError",
	"generator.NotBeforeError": "NumberError",
	"generator.ErrClockBehind": "ClockError", "generator.ErrClockStopped": "ClockError",
	"generator.ErrMaxWait": "ClockError", "generator.notBefore": "ClockError",
	"generator.ask": "NumberError: a number that is given has no window that passes",

	"clickhouse.ErrNoTable": "TableError",

	"gormid.zeroReason": "Error", "bunid.valueError": "Error",

	"launchlog.AttemptError": "nothing: it says what the store's error does",
	// Results of checks hold it.
	"zookeeperdoctor.refusedError": "a failure, or nothing",
	"checks.Examine":               "a doctor, which puts its package before the code",
	// A launchlog.Log calls the steps of a store, and puts its name before what they say.
	"memory.Store": "a Log's errors", "sqlite.Store": "a Log's errors",
	"postgres.Store": "a Log's errors", "mysql.Store": "a Log's errors",
}

// Every text of an error that leaves a library package begins with the package's name. So nobody
// has to guess where an error is from. Whoever shows errors to people can take the name off, by the
// error's type.
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
	if found < 100 {
		t.Errorf("%d errors: the test shows too little", found)
	}
}

// checkErrors looks at the texts of a package's errors. They are those of Error methods, those of
// sentinels, and those that exported functions return without a type of their own. It does not see
// what travels by parameters and functions without a name: tests of the packages look at that.
func checkErrors(t *testing.T, p string) (found int) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(p, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, said []string) {
		found++
		if within[path.Base(p)+"."+what] != "" {
			return
		}
		for _, text := range said {
			if !strings.HasPrefix(text, p+": ") && !strings.HasPrefix(text, path.Base(p)+": ") {
				t.Errorf("%s.%s does not begin with %q: %q", p, what, path.Base(p)+": ", text)
			}
		}
	}
	s := read(t, path.Base(p), names)
	for _, f := range s.functions {
		switch of := receiver(f); {
		case f.Name.Name == "Error" && of != "":
			check(of, s.texts(f, map[any]bool{}))
		case !f.Name.IsExported() || of != "" && !ast.IsExported(of):
		case of != "" && within[path.Base(p)+"."+of] != "":
		default:
			check(strings.TrimPrefix(of+"."+f.Name.Name, "."), s.texts(f, map[any]bool{}))
		}
	}
	for variable, values := range s.values {
		global := variable.Parent() != nil && variable.Parent().Parent() == types.Universe
		if global && strings.HasPrefix(variable.Name(), "Err") {
			check(variable.Name(), s.heads(values[0], map[any]bool{}))
		}
	}
	for _, name := range s.aliases {
		check(name, []string{"another package's text"})
	}
	return found
}

// A source is a package, as far as errors go.
type source struct {
	name      string
	info      types.Info
	functions map[types.Object]*ast.FuncDecl
	values    map[types.Object][]ast.Expr // that variables and constants get
	aliases   []string                    // of errors of other packages
}

// read reads the files of a package but its tests. What they import is left out.
func read(t *testing.T, pkg string, names []string) *source {
	t.Helper()
	var files []*ast.File
	set := token.NewFileSet()
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	s := &source{
		name: pkg,
		info: types.Info{
			Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		},
		functions: map[types.Object]*ast.FuncDecl{}, values: map[types.Object][]ast.Expr{},
	}
	blind := types.Config{Error: func(error) {}}
	_, _ = blind.Check("", set, files, &s.info)
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				s.functions[s.info.ObjectOf(n.Name)] = n
			case *ast.AssignStmt:
				for i, left := range n.Lhs {
					if is, ok := left.(*ast.Ident); ok && n.Tok != token.ADD_ASSIGN {
						s.assign(is, i, n.Rhs)
					}
				}
			case *ast.ValueSpec:
				for i, left := range n.Names {
					s.assign(left, i, n.Values)
				}
			case *ast.TypeSpec:
				if n.Assign.IsValid() && strings.HasSuffix(n.Name.Name, "Error") {
					s.aliases = append(s.aliases, n.Name.Name)
				}
			}
			return true
		})
	}
	return s
}

// assign notes a variable's value, the i-th of these. One value is a call that returns several.
func (s *source) assign(name *ast.Ident, i int, values []ast.Expr) {
	if len(values) == 1 {
		i = 0
	}
	if variable := s.info.ObjectOf(name); variable != nil && i < len(values) {
		s.values[variable] = append(s.values[variable], values[i])
	}
}

// texts are the beginnings of what a function may return. They are in the function itself, or in
// one of the package that it calls. "?" is for what it says by other means.
func (s *source) texts(f *ast.FuncDecl, seen map[any]bool) (all []string) {
	if seen[f] || f.Body == nil || f.Type.Results == nil || within[s.name+"."+f.Name.Name] != "" {
		return nil
	}
	seen[f] = true
	results := f.Type.Results.List
	last := results[len(results)-1]
	typ, ok := last.Type.(*ast.Ident)
	if !ok || typ.Name != "error" && f.Name.Name != "Error" {
		return nil
	}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			var returned ast.Expr
			if len(n.Results) != 0 {
				returned = n.Results[len(n.Results)-1]
			} else if len(last.Names) != 0 {
				returned = last.Names[len(last.Names)-1]
			}
			heads := s.heads(returned, seen)
			if len(heads) == 0 && f.Name.Name == "Error" {
				heads = []string{"?"}
			}
			all = append(all, heads...)
		}
		return true
	})
	return all
}

// heads are the beginnings of the texts that an expression may have.
func (s *source) heads(e ast.Expr, seen map[any]bool) (all []string) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return []string{text}
		}
	case *ast.BinaryExpr:
		return s.heads(e.X, seen)
	case *ast.Ident:
		variable := s.info.ObjectOf(e)
		if seen[variable] {
			return nil
		}
		seen[variable] = true
		for _, value := range s.values[variable] {
			all = append(all, s.heads(value, seen)...)
		}
	case *ast.CallExpr:
		of, name := called(e)
		switch {
		case name == nil:
		case of+name.Name == "errors.New", of+name.Name == "fmt.Sprintf":
			return s.heads(e.Args[0], seen)
		case of+name.Name == "errors.Join":
			for _, arg := range e.Args {
				all = append(all, s.heads(arg, seen)...)
			}
		case of+name.Name == "fmt.Errorf":
			all = s.heads(e.Args[0], seen)
			if len(all) == 1 && strings.HasPrefix(all[0], "%w") {
				return s.heads(e.Args[1], seen)
			}
		default:
			if f, ok := s.info.ObjectOf(name).(*types.Func); ok && s.functions[f.Origin()] != nil {
				return s.texts(s.functions[f.Origin()], seen)
			}
		}
	}
	return all
}

// called is the name of what is called, behind that of what it is a part of.
func called(e *ast.CallExpr) (of string, name *ast.Ident) {
	fun := e.Fun
	if generic, ok := fun.(*ast.IndexExpr); ok {
		fun = generic.X
	}
	switch fun := fun.(type) {
	case *ast.Ident:
		return "", fun
	case *ast.SelectorExpr:
		if x, ok := fun.X.(*ast.Ident); ok {
			of = x.Name + "."
		}
		return of, fun.Sel
	}
	return "", nil
}

func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	t := d.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if generic, ok := t.(*ast.IndexExpr); ok {
		t = generic.X
	}
	if name, ok := t.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}
