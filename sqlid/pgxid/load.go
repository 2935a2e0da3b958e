package pgxid

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// LoadTypes is [AfterConnect] for a database that defines its own types for IDs, such as the
// domains of [github.com/idmint/idmint/sqlid.NamedType]:
//
//	CREATE DOMAIN user_id AS bigint CHECK (VALUE > 0)
//
// Columns of a domain work without it, because the server reports their base type. Arrays of a
// domain, including the result of array_agg, are types that pgx knows only after it has asked the
// server for their OIDs. Each new connection does so in one query.
//
//	config.AfterConnect = pgxid.LoadTypes("user_id", "order_id")
//
// A name may have a schema, as in "sales.user_id"; without a schema it refers to a type of that
// name in any schema. The types must exist, so run migrations on another pool. Names of enums and
// composite types work as well.
//
// The connection fails with a [*LoadError] if a type does not exist or the query fails, for example
// because ctx is done.
func LoadTypes(names ...string) func(context.Context, *pgx.Conn) error {
	return func(ctx context.Context, conn *pgx.Conn) error {
		Register(conn.TypeMap())
		if len(names) == 0 {
			return nil
		}
		var all []string
		for _, name := range names {
			all = append(all, name, arrayOf(name))
		}
		loaded, err := conn.LoadTypes(ctx, all)
		if err != nil {
			return &LoadError{names, err}
		}
		for _, name := range names {
			if !hasArray(loaded, name) {
				return &LoadError{[]string{name}, errNoType}
			}
		}
		return nil
	}
}

// hasArray reports whether a type and its array type are among the loaded types.
func hasArray(loaded []*pgtype.Type, name string) bool {
	return slices.ContainsFunc(loaded, func(t *pgtype.Type) bool {
		return t.Name == name && slices.ContainsFunc(loaded, func(a *pgtype.Type) bool {
			c, ok := a.Codec.(*pgtype.ArrayCodec)
			return ok && c.ElementType.OID == t.OID
		})
	})
}

// arrayOf returns PostgreSQL's name for the array type of a type.
func arrayOf(name string) string {
	dot := strings.LastIndexByte(name, '.') + 1
	return name[:dot] + "_" + name[dot:]
}

// A LoadError is returned if the types could not be loaded for a connection. It wraps the reason.
type LoadError struct {
	Names []string
	Err   error
}

var errNoType = errors.New("the database has no such type: create it before the app connects, " +
	"or add its schema to the name")

func (e *LoadError) Error() string { return fmt.Sprintf("pgxid: types %q: %v", e.Names, e.Err) }

func (e *LoadError) Unwrap() error { return e.Err }
