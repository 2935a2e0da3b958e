package schemes

import (
	_ "embed"
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
		Unit: time.Second, Repeats: "388 days",
		BoundsHelp: `  trace      Timestamps repeat every 388 days. A span in which they do gives
             two ranges. All ranges include IDs of other periods.
`,
		Names:  []Name{{"id", Text}},
		Text:   digitTexts("TraceID", "4646428214845635103", "sfixed64"),
		Codecs: runs,
		SQL:    traceSQL,
	},
	Forms:  digits(idtype.Parse[idtype.TraceID]),
	Values: parts(idtype.TraceID.Parts),
	Span:   within(idtype.Bounds[idtype.TraceID]),
})

//go:embed trace.sql
var traceSQL string
