// Package pgxsuite has a sample of each type of IDs for the tests of package pgxid. Package pgxid
// tests with them what needs no server, and integration_test/adapters the rest.
package pgxsuite

import (
	"database/sql"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/sqlid"
	"github.com/idmint/idmint/sqlid/pgxid"
)

type User struct{ ID UserID }

type UserID = idtype.Decimal[User]

// NewMap is a map of types with those of IDs.
func NewMap() *pgtype.Map {
	m := pgtype.NewMap()
	pgxid.Register(m)
	return m
}

// A Sample is an ID of a type, in all that may hold one.
type Sample struct {
	Name   string
	Form   idtype.Storage
	Text   string
	Values []any // the ID, a pointer, and its wrappers
	List   any
	Slice  any        // an idtype.Slice
	Many   func() any // to read lists into
}

// SampleOf is the sample of the ID that has this text.
func SampleOf[T idtype.ID, P interface {
	*T
	sql.Scanner
	UnmarshalText([]byte) error
}](name, text string) Sample {
	var id T
	if err := P(&id).UnmarshalText([]byte(text)); err != nil {
		panic(err)
	}
	return Sample{
		name, id.Storage(), text,
		[]any{
			id, &id, sql.Null[T]{V: id, Valid: true}, sqlid.NullOf(id), idtype.OrZero[T]{ID: id},
		},
		[]T{id},
		idtype.Slice[T]{id},
		func() any { return new([]T) },
	}
}

// Texts of the samples.
const (
	Large    = "9007199254740993" // 2^53 + 1, which no float holds
	Deadbeef = "6465616462656566" // the bytes are characters
	SnoText  = "8fhmi7mfls62jp64" // the bytes are not
	SnoUUID  = "3866686d-6937-6d66-6c73-36326a703634"
	Negative = "cb54ecf284000000" // as an integer
)

// Samples are of all schemes and storage forms.
var Samples = []Sample{
	SampleOf[UserID]("decimal", Large),
	SampleOf[idtype.Trace[User]]("trace", Large),
	SampleOf[idtype.Sequence[User]]("sequence", Large),
	SampleOf[idtype.Short[User]]("short", "xinaS8QBh"),
	SampleOf[idtype.EightByte[User]]("eightbyte", Deadbeef),
	SampleOf[idtype.EightByte[idtype.AsBigint[User]]]("eightbyte as bigint", Negative),
	SampleOf[idtype.Sno[User]]("sno", SnoText),
	SampleOf[idtype.Sno[idtype.AsUUID[User]]]("sno as UUID", SnoText),
	SampleOf[idtype.Sno[idtype.AsText[User]]]("sno as text", SnoText),
}

// EightBytes are IDs at the boundaries of their order.
func EightBytes[E any]() (ids []idtype.EightByte[E]) {
	for _, text := range []string{
		"0000000000000001", "cb54ecf284000000", "7fffffffffffffff", "ffffffffffffefff",
	} {
		ids = append(ids, idtype.MustParse[idtype.EightByte[E]](text))
	}
	return ids
}

// Snos are IDs at the boundaries of their order.
func Snos[E any]() (ids []idtype.Sno[E]) {
	for _, text := range []string{
		"2222222222222223", "8fhmi7mfls62jp64", "brpk4q72xwf2m63l", "xxxxxxxxxxxxxxxx",
	} {
		ids = append(ids, idtype.MustParse[idtype.Sno[E]](text))
	}
	return ids
}
