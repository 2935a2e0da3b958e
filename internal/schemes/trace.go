package schemes

import (
	"time"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/idtype/formats"
)

// Trace is the kind of trace IDs.
var Trace = add(&Kind[idtype.TraceID]{
	Facts: Facts{
		Scheme: idtype.SchemeTrace, Place: 2, Storages: integer,
		Fields: []Field{
			{Letter: '0', Width: 1},
			{Letter: TimeLetter, Width: formats.TraceTimestampBits, Name: "timestamp"},
			{Letter: 'n', Width: formats.TraceNodeBits, Name: "node_no"},
			{Letter: 'b', Width: formats.TraceBottomBits, Name: "bottom", Min: 1},
		},
		Unit: time.Second,
		BoundsHelp: "Timestamps start again every 388 days. A span in which they do is\n" +
			"two ranges, and IDs of other periods are in them.",
		Names:  []Name{{"id", Text}},
		Text:   digitTexts("TraceID", "4646428214845635103", "sfixed64"),
		Codecs: runs,
		SQL:    SQL{tracePostgres, traceMySQL, traceClickHouse},
	},
	Forms:  digits(idtype.Parse[idtype.TraceID]),
	Values: parts(idtype.TraceID.Parts),
	Span:   within(idtype.Bounds[idtype.TraceID]),
})

const tracePostgres = `
-- t is around
time(id bigint, t timestamptz) RETURNS timestamptz => CASE WHEN {layout} AND isfinite(t) THEN
	(timestamp '1970-01-01' + interval '1 second' * ({second of} - (({second of} - (id >> 38)) &
	33554431))) {time} END
min(t timestamptz) RETURNS bigint => CASE WHEN isfinite(t) THEN ({second of} & 33554431) << 38 | 1
	END
max(t timestamptz) RETURNS bigint => CASE WHEN isfinite(t) THEN ({second of} & 33554431) << 38 |
	274877906943 END
`

const traceMySQL = `
-- t is around
time(id BIGINT, t DATETIME(6)) RETURNS DATETIME IF VALID => TIMESTAMP '1970-01-01 00:00:00' +
	INTERVAL CAST({second} AS SIGNED) - 68719476736 - CAST({second} + 33554432 - (id >> 38) & 33554431
	AS SIGNED) SECOND
min(t DATETIME(6)) RETURNS BIGINT => ({second} & 33554431) << 38 | 1
max(t DATETIME(6)) RETURNS BIGINT => ({second} & 33554431) << 38 | 274877906943
`

const traceClickHouse = `
-- t is around
time AS (id, t) IF VALID => {time}({second} - 68719476736 - bitAnd({second} - bitShiftRight({n},
	38), 33554431)) * 1000{end of time}
min AS (t) => bitShiftLeft(bitAnd({second}, 33554431), 38) + 1
max AS (t) => bitShiftLeft(bitAnd({second}, 33554431), 38) + 274877906943
`
