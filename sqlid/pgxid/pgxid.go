// Package pgxid makes the ID types of package idtype types of pgx like int64: in binary, without a detour over database/sql, alone
// and in arrays, ranges, COPY and batches, in every query exec mode. It is apart from package sqlid so that whoever uses another
// database compiles no pgx.
//
// It is wired once, where connections are made:
//
//	config.AfterConnect = pgxid.AfterConnect                                             // pgxpool
//	db := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(pgxid.AfterConnect))          // database/sql
//	pgxid.Register(conn.TypeMap())                                                       // a single connection
//
// Typed keys of all entities then work without being named:
//
//	Go                                             PostgreSQL
//	UserID, *UserID                                bigint, bytea, uuid or text, as the key's idtype.Storage says
//	sql.Null, sqlid.Null, idtype.OrZero of UserID  the same
//	[]UserID, []*UserID, [] of the wrappers        an array of it: WHERE id = ANY($1)
//	idtype.Slice, pgtype.FlatArray, pgtype.Array   the same; a Slice that is nil is the text [] of an empty JSON array
//	pgtype.Range[UserID]                           int8range
//
// Zero is an error wherever it is a parameter, NULL wherever the destination is a plain ID. Errors of the IDs are those of package
// idtype, wrapped by pgx; only CopyFrom leaves of an error its text, because pgx has the server say it.
//
// Without the package IDs work too, through their Value and Scan, at a third of the speed; what does not is arrays and ranges as
// parameters in [pgx.QueryExecModeExec] and [pgx.QueryExecModeSimpleProtocol].
//
// What any, int64 and other types are read as and written from stays as it was. Behind PgBouncer in transaction mode every mode works
// that works there with int64: not [pgx.QueryExecModeDescribeExec] outside of a transaction, and [pgx.QueryExecModeCacheStatement]
// only where max_prepared_statements, of PgBouncer 1.21, is not 0.
package pgxid

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/idmint/idmint/idtype"
)

// AfterConnect is [Register] for the configuration of a pool. It never fails.
func AfterConnect(_ context.Context, conn *pgx.Conn) error {
	Register(conn.TypeMap())
	return nil
}

// forms are PostgreSQL's types, and what IDs they hold. Varying and padded characters hold texts as text does.
var forms = map[string]idtype.Storage{
	"int8": idtype.StorageBigint, "bytea": idtype.StorageBytes, "uuid": idtype.StorageUUID,
	"text": idtype.StorageText, "varchar": idtype.StorageText, "bpchar": idtype.StorageText,
}

// Register makes a connection's map know all ID types. To do it again changes nothing.
func Register(m *pgtype.Map) {
	for name, form := range forms {
		t, ok := m.TypeForName(name)
		if !ok {
			continue
		}
		if _, done := t.Codec.(codec); done {
			return
		}
		m.RegisterType(&pgtype.Type{Name: t.Name, OID: t.OID, Codec: codec{t.Codec, form, new(seen)}})
	}
	m.RegisterDefaultPgType(array[bigint]{}, "_int8")
	m.RegisterDefaultPgType(array[bytes]{}, "_bytea")
	m.RegisterDefaultPgType(array[uuid]{}, "_uuid")
	m.RegisterDefaultPgType(array[text]{}, "_text")
	m.RegisterDefaultPgType(idRange{}, "int8range")
	m.TryWrapEncodePlanFuncs = append([]pgtype.TryWrapEncodePlanFunc{wrapArray, wrapRange}, m.TryWrapEncodePlanFuncs...)
	m.TryWrapScanPlanFuncs = append([]pgtype.TryWrapScanPlanFunc{wrapSlice}, m.TryWrapScanPlanFuncs...)
}

// id is what IDs have.
type id interface {
	Codec() idtype.Codec
}

// A codec is another codec, which knows IDs as well: it says nothing new about other types. pgx asks a codec before it sees that a
// type is a driver.Valuer or sql.Scanner, and asks no one else before that.
type codec struct {
	pgtype.Codec
	form idtype.Storage
	seen *seen
}

// PlanEncode has a plan for IDs in binary. In text pgx's own, by Value, is as good. IDs of another form are refused: pgx would fill up
// 8 or 10 bytes to a UUID.
func (c codec) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	t := reflect.TypeOf(value)
	if form, ok := storageOf(t); ok && form != c.form {
		return refusal{c.form}
	}
	if ids, ok := codecOf(t); ok && format == pgtype.BinaryFormatCode {
		return ids
	}
	return c.Codec.PlanEncode(m, oid, format, value)
}

// A StorageError is returned for an ID as a parameter where the column has another form.
type StorageError struct {
	Value  string // the ID, or its wrapper
	Want   idtype.Storage
	Column idtype.Storage
}

func (e *StorageError) Error() string {
	return fmt.Sprintf("pgxid: %q is stored as %s: the column is %s", e.Value, e.Want, e.Column)
}

type refusal struct{ column idtype.Storage }

func (r refusal) Encode(value any, _ []byte) ([]byte, error) {
	form, _ := storageOf(reflect.TypeOf(value))
	return nil, &StorageError{fmt.Sprint(value), form, r.column}
}

// PlanScan has a plan for IDs in binary. In text pgx's own, by Scan, is as good.
func (c codec) PlanScan(m *pgtype.Map, oid uint32, format int16, dst any) pgtype.ScanPlan {
	if format == pgtype.BinaryFormatCode {
		t := reflect.TypeOf(dst)
		if plan := c.seen.plan(t); plan != nil {
			return plan
		}
		if ids, ok := codecOf(t); ok && ids.Storage() == c.form && t.Kind() == reflect.Pointer {
			c.seen.add(t, ids)
			return ids
		}
	}
	return c.Codec.PlanScan(m, oid, format, dst)
}

// codecOf is that of an ID type, or of a pointer to one. It asks no value: pgx plans for pointers that it is yet to make.
func codecOf(t reflect.Type) (idtype.Codec, bool) {
	if t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || !t.Implements(reflect.TypeFor[id]()) || t.Kind() == reflect.Pointer {
		return nil, false
	}
	return reflect.Zero(t).Interface().(id).Codec(), true
}

// seen are types that plans were asked for, which is every query: to find a type here takes a third of the time that it takes to ask
// the type. Connections may share it.
type seen struct {
	types atomic.Pointer[[]seenType]
}

type seenType struct {
	typ  reflect.Type
	plan pgtype.ScanPlan
}

const maxSeen = 8 // more are slower to find than to ask

func (s *seen) plan(t reflect.Type) pgtype.ScanPlan {
	if types := s.types.Load(); types != nil {
		for i := range *types {
			if (*types)[i].typ == t {
				return (*types)[i].plan
			}
		}
	}
	return nil
}

func (s *seen) add(t reflect.Type, plan pgtype.ScanPlan) {
	before := s.types.Load()
	var types []seenType
	if before != nil {
		types = *before
	}
	if len(types) < maxSeen {
		types = append(slices.Clip(types), seenType{t, plan})
		s.types.CompareAndSwap(before, &types)
	}
}
