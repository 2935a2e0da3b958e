package pgxid

import (
	"database/sql"
	"database/sql/driver"
	"fmt"
	"reflect"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/keys"
)

// formJSON is the form of a column that holds the JSON of IDs.
const formJSON idtype.Storage = "json"

// forms are PostgreSQL's types, and what IDs they hold without a change. A type of another name,
// such as float8, holds none.
var forms = map[string]idtype.Storage{
	"int8": idtype.StorageBigint, "bytea": idtype.StorageBytes, "uuid": idtype.StorageUUID,
	"json": formJSON, "jsonb": formJSON,
	// Varying and padded characters hold texts as text does.
	"text": idtype.StorageText, "varchar": idtype.StorageText, "bpchar": idtype.StorageText,
	"name": idtype.StorageText, "citext": idtype.StorageText, "unknown": idtype.StorageText,
	// Other integers hold those IDs that fit; pgx refuses the others.
	"int2": idtype.StorageBigint, "int4": idtype.StorageBigint, "numeric": idtype.StorageBigint,
	"oid": idtype.StorageBigint, "oid8": idtype.StorageBigint, "xid": idtype.StorageBigint,
	"xid8": idtype.StorageBigint, "cid": idtype.StorageBigint,
}

// A codec is another codec that knows IDs as well. It changes nothing for other types. pgx asks
// nobody before a codec. It asks the codec before it sees that a type is a driver.Valuer or
// sql.Scanner.
type codec struct {
	pgtype.Codec
	name   string         // of PostgreSQL's type
	form   idtype.Storage // of the IDs that it holds
	direct [2]bool        // whether a format is that of a direct plan
}

func newCodec(t *pgtype.Type) *codec {
	form := forms[t.Name]
	c := &codec{Codec: t.Codec, name: t.Name, form: form}
	switch {
	case t.Name == "int8", form == idtype.StorageBytes, form == idtype.StorageUUID:
		c.direct[pgtype.BinaryFormatCode] = true
	case form == idtype.StorageText: // in either format it is the text
		c.direct = [2]bool{true, true}
	}
	return c
}

func (c *codec) isDirect(format int16) bool {
	return uint16(format) < uint16(len(c.direct)) && c.direct[format]
}

// PlanEncode has a plan for IDs in binary and in JSON. In text pgx's own plan, by Value, is as
// good. IDs of another form are refused. pgx would fill up 8 or 10 bytes to a UUID, and round
// integers to floats.
func (c *codec) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	t := reflect.TypeOf(value)
	if isSlice(t) {
		if c.form == formJSON || c.form == idtype.StorageText && c.name != "name" { // it cuts off
			return c.Codec.PlanEncode(m, oid, format, value)
		}
		return refusal{c.name, formList}
	}
	k, ok := idOf(t)
	switch {
	case !ok:
		return c.Codec.PlanEncode(m, oid, format, value)
	case c.form == formJSON:
		return jsonPlan{version: c.name == "jsonb" && format == pgtype.BinaryFormatCode}
	case k.form != c.form:
		return refusal{c.name, k.form}
	case c.isDirect(format) && (t == k.typ || t == reflect.PointerTo(k.typ)):
		return k.direct
	}
	return c.Codec.PlanEncode(m, oid, format, value)
}

// PlanScan has a plan for IDs in binary and in JSON. In text pgx's own plan, by Scan, is as good. A
// value of a column of another form is refused, unless it can only mean the ID.
func (c *codec) PlanScan(m *pgtype.Map, oid uint32, format int16, dst any) pgtype.ScanPlan {
	t := reflect.TypeOf(dst)
	k, ok := idOf(t)
	if !ok || t.Kind() != reflect.Pointer {
		return c.Codec.PlanScan(m, oid, format, dst)
	}
	if c.form == formJSON {
		return jsonPlan{version: c.name == "jsonb" && format == pgtype.BinaryFormatCode}
	}
	if t.Elem().Kind() == reflect.Pointer { // pgx asks again for what it points to
		return c.Codec.PlanScan(m, oid, format, dst)
	}
	switch {
	case k.form == c.form && c.isDirect(format) && t.Elem() == k.typ:
		return k.direct
	case k.form == c.form, c.form == idtype.StorageText && k.textIsDistinct:
		return c.Codec.PlanScan(m, oid, format, dst)
	case c.form == idtype.StorageText && k.form == idtype.StorageBytes:
		return textPlan{c.name}
	default:
		return &unfit{c, m, oid, format, k.form}
	}
}

// A StorageError is returned for an ID as a parameter where the column has another form. It is also
// returned for a value of such a column where the destination is an ID.
type StorageError struct {
	Type   string         // of the parameter or the destination in Go
	Value  string         // the ID, its wrapper, or what the column holds
	Want   idtype.Storage // the form of the ID
	Column string         // PostgreSQL's name of the column's type
}

func (e *StorageError) Error() string {
	return fmt.Sprintf("pgxid: %.40q as %s: the ID is stored as %s: the column is %s: "+
		"declare the key with another form, cast the column, or use the ID's text",
		e.Value, e.Type, e.Want, e.Column)
}

// typeName is the type of a parameter, or of what a destination points to, without the paths of
// packages.
func typeName(v any) string {
	t := reflect.TypeOf(v)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return keys.TypeName(t)
}

// A refusal is the plan for a parameter that the column does not hold.
type refusal struct {
	column string
	want   idtype.Storage
}

func (r refusal) Encode(value any, _ []byte) ([]byte, error) {
	if valuer, ok := value.(driver.Valuer); ok {
		if plain, err := valuer.Value(); err == nil && plain == nil {
			return nil, nil // NULL, which every column holds
		}
	}
	return nil, &StorageError{typeName(value), fmt.Sprint(value), r.want, r.column}
}

// unfit is the plan for an ID from a column that does not hold it. NULL is NULL in any column: the
// server calls the type of a NULL without one text.
type unfit struct {
	column *codec
	m      *pgtype.Map
	oid    uint32
	format int16
	want   idtype.Storage
}

func (u *unfit) Scan(src []byte, dst any) error {
	if src == nil {
		return dst.(sql.Scanner).Scan(nil)
	}
	value := string(src)
	if u.format == pgtype.BinaryFormatCode {
		v, err := u.column.DecodeDatabaseSQLValue(u.m, u.oid, u.format, src)
		if _, raw := v.([]byte); !raw && err == nil {
			value = fmt.Sprint(v)
		}
	}
	return &StorageError{typeName(dst), value, u.want, u.column.name}
}

// A textPlan reads IDs that are bytes from a text of 16 characters, which is theirs, or of 36 for a
// UUID. As many characters as they have bytes are no ID.
type textPlan struct{ column string }

func (p textPlan) Scan(src []byte, dst any) error {
	switch {
	case src == nil:
		return dst.(sql.Scanner).Scan(nil)
	case len(src) != textLen && len(src) != uuidLen, len(src) == textLen && isUUID(dst):
		return &StorageError{typeName(dst), string(src), idtype.StorageBytes, p.column}
	}
	return dst.(sql.Scanner).Scan(string(src))
}

// isUUID reports whether a destination is for IDs of 16 bytes, or for a wrapper of one.
func isUUID(dst any) bool {
	k, ok := idOf(reflect.TypeOf(dst))
	return ok && k.typ.Len() == textLen
}

const (
	textLen = 16 // of the text of an ID that is bytes
	uuidLen = 36 // and of a UUID
)
