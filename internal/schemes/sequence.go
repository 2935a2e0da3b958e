package schemes

import (
	"github.com/idmint/idmint/idtype"
)

// SequenceFields is all that a sequence ID contains.
type SequenceFields struct {
	ID idtype.SequenceID `json:"id"`
}

// Sequence is the kind of sequence IDs.
var Sequence = add(&Kind[idtype.SequenceID]{
	Facts: Facts{
		Scheme: idtype.SchemeSequence, Place: 6, Storages: integer,
		Fields: []Field{{Letter: '0', Width: 1}, {Letter: 'n', Width: 63, Name: "number", Min: 1}},
		Text:   digitTexts("SequenceID", "57", "int64"),
		Codecs: runs,
	},
	Forms:  digits(idtype.Parse[idtype.SequenceID]),
	Values: func(id idtype.SequenceID) any { return SequenceFields{id} },
	Says: func(idtype.SequenceID) []Part {
		return []Part{{Note: "a number from a counter"}}
	},
})
