// Package vet finds mistakes with IDs of idmint that compile, and that tests do not reveal if their
// keys are small numbers. It is an analyzer for go vet:
//
//	go install ./cmd/idmintvet # in this folder of a checkout
//	go vet -vettool=$(which idmintvet) ./...
//
// It reports:
//
//   - a conversion of an ID to an integer or a float that cannot hold every ID;
//   - the remainder of an ID, or its low bits, because these are the same for all IDs of a
//     generator;
//   - a comparison of an ID with a constant other than zero, including by switch;
//   - an assertion of testify, or reflect.DeepEqual, on an ID and a value of another type;
//   - an ID converted from a number that strconv has parsed, because strconv accepts texts that are
//     not IDs;
//   - GORM's tag autoIncrement on an ID, because the database would then number the rows;
//   - JSON's option omitempty on an ID that is an array or a struct, because it never omits these.
package vet

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

// Analyzer reports the mistakes that the package documentation lists.
var Analyzer = &analysis.Analyzer{
	Name:     "idmint",
	Doc:      "find mistakes with IDs of idmint that compile",
	URL:      "https://pkg.go.dev/github.com/idmint/idmint/vet",
	Requires: []*analysis.Analyzer{inspect.Analyzer},
	Run:      run,
}

const idtype = "github.com/idmint/idmint/idtype"

func run(pass *analysis.Pass) (any, error) {
	c := checker{pass, map[types.Object]string{}, map[types.Object]types.Type{}}
	in := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector)
	in.Preorder([]ast.Node{(*ast.AssignStmt)(nil)}, func(n ast.Node) {
		c.assign(n.(*ast.AssignStmt))
	})
	in.Preorder([]ast.Node{
		(*ast.CallExpr)(nil), (*ast.BinaryExpr)(nil), (*ast.StructType)(nil),
		(*ast.SwitchStmt)(nil),
	}, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.CallExpr:
			if pass.TypesInfo.Types[n.Fun].IsType() {
				c.conversion(n)
			} else {
				c.call(n)
			}
		case *ast.BinaryExpr:
			c.binary(n)
		case *ast.StructType:
			c.tags(n)
		case *ast.SwitchStmt:
			c.cases(n)
		}
	})
	return nil, nil
}

type checker struct {
	*analysis.Pass
	read map[types.Object]string     // variables set by a function of strconv, with its name
	ids  map[types.Object]types.Type // variables with an ID as a plain integer, with its type
}

// named returns a type's name if it is declared in package idtype.
func named(t types.Type) (name string, ok bool) {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil || n.Obj().Pkg().Path() != idtype {
		return "", false
	}
	return n.Obj().Name(), true
}

// isID reports whether t is an ID, which is a type of package idtype with a scheme.
func isID(t types.Type) bool {
	if _, ok := named(t); !ok {
		return false
	}
	scheme, _, _ := types.LookupFieldOrMethod(t, false, nil, "Scheme")
	_, isMethod := scheme.(*types.Func)
	return isMethod
}

// isInteger reports whether t is an ID that is an integer.
func isInteger(t types.Type) bool {
	basic, ok := t.Underlying().(*types.Basic)
	return ok && isID(t) && basic.Info()&types.IsInteger != 0
}

func (c checker) typeOf(e ast.Expr) types.Type { return c.TypesInfo.TypeOf(e) }

func (c checker) name(t types.Type) string {
	return types.TypeString(t, types.RelativeTo(c.Pkg))
}

// assign records variables that are set by strconv, and variables that are declared as an ID's
// integer.
func (c checker) assign(n *ast.AssignStmt) {
	if len(n.Rhs) != 1 {
		return
	}
	if n.Tok == token.REM_ASSIGN && c.idIn(n.Lhs[0]) != nil {
		c.remainder(n.TokPos)
	}
	call, isCall := n.Rhs[0].(*ast.CallExpr)
	id, isName := n.Lhs[0].(*ast.Ident)
	if !isCall || !isName {
		return
	}
	v := c.TypesInfo.ObjectOf(id)
	if name := c.strconv(call); name != "" && v != nil {
		c.read[v] = name
	}
	if t := c.idIn(call); t != nil && v != nil && n.Tok == token.DEFINE {
		c.ids[v] = t
	}
}

