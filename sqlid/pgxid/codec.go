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

// formJSON is the form of a column that holds IDs as JSON.
const formJSON idtype.Storage = "json"

// forms maps PostgreSQL's types to the form of IDs that they hold without changing them. Other
// types, such as float8, hold no IDs.
var forms = map[string]idtype.Storage{
	"int8": idtype.StorageBigint, "bytea": idtype.StorageBytes, "uuid": idtype.StorageUUID,
	"json": formJSON, "jsonb": formJSON,
	// Varying and padded characters store texts in the same way as text.
	"text": idtype.StorageText, "varchar": idtype.StorageText, "bpchar": idtype.StorageText,
	"name": idtype.StorageText, "citext": idtype.StorageText, "unknown": idtype.StorageText,
	// Other integer types hold the IDs that fit; pgx rejects all others.
	"int2": idtype.StorageBigint, "int4": idtype.StorageBigint, "numeric": idtype.StorageBigint,
	"oid": idtype.StorageBigint, "oid8": idtype.StorageBigint, "xid": idtype.StorageBigint,
	"xid8": idtype.StorageBigint, "cid": idtype.StorageBigint,
}

// A codec adds IDs to another codec, whose other types it does not change. The codec is what pgx
// asks first, even before it checks whether a type is a driver.Valuer or sql.Scanner.
type codec struct {
	pgtype.Codec
	name   string         // the name of PostgreSQL's type
	form   idtype.Storage // the form of the IDs that it holds
	direct [2]bool        // formats with a direct plan
}

func newCodec(t *pgtype.Type) *codec {
	form := forms[t.Name]
	c := &codec{Codec: t.Codec, name: t.Name, form: form}
	switch {
	case t.Name == "int8", form == idtype.StorageBytes, form == idtype.StorageUUID:
		c.direct[pgtype.BinaryFormatCode] = true
	case form == idtype.StorageText: // both formats are the text
		c.direct = [2]bool{true, true}
	}
	return c
}

func (c *codec) isDirect(format int16) bool {
	return uint16(format) < uint16(len(c.direct)) && c.direct[format]
}

// PlanEncode returns a plan for IDs in the binary format and in JSON. In the text format pgx's own
// plan, which calls Value, is just as good. IDs of another form are rejected, because pgx would pad
// 8 or 10 bytes to a UUID and round integers to floats.
func (c *codec) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	t := reflect.TypeOf(value)
	if isSlice(t) {
		// The type name truncates texts.
		if c.form == formJSON || c.form == idtype.StorageText && c.name != "name" {
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

// PlanScan returns a plan for IDs in the binary format and in JSON. In the text format pgx's own
// plan, which calls Scan, is just as good. Values from a column of another form are rejected,
// unless they can only mean the ID.
func (c *codec) PlanScan(m *pgtype.Map, oid uint32, format int16, dst any) pgtype.ScanPlan {
	t := reflect.TypeOf(dst)
	k, ok := idOf(t)
	if !ok || t.Kind() != reflect.Pointer {
		return c.Codec.PlanScan(m, oid, format, dst)
	}
	if c.form == formJSON {
		return jsonPlan{version: c.name == "jsonb" && format == pgtype.BinaryFormatCode}
	}
	if t.Elem().Kind() == reflect.Pointer { // pgx asks again for the inner pointer
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

// A StorageError is returned if an ID is the parameter for a column of another form, or the
// destination for a value from such a column.
type StorageError struct {
	Type   string         // the Go type of the parameter or the destination
	Value  string         // the ID, its wrapper, or the column's value
	Want   idtype.Storage // the form of the ID
	Column string         // the type of the column in PostgreSQL
}

func (e *StorageError) Error() string {
	return fmt.Sprintf("pgxid: %.40q as %s: the ID is stored as %s, but the column is %s: "+
		"declare the key with another form, cast the column, or use the ID's text",
		e.Value, e.Type, e.Want, e.Column)
}

// typeName returns the type of a parameter, or the type that a destination points to, without the
// import paths.
func typeName(v any) string {
	t := reflect.TypeOf(v)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return keys.TypeName(t)
}

// A refusal is the plan for a parameter that the column cannot hold.
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

// unfit is the plan for reading an ID from a column that cannot hold it. NULL is accepted from any
// column, because the server gives the type text to a NULL without a type.
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

// A textPlan reads byte IDs from a text column: the 16 characters of their text, or the 36
// characters of a UUID. A text with as many characters as the ID has bytes is rejected.
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

// isUUID reports whether a destination is for IDs of 16 bytes, or for a wrapper of such an ID.
func isUUID(dst any) bool {
	k, ok := idOf(reflect.TypeOf(dst))
	return ok && k.typ.Len() == textLen
}

const (
	textLen = 16 // characters in the text of a byte ID
	uuidLen = 36 // characters in the text of a UUID
)
