package pgxid

import (
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/idmint/idmint/idtype"
)

// storageOf is the form in which a column holds values of the type: an ID, a pointer to one, or a wrapper of one, which is a struct
// that begins with it.
func storageOf(t reflect.Type) (idtype.Storage, bool) {
	for t != nil {
		if ids, ok := codecOf(t); ok {
			return ids.Storage(), true
		}
		switch {
		case t.Kind() == reflect.Pointer:
			t = t.Elem()
		case t.Kind() == reflect.Struct && t.NumField() != 0 && isColumn(t):
			t = t.Field(0).Type
		default:
			return "", false
		}
	}
	return "", false
}

// wrappers are the packages that wrap IDs. What others make of a struct that has one is their own.
var wrappers = map[string]bool{"database/sql": true, idPackage: true, strings.TrimSuffix(idPackage, "idtype") + "sqlid": true}

var idPackage = reflect.TypeFor[idtype.DecimalID]().PkgPath()

func isColumn(t reflect.Type) bool {
	return wrappers[t.PkgPath()] && t.Implements(reflect.TypeFor[driver.Valuer]()) && reflect.PointerTo(t).Implements(reflect.TypeFor[sql.Scanner]())
}

// The forms as types, for pgx knows by a value's type which array it is where the server does not say.
type (
	bigint struct{}
	bytes  struct{}
	uuid   struct{}
	text   struct{}
)

type getter = pgtype.ArrayGetter

// An array is an array of IDs whose columns have the form F.
type array[F any] struct{ getter }

func newArray[F any](g getter) any { return array[F]{g} }

var arrays = map[idtype.Storage]func(getter) any{
	idtype.StorageBigint: newArray[bigint], idtype.StorageBytes: newArray[bytes],
	idtype.StorageUUID: newArray[uuid], idtype.StorageText: newArray[text],
}

// wrapArray recognises slices of IDs, and pgx's own types of arrays of IDs.
func wrapArray(value any) (pgtype.WrappedEncodePlanNextSetter, any, bool) {
	g, element, ok := getterOf(value)
	if !ok {
		return nil, nil, false
	}
	form, ok := storageOf(element)
	if !ok {
		return nil, nil, false
	}
	of := arrays[form]
	if t := reflect.TypeOf(value); isFlat(t) {
		return &int8sPlan{arrayPlan: arrayPlan{of: of}, typ: t}, of(g), true
	}
	return &arrayPlan{of: of}, of(g), true
}

// isFlat recognises slices of IDs that are integers.
func isFlat(t reflect.Type) bool {
	if t.Kind() != reflect.Slice || t.Elem().Kind() != reflect.Int64 {
		return false
	}
	_, ok := codecOf(t.Elem())
	return ok
}

func getterOf(value any) (g getter, element reflect.Type, ok bool) {
	v := reflect.ValueOf(value)
	switch v.Kind() {
	case reflect.Slice:
		return slice{v}, v.Type().Elem(), true
	case reflect.Struct:
		if _, own := value.(interface{ isArray() }); own { // there is no way to write it as the column's type
			return nil, nil, false
		}
		if g, ok = value.(getter); ok {
			return g, reflect.TypeOf(g.IndexType()), true
		}
	}
	return nil, nil, false
}

func (array[F]) isArray() {}

type arrayPlan struct {
	of   func(getter) any
	next pgtype.EncodePlan
}

func (p *arrayPlan) SetNext(next pgtype.EncodePlan) { p.next = next }

func (p *arrayPlan) Encode(value any, buf []byte) ([]byte, error) {
	g, _, _ := getterOf(value)
	buf, err := p.next.Encode(p.of(g), buf)
	if err != nil {
		return nil, atElement(g, err)
	}
	return buf, nil
}