// idIn returns the type of the ID that an expression is, or whose whole integer it is, or nil.
func (c checker) idIn(e ast.Expr) types.Type {
	t := c.typeOf(e)
	if t == nil || isInteger(t) {
		return t
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return c.ids[c.TypesInfo.ObjectOf(e)]
	case *ast.CallExpr:
		basic, ok := t.Underlying().(*types.Basic)
		if ok && basic.Info()&types.IsInteger != 0 && c.TypesSizes.Sizeof(t) == 8 &&
			len(e.Args) == 1 && c.TypesInfo.Types[e.Fun].IsType() {
			return c.idIn(e.Args[0])
		}
	}
	return nil
}

// strconv returns the name of a called function that parses a number, or "".
func (c checker) strconv(call *ast.CallExpr) string {
	f := typeutil.StaticCallee(c.TypesInfo, call)
	if f == nil || f.Pkg() == nil || f.Pkg().Path() != "strconv" ||
		!slices.Contains([]string{"Atoi", "ParseInt", "ParseUint"}, f.Name()) {
		return ""
	}
	return "strconv." + f.Name()
}

func (c checker) conversion(n *ast.CallExpr) {
	if len(n.Args) != 1 {
		return
	}
	from, to := c.idIn(n.Args[0]), c.typeOf(n)
	basic, isBasic := to.Underlying().(*types.Basic)
	switch {
	case from != nil && isBasic && basic.Info()&types.IsFloat != 0:
		c.Reportf(n.Pos(), "%s does not hold all IDs above 2^53: keep the %s",
			c.name(to), c.name(from))
	case from != nil && isBasic && basic.Info()&types.IsInteger != 0 &&
		c.TypesSizes.Sizeof(to) < 8:
		c.Reportf(n.Pos(), "%s does not hold an ID of 64 bits: keep the %s, or use an int64",
			c.name(to), c.name(from))
	case isInteger(to):
		if id, ok := c.within(n.Args[0]).(*ast.Ident); ok {
			if name := c.read[c.TypesInfo.ObjectOf(id)]; name != "" {
				c.Reportf(n.Pos(), "%s accepts texts that are not IDs: use idtype.Parse[%s]",
					name, c.name(to))
			}
		}
	}
}

// within returns the operand of conversions, such as id in int64(id), or else the expression.
func (c checker) within(e ast.Expr) ast.Expr {
	for {
		e = ast.Unparen(e)
		call, ok := e.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 || !c.TypesInfo.Types[call.Fun].IsType() {
			return e
		}
		e = call.Args[0]
	}
}

func (c checker) binary(n *ast.BinaryExpr) {
	switch n.Op {
	case token.REM:
		if c.idIn(n.X) != nil {
			c.remainder(n.OpPos)
		}
	case token.AND:
		if mask := c.TypesInfo.Types[n.Y].Value; c.idIn(n.X) != nil && mask != nil &&
			constant.Compare(mask, token.LSS, constant.MakeInt64(lowBits)) {
			c.remainder(n.OpPos)
		}
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
		value := c.TypesInfo.Types[n.Y].Value
		if value == nil {
			value = c.TypesInfo.Types[n.X].Value
		}
		isOf := func(e ast.Expr) bool { // a plain integer may well be compared with a bound
			isEquality := n.Op == token.EQL || n.Op == token.NEQ
			return isInteger(c.typeOf(e)) || c.idIn(e) != nil && isEquality
		}
		if isOf(n.X) || isOf(n.Y) {
			c.constant(n.OpPos, value)
		}
	}
}

