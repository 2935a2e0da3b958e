package orms

import (
	"database/sql"
	"errors"
	"testing"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/idmint/idmint/bunid"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/sqlid"
)

const bunUpdates = "CONFLICT (name) DO UPDATE SET visits = excluded.visits"

// Ann is there already. Each form is tried with her alone, with Bob alone, who is new, and with
// both and Cem, who is new as well.
var bunUpserts = []struct {
	name, on, where, returning string // without on, Ignore
	ann                        bool   // the struct has the key that Ann has in the table
	bob                        bool   // Bob's key is in his struct, if he is alone
	three                      [3]bool
}{
	{"updates, Returning the key", bunUpdates, "", "id", true, true, [3]bool{true, true, true}},
	{"updates, Returning all", bunUpdates, "", "*", true, true, [3]bool{true, true, true}},
	{"updates", bunUpdates, "", "", false, false, [3]bool{}},
	{
		"updates WHERE, Returning the key", bunUpdates, "bun_user.visits > 100", "id", false, true,
		[3]bool{false, true, true},
	},
	{"Ignore", "", "", "", false, true, [3]bool{}},
	{"Ignore, Returning the key", "", "", "id", false, true, [3]bool{false, true, true}},
	{"Ignore, Returning all", "", "", "*", false, true, [3]bool{false, true, true}},
}

// After an upsert a struct has the key that its row has in the table, or zero.
func TestBunUpserts(t *testing.T) {
	inBun(t, func(t *testing.T, db *bun.DB, _ *generator.Decimal) {
		for _, form := range bunUpserts {
			t.Run(form.name, func(t *testing.T) {
				_, err := db.NewDelete().Model((*BunUser)(nil)).Where("1 = 1").Exec(t.Context())
				try(t, err)
				stored := &BunUser{Name: "Ann", Visits: 7}
				insert(t, db, stored)
				upsert := func(model any, affected int64) {
					t.Helper()
					q := db.NewInsert().Model(model)
					if form.on == "" {
						q = q.Ignore()
					} else {
						q = q.On(form.on)
					}
					if form.where != "" {
						q = q.Where(form.where)
					}
					if form.returning != "" {
						q = q.Returning(form.returning)
					}
					res, err := q.Exec(t.Context())
					try(t, err)
					if n, err := res.RowsAffected(); n != affected || err != nil {
						t.Errorf("%d rows affected, want %d: %v", n, affected, err)
					}
				}
				hits := int64(0) // rows that are updated
				if form.on != "" && form.where == "" {
					hits = 1
				}
				ann := &BunUser{Name: "Ann", Visits: 1}
				upsert(ann, hits)
				checkKeys(t, db, []*BunUser{ann}, form.ann)
				bob := &BunUser{Name: "Bob"}
				upsert(bob, 1)
				checkKeys(t, db, []*BunUser{bob}, form.bob)

				three := []BunUser{{Name: "Ann", Visits: 2}, {Name: "Dan"}, {Name: "Cem", Visits: 3}}
				upsert(&three, 2+hits)
				checkKeys(t, db, pointers(three), form.three[:]...)
				if three[0].Visits != 2 || three[2].Visits != 3 {
					t.Errorf("other fields changed: %+v", three)
				}
				four := []*BunUser{{Name: "Eve"}, {Name: "Ann"}, {Name: "Fay"}}
				upsert(&four, 2+hits)
				checkKeys(t, db, four, form.three[1], form.three[0], form.three[2])
			})
		}
	})
}

func pointers[T any](values []T) (all []*T) {
	for i := range values {
		all = append(all, &values[i])
	}
	return all
}

// checkKeys looks whether each struct has the key of the row with its name, or else zero.
func checkKeys(t *testing.T, db bun.IDB, users []*BunUser, known ...bool) {
	t.Helper()
	if len(users) != len(known) {
		t.Fatalf("%d structs are left of %d", len(users), len(known))
	}
	for i, u := range users {
		var stored BunUser
		err := db.NewSelect().Model(&stored).Where("name = ?", u.Name).Scan(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", u.Name, err)
		}
		want := stored.ID
		if !known[i] {
			want = 0
		}
		if u.ID != want {
			t.Errorf("%s has the key %v, want %v; stored is %v", u.Name, u.ID, want, stored.ID)
		}
	}
}

// What is returned into another variable is not in the struct.
func TestBunUpsertIntoVariable(t *testing.T) {
	inBun(t, func(t *testing.T, db *bun.DB, _ *generator.Decimal) {
		stored := &BunUser{Name: "Ann"}
		insert(t, db, stored)
		ann := &BunUser{Name: "Ann"}
		var id BunUserID
		err := db.NewInsert().Model(ann).On(bunUpdates).Returning("id").Scan(t.Context(), &id)
		if err != nil || id != stored.ID || ann.ID != 0 {
			t.Errorf("the key is %v, and that of the struct %v: %v", id, ann.ID, err)
		}
		err = db.NewInsert().Model(ann).Ignore().Returning("id").Scan(t.Context(), &id)
		if !errors.Is(err, sql.ErrNoRows) {
			t.Error(err)
		}
	})
}

// What users write is no SQL.
func TestBunWordsOfUsers(t *testing.T) {
	inBun(t, func(t *testing.T, db *bun.DB, _ *generator.Decimal) {
		for _, name := range []string{
			"it's ON CONFLICT (id) DO UPDATE", " ON CONFLICT DO NOTHING", "?!(idtype: ",
			"' CONFLICT DO UPDATE",
		} {
			ann := []*BunUser{{Name: name}}
			insert(t, db, &ann)
			checkKeys(t, db, ann, true)
		}
	})
}

// An INSERT that fails leaves all structs, with the IDs that were minted for them.
func TestBunUpsertFails(t *testing.T) {
	inBun(t, func(t *testing.T, db *bun.DB, _ *generator.Decimal) {
		ann := &BunUser{Name: "Ann"}
		insert(t, db, ann)
		users := []BunUser{{Name: "Bob"}, {Name: "Ann"}}
		_, err := db.NewInsert().Model(&users).On("CONFLICT (id) DO NOTHING").Returning("id").
			Exec(t.Context())
		if err == nil || len(users) != 2 || users[0].ID == 0 || users[1].Name != "Ann" {
			t.Errorf("%v: %+v", err, users)
		}
		users[1].Name = "Cem"
		insert(t, db, &users)
	})
}

// What bun alone makes of a bulk that does nothing on a conflict: why bunid corrects structs.
func TestBunAloneSwapsKeys(t *testing.T) {
	inBun(t, func(t *testing.T, db *bun.DB, ids *generator.Decimal) {
		insert(t, db, &BunUser{Name: "Ann"})
		alone := bun.NewDB(db.DB, bunDialect(map[bool]sqlid.Dialect{
			true: sqlid.Postgres, false: sqlid.SQLite,
		}[db.Dialect().Name() == dialect.PG]))
		users := []BunUser{
			{Name: "Ann", Keyed: bunid.Keyed[BunUserID]{ID: 70_000_000_001}},
			{Name: "Bob", Keyed: bunid.Keyed[BunUserID]{ID: 80_000_000_001}},
		}
		_, err := alone.NewInsert().Model(&users).Ignore().Returning("id").Exec(t.Context())
		if err != nil || len(users) != 1 || users[0].Name != "Ann" || users[0].ID != 80_000_000_001 {
			t.Errorf("bun alone does otherwise now: %+v, %v", users, err)
		}
	})
}

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
