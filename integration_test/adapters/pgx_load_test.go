package adapters_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/sqlid"
	"github.com/idmint/idmint/sqlid/pgxid"
	"github.com/idmint/idmint/sqlid/pgxid/pgxsuite"
)

// A domain is a named type of PostgreSQL's, and the test of its keys.
type domain struct {
	name   string
	create func(sqlid.Dialect) (string, error)
	test   func(t *testing.T, pool *pgxpool.Pool, name string)
}

func domainOf[T interface {
	idtype.ID
	comparable
}](name string, ids ...T) domain {
	return domain{
		name, sqlid.NamedType[T]{Name: name}.Create,
		func(t *testing.T, pool *pgxpool.Pool, name string) { testDomain(t, pool, name, ids) },
	}
}

var domains = []domain{
	domainOf[pgxsuite.UserID]("user_id", 14150009200065, 14160009200065),
	domainOf("a uuid", pgxsuite.Snos[idtype.AsUUID[pgxsuite.User]]()...),
	domainOf("event_id", pgxsuite.Snos[pgxsuite.User]()...),
}

// names are those of all domains, for LoadTypes.
func domainNames() (all []string) {
	for _, d := range domains {
		all = append(all, d.name)
	}
	return all
}

// newDomains makes a database that has them.
func newDomains(t *testing.T) (source string) {
	t.Helper()
	d := dbtest.New(t, databases.Postgres)
	db := dbtest.Open(t, d)
	for _, d := range domains {
		create, err := d.create(sqlid.Postgres)
		try(t, err)
		dbtest.Exec(t, db, create)
	}
	return d.Source()
}

func TestPgxLoadTypes(t *testing.T) {
	t.Parallel()
	source := newDomains(t)
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			pool := openPool(t, source, mode, pgxid.LoadTypes(domainNames()...))
			for _, d := range domains {
				t.Run(d.name, func(t *testing.T) { d.test(t, pool, d.name) })
			}
		})
	}
}

// testDomain takes IDs through a table of a domain: as keys, in arrays of every kind, and from the
// empty side of a LEFT JOIN.
func testDomain[T interface {
	idtype.ID
	comparable
}](t *testing.T, pool *pgxpool.Pool, name string, ids []T) {
	quoted := sqlid.Quote(name)
	ctx := t.Context()
	tx, err := pool.Begin(ctx)
	try(t, err)
	defer func() { _ = tx.Rollback(context.Background()) }()
	table := fmt.Sprint("domain", pgxTables.Add(1)) // pgx keeps what it knows of a name
	if _, err := tx.Exec(ctx, "CREATE TEMP TABLE "+table+" (id "+quoted+" PRIMARY KEY, many "+quoted+
		"[]) ON COMMIT DROP"); err != nil {
		t.Fatal(err)
	}
	source := pgx.CopyFromSlice(len(ids), func(i int) ([]any, error) {
		return []any{&ids[i], ids}, nil
	})
	_, err = tx.CopyFrom(ctx, pgx.Identifier{table}, []string{"id", "many"}, source)
	try(t, err)
	var many, all, found []T
	var none *T
	query := strings.ReplaceAll("SELECT first.many, array_agg(t.id), "+
		"array_agg(t.id) FILTER (WHERE t.id = ANY($1::"+quoted+"[])), nobody.id "+
		"FROM {t} t JOIN {t} first ON first.id = $2 LEFT JOIN {t} nobody ON false "+
		"GROUP BY first.many, nobody.id", "{t}", table)
	err = tx.QueryRow(ctx, query, ids[:1], ids[0]).Scan(&many, &all, &found, &none)
	if err != nil || !slices.Equal(many, ids) || len(all) != len(ids) ||
		!slices.Equal(found, ids[:1]) || none != nil {
		t.Errorf("%v, %v, %v, %v, %v", many, all, found, none, err)
	}
	if _, err := tx.Exec(ctx, "SELECT $1::"+quoted+"[]", []T{ids[0], *new(T)}); !errors.Is(err,
		idtype.ErrZero) {
		t.Errorf("zero: %v", err)
	}
}

// Where a type is missing the connection says which, and no query runs without it.
func TestPgxLoadTypesMissing(t *testing.T) {
	t.Parallel()
	pool := openPool(t, newDomains(t), pgx.QueryExecModeCacheStatement,
		pgxid.LoadTypes("user_id", "no such type"))
	var load *pgxid.LoadError
	err := pool.Ping(t.Context())
	if !errors.As(err, &load) || !slices.Equal(load.Names, []string{"no such type"}) ||
		!strings.Contains(err.Error(), `pgxid: types ["no such type"]: the database has no such type`) {
		t.Errorf("got %v", err)
	}
}

// A type may have a schema before it. One whose array has another name than usual is an error.
func TestPgxLoadTypesNames(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, databases.Postgres)
	db := dbtest.Open(t, d)
	dbtest.Exec(t, db, `CREATE SCHEMA "the sales"`,
		`CREATE DOMAIN "the sales".user_id AS bigint CHECK (VALUE > 0)`,
		`CREATE TYPE _order_id AS ENUM ('taken')`, `CREATE DOMAIN order_id AS bigint`,
		`CREATE DOMAIN line_id AS bigint`)
	pool := openPool(t, d.Source(), pgx.QueryExecModeCacheStatement,
		pgxid.LoadTypes("the sales.user_id"))
	var got []pgxsuite.UserID
	err := pool.QueryRow(t.Context(), `SELECT ARRAY[5, 6]::"the sales".user_id[]`).Scan(&got)
	if err != nil || !slices.Equal(got, []pgxsuite.UserID{5, 6}) {
		t.Errorf("in a schema: %v, %v", got, err)
	}
	pool = openPool(t, d.Source(), pgx.QueryExecModeCacheStatement, pgxid.LoadTypes("line_id", "order_id"))
	var load *pgxid.LoadError
	if err := pool.Ping(t.Context()); !errors.As(err, &load) ||
		!slices.Equal(load.Names, []string{"order_id"}) {
		t.Errorf("an array of another name: %v", err)
	}
}

func TestPgxLoadTypesContext(t *testing.T) {
	t.Parallel()
	conn, err := pgx.Connect(t.Context(), newDomains(t))
	try(t, err)
	defer conn.Close(context.Background())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var load *pgxid.LoadError
	err = pgxid.LoadTypes("user_id")(ctx, conn)
	if !errors.Is(err, context.Canceled) || !errors.As(err, &load) {
		t.Errorf("got %v", err)
	}
	if err := pgxid.LoadTypes()(ctx, conn); err != nil { // nothing to ask
		t.Errorf("no names: %v", err)
	}
}

// Without LoadTypes an array of a domain is an error, and never a wrong key. A lone key is read.
func TestPgxDomainsUnloaded(t *testing.T) {
	t.Parallel()
	pool := openPool(t, newDomains(t), pgx.QueryExecModeCacheStatement, pgxid.After(nil))
	var one pgxsuite.UserID
	var many []pgxsuite.UserID
	query := "SELECT 14150009200065::user_id, ARRAY[14150009200065]::user_id[] WHERE 14150009200065 = ANY($1::user_id[])"
	err := pool.QueryRow(t.Context(), query, []pgxsuite.UserID{14150009200065}).Scan(&one, &many)
	if err == nil || many != nil {
		t.Errorf("got %v, %v", many, err)
	}
	err = pool.QueryRow(t.Context(), query, []pgxsuite.UserID{14150009200065}).Scan(&one, nil)
	if err != nil || one != 14150009200065 {
		t.Errorf("got %v, %v", one, err)
	}
}
