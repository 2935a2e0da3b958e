package gormid

import (
	"errors"
	"reflect"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// An [idtype.Slice] is one parameter, a text of JSON. GORM's users write it where GORM wants a
// list, and the comparison with a text is true of no row, or of all. In conditions that GORM builds
// it becomes the list. In SQL that the caller wrote the plugin sees the text before the parameter.

var errSliceInSQL = errors.New("an idtype.Slice is one text of JSON: " +
	"give IN ? a []ID, or take the text apart, as json_each(?) does")

// beforeMark is the SQL before the i-th question mark.
func beforeMark(sql string, i int) string {
	for at, c := range []byte(sql) {
		if c == '?' {
			if i == 0 {
				return sql[:at]
			}
			i--
		}
	}
	return ""
}

// comparesIDs reports whether SQL ends with the parenthesis after a comparison with a column of
// IDs.
func (b *builder) comparesIDs(sql string) bool {
	compared := inParentheses().FindStringSubmatch(sql)
	if compared == nil {
		return false
	}
	_, isID := targetOf(b.field(compared[1]))
	return isID
}

var (
	inParentheses = pattern(
		"(?i)([\\w.\"`]+)\\s*(?:=|<>|!=|\\bNOT\\s+IN|\\bIN)\\s*\\(\\s*$")
	inList     = pattern(`(?i)\bIN\s*\(?\s*$`)
	anyOf      = pattern(`(?i)\b(?:ANY|ALL|SOME)\s*\(\s*$`)
	comparison = pattern("([\\w.\"`]+)\\s*(?:=|<>|!=|<|>|<=|>=)\\s*$")
)

func afterIN(sql string) bool { return inList().MatchString(sql) }

// isListWanted reports whether SQL that ends so goes on with a list, or with a value of a column of
// IDs.
func isListWanted(stmt *gorm.Statement, sql string) bool {
	if afterIN(sql) || anyOf().MatchString(sql) {
		return true
	}
	compared := comparison().FindStringSubmatch(sql)
	if compared == nil {
		return false
	}
	_, isID := targetOf((&builder{stmt: stmt}).field(compared[1]))
	return isID
}

// BindVarTo refuses an idtype.Slice where it is no list.
func (d dialector) BindVarTo(writer clause.Writer, stmt *gorm.Statement, v any) {
	if len(stmt.Vars) != 0 && isSlice(v) {
		sql := stmt.SQL.String()
		if text, ok := writer.(*strings.Builder); ok {
			sql = text.String()
		}
		if isListWanted(stmt, tail(sql)) {
			b := &builder{stmt: stmt, silent: true} // Raw does not know yet what it is for
			stmt.Vars[len(stmt.Vars)-1] = b.refuse(errSliceInSQL)
		}
	}
	d.Dialector.BindVarTo(writer, stmt, v)
}

// tail is the end of a statement, which may be long.
func tail(sql string) string { return sql[max(0, len(sql)-100):] }

func indirectType(v any) reflect.Type {
	t := reflect.TypeOf(v)
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}
