// Package clickhouse makes the IDs of package idtype at home in ClickHouse: columns of them for clickhouse-go and ch-go without work
// per row, bound parameters, definitions of columns that need little space, and conditions that read little of a table.
//
//	import (
//		ch "github.com/ClickHouse/clickhouse-go/v2"
//		"github.com/idmint/idmint/clickhouse"
//	)
//
// It imports neither client, only the column types of ch-go that clickhouse-go has in it as well.
//
//	ID                         column            row                    whole column
//	63 bits                    Int64             the ID                 [Append], [ColID]: no copy but the batch's own
//	EightByte                  FixedString(8)    [Field]                [Append], [ColID]: no copy but the batch's own
//	EightByte with AsBigint    Int64             the ID                 [Append], [ColID]: bytes turned around
//	Sno                        FixedString(10)   [Field]                [Append], [ColID]: no copy but the batch's own
//	Sno with AsText            FixedString(16)   [Field]                [Append], [ColID]: texts in one piece of memory per 4096
//	Sno with AsUUID            UUID              the ID                 [Append], [ColID]: the same
//	optional, as zero          the same          idtype.OrZero          [AppendOrZero], [ColIDOrZero]
//	optional, as NULL          Nullable          sql.Null, sqlid.Null   [AppendNullable], [ColIDNullable]
//	lists                      Array             [Array]                [ColID.Array]
//	keys of a map              Map               [Map]                  proto.NewMap with a [ColID]
//	a bound parameter                            [Param], [ParamArray]
//
// # What clickhouse-go makes of an ID
//
// Some of it is not what one would expect of database/sql:
//
//   - A FixedString takes a value's binary form before its Value, and gives it before its Scan. For an ID that is stored as text this
//     writes the wrong bytes, without an error; for one stored as bytes it writes zero without an error. [Field] goes by Value and
//     Scan. In an Int64 or UUID column it makes no difference.
//   - A pointer to an ID that is nil panics, and a pointer to a pointer cannot be scanned into. sql.Null and sqlid.Null do both.
//     A field of an embedded pointer to a struct is left out.
//   - A bound parameter, {name:Type}, is what String returns: for most types not what the column holds. [Param] is. Placeholders
//     such as ? go by Value, and need nothing.
//   - A list of IDs by a placeholder becomes texts. Take [ParamArray], or sqlid.In for placeholders. Lists too long for a parameter
//     are better inserted into a table with Engine Memory or Set, by [Append]: the driver's external tables are sent row by row.
//   - The error of a native connection's Scan does not unwrap to the ID's: it is the Err of its *OpError. That of [Collect] does.
//
// LowCardinality is for columns of few different values: for the ID of a row it makes all worse, and ClickHouse refuses it for Int64
// unless asked twice. A foreign key to a few thousand rows, stored as FixedString, may have it, by [Field] in rows (clickhouse-go panics
// for whole columns of bytes) and by ch-go as proto.NewLowCardinality of a [ColIDOrZero], as its dictionary begins with a zero.
//
// # Columns
//
// A [Column] gives definitions for CREATE TABLE by the role of the ID, with a codec that was chosen by measurement, and
// [CheckTable] says what is different in a table that exists:
//
//	id := clickhouse.Column[UserID]{Name: "id"}
//	conn.Exec(ctx, fmt.Sprintf("CREATE TABLE users (%v, name String) ENGINE = MergeTree ORDER BY id", id.PrimaryKey()))
//	findings, err := clickhouse.CheckTable(ctx, conn, "users", id.PrimaryKey())
//
// Measured in ClickHouse 26.5, in bytes per ID as [BytesPerID] reports them: 1,000,000 IDs at 10,000 a second from 1, 4 and 64
// generators, in the order of the ID, in that of arrival, and in an unrelated order, where the codec is that of NotNull.
//
//	           codec of PrimaryKey          1      4      64     by arrival: 1, 4, 64  unrelated: 1, 4, 64
//	decimal    Delta, ZSTD(1)               0.010  0.011  0.013  1.43  4.83  4.82      5.58  5.93  5.43
//	sequence   Delta, ZSTD(6)               0.009  0.009  0.010  0.17  1.55  2.23      2.51  2.51  2.51
//	trace      Delta, ZSTD(6)               0.011  0.013  0.039  0.22  1.44  1.70      2.72  2.82  2.76
//	short      Delta, T64('bit'), ZSTD(1)   1.67   1.77   2.07   2.02  2.17  2.44      3.96  4.05  4.31
//	eightbyte  Delta, ZSTD(1)               0.30   0.90   1.51   0.83  2.44  2.95      3.08  3.64  4.27
//	  SPREAD   Delta, ZSTD(1)               0.35   0.95   1.53   0.90  1.72  1.74      3.56  3.83  4.29
//	  AsBigint Delta, T64('bit'), ZSTD(1)   0.38   0.73   0.98   0.84  1.11  1.40      2.87  2.99  3.25
//	  both     Delta, ZSTD(1)               0.32   0.89   1.20   0.92  1.20  1.49      2.91  3.02  3.33
//	sno        ZSTD(1)                      0.89   1.37   2.40   0.89  2.35  2.65      4.26  4.05  3.75
//	  AsText   ZSTD(1)                      0.78   1.56   2.09   0.78  2.23  2.26      4.71  4.96  4.94
//	  AsUUID   ZSTD(1)                      0.69   0.72   0.94   0.78  2.24  2.29      4.18  4.78  5.18
//
// Most of what 0.01 bytes are is the head of a block, of which each 8192 integers have one. Blocks of 1 MiB,
//
//	fmt.Sprintf("%v SETTINGS (min_compress_block_size = 1048576, max_compress_block_size = 1048576)", id.PrimaryKey())
//
// make it a fraction of that for decimal and trace IDs. Finding a row by its ID then takes longer, and
// reading the whole column less. Trace IDs gain little above ZSTD(6), and up to it inserts take no
// longer. Eightbyte and sno IDs would gain by it; what it costs them in time is not measured.
//
// In order of arrival from few generators, Delta is better for decimal IDs: 0.010 and 2.15 bytes, but 5.60 of 64 generators.
// UUIDs are ordered by their second half: sno IDs as UUID need least of all that way, and no range of time can be read of them.
//
// # Time
//
// [Column.Between] is a condition for a span of time, for IDs that carry it. ClickHouse then reads the granules of that span alone, of a
// table that is ordered by the ID, and by the index of [Column.Indexed] of one that is ordered by arrival.
package clickhouse
