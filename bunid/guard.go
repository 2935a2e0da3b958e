package bunid

import (
	"context"
	"reflect"
	"strings"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"github.com/idmint/idmint/idtype"
)

// guard is a hook of all queries. It refuses those that must not be sent, and corrects the keys of
// rows that met a conflict.
type guard struct{ dialect *dialectOfIDs }

var _ bun.QueryHook = guard{}

// BeforeQuery is called when the statement is written, and before it is sent.
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

// AfterQuery is called when the rows of RETURNING were read.
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

// unwritten finds the error that bun writes in place of a value, ?!(…), and returns its text.
// Within a literal it is the user's. bun doubles quotes in literals, so outside of one their number is
// even.
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

// inBrackets returns what stands before the bracket that closes. The rest holds other values, which
// are not to be shown. Errors quote their input as Go does.
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
	return "no text of it is left"
}

// A valueError is the text of the error for a value.
type valueError string

func (e valueError) Error() string { return "a value cannot be written: " + string(e) }

func (e valueError) Unwrap() error {
	if strings.Contains(string(e), idtype.ErrZero.Error()) {
		return idtype.ErrZero
	}
	return nil
}

// A refusedContext has ended, for a reason of its own. A DB and a transaction of database/sql then
// send nothing, and return the reason. A Conn sends all the same, so what is refused is also invalid
// SQL. A hook has no other way to stop a query.
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

// onConflict returns what an INSERT does on a conflict, in upper case. Without one it returns "".
// bun doubles quotes in literals. So every second part between quotes is SQL, and the others are
// values.
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

// rows are those of an INSERT, as they were before it. On a conflict bun hands the rows that the
// database returns to the first structs, whichever they belong to, and cuts the slice.
type rows struct {
	key     *schema.Field
	slice   reflect.Value   // settable; invalid for a single struct
	header  reflect.Value   // a copy of slice
	sent    int             // rows of the statement: structs and nils
	structs []reflect.Value // settable
	nils    []reflect.Value // the slice's elements that are nil
	before  []reflect.Value // copies of structs
	updates bool            // on a conflict the row that is there may be updated
}

// remember copies the rows, and takes their keys away: the statement is written. So a key that the
// statement does not return is zero, and none is wrong. It returns nil for a model without a key
// that is an ID.
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
			if !row.IsValid() { // the query gives all its values
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

// correct gives each struct the key that its row has in the table, or zero where nobody knows. Of
// count rows the database says that they were returned or, without RETURNING, stored.
func (r *rows) correct(count int, err error) {
	returned := map[any]bool{}
	for _, row := range r.structs[:min(count, len(r.structs))] {
		if key := r.key.Value(row); !key.IsZero() {
			returned[key.Interface()] = true
		}
	}
	complete := err == nil && count == r.sent
	if complete && len(returned) > 0 {
		return // each has its own, in order
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
