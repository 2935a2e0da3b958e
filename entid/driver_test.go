package entid_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"

	"github.com/idmint/idmint/entid"
)

// fake notes what comes through.
type fake struct {
	dialect.Driver
	sent *[]string
}

func (f fake) Exec(_ context.Context, query string, _, _ any) error {
	*f.sent = append(*f.sent, query)
	return nil
}

func (f fake) Query(ctx context.Context, query string, args, v any) error {
	return f.Exec(ctx, query, args, v)
}

func (f fake) Tx(context.Context) (dialect.Tx, error) { return fakeTx{f}, nil }

type fakeTx struct{ fake }

func (fakeTx) Commit() error   { return nil }
func (fakeTx) Rollback() error { return nil }

// Statements are as ent writes them.
func TestGuard(t *testing.T) {
	id := UserID(10_000_000_001)
	ours := []any{"Ann", &id}
	for _, c := range []struct {
		query string
		args  []any
		want  error
	}{
		{`INSERT INTO "users" ("name", "id") VALUES ($1, $2) RETURNING "id"`, ours, nil},
		{`UPDATE "users" SET "name" = $1 WHERE "id" = $2`, ours, nil},
		{
			`INSERT INTO "users" ("name", "id") VALUES ($1, $2) ON CONFLICT ("name") DO NOTHING ` +
				`RETURNING "id"`, ours, nil,
		},
		{
			`INSERT INTO "users" ("name", "id") VALUES ($1, $2) ON CONFLICT ("name") DO UPDATE ` +
				`SET "name" = "excluded"."name", "id" = "users"."id" RETURNING "id"`, ours, nil,
		},
		{
			`INSERT INTO "users" ("name", "id") VALUES ($1, $2) ON CONFLICT ("name") DO UPDATE ` +
				`SET "name" = "excluded"."name", "id" = "excluded"."id" RETURNING "id"`,
			ours, entid.ErrRewrites,
		},
		{
			`INSERT INTO "users" ("name", "id") VALUES ($1, $2), ($3, $4) ON CONFLICT ("name") ` +
				`DO UPDATE SET "id" = "excluded"."id" RETURNING "id"`,
			append(ours, ours...), entid.ErrRewrites,
		},
		{
			"INSERT INTO `users` (`name`, `boss`, `id`) VALUES (?, NULL, ?) ON CONFLICT (`name`) " +
				"DO UPDATE SET `id` = ? RETURNING `id`",
			append(ours, UserID(7)), entid.ErrRewrites,
		},
		{
			`INSERT INTO "users" ("name", "id") VALUES ($1, $2) ON CONFLICT ("name") DO UPDATE ` +
				`SET "name" = $3 WHERE "id" = $4 RETURNING "id"`, ours, nil,
		},
		{ // an expression with commas in it
			`INSERT INTO "users" ("name", "id") VALUES (coalesce($1, 'x'), $2) ON CONFLICT ("name") ` +
				`DO UPDATE SET "id" = "excluded"."id" RETURNING "id"`, ours, entid.ErrRewrites,
		},
		{ // a key of another kind, beside a foreign key of ours
			`INSERT INTO "pets" ("owner", "id") VALUES ($1, $2) ON CONFLICT ("owner") DO UPDATE ` +
				`SET "id" = "excluded"."id" RETURNING "id"`, []any{id, 7}, nil,
		},
		{
			"INSERT INTO `users` (`name`, `id`) VALUES (?, ?) ON DUPLICATE KEY UPDATE " +
				"`name` = VALUES(`name`)", ours, entid.ErrNoReturning,
		},
		{
			"INSERT INTO `pets` (`name`, `id`) VALUES (?, ?) ON DUPLICATE KEY UPDATE " +
				"`name` = VALUES(`name`)", []any{"Rex", 7}, nil,
		},
		{
			`INSERT INTO "users" ("id") VALUES ($1) ON CONFLICT ("id") DO UPDATE SET ` +
				`"id" = "excluded"."id" RETURNING "id"`, []any{(*UserID)(nil)}, nil,
		},
	} {
		var sent []string
		drv := entid.Guard(fake{sent: &sent})
		tx, err := drv.Tx(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for name, send := range map[string]func(context.Context, string, any, any) error{
			"Exec": drv.Exec, "Query": drv.Query, "Tx.Exec": tx.Exec, "Tx.Query": tx.Query,
		} {
			sent = nil
			err := send(t.Context(), c.query, c.args, nil)
			if !errors.Is(err, c.want) || (err == nil) != (len(sent) == 1) {
				t.Errorf("%s of %s: %v, want %v", name, c.query, err, c.want)
			}
			var refused *entid.Error
			if err != nil && (!errors.As(err, &refused) || !strings.Contains(refused.Type, "users") ||
				strings.Count(err.Error(), "entid") != 1) {
				t.Errorf("%v", err)
			}
		}
	}
}

// Upserts of tables in a schema, as ent's builder writes them.
func TestGuardOfSchemas(t *testing.T) {
	keep := entsql.ResolveWith(func(u *entsql.UpdateSet) { u.SetIgnore("id") })
	other := entsql.ResolveWith(func(u *entsql.UpdateSet) {
		u.Set("id", entsql.Expr(u.Table().C("boss_id")))
	})
	for _, d := range []string{dialect.Postgres, dialect.SQLite} {
		for _, table := range []string{"users", "old.users", "rs"} {
			for _, schema := range []string{"", "shop", "users"} {
				for _, c := range []struct {
					want error
					then []entsql.ConflictOption
				}{
					{nil, []entsql.ConflictOption{keep}}, // UpdateNewValues
					{entid.ErrRewrites, nil},
					{entid.ErrRewrites, []entsql.ConflictOption{other}},
				} {
					resolve := []entsql.ConflictOption{
						entsql.ConflictColumns("name"), entsql.ResolveWithNewValues(),
					}
					query, args := entsql.Dialect(d).Insert(table).Schema(schema).
						Columns("name", "id").Values("Ann", UserID(7)).
						OnConflict(append(resolve, c.then...)...).
						Returning("id").Query()
					var sent []string
					err := entid.Guard(fake{sent: &sent}).Query(t.Context(), query, args, nil)
					if !errors.Is(err, c.want) || (err == nil) != (len(sent) == 1) {
						t.Errorf("%s: %v, want %v", query, err, c.want)
					}
				}
			}
		}
	}
}

// What a driver cannot do is an error, and not a panic.
func TestGuardOfBareDriver(t *testing.T) {
	var sent []string
	drv := entid.Guard(fake{sent: &sent}).(interface {
		BeginTx(context.Context, *sql.TxOptions) (dialect.Tx, error)
		ExecContext(context.Context, string, ...any) (sql.Result, error)
		QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	})
	_, begin := drv.BeginTx(t.Context(), nil)
	_, exec := drv.ExecContext(t.Context(), "SELECT 1")
	rows, query := drv.QueryContext(t.Context(), "SELECT 1")
	if rows != nil {
		t.Error(rows.Err())
	}
	for _, err := range []error{begin, exec, query} {
		if err == nil || !strings.HasPrefix(err.Error(), "entid: the driver entid_test.fake has no ") {
			t.Error(err)
		}
	}
}
