// Package clickhouse stores the IDs of package idtype in ClickHouse, by clickhouse-go or ch-go.
// Whole columns go in and out without work per row.
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
// The package imports neither client. It imports the column types of ch-go, which clickhouse-go has
// in it as well.
//
// # Words
//
// A part is a piece of a table on disk. A granule is the rows that ClickHouse reads at once, 8192
// unless the table says otherwise. The sorting key, ORDER BY, says how rows lie in a part. A codec
// says how a column is compressed.
//
// # What it promises
//
// A value that is no ID is an error, on its way in and out. It is a [*RowError] with its place in a
// column, and an [*ElementError] in an array or a map. [Append] then adds no row. A destination
// stays as it was. Only [Collect] returns what it had read before the error.
//
// # Types
//
//	ID                       column           in a row              whole column
//	63 bits                  Int64            the ID                [Append], [Col]: a copy
//	EightByte                FixedString(8)   [Field]               [Append], [Col]: a copy
//	EightByte with AsBigint  Int64            the ID                [Append], [Col]: turned around
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
// A copy is the batch's own, one for the whole column: no ID is converted. Texts and UUIDs are made
// in one piece of memory per 4096 IDs.
//
// # Zero and NULL
//
// Zero means "not assigned". It is an error that wraps [idtype.ErrZero]. As a bound parameter it is
// a text that the server refuses.
//
// A whole column may hold "none" if [Append] or [Col] is told how, by a [None]. With [OrZero] "none"
// is the column's zero, which takes less space and time than a Nullable column. With [OrNull] zero
// is written as NULL, and NULL is read as zero:
//
//	err = clickhouse.Append(batch.Column(1), inviters, clickhouse.OrNull)
//
// # Rows of clickhouse-go
//
// Some of what clickhouse-go does with an ID differs from database/sql:
//
//   - In a FixedString it takes a value's binary form before its Value. For an ID as text it writes
//     the wrong bytes, without an error. It reads in the same way, by the binary form and not by
//     Scan. [Field] goes by Value and Scan.
//     Int64 and UUID columns need no Field. There clickhouse-go refuses zero by "could not get
//     driver.Valuer value", and drops the reason. [Append] names the row and the reason.
//   - A nil pointer to an ID panics. A pointer to a pointer cannot be scanned into. sql.Null and
//     sqlid.Null do both. A field of an embedded pointer to a struct is left out.
//   - A bound parameter, {name:Type}, is what String returns. Few columns hold that. [Param] is
//     what the column holds. Placeholders such as ? go by Value, and need nothing.
//   - A list of IDs by a placeholder becomes texts. Take [ParamArray], or sqlid.In for
//     placeholders.
//   - The error of a native connection's Scan does not unwrap to the ID's: that is the Err of its
//     *OpError. The error of [Collect] does.
//
// # Definitions
//
// A [Column] gives definitions for CREATE TABLE. [Column.PrimaryKey] is for the ID that the table
// is ordered by, [Column.Indexed] for the ID of a table in another order. [Column.NotNull] and
// [Column.Nullable] are for foreign keys. Each has a codec that was chosen by measurement.
// [CheckTable] says in what a table that exists differs:
//
//	findings, err := clickhouse.CheckTable(ctx, conn, "users", id.PrimaryKey())
//
// # Time
//
// [Column.Between] is a condition for a span of time, for IDs that carry it. ClickHouse then reads
// the granules of that span alone, if the table is ordered by the ID. In a table that is ordered by
// arrival the index of [Column.Indexed] does the same. UUIDs are ordered by their second half, so
// sno IDs as UUIDs, and those of UUID7 that are not stored AsBytes, have no such condition.
//
// # More
//
// docs/use/clickhouse.md of the module has what is for few: long lists, LowCardinality, larger blocks,
// and other codecs.
//
// # Figures
//
// Bytes per ID, as system.parts_columns has them, in ClickHouse 26.5. The 1,000,000 IDs were minted at
// 10,000 a second by 1, 4 and 64 generators. They are in the order of the ID, and in that of
// arrival with the codec of NotNull.
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
// The integers' 0.01 bytes are mostly the head of a block. Each 8192 integers have one.
package clickhouse
