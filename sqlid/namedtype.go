package sqlid

import (
	"fmt"

	"github.com/idmint/idmint/idtype"
)

// A NamedType describes a type of PostgreSQL's that has a name, a DOMAIN, for IDs of type T. It has
// the check of a [Column]. Tables then say user_id instead of bigint. Tools that generate code from
// SQL, such as sqlc, so know the key's type in arrays, LEFT JOINs and aggregates. A domain takes
// NULL: a column says NOT NULL or PRIMARY KEY itself.
//
// pgx reads arrays of a domain by [github.com/idmint/idmint/sqlid/pgxid.LoadTypes].
type NamedType[T idtype.ID] struct {
	Name   string // without its schema: search_path says where it is made
	Domain Domain
}

// Create returns the statement that makes the type, without a semicolon. PostgreSQL refuses it
// where the type exists. The error is a [*NamedTypeError] for other databases, or those of
// [Column.Check].
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

// A NamedTypeError is returned for a [NamedType] in a database that has none.
type NamedTypeError struct {
	Dialect Dialect
}

func (e *NamedTypeError) Error() string {
	return fmt.Sprintf("sqlid: %s has no named types: use Column in each table", e.Dialect)
}
