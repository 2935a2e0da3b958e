// Package pgxid makes the ID types of package idtype types of pgx, like int64.
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
// IDs then go in binary, alone and in arrays, ranges, COPY and batches, without a detour over
// database/sql. Other connections are wired so:
//
//	stdlib.OpenDB(*config, stdlib.OptionAfterConnect(pgxid.AfterConnect)) // database/sql
//	pgxid.Register(conn.TypeMap())                                        // a single connection
//
// Who uses another database imports package sqlid alone, and compiles no pgx.
//
// # Types
//
// The keys of all entities work, and none has to be named:
//
//	Go                                             PostgreSQL
//	UserID, *UserID                                bigint, bytea, uuid, text: its idtype.Storage
//	sql.Null, sqlid.Null, idtype.OrZero of UserID  the same
//	all of these                                   json and jsonb, as MarshalJSON writes the ID
//	[]UserID, []*UserID, [] of the wrappers        an array of it: WHERE id = ANY($1)
//	[][]UserID, [3]UserID                          the same
//	pgtype.FlatArray, pgtype.Array                 the same
//	idtype.Slice                                   an array, or JSON: see below
//	pgtype.Range[UserID], [] of it                 int8range, int8range[]
//	pgtype.Multirange of such ranges               int8multirange
//
// # Zero, NULL and errors
//
// Zero is an error wherever it is a parameter. NULL is an error wherever the destination is a plain
// ID. JSON's null is NULL. Errors of the IDs are those of package idtype, wrapped by pgx. CopyFrom
// alone leaves of an error its text, because pgx has the server say it.
//
// # What a column does not hold
//
// A parameter is a [*StorageError], before anything is sent, where the column would change it. So
// are an integer in a float8 and bytes in a uuid. int2, int4, numeric, oid and xid8 take what fits.
//
// A value is a StorageError where Scan would make another ID of it. So are 8 characters of a text:
// they are not the bytes of an EightByte. A text that can only mean the ID is read. These are the
// digits of decimal, trace and sequence IDs, and the 16 characters of IDs that are bytes.
//
// Types that pgx does not know are as without this package: citext, enums, money, extensions. What
// they hold reaches Scan, which takes 8 characters for an EightByte. Register citext as a
// pgtype.TextCodec before [Register]. Cast others to text. [LoadTypes] tells pgx of domains, whose
// arrays it cannot read otherwise.
//
// Under database/sql, before Go 1.27, only parameters are checked. Every value reaches Scan, which
// reads a lone ID in jsonb by #>>'{}'.
//
// # Query exec modes
//
// All five work. In [pgx.QueryExecModeExec] and [pgx.QueryExecModeSimpleProtocol] nobody says what
// type a parameter has. Nothing can be refused there, and the server reads a text as its column's
// type:
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
// Where the mode cannot change, store to_jsonb($1::text) of id.String(). A composite needs, as with
// int64, conn.LoadType, RegisterType and, in these two modes, RegisterDefaultPgType.
//
// Behind PgBouncer in transaction mode the same modes work as with int64.
// [pgx.QueryExecModeDescribeExec] needs a transaction there. [pgx.QueryExecModeCacheStatement]
// needs a max_prepared_statements, of PgBouncer 1.21, that is not 0.
//
// # Without this package
//
// IDs then go through their Value and Scan, which take several times as long. That is right for a
// column of the ID's own type, and for a Slice as JSON. Elsewhere it is not, and often nobody says
// so:
//
//   - An ID of bytes in a uuid is filled up with zeros, and in a text it is raw bytes. Neither is
//     read back. In an array it is a list of numbers.
//   - A float4 rounds IDs above 2^24, a float8 those above 2^53.
//   - An integer in jsonb is a number, and an ID of bytes an error. No string in jsonb is read.
//   - A text, inet, xml or time of 8 or 10 characters is read as the bytes of an EightByte or Sno.
//   - Arrays and ranges are errors in Exec and SimpleProtocol.
//
// Other types, any and int64 among them, are read and written as before.
//
// # Speed
//
// An ID takes about as long as an int64. In CopyFrom, hand over &row.ID rather than row.ID: a pointer
// as any is no allocation.
package pgxid

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// AfterConnect is [Register] for the configuration of a pool. It never fails. A pool that has a hook
// already takes [After].
func AfterConnect(_ context.Context, conn *pgx.Conn) error {
	Register(conn.TypeMap())
	return nil
}

// After returns a hook that calls the pool's own, which may be nil, and then [AfterConnect]:
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

// Register makes a connection's map know all ID types. To do it again changes nothing. Register
// types of your own for PostgreSQL's names, such as another codec for jsonb, before: Register
// builds on them.
func Register(m *pgtype.Map) {
	if _, done := m.TypeForValue(idRange{}); done {
		return
	}
	for _, name := range names {
		t, known := m.TypeForName(name)
		if !known {
			continue
		}
		if _, ours := t.Codec.(*codec); !ours { // a map may have it from another one
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

// defaults are the types that values have where the server does not say which they have.
var defaults = map[any]string{
	array[bigint]{}: "_int8", array[raw]{}: "_bytea",
	array[uuid]{}: "_uuid", array[text]{}: "_text",
	idRange{}: "int8range", array[ranges]{}: "_int8range", idMultirange{}: "int8multirange",
}

// names are the types that pgx knows, in its words. Of citext each database has its own number.
var names = strings.Fields(`aclitem bit bool box bpchar bytea char cid cidr circle citext date
	float4 float8 inet int2 int4 int8 interval json jsonb jsonpath line lseg macaddr macaddr8 name
	numeric oid oid8 path point polygon record text tid time timestamp timestamptz tsvector unknown
	uuid varbit varchar xid xid8 xml
	daterange int4range int8range numrange tsrange tstzrange
	datemultirange int4multirange int8multirange nummultirange tsmultirange tstzmultirange`)
