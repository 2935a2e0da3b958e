// Package clickhouse stores the IDs of package idtype in ClickHouse, through clickhouse-go or
// ch-go, and reads and writes whole columns without work per row.
//
//	import (
//		ch "github.com/ClickHouse/clickhouse-go/v2"
//		"github.com/idmint/idmint/clickhouse"
//	)
//
//	type UserID = idtype.Decimal[User]
//
//	var id = clickhouse.Column[UserID]{Name: "id"}
//
//	func createUsers(ctx context.Context, conn ch.Conn) error {
//		return conn.Exec(ctx, fmt.Sprintf(
//			"CREATE TABLE users (%v, name String) ENGINE = MergeTree ORDER BY id", id.PrimaryKey()))
//	}
//
//	func insertUsers(ctx context.Context, conn ch.Conn, ids []UserID, names []string) error {
//		batch, err := conn.PrepareBatch(ctx, "INSERT INTO users (id, name)")
//		if err != nil {
//			return err
//		}
//		if err := clickhouse.Append(batch.Column(0), ids); err != nil {
//			return err
//		}
//		if err := batch.Column(1).Append(names); err != nil {
//			return err
//		}
//		return batch.Send()
//	}
//
//	func findUsers(ctx context.Context, conn ch.Conn, name string) ([]UserID, error) {
//		rows, err := conn.Query(ctx, "SELECT id FROM users WHERE name = ?", name)
//		if err != nil {
//			return nil, err
//		}
//		return clickhouse.Collect[UserID](nil, rows)
//	}
//
// The package imports neither client, but only the column types of ch-go, which clickhouse-go uses
// as well.
//
// # Terms
//
// A part is a piece of a table on disk, and a granule is the group of rows that ClickHouse reads at
// once, 8192 unless the table says otherwise. The sorting key, ORDER BY, determines the order of
// rows in a part. A codec determines how a column is compressed.
//
// # Guarantees
//
// A value that is not an ID is an error, both on input and on output. The error is a [*RowError]
// with the row's index in a column, or an [*ElementError] in an array or a map. After an error
// [Append] has added no row, and destinations are unchanged. Only [Collect] returns what it read
// before the error.
//
// # Types
//
//	ID                       column           in a row              whole column
//	63 bits                  Int64            the ID                [Append], [Col]: a copy
//	EightByte                FixedString(8)   [Field]               [Append], [Col]: a copy
//	EightByte with AsBigint  Int64            the ID                [Append], [Col]: byte-swapped
//	Sno                      FixedString(10)  [Field]               [Append], [Col]: a copy
//	Sno with AsText          FixedString(16)  [Field]               [Append], [Col]: as texts
//	Sno with AsUUID, UUID7   UUID             the ID                [Append], [Col]: as UUIDs
//	UUID7 with AsBytes       FixedString(16)  [Field]               [Append], [Col]: a copy
//	optional, as zero        the same         idtype.OrZero         the same, with [OrZero]
//	optional, as NULL        Nullable         sql.Null, sqlid.Null  the same, with [OrNull]
//	lists                    Array            [Array]               [Col.Array]
//	keys of a map            Map              [Map]                 proto.NewMap with a [Col]
//	a bound parameter                         [Param], [ParamArray]
//
// A copy is made by the batch, once for the whole column, and no ID is converted. Texts and UUIDs
// are allocated once per 4096 IDs.
//
// # Zero and NULL
//
// Zero means "not assigned", and is an error that wraps [idtype.ErrZero]. As a bound parameter, for
// which clickhouse-go cannot report an error, it becomes a text that the server rejects.
//
// A whole column may contain "none" if a [None] tells [Append] or [Col] how to store it. With
// [OrZero] "none" is the column's zero, which takes less space and time than a Nullable column.
// With [OrNull] zero is written as NULL, and NULL is read as zero:
//
//	err = clickhouse.Append(batch.Column(1), inviters, clickhouse.OrNull)
//
// # Rows in clickhouse-go
//
// clickhouse-go differs from database/sql in how it handles some IDs:
//
//   - For a FixedString it prefers a value's binary form to its Value. For an ID stored as text it
//     therefore writes the wrong bytes, without an error. It also reads by the binary form instead
//     of Scan. [Field] uses Value and Scan. Int64 and UUID columns need no Field. For them
//     clickhouse-go rejects zero with "could not get driver.Valuer value", and drops the reason,
//     whereas [Append] names the row and the reason.
//   - A nil pointer to an ID panics, and a pointer to a pointer cannot be scanned into. Use
//     sql.Null or sqlid.Null for both. A field of an embedded pointer to a struct is left out.
//   - A bound parameter, {name:Type}, is what String returns, which few columns store. [Param]
//     returns what the column stores. Placeholders such as ? use Value, and need nothing.
//   - A list of IDs in a placeholder becomes a list of texts. Use [ParamArray], or sqlid.In for
//     placeholders.
//   - The error of a native connection's Scan does not unwrap to the ID's error, which is the Err
//     of its *OpError. The error of [Collect] does.
//
// # Definitions
//
// A [Column] returns definitions for CREATE TABLE. [Column.PrimaryKey] is for the ID that orders
// the table, [Column.Indexed] for the ID of a table in another order, and [Column.NotNull] and
// [Column.Nullable] for foreign keys. Each has a codec that was chosen by measurement. [CheckTable]
// reports how an existing table differs:
//
//	findings, err := clickhouse.CheckTable(ctx, conn, "users", id.PrimaryKey())
//
// # Time
//
// [Column.Between] returns a condition for a span of time, for IDs that carry their time. If the
// table is ordered by the ID, ClickHouse then reads only the granules of that span. In a table that
// is ordered by arrival, the index of [Column.Indexed] has the same effect. ClickHouse orders UUIDs
// by their second half, so there is no such condition for sno IDs stored as UUIDs, and none for
// UUID7 unless stored AsBytes.
//
// # Advanced topics
//
// docs/use/clickhouse.md in the module describes long lists, LowCardinality, larger blocks, and
// other codecs.
//
// # Figures
//
// The table lists the bytes per ID that system.parts_columns reports in ClickHouse 26.5. The
// 1,000,000 IDs were minted at 10,000 a second by 1, 4 and 64 generators. They are in the order of
// the ID, or in the order of arrival with the codec of NotNull.
//
//	           codec of PrimaryKey         1     4     64    arrival: 1, 4, 64
//	decimal    Delta, ZSTD(1)              0.010 0.024 0.025 1.43  4.56  4.91
//	sequence   Delta, ZSTD(6)              0.009 0.009 0.010 0.17  1.55  2.22
//	trace      Delta, ZSTD(6)              0.011 0.013 0.039 0.22  1.44  1.70
//	short      Delta, T64('bit'), ZSTD(1)  1.67  1.77  2.07  2.02  2.17  2.44
//	snowflake  Delta, ZSTD(6)              0.21  0.55  0.97  0.21  1.03  1.32
//	eightbyte  Delta, ZSTD(1)              0.30  0.90  1.51  0.83  2.44  2.95
//	  SPREAD   Delta, ZSTD(1)              0.35  0.95  1.53  0.90  1.72  1.74
//	  AsBigint Delta, T64('bit'), ZSTD(1)  0.38  0.73  0.98  0.84  1.10  1.40
//	  both     Delta, ZSTD(1)              0.32  0.89  1.20  0.92  1.20  1.49
//	sno        ZSTD(1)                     0.89  1.37  2.40  0.89  2.35  2.65
//	  AsText   ZSTD(1)                     0.78  1.56  2.09  0.78  2.22  2.25
//	  AsUUID   ZSTD(1)                     0.69  0.72  0.94  0.78  2.24  2.29
//
// The integers' 0.01 bytes are mostly the block header, of which each 8192 integers have one.
package clickhouse
