// Package pgxsuite provides a sample of each ID type for tests of package pgxid. The tests of pgxid
// use them for everything that needs no server, and integration_test/adapters for the rest.
package pgxsuite

import (
	"cmp"
	"database/sql"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/schemes"
	"github.com/idmint/idmint/sqlid"
	"github.com/idmint/idmint/sqlid/pgxid"
)

type User struct{ ID UserID }

type UserID = idtype.Decimal[User]

// NewMap returns a type map with the ID types registered.
func NewMap() *pgtype.Map {
	m := pgtype.NewMap()
	pgxid.Register(m)
	return m
}

// A Sample is an ID of one type, in every form that can hold it.
type Sample struct {
	Name   string
	Form   idtype.Storage
	Text   string
	Values []any // the ID, a pointer, and its wrappers
	List   any
	Slice  any        // an idtype.Slice
	Many   func() any // returns a destination for lists
}

// SampleOf returns the sample of a type.
func SampleOf[T idtype.ID, P interface {
	*T
	sql.Scanner
	UnmarshalText([]byte) error
}](name string) Sample {
	var id T
	of := schemes.Of(id.Scheme()).Text
	text := cmp.Or(map[string]string{"eightbyte": Deadbeef, "eightbyte as bigint": Negative}[name],
		map[bool]string{true: Large, false: of.Example}[of.Digits])
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
	Large    = "9007199254740993" // 2^53 + 1, which no float64 holds
	Deadbeef = "6465616462656566" // its bytes are characters
	SnoText  = "8fhmi7mfls62jp64" // its bytes are not
	SnoUUID  = "3866686d-6937-6d66-6c73-36326a703634"
	Negative = "cb54ecf284000000" // negative as an integer
)

// Samples cover all schemes and forms.
//
//idmint:keys Samples []Sample: SampleOf[KEY[User]](NAME)

// EightBytes returns IDs at the boundaries of their order.
func EightBytes[E any]() (ids []idtype.EightByte[E]) {
	for _, text := range []string{
		"0000000000000001", "cb54ecf284000000", "7fffffffffffffff", "ffffffffffffefff",
	} {
		ids = append(ids, idtype.MustParse[idtype.EightByte[E]](text))
	}
	return ids
}

// Snos returns IDs at the boundaries of their order.
func Snos[E any]() (ids []idtype.Sno[E]) {
	for _, text := range []string{
		"2222222222222223", "8fhmi7mfls62jp64", "brpk4q72xwf2m63l", "xxxxxxxxxxxxxxxx",
	} {
		ids = append(ids, idtype.MustParse[idtype.Sno[E]](text))
	}
	return ids
}
