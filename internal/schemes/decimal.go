package schemes

import (
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/idtype/formats"
)

// Decimal is the kind of decimal IDs.
var Decimal = add(&Kind[idtype.DecimalID]{
	Facts: Facts{
		Scheme: idtype.SchemeDecimal, Place: 1, Storages: integer,
		Places: true,
		Fields: []Field{
			{Letter: 'c', Width: 9, Name: "counter", Min: 1, Max: formats.DecimalMaxCounter},
			{Letter: 'g', Width: 5, Name: "generator_id"},
			{Letter: 'l', Width: 5, Name: "launch_id", Test: true},
		},
		Names: []Name{{"id", Text}},
		Text:  digitTexts("DecimalID", "14150009200065", "int64"),
		Codecs: map[idtype.Storage]Codec{"": {
			"Delta(8), ZSTD(1)",
			"the differences between IDs repeat, with one period for all generators",
		}},
	},
	Forms:  digits(idtype.Parse[idtype.DecimalID]),
	Values: parts(idtype.DecimalID.Parts),
})
