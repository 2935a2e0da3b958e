package gormid

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"gorm.io/gorm/clause"
)

// GORM takes a text by itself for SQL, unless strconv.Atoi takes it. So "50000000001\n" from a file
// becomes WHERE 50000000001, and that is true of every row. The plugin decides which texts are
// values and no SQL. It takes them for the key, or refuses them.

var (
	// aWord is what the text of an ID is made of, or a UUID.
	aWord = pattern(`^[-0-9A-Za-z_]+$`)
	// aName begins a name: to a database such a word is a column, and to GORM's users too.
	aName = pattern(`^[A-Za-z_]`)

	// A comment may follow a value, and hide what GORM writes behind it.
	comments = pattern(`(?s)--[^\n]*|#[^\n]*|/\*.*?(?:\*/|$)`)

	// values are words that begin with a digit. Around them stands anything but words. Between them
	// stands no operator. There may be none of them: then nothing is left that is a condition.
	values = func() func() *regexp.Regexp {
		const (
			around  = `[^\pL\pN_]*`
			between = `[^\pL\pN_=<>!+\-*/%&|^~@#?:$.]+[-+.]?`
			value   = `\pN(?:[eE]\+|[\pL\pN_.\-])*`
		)
		return pattern(
			`^` + around + `(?:` + value + `(?:` + between + value + `)*` + around + `)?$`)
	}()

	// aString is one string literal. Most databases read digits at its start as a number, and NOT
	// makes any other string true.
	aString = pattern(`(?is)^[^\pL\pN_'"]*` +
		`(?:[a-z]|u&|_[a-z0-9]+)?'(?:[^']|'')*'` + `[^\pL\pN_'"]*$`)
	// quotedValue is a string to SQLite and MySQL too, if it is no column's name.
	quotedValue = pattern(`^[^\pL\pN_'"]*` +
		`"(?:[^\pL_"][^"]*)?"` + `[^\pL\pN_'"]*$`)
)

// pattern is compiled when it is needed first: all of them take a millisecond.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// word makes a condition for the key of a text that is the only condition, and a value. It binds
// the exact text of an ID, and refuses the rest: a database would read arithmetic, and be content.
// It leaves alone what may be the name of a column, with one exception: the 16 characters of an ID
// of bytes. A plain number arrives here from gorm.Expr alone, and is meant as SQL: of a text with
// one GORM makes a condition for the key.
func (b *builder) word(e clause.Expr) clause.Expression {
	text := e.SQL
	s := b.stmt.Schema
	if !b.words || s == nil || text == "" || len(e.Vars) != 0 && strings.Contains(text, "?") {
		return nil
	}
	if _, err := strconv.Atoi(text); err == nil {
		return nil
	}
	bare := text
	if !aWord().MatchString(text) { // a word may have two dashes
		bare = comments().ReplaceAllString(text, " ")
	}
	for _, key := range s.PrimaryFields {
		t, ok := targetOf(key)
		if !ok {
			continue
		}
		core, isID := t.within(bare)
		switch {
		case aString().MatchString(text):
		case s.LookUpField(core) != nil:
			return nil
		case isID && (!aName().MatchString(core) || t.typ.Kind() == reflect.Array):
		case isID && strings.ContainsAny(text, `"'`):
		case !isValue(text, bare):
			return nil
		}
		id, err := t.ofText(text)
		switch {
		case len(s.PrimaryFields) > 1:
			id = b.refuse(fmt.Errorf("the condition %q is a value alone, and the primary key has "+
				"several columns: name one, as in Where(\"column\", value)", text))
		case err != nil && isID && text != `"`+core+`"`: // which the ID's own error explains
			err = fmt.Errorf("%w; %q in it is the text of an ID: give that alone", err, core)
			fallthrough
		case err != nil:
			id = b.refuse(conditionError(key.Name, err))
		}
		column := clause.Column{Table: clause.CurrentTable, Name: key.DBName}
		return clause.Eq{Column: column, Value: id}
	}
	return nil
}

// within is the word in a text, and whether that is the text of an ID.
func (t target) within(text string) (word string, isID bool) {
	word = strings.TrimFunc(text, func(r rune) bool { return !aWord().MatchString(string(r)) })
	if !aWord().MatchString(word) {
		return word, false
	}
	_, err := t.ofText(word)
	return word, err == nil
}

// isValue recognises a condition that has no name, no call, and no operator between two values.
// Bare is the text without comments.
func isValue(text, bare string) bool {
	if aWord().MatchString(text) {
		return !aName().MatchString(text)
	}
	return values().MatchString(bare) || aString().MatchString(bare) ||
		quotedValue().MatchString(bare) || quotedValue().MatchString(text)
}
