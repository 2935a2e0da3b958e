package bunid

import (
	"context"
	"reflect"
	"strings"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"github.com/idmint/idmint/idtype"
)

// guard is a hook of all queries. It stops queries that must not be sent, and corrects the keys of
// rows with a conflict.
type guard struct{ dialect *dialectOfIDs }

var _ bun.QueryHook = guard{}

// BeforeQuery is called after the statement is written and before it is sent.
func (g guard) BeforeQuery(ctx context.Context, event *bun.QueryEvent) context.Context {
	table := ""
	if event.IQuery != nil {
		table = event.IQuery.GetTableName()
	}
	model, ok := event.Model.(bun.TableModel)
	if ok {
		if err := g.dialect.check(model.Table()); err != nil {
			return refusedContext{ctx, err}
		}
	}
	if reason := unwritten(event.Query); reason != "" {
		if err := g.dialect.named(reason); err != nil {
			return refusedContext{ctx, err}
		}
		return refusedContext{ctx, &Error{Table: table, Err: valueError(reason)}}
	}
	if _, insert := event.IQuery.(*bun.InsertQuery); insert && ok {
		if action := onConflict(event.Query); action != "" {
			if r := remember(model, action); r != nil {
				return context.WithValue(ctx, rowsKey{}, r)
			}
		}
	}
	return ctx
}

// AfterQuery is called after the rows of RETURNING are read.
func (guard) AfterQuery(ctx context.Context, event *bun.QueryEvent) {
	r, ok := ctx.Value(rowsKey{}).(*rows)
	if !ok {
		return
	}
	returned := int64(0)
	if event.Err == nil && event.Result != nil {
		returned, _ = event.Result.RowsAffected()
	}
	r.correct(int(returned), event.Err)
}

// unwritten finds the error ?!(…) that bun writes in place of a value, and returns its text. It
// ignores such a text within a literal, which is the user's. Outside of literals the number of
// preceding quotes is even, because bun doubles quotes in literals.
func unwritten(query string) string {
	const mark = "?!("
	for from := 0; ; {
		i := strings.Index(query[from:], mark)
		if i < 0 {
			return ""
		}
		from += i + len(mark)
		if strings.Count(query[:from], "'")%2 == 0 {
			return inBrackets(query[from:])
		}
	}
}

// inBrackets returns the text before the closing bracket. The rest holds other values, which must
// not be shown. Errors quote their input as Go does.
func inBrackets(s string) string {
	depth, quoted := 1, false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quoted:
			i++
		case s[i] == '"':
			quoted = !quoted
		case quoted:
		case s[i] == '(':
			depth++
		case s[i] == ')':
			if depth--; depth == 0 {
				return s[:i]
			}
		}
	}
	return "its error is incomplete"
}

// A valueError is the text of an error about a value.
type valueError string

func (e valueError) Error() string { return "a value cannot be written: " + string(e) }

func (e valueError) Unwrap() error {
	if strings.Contains(string(e), idtype.ErrZero.Error()) {
		return idtype.ErrZero
	}
	return nil
}

// A refusedContext has ended with an error, so that a DB and a transaction of database/sql send
// nothing and return the error. A hook has no other way to stop a query. A Conn sends the query
// nevertheless, which is why it is also invalid SQL.
type refusedContext struct {
	context.Context
	err error
}

var ended = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

func (refusedContext) Done() <-chan struct{} { return ended }
func (c refusedContext) Err() error          { return c.err }

// onConflict returns what follows CONFLICT in an INSERT, in upper case, or "" without ON CONFLICT.
// Every second part between quotes is SQL, and the others are values, because bun doubles quotes in
// literals.
func onConflict(query string) string {
	var words strings.Builder
	for i, part := range strings.Split(query, "'") {
		if i%2 == 0 {
			words.WriteString(strings.ToUpper(part))
		}
	}
	_, action, _ := strings.Cut(words.String(), " CONFLICT")
	return action
}

type rowsKey struct{} // in the context of a query

// rows holds the rows of an INSERT as they were before it. On a conflict bun assigns the rows that
// the database returns to the first structs, even if they belong to others, and shortens the slice.
type rows struct {
	key     *schema.Field
	slice   reflect.Value   // settable; invalid for a single struct
	header  reflect.Value   // a copy of slice
	sent    int             // rows of the statement: structs and nils
	structs []reflect.Value // settable
	nils    []reflect.Value // the slice's elements that are nil
	before  []reflect.Value // copies of structs
	updates bool            // a conflict may update the existing row
}

// remember copies the rows, and then sets their keys to zero, which is possible because the
// statement is already written. A key that the statement does not return is then zero rather than
// wrong. It returns nil for a model without a key that is an ID.
func remember(model bun.TableModel, action string) *rows {
	t := model.Table()
	if !hasKey(t) {
		return nil
	}
	r := &rows{key: t.PKs[0], updates: strings.Contains(action, "DO UPDATE")}
	v := reflect.ValueOf(model.Value())
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Struct:
		r.sent, r.structs = 1, []reflect.Value{v}
	case reflect.Slice:
		r.sent, r.slice, r.header = v.Len(), v, reflect.ValueOf(v.Interface())
		for i := range v.Len() {
			row := v.Index(i)
			for row.Kind() == reflect.Pointer || row.Kind() == reflect.Interface {
				row = row.Elem()
			}
			if !row.IsValid() { // the query sets all its values
				r.nils = append(r.nils, v.Index(i))
				continue
			}
			r.structs = append(r.structs, row)
		}
	}
	for _, row := range r.structs {
		before := reflect.New(row.Type()).Elem()
		before.Set(row)
		r.before = append(r.before, before)
		r.key.Value(row).SetZero()
	}
	return r
}

// correct sets the key of each struct to the key of its row in the table, or to zero if that is
// unknown. Count is how many rows the database returned or, without RETURNING, stored.
func (r *rows) correct(count int, err error) {
	returned := map[any]bool{}
	for _, row := range r.structs[:min(count, len(r.structs))] {
		if key := r.key.Value(row); !key.IsZero() {
			returned[key.Interface()] = true
		}
	}
	complete := err == nil && count == r.sent
	if complete && len(returned) > 0 {
		return // each struct has its own key
	}
	if r.slice.IsValid() {
		r.slice.Set(r.header)
	}
	for _, element := range r.nils {
		element.SetZero()
	}
	for i, row := range r.structs {
		row.Set(r.before[i])
		key := r.key.Value(row)
		if err != nil || complete && !r.updates || returned[key.Interface()] {
			continue // nothing is stored, or everything is, or this row
		}
		key.SetZero()
	}
}
