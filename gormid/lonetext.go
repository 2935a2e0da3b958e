package gormid

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// GORM takes a text by itself for SQL, unless strconv.Atoi takes it. So "50000000001\n" from a file
// becomes WHERE 50000000001, and that is true of every row.

// noise is what stands in a value, or hides what GORM writes behind it: comments, strings, and
// words that begin with a digit. A dash begins such a word where it begins the text, because a
// short ID may begin with one.
var noise = pattern(`(?is)^-[-\w]+$|--[^\n]*|#[^\n]*|/\*.*?(?:\*/|$)|` +
	`(?:[a-z]|u&|_[a-z0-9]+)?'(?:\\.|[^'])*(?:'|$)|"[^"]*(?:"|$)|\pN[-\pL\pN_.]*`)

// pattern is compiled when it is needed first, because that takes some time.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// looksLikeSQL reports whether a text by itself has a name or an equals sign outside of noise. A
// text with a NUL is no SQL: SQLite reads the statement up to there.
func looksLikeSQL(s *schema.Schema, text string) bool {
	rest := noise().ReplaceAllStringFunc(text, func(found string) string {
		if found[0] == '"' && s.LookUpField(strings.Trim(found, `"`)) != nil {
			return "column"
		}
		return " "
	})
	isName := func(r rune) bool { return r == '_' || r == '=' || unicode.IsLetter(r) }
	return !strings.Contains(text, "\x00") && strings.ContainsFunc(rest, isName)
}

// loneText makes a condition for the key of a text that is the only condition. It binds the exact
// text of an ID, leaves SQL alone, and refuses the rest: a database would read arithmetic, and be
// content. What may be a column is SQL, with one exception: the 16 characters of an ID of bytes. A
// plain number arrives here from gorm.Expr alone, and is meant as SQL: of a text with one GORM
// makes a condition for the key.
func (b *builder) loneText(e clause.Expr) clause.Expression {
	s, text := b.stmt.Schema, e.SQL
	isTemplate := len(e.Vars) != 0 && strings.Contains(text, "?") && !strings.Contains(text, "\x00")
	if _, err := strconv.Atoi(text); !b.loneTexts || s == nil || isTemplate || err == nil {
		return nil
	}
	for _, field := range s.PrimaryFields {
		t, ok := targetOf(field)
		if !ok {
			continue
		}
		id, err := t.ofText(text)
		isKey := err == nil && t.typ.Kind() == reflect.Array && s.LookUpField(text) == nil
		switch {
		case !isKey && looksLikeSQL(s, text):
			return nil
		case len(s.PrimaryFields) > 1:
			id = b.refuse(fmt.Errorf("the condition %q is a value alone, and the primary key has "+
				"several columns: name one, as in Where(\"column\", value)", text))
		case err != nil:
			id = b.refuse(conditionError(field.Name, err))
		}
		column := clause.Column{Table: clause.CurrentTable, Name: field.DBName}
		return clause.Eq{Column: column, Value: id}
	}
	return nil
}
