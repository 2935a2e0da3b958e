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

// LoadTypes is [AfterConnect] for a database that has types of its own for IDs, such as
//
//	CREATE DOMAIN user_id AS bigint CHECK (VALUE > 0)
//
// of [github.com/idmint/idmint/sqlid.NamedType]. Columns of a domain need nothing: the server calls
// them by their base type. Arrays of a domain, array_agg among them, are types that pgx knows only
// once it has asked for their numbers. Each new connection asks, in one query.
//
//	config.AfterConnect = pgxid.LoadTypes("user_id", "order_id")
//
// A name may have a schema before it, "sales.user_id". Without one it is a type of that name in any
// schema. The types must exist: migrate by another pool. Names of enums and composites work as well.
//
// The connection fails with a [*LoadError] where a type does not exist or the query fails, also
// because ctx ended.
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

// hasArray reports whether a type and the type of its arrays are among those loaded.
func hasArray(loaded []*pgtype.Type, name string) bool {
	return slices.ContainsFunc(loaded, func(t *pgtype.Type) bool {
		return t.Name == name && slices.ContainsFunc(loaded, func(a *pgtype.Type) bool {
			c, ok := a.Codec.(*pgtype.ArrayCodec)
			return ok && c.ElementType.OID == t.OID
		})
	})
}

// arrayOf is PostgreSQL's name of the type of arrays of a type.
func arrayOf(name string) string {
	dot := strings.LastIndexByte(name, '.') + 1
	return name[:dot] + "_" + name[dot:]
}

// A LoadError is returned for types that a connection could not be told of. It wraps the reason.
type LoadError struct {
	Names []string
	Err   error
}

var errNoType = errors.New("the database has no such type: create it before the app connects, " +
	"or add its schema to the name")

func (e *LoadError) Error() string { return fmt.Sprintf("pgxid: types %q: %v", e.Names, e.Err) }

func (e *LoadError) Unwrap() error { return e.Err }
