package pgxid_test

import (
	"database/sql"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/sqlid"
	"github.com/idmint/idmint/sqlid/pgxid"
)

type User struct{ ID UserID }

type UserID = idtype.Decimal[User]

func newMap() *pgtype.Map {
	m := pgtype.NewMap()
	pgxid.Register(m)
	return m
}

// A sample is an ID of a type, in all that may hold one.
type sample struct {
	name   string
	form   idtype.Storage
	text   string
	values []any // the ID, a pointer, and its wrappers
	list   any
	slice  any        // an idtype.Slice
	many   func() any // to read lists into
}

func sampleOf[T idtype.ID, P interface {
	*T
	sql.Scanner
	UnmarshalText([]byte) error
}](name, text string) sample {
	id := idtype.MustParse[T, P](text)
	return sample{
		name, id.Storage(), text,
		[]any{id, &id, sql.Null[T]{V: id, Valid: true}, sqlid.NullOf(id), idtype.OrZero[T]{ID: id}},
		[]T{id},
		idtype.Slice[T]{id},
		func() any { return new([]T) },
	}
}

const (
	large    = "9007199254740993" // 2^53 + 1, which no float holds
	deadbeef = "6465616462656566" // the bytes are characters
	snoText  = "8fhmi7mfls62jp64" // the bytes are not
	snoUUID  = "3866686d-6937-6d66-6c73-36326a703634"
	negative = "cb54ecf284000000" // as an integer
)

var samples = []sample{
	sampleOf[UserID]("decimal", large),
	sampleOf[idtype.Trace[User]]("trace", large),
	sampleOf[idtype.Sequence[User]]("sequence", large),
	sampleOf[idtype.Short[User]]("short", "xinaS8QBh"),
	sampleOf[idtype.EightByte[User]]("eightbyte", deadbeef),
	sampleOf[idtype.EightByte[idtype.AsBigint[User]]]("eightbyte as bigint", negative),
	sampleOf[idtype.Sno[User]]("sno", snoText),
	sampleOf[idtype.Sno[idtype.AsUUID[User]]]("sno as UUID", snoText),
	sampleOf[idtype.Sno[idtype.AsText[User]]]("sno as text", snoText),
}

func eightBytes[E any]() (ids []idtype.EightByte[E]) {
	for _, text := range []string{"0000000000000001", "cb54ecf284000000", "7fffffffffffffff", "ffffffffffffefff"} {
		ids = append(ids, idtype.MustParse[idtype.EightByte[E]](text))
	}
	return ids
}

func snos[E any]() (ids []idtype.Sno[E]) {
	for _, text := range []string{"2222222222222223", "8fhmi7mfls62jp64", "brpk4q72xwf2m63l", "xxxxxxxxxxxxxxxx"} {
		ids = append(ids, idtype.MustParse[idtype.Sno[E]](text))
	}
	return ids
}