// atElement adds to an error which element of an array is refused: pgx does not say.
func atElement(g getter, err error) error {
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

// A slice hands out pointers to its elements: an element as any would be an allocation.
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

// An idRange is a range of IDs: pgx's own type under a name that says so.
type idRange struct{ pgtype.RangeValuer }

// wrapRange recognises ranges of IDs that are integers: PostgreSQL has no ranges of the other forms.
func wrapRange(value any) (pgtype.WrappedEncodePlanNextSetter, any, bool) {
	r, ok := value.(pgtype.RangeValuer)
	if _, own := value.(idRange); !ok || own || reflect.TypeOf(value).Kind() != reflect.Struct {
		return nil, nil, false
	}
	lower, _ := r.Bounds()
	if form, ok := storageOf(reflect.TypeOf(lower)); !ok || form != idtype.StorageBigint {
		return nil, nil, false
	}
	return &rangePlan{}, idRange{r}, true
}

type rangePlan struct{ next pgtype.EncodePlan }

func (p *rangePlan) SetNext(next pgtype.EncodePlan) { p.next = next }

func (p *rangePlan) Encode(value any, buf []byte) ([]byte, error) {
	return p.next.Encode(idRange{value.(pgtype.RangeValuer)}, buf)
}

// An int8sPlan writes flat slices at one go where the array is in binary, which it is where pgx writes one of a single ID just so.
type int8sPlan struct {
	arrayPlan
	typ    reflect.Type
	binary bool
}

func (p *int8sPlan) SetNext(next pgtype.EncodePlan) {
	p.next = next
	one := reflect.MakeSlice(p.typ, 1, 1)
	one.Index(0).SetInt(1)
	theirs, err := next.Encode(p.of(slice{one}), nil)
	ours, ok := appendInt8s(nil, one)
	p.binary = err == nil && ok && string(ours) == string(theirs)
}

func (p *int8sPlan) Encode(value any, buf []byte) ([]byte, error) {
	if p.binary {
		if buf, ok := appendInt8s(buf, reflect.ValueOf(value)); ok {
			return buf, nil
		}
	}
	return p.arrayPlan.Encode(value, buf)
}

// A slicePlan reads an array in binary at one go, where it is a flat one of good IDs. For all else it has pgx's own plan.
type slicePlan struct {
	pgtype.WrappedScanPlanNextSetter
}

// wrapSlice recognises pointers to slices of IDs that are integers.
func wrapSlice(dst any) (pgtype.WrappedScanPlanNextSetter, any, bool) {
	if t := reflect.TypeOf(dst); t.Kind() != reflect.Pointer || !isFlat(t.Elem()) {
		return nil, nil, false
	}
	next, nextDst, ok := pgtype.TryWrapPtrSliceScanPlan(dst)
	return slicePlan{next}, nextDst, ok
}

func (p slicePlan) Scan(src []byte, dst any) error {
	v := reflect.ValueOf(dst).Elem()
	if ids, ok := readInt8s(src, v.Type()); ok {
		v.Set(ids)
		return nil
	}
	return p.WrappedScanPlanNextSetter.Scan(src, dst)
}

// The binary form of an array is numbers of 32 bits, then the elements, each after its size. No text begins with a zero byte.
const (
	arrayHeader = 20 // dimensions, whether there is a NULL, the elements' type, the length, the first index
	arrayStride = 4 + 8
)

// appendInt8s writes a flat array of bigints, unless it is empty or one is not positive.
func appendInt8s(buf []byte, ids reflect.Value) ([]byte, bool) {
	n := ids.Len()
	buf = slices.Grow(buf, arrayHeader+n*arrayStride)
	for _, v := range [...]uint32{1, 0, pgtype.Int8OID, uint32(n), 1} {
		buf = binary.BigEndian.AppendUint32(buf, v)
	}
	for i := range n {
		v := ids.Index(i).Int()
		if v <= 0 {
			return nil, false
		}
		buf = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(buf, 8), uint64(v))
	}
	return buf, n != 0
}

// readInt8s reads a flat array of bigints that are positive.
func readInt8s(src []byte, t reflect.Type) (ids reflect.Value, ok bool) {
	number := func(at int) uint32 { return binary.BigEndian.Uint32(src[at:]) }
	if len(src) < arrayHeader || number(0) != 1 || number(8) != pgtype.Int8OID {
		return ids, false
	}
	n := (len(src) - arrayHeader) / arrayStride
	if uint64(number(12)) != uint64(n) || arrayHeader+n*arrayStride != len(src) {
		return ids, false
	}
	ids = reflect.MakeSlice(t, n, n)
	src = src[arrayHeader:]
	for i := range n {
		v := int64(binary.BigEndian.Uint64(src[4:]))
		if number(0) != 8 || v <= 0 {
			return ids, false
		}
		ids.Index(i).SetInt(v)
		src = src[arrayStride:]
	}
	return ids, true
}
