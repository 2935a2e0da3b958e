package orms

import (
	"testing"

	"github.com/uptrace/bun"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

// A plainID lost its methods, because of a missing "=".
type plainID idtype.DecimalID

type plainUser struct {
	bun.BaseModel `bun:"table:users"`
	ID            plainID `bun:",pk"`
	Name          string
	Visits        int
}

// What is refused is no valid SQL. So nothing is stored where nobody looks at the refusal: over a
// connection of its own, and by the text of the query.
func TestBunRefusedIsNoSQL(t *testing.T) {
	inBun(t, func(t *testing.T, db *bun.DB, _ *generator.Decimal) {
		named := func() *bun.InsertQuery { // it does not take the model's table
			return db.NewInsert().Model(&plainUser{ID: 7, Name: "Bob"}).ModelTableExpr("users")
		}
		zero := &BunOrder{ID: 7} // of no user
		for name, query := range map[string]*bun.InsertQuery{
			"INSERT":              db.NewInsert().Model(&plainUser{ID: 7, Name: "Bob"}),
			"INSERT of two":       db.NewInsert().Model(&[]plainUser{{ID: 7}, {ID: 8, Name: "B"}}),
			"INSERT RETURNING":    db.NewInsert().Model(&plainUser{ID: 7}).Returning("id"),
			"INSERT by name":      named(),
			"by name, RETURNING":  named().Returning("id"),
			"INSERT of one field": named().Column("id"),
			"INSERT of zero":      db.NewInsert().Model(zero),
		} {
			if _, err := db.DB.ExecContext(t.Context(), query.String()); err == nil {
				t.Errorf("%s is SQL: %s", name, query.String())
			}
			conn, err := db.Conn(t.Context())
			try(t, err)
			if _, err := query.Conn(conn).Exec(t.Context()); err == nil {
				t.Errorf("%s is no error", name)
			}
			_ = conn.Close() // pgx's driver has closed it
		}
		for _, table := range []string{"users", "orders"} {
			n, err := db.NewSelect().Table(table).Count(t.Context())
			if err != nil || n != 0 {
				t.Errorf("%d %s, %v", n, table, err)
			}
		}
		insert(t, db, &BunUser{Name: "Ann"})
	})
}
