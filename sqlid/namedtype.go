package sqlid

import (
	"fmt"

	"github.com/idmint/idmint/idtype"
)

// A NamedType describes a DOMAIN for IDs of type T, which is a named type in PostgreSQL with the
// check of a [Column]. Tables then use user_id instead of bigint, so tools that generate code from
// SQL, such as sqlc, know the type of the key in arrays, LEFT JOINs, and aggregates. A domain
// accepts NULL, so the column itself needs NOT NULL or PRIMARY KEY.
//
// pgx reads arrays of a domain after [github.com/idmint/idmint/sqlid/pgxid.LoadTypes].
type NamedType[T idtype.ID] struct {
	Name   string // without a schema: search_path decides where it is created
	Domain Domain
}

// Create returns the statement that creates the type, without a semicolon. PostgreSQL rejects the
// statement if the type exists. The error is a [*NamedTypeError] for other databases, or an error
// of [Column.Check].
//
//	CREATE DOMAIN "user_id" AS BIGINT CHECK (VALUE BETWEEN … AND VALUE % 100000 <> 0)
func (n NamedType[T]) Create(d Dialect) (string, error) {
	column := Column[T](n).any()
	base, err := column.Type(d)
	switch {
	case err != nil:
		return "", err
	case d != Postgres:
		return "", &NamedTypeError{d}
	}
	check, err := column.check(d, "type", "VALUE")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("CREATE DOMAIN %s AS %s CHECK (%s)", d.Quote(n.Name), base, check), nil
}

// A NamedTypeError is returned for a [NamedType] in a database without named types.
type NamedTypeError struct {
	Dialect Dialect
}

func (e *NamedTypeError) Error() string {
	return fmt.Sprintf("sqlid: %s has no named types: use Column in each table", e.Dialect)
}
