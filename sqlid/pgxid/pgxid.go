// Package pgxid teaches pgx the ID types of package idtype, so that they work like int64.
//
//	config, err := pgxpool.ParseConfig(dsn)
//	if err != nil {
//		return err
//	}
//	config.AfterConnect = pgxid.AfterConnect
//	pool, err := pgxpool.NewWithConfig(ctx, config)
//	if err != nil {
//		return err
//	}
//	ids := []UserID{14150009200065, 14160009200065} // type UserID = idtype.Decimal[User]
//	rows, err := pool.Query(ctx, "SELECT id, name FROM users WHERE id = ANY($1)", ids)
//	if err != nil {
//		return err
//	}
//	users, err := pgx.CollectRows(rows, pgx.RowToStructByName[User])
//
// pgx then sends IDs in its binary format, alone and in arrays, ranges, COPY, and batches, without
// a detour through database/sql. For other kinds of connections:
//
//	stdlib.OpenDB(*config, stdlib.OptionAfterConnect(pgxid.AfterConnect)) // database/sql
//	pgxid.Register(conn.TypeMap())                                        // a single connection
//
// If you use another database, import only package sqlid, which does not depend on pgx.
//
// # Types
//
// The keys of all entities work, without being registered one by one:
//
//	Go                                             PostgreSQL
//	UserID, *UserID                                bigint, bytea, uuid, text: its idtype.Storage
//	sql.Null, sqlid.Null, idtype.OrZero of UserID  the same
//	all of these                                   json and jsonb, in the form of MarshalJSON
//	[]UserID, []*UserID, [] of the wrappers        an array, as in WHERE id = ANY($1)
//	[][]UserID, [3]UserID                          the same
//	pgtype.FlatArray, pgtype.Array                 the same
//	idtype.Slice                                   an array, or JSON: see below
//	pgtype.Range[UserID], [] of it                 int8range, int8range[]
//	pgtype.Multirange of such ranges               int8multirange
//
// # Zero, NULL and errors
//
// Zero is an error in every parameter, and NULL is an error in every destination that is a plain
// ID. JSON's null counts as NULL. Errors about IDs come from package idtype, wrapped by pgx. The
// exception is CopyFrom, which keeps only the text of an error, because pgx passes it through the
// server.
//
// # Columns of another form
//
// A parameter that the column would change, such as an integer in a float8 or bytes in a uuid, is
// rejected with a [*StorageError] before anything is sent. The types int2, int4, numeric, oid, and
// xid8 accept integers that fit.
//
// A value that Scan would turn into a different ID is rejected with a StorageError too. For
// example, 8 characters from a text column are not read as the bytes of an EightByte. A text that
// can only mean the ID is accepted: the digits of decimal, trace, and sequence IDs, and the 16
// characters of byte IDs.
//
// Types that pgx does not know, such as citext, enums, money, and types of extensions, behave as
// they do without this package: their values reach Scan, which reads 8 characters as the bytes of
// an EightByte. For citext, register it as a pgtype.TextCodec before [Register]; cast the others to
// text. [LoadTypes] loads domains, whose arrays pgx cannot read otherwise.
//
// With database/sql before Go 1.27, only parameters are checked. All values reach Scan, which can
// read a lone ID from jsonb with #>>'{}'.
//
// # Query exec modes
//
// All five modes work. In [pgx.QueryExecModeExec] and [pgx.QueryExecModeSimpleProtocol], however,
// the type of a parameter is unknown. No parameter can be rejected in these modes, and the server
// parses texts as the type of the column:
//
//	parameter              column    in these two modes                  in the other modes
//	an ID of bytes         text      its bytes as \x335f…                a StorageError
//	an ID of bytes         uuid      the server's error                  a StorageError
//	an ID of bytes         jsonb     the server's error                  its JSON
//	an integer             float8    rounded                             a StorageError
//	an integer             text      its digits                          a StorageError
//	an integer             jsonb     a number, read back as the ID       its JSON, a string
//	an ID of text or UUID  jsonb     the server's error, unless digits   its JSON
//	[]UserID               text      {1,2}                               an error
//	[]UserID               jsonb     the server's error, but {} if empty its JSON
//	idtype.Slice           bigint[]  the server's error: use []UserID    an array, unless it is nil
//	idtype.Slice           jsonb     JSON                                JSON
//	idtype.Slice           text      JSON                                JSON
//
// If you cannot change the mode, store to_jsonb($1::text) with id.String(). As with int64, a
// composite type needs conn.LoadType and RegisterType, and in these two modes also
// RegisterDefaultPgType.
//
// With PgBouncer in transaction mode, the same modes work as for int64.
// [pgx.QueryExecModeDescribeExec] then needs a transaction. [pgx.QueryExecModeCacheStatement] needs
// PgBouncer 1.21 with a max_prepared_statements other than 0.
//
// # Without this package
//
// Without pgxid, IDs are sent and read by their Value and Scan methods, which take several times as
// long. The results are right for a column of the ID's own type, and for a Slice as JSON. Elsewhere
// they are wrong, often without an error:
//
//   - An ID of bytes is padded with zeros in a uuid column, and becomes raw bytes in a text column.
//     Neither can be read back. In an array it becomes a list of numbers.
//   - A float4 rounds IDs above 2^24, and a float8 rounds IDs above 2^53.
//   - In jsonb an integer becomes a number, and an ID of bytes is an error. Strings in jsonb cannot
//     be read.
//   - A text, inet, xml, or time of 8 or 10 characters is read as the bytes of an EightByte or Sno.
//   - Arrays and ranges are errors in the modes Exec and SimpleProtocol.
//
// Register does not change how other types, including any and int64, are read and written.
//
// # Speed
//
// An ID takes about as long as an int64. In CopyFrom, pass &row.ID rather than row.ID, because
// converting a pointer to any does not allocate.
package pgxid

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// AfterConnect calls [Register] for each connection of a pool. It never fails. If the pool already
// has a hook, use [After].
func AfterConnect(_ context.Context, conn *pgx.Conn) error {
	Register(conn.TypeMap())
	return nil
}

