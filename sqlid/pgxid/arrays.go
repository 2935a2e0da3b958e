package pgxid

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/idmint/idmint/idtype"
)

// The forms as types. If the server does not report which array it wants, pgx chooses by the type
// of the value.
type (
	bigint struct{}
	raw    struct{}
	uuid   struct{}
	text   struct{}
	ranges struct{}
)

// Two more forms, which no column of an ID has.
const (
	formRange idtype.Storage = "int8range"
	formList  idtype.Storage = "an array or JSON"
)

type getter = pgtype.ArrayGetter

// An array is an array of IDs that are stored in the form F.
type array[F any] struct{ getter }

func newArray[F any](g getter) any { return array[F]{g} }

var arrays = map[idtype.Storage]func(getter) any{
	idtype.StorageBigint: newArray[bigint], idtype.StorageBytes: newArray[raw],
	idtype.StorageUUID: newArray[uuid], idtype.StorageText: newArray[text],
	formRange: newArray[ranges],
}

// A list is an array if the server reports that it wants one. Otherwise a Slice is sent as JSON,
// because an array would become {1,2} in a text column, and {} in a JSON column.
type list struct{ getter }

func newList(g getter) any { return list{g} }

// registerArray makes t the element type of its arrays in a map. pgx recognizes array codecs by
// their type, so the codec of the array has to remain pgx's own.
func registerArray(m *pgtype.Map, t *pgtype.Type) {
	array, known := m.TypeForName("_" + t.Name)
	if !known {
		return
	}
	if c, ok := array.Codec.(*pgtype.ArrayCodec); ok {
		of := *c
		of.ElementType = t
		m.RegisterType(&pgtype.Type{Name: array.Name, OID: array.OID, Codec: &of})
	}
}

// wrapArray recognizes slices of IDs, and pgx's own types for arrays of IDs.
func wrapArray(value any) (pgtype.WrappedEncodePlanNextSetter, any, bool) {
	g, element, ok := getterOf(value)
	if !ok {
		return nil, nil, false
	}
	form, ok := elementForm(element)
	if !ok {
		return nil, nil, false
	}
	of := arrays[form]
	if isSlice(reflect.TypeOf(value)) {
		of = newList
	}
	return &arrayPlan{of: of}, of(g), true
}

// getterOf returns the getter for slices, slices of slices, Go's arrays, and pgx's own types.
func getterOf(value any) (g getter, element reflect.Type, ok bool) {
	v := reflect.ValueOf(value)
	var theirs any
	switch v.Kind() {
	case reflect.Slice:
		if isNested(v.Type()) {
			n := newNested(v)
			return n, n.element, true
		}
		return slice{v}, v.Type().Elem(), true
	case reflect.Array:
		_, theirs, _ = pgtype.TryWrapArrayEncodePlan(value)
	case reflect.Struct:
		// Our own types get here if they cannot be written as the column's type.
		if _, own := value.(interface{ isOurs() }); own {
			return nil, nil, false
		}
		theirs = value
	}
	if g, ok = theirs.(getter); ok {
		return g, reflect.TypeOf(g.IndexType()), true
	}
	return nil, nil, false
}

func (array[F]) isOurs() {}
func (list) isOurs()     {}

type arrayPlan struct {
	of   func(getter) any
	next pgtype.EncodePlan
}

func (p *arrayPlan) SetNext(next pgtype.EncodePlan) { p.next = next }

func (p *arrayPlan) Encode(value any, buf []byte) ([]byte, error) {
	g, _, _ := getterOf(value)
	if n, ok := g.(*nested); ok && n.ragged {
		return nil, errRagged
	}
	buf, err := p.next.Encode(p.of(g), buf)
	if err != nil {
		return nil, atElement(g, err)
	}
	return buf, nil
}

// atElement adds to an error what pgx leaves out: the index of the rejected element, or the fact
// that the column is an array.
func atElement(g getter, err error) error {
	var form *StorageError
	if errors.As(err, &form) {
		return &StorageError{form.Type, form.Value, form.Want, form.Column + "[]"}
	}
	n := 0
	if dimensions := g.Dimensions(); len(dimensions) != 0 {
		n = 1
		for _, d := range dimensions {
			n *= int(d.Length)
		}
	}
	for i := range n {
		v := reflect.ValueOf(g.Index(i))
		if !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
			continue
		}
		if id, ok := v.Interface().(driver.Valuer); ok {
			if _, refused := id.Value(); refused != nil {
				return fmt.Errorf("pgxid: element %d: %w", i, err)
			}
		}
	}
	return err
}

// To pgx, bytes are a list of numbers, which it would write into an array column. For a byte ID,
// pgx first asks such a column for a loneBytes, which no other column accepts.
type loneBytes struct{ getter }

func (loneBytes) IndexType() any { return nil }
func (loneBytes) isOurs()        {}

func wrapBytes(value any) (pgtype.WrappedEncodePlanNextSetter, any, bool) {
	if form, ok := storageOf(reflect.TypeOf(value)); !ok || form != idtype.StorageBytes {
		return nil, nil, false
	}
	return &refusedBytes{refusal{"an array", idtype.StorageBytes}}, loneBytes{}, true
}

type refusedBytes struct{ refusal }

func (*refusedBytes) SetNext(pgtype.EncodePlan) {}

// A slice returns pointers to its elements, because converting an element to any would allocate.
type slice struct{ v reflect.Value }

func (s slice) Dimensions() []pgtype.ArrayDimension {
	if s.v.IsNil() {
		return nil
	}
	return []pgtype.ArrayDimension{{Length: int32(s.v.Len()), LowerBound: 1}}
}

func (s slice) Index(i int) any {
	e := s.v.Index(i)
	if e.Kind() != reflect.Pointer {
		e = e.Addr()
	}
	return e.Interface()
}

func (s slice) IndexType() any { return reflect.Zero(s.v.Type().Elem()).Interface() }

// A nested represents slices of slices, which form one array of several dimensions. pgx's own
// version of this omits elements of [][][]int64{{{1}}, {{2, 3}}}.
type nested struct {
	dimensions []pgtype.ArrayDimension // nil is NULL
	leaves     []slice                 // the innermost slices, all of one length
	element    reflect.Type
	ragged     bool
}

var errRagged = errors.New("pgxid: an array of several dimensions has slices of unequal length: " +
	"PostgreSQL requires equal lengths")

func isNested(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Slice && !isSlice(t.Elem())
}

func newNested(v reflect.Value) *nested {
	n := &nested{}
	for n.element = v.Type(); isNested(n.element); {
		n.element = n.element.Elem()
	}
	n.element = n.element.Elem()
	if !v.IsNil() {
		n.add(v, 0)
	}
	return n
}

func (n *nested) add(v reflect.Value, depth int) {
	if depth == len(n.dimensions) {
		d := pgtype.ArrayDimension{Length: int32(v.Len()), LowerBound: 1}
		n.dimensions = append(n.dimensions, d)
	}
	n.ragged = n.ragged || int(n.dimensions[depth].Length) != v.Len()
	if !isNested(v.Type()) {
		n.leaves = append(n.leaves, slice{v})
		return
	}
	for i := range v.Len() {
		n.add(v.Index(i), depth+1)
	}
}

func (n *nested) Dimensions() []pgtype.ArrayDimension { return n.dimensions }

func (n *nested) Index(i int) any {
	width := n.leaves[0].v.Len()
	return n.leaves[i/width].Index(i % width)
}

func (n *nested) IndexType() any { return reflect.Zero(n.element).Interface() }