// lowBits is above all masks of the ten lowest bits. IDs of a decimal generator differ by multiples
// of 10^10, whose ten lowest bits are zero.
const lowBits = 1 << 10

func (c checker) remainder(at token.Pos) {
	c.Reportf(at, "the remainder of an ID is not spread evenly: hash the ID's text instead")
}

func (c checker) constant(at token.Pos, value constant.Value) {
	if value != nil && constant.Sign(value) != 0 {
		c.Reportf(at, "an ID is compared with the constant %s: IDs of a generator are "+
			"not known in advance", value)
	}
}

func (c checker) cases(n *ast.SwitchStmt) {
	if n.Tag == nil || c.idIn(n.Tag) == nil {
		return
	}
	for _, clause := range n.Body.List {
		for _, e := range clause.(*ast.CaseClause).List {
			c.constant(e.Pos(), c.TypesInfo.Types[e].Value)
		}
	}
}

// call checks comparisons by reflection, which are false for values of two types.
func (c checker) call(n *ast.CallExpr) {
	f := typeutil.StaticCallee(c.TypesInfo, n)
	if f == nil || f.Pkg() == nil {
		return
	}
	args := n.Args
	switch path := f.Pkg().Path(); {
	case path == "reflect" && f.Name() == "DeepEqual":
	case strings.HasPrefix(path, "github.com/stretchr/testify/") && slices.Contains([]string{
		"Equal", "Equalf", "NotEqual", "NotEqualf", "Exactly", "Exactlyf",
	}, f.Name()):
		if f.Signature().Recv() == nil { // the first argument is the test
			args = args[min(1, len(args)):]
		}
	default:
		return
	}
	if len(args) < 2 {
		return
	}
	x, y := c.typeOf(args[0]), c.typeOf(args[1])
	if !isID(x) {
		x, y = y, x
	}
	if !isID(x) || types.IsInterface(y) || types.Identical(x, y) {
		return
	}
	always := "always fails"
	if strings.HasPrefix(f.Name(), "Not") {
		always = "never fails"
	} else if f.Name() == "DeepEqual" {
		always = "is always false"
	}
	c.Reportf(n.Pos(), "%s of a %s and a %s %s: convert one of them", f.Name(), c.name(x),
		c.name(y), always)
}

// tags checks the tags of fields.
func (c checker) tags(n *ast.StructType) {
	for _, field := range n.Fields.List {
		if field.Tag == nil {
			continue
		}
		tag := reflect.StructTag(strings.Trim(field.Tag.Value, "`"))
		t := c.typeOf(field.Type)
		plain := t
		if p, ok := t.Underlying().(*types.Pointer); ok {
			plain = p.Elem()
		}
		if isID(plain) && autoIncrements(tag.Get("gorm")) {
			c.Reportf(field.Tag.Pos(), "autoIncrement lets the database number the rows: "+
				"remove it, gormid assigns the %s", c.name(plain))
		}
		options := strings.Split(tag.Get("json"), ",")
		if slices.Contains(options[1:], "omitempty") && holdsID(t) {
			c.Reportf(field.Tag.Pos(), "omitempty never omits a value of type %s: use omitzero",
				c.name(t))
		}
	}
}

// holdsID reports whether t is an array that is an ID, or a struct that wraps one.
func holdsID(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Array:
		return isID(t)
	case *types.Struct:
		n, ok := types.Unalias(t).(*types.Named)
		return ok && n.TypeArgs().Len() == 1 && isID(n.TypeArgs().At(0))
	}
	return false
}

// autoIncrements reports whether a tag of GORM has the setting, and does not turn it off.
func autoIncrements(tag string) bool {
	for setting := range strings.SplitSeq(tag, ";") {
		name, value, _ := strings.Cut(strings.ToLower(setting), ":")
		if strings.TrimSpace(name) == "autoincrement" && strings.TrimSpace(value) != "false" {
			return true
		}
	}
	return false
}
