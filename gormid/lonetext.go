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

// GORM treats a text without arguments as SQL, unless strconv.Atoi accepts it. Thus "50000000001\n"
// from a file becomes WHERE 50000000001, which is true for every row.

// noise matches what may occur in a value, or hides what GORM writes after it: comments, strings,
// and words that begin with a digit. A dash also begins such a word at the beginning of the text,
// because a short ID may begin with one.
var noise = pattern(`(?is)^-[-\w]+$|--[^\n]*|#[^\n]*|/\*.*?(?:\*/|$)|` +
	`(?:[a-z]|u&|_[a-z0-9]+)?'(?:\\.|[^'])*(?:'|$)|"[^"]*(?:"|$)|\pN[-\pL\pN_.]*`)

// pattern compiles an expression when it is first needed, because that takes some time.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// looksLikeSQL reports whether a text without arguments has a name or an equals sign outside of
// noise. A text with a NUL is not SQL, because SQLite reads the statement only up to there.
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

// loneText returns a condition on the key for a text that is the only condition. It binds the exact
// text of an ID, leaves SQL unchanged, and rejects the rest, which a database would evaluate as
// arithmetic without an error. A text that may be a column is SQL, except for the 16 characters of
// an ID of bytes. A plain number only gets here from gorm.Expr, where it is meant as SQL, because
// GORM itself turns a text with a number into a condition on the key.
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
			id = b.refuse(fmt.Errorf("the condition %q is a single value, but the primary key has "+
				"several columns: name one, as in Where(\"column\", value)", text))
		case err != nil:
			id = b.refuse(conditionError(field.Name, err))
		}
		column := clause.Column{Table: clause.CurrentTable, Name: field.DBName}
		return clause.Eq{Column: column, Value: id}
	}
	return nil
}