// After returns a hook that calls the pool's own hook, which may be nil, and then [AfterConnect]:
//
//	config.AfterConnect = pgxid.After(config.AfterConnect)
func After(hook func(context.Context, *pgx.Conn) error) func(context.Context, *pgx.Conn) error {
	if hook == nil {
		return AfterConnect
	}
	return func(ctx context.Context, conn *pgx.Conn) error {
		if err := hook(ctx, conn); err != nil {
			return err
		}
		return AfterConnect(ctx, conn)
	}
}

// Register adds all ID types to a connection's type map. Calling it again has no effect. If you
// register your own types under PostgreSQL's names, such as another codec for jsonb, do so before,
// because Register builds on them.
func Register(m *pgtype.Map) {
	if _, done := m.TypeForValue(idRange{}); done {
		return
	}
	for _, name := range names {
		t, known := m.TypeForName(name)
		if !known {
			continue
		}
		if _, ours := t.Codec.(*codec); !ours { // the map may have been copied from another
			t = &pgtype.Type{Name: t.Name, OID: t.OID, Codec: newCodec(t)}
			m.RegisterType(t)
		}
		registerArray(m, t)
	}
	for value, name := range defaults {
		m.RegisterDefaultPgType(value, name)
	}
	m.TryWrapEncodePlanFuncs = append([]pgtype.TryWrapEncodePlanFunc{
		wrapMultirange, wrapArray, wrapRange, wrapBytes, // a multirange is a slice
	}, m.TryWrapEncodePlanFuncs...)
}

// defaults are the types of values for which the server does not report a type.
var defaults = map[any]string{
	array[bigint]{}: "_int8", array[raw]{}: "_bytea",
	array[uuid]{}: "_uuid", array[text]{}: "_text",
	idRange{}: "int8range", array[ranges]{}: "_int8range", idMultirange{}: "int8multirange",
}

// names are the types that pgx knows, as pgx names them. The OID of citext differs between
// databases.
var names = strings.Fields(`aclitem bit bool box bpchar bytea char cid cidr circle citext date
	float4 float8 inet int2 int4 int8 interval json jsonb jsonpath line lseg macaddr macaddr8 name
	numeric oid oid8 path point polygon record text tid time timestamp timestamptz tsvector unknown
	uuid varbit varchar xid xid8 xml
	daterange int4range int8range numrange tsrange tstzrange
	datemultirange int4multirange int8multirange nummultirange tsmultirange tstzmultirange`)
