package orms

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	"github.com/uptrace/bun/schema"

	"github.com/idmint/idmint/bunid"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/sqlid"
)

type (
	BunUserID  = idtype.Decimal[BunUser]
	BunOrderID = idtype.Decimal[BunOrder]
)

type BunUser struct {
	bun.BaseModel `bun:"table:users"`
	bunid.Keyed[BunUserID]
	Name   string `bun:",unique"`
	Visits int
	Orders []*BunOrder `bun:"rel:has-many,join:id=user_id"`
}

type BunOrder struct {
	bun.BaseModel `bun:"table:orders"`
	ID            BunOrderID `bun:",pk"`
	UserID        BunUserID
	User          *BunUser `bun:"rel:belongs-to,join:user_id=id"`
	ApproverID    *BunUserID
	ReferrerID    BunUserID `bun:",nullzero"`
}

func (o *BunOrder) BeforeAppendModel(ctx context.Context, query bun.Query) error {
	return bunid.Assign(ctx, query, &o.ID)
}

// inBun runs a test on both databases, with the tables of users and orders.
func inBun(t *testing.T, test func(t *testing.T, db *bun.DB, ids *generator.Decimal)) {
	everywhere(t, func(t *testing.T, d sqlid.Dialect, sqldb *sql.DB) {
		ids := newDecimal(t)
		db, err := bunid.NewDB(sqldb, bunDialect(d), bunid.Use(ids))
		try(t, err)
		try(t, bunid.Check(db, (*BunUser)(nil), (*BunOrder)(nil)))
		createTables(t, db, (*BunUser)(nil), (*BunOrder)(nil))
		test(t, db, ids)
	})
}

func bunDialect(d sqlid.Dialect) schema.Dialect {
	if d == sqlid.SQLite {
		return sqlitedialect.New()
	}
	return pgdialect.New()
}

func createTables(t *testing.T, db *bun.DB, models ...any) {
	t.Helper()
	for _, model := range models {
		if _, err := db.NewCreateTable().Model(model).WithForeignKeys().Exec(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func insert(t *testing.T, db bun.IDB, model any) {
	t.Helper()
	if _, err := db.NewInsert().Model(model).Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestBunKeys(t *testing.T) {
	inBun(t, func(t *testing.T, db *bun.DB, _ *generator.Decimal) {
		ann, bob := &BunUser{Name: "Ann"}, &BunUser{Name: "Bob"}
		insert(t, db, ann)
		insert(t, db, &[]*BunUser{bob})
		given := &BunUser{Name: "Cem", Keyed: bunid.Keyed[BunUserID]{ID: 70_000_000_001}}
		insert(t, db, given)
		if ann.ID != 10_000_000_001 || bob.ID != 20_000_000_001 || given.ID != 70_000_000_001 {
			t.Errorf("the keys are %v, %v, %v", ann.ID, bob.ID, given.ID)
		}
		orders := []BunOrder{{UserID: ann.ID}, {UserID: bob.ID, ApproverID: &ann.ID, ReferrerID: ann.ID}}
		insert(t, db, &orders)
		if orders[0].ID != 30_000_000_001 || orders[1].ID != 40_000_000_001 {
			t.Errorf("the orders' keys are %v, %v", orders[0].ID, orders[1].ID)
		}

		var read []BunOrder
		err := db.NewSelect().Model(&read).Relation("User").Order("bun_order.id").Scan(t.Context())
		try(t, err)
		if len(read) != 2 || read[0].User.Name != "Ann" || read[0].ApproverID != nil ||
			read[0].ReferrerID != 0 || *read[1].ApproverID != ann.ID || read[1].ReferrerID != ann.ID ||
			read[1].User.ID != bob.ID {
			t.Errorf("the orders are %+v", read)
		}
		var users []BunUser
		err = db.NewSelect().Model(&users).Relation("Orders").Where("id IN (?)",
			bun.List([]BunUserID{ann.ID, bob.ID})).Order("id").Scan(t.Context())
		if err != nil || len(users) != 2 || users[1].Orders[0].ID != orders[1].ID {
			t.Errorf("the users are %+v: %v", users, err)
		}

		// bun casts values of a bulk update to the columns' types.
		orders[0].ReferrerID, orders[1].ApproverID = bob.ID, nil
		_, err = db.NewUpdate().Model(&orders).Column("approver_id", "referrer_id").Bulk().
			Exec(t.Context())
		try(t, err)
		again := BunOrder{ID: orders[0].ID}
		if err := db.NewSelect().Model(&again).WherePK().Scan(t.Context()); err != nil ||
			again.ReferrerID != bob.ID || again.ApproverID != nil {
			t.Errorf("the order is %+v: %v", again, err)
		}
	})
}

// A struct that is read a second time keeps nothing of the first.
func TestBunNullIsZero(t *testing.T) {
	inBun(t, func(t *testing.T, db *bun.DB, _ *generator.Decimal) {
		ann := &BunUser{Name: "Ann"}
		insert(t, db, ann)
		order := BunOrder{UserID: ann.ID}
		insert(t, db, &order)
		order.ReferrerID, order.ApproverID = ann.ID, &ann.ID
		if err := db.NewSelect().Model(&order).WherePK().Scan(t.Context()); err != nil ||
			order.ReferrerID != 0 || order.ApproverID != nil {
			t.Errorf("%+v: %v", order, err)
		}
	})
}

type bunLine struct {
	bun.BaseModel `bun:"table:lines"`
	bunid.Keyed[idtype.Decimal[bunLine]]
	OrderID BunOrderID
	Order   *BunOrder `bun:"rel:belongs-to,join:order_id=id"`
}

// bun reads a joined row without a look at its model, if no query was about that one yet.
func TestBunJoinedNullIsZero(t *testing.T) {
	inBun(t, func(t *testing.T, db *bun.DB, ids *generator.Decimal) {
		createTables(t, db, (*bunLine)(nil))
		ann := &BunUser{Name: "Ann"}
		insert(t, db, ann)
		order := &BunOrder{UserID: ann.ID}
		insert(t, db, order)
		insert(t, db, &bunLine{OrderID: order.ID})
		d := bunDialect(sqlid.SQLite)
		if db.Dialect().Name() == pgdialect.New().Name() {
			d = bunDialect(sqlid.Postgres)
		}
		other, err := bunid.NewDB(db.DB, d, bunid.Use(ids))
		try(t, err)
		// The struct was in use before.
		line := bunLine{Order: &BunOrder{ReferrerID: ann.ID, ApproverID: &ann.ID}}
		err = other.NewSelect().Model(&line).Relation("Order").Scan(t.Context())
		if err != nil || line.Order.ID != order.ID || line.Order.ReferrerID != 0 ||
			line.Order.ApproverID != nil {
			t.Errorf("%+v: %v", line.Order, err)
		}
	})
}

// A row that comes without a key by other means than bun is refused.
func TestBunNumbersNothing(t *testing.T) {
	inBun(t, func(t *testing.T, db *bun.DB, _ *generator.Decimal) {
		insert(t, db, &BunUser{Name: "Ann"})
		for _, text := range []string{
			"INSERT INTO users (name, visits) VALUES ('Bob', 0)",
			"INSERT INTO users (id, name, visits) VALUES (NULL, 'Bob', 0)",
			"INSERT INTO users (name, visits) SELECT 'Bob', 0",
		} {
			if _, err := db.DB.ExecContext(t.Context(), text); err == nil {
				t.Errorf("%s: it was stored", text)
			}
		}
		row := map[string]any{"name": "Bob", "visits": 0}
		if _, err := db.NewInsert().Model(&row).Table("users").Exec(t.Context()); err == nil {
			t.Error("a map without a key was stored")
		}
	})
}

func TestBunZeroIsRefused(t *testing.T) {
	inBun(t, func(t *testing.T, db *bun.DB, _ *generator.Decimal) {
		ann := &BunUser{Name: "it's ?!(not) a mark"}
		insert(t, db, ann)
		tx, err := db.BeginTx(t.Context(), nil)
		try(t, err)
		defer tx.Rollback()
		for name, query := range map[string]func(bun.IDB) error{
			"foreign key": func(db bun.IDB) error {
				_, err := db.NewInsert().Model(&BunOrder{}).Exec(t.Context())
				return err
			},
			"second row": func(db bun.IDB) error {
				rows := []BunOrder{{UserID: ann.ID}, {}}
				_, err := db.NewInsert().Model(&rows).Exec(t.Context())
				return err
			},
			"condition": func(db bun.IDB) error {
				return db.NewSelect().Model((*BunUser)(nil)).Where("name = 'it''s'").
					Where("id = ?", BunUserID(0)).Scan(t.Context(), new(BunUser))
			},
			"the key of a row": func(db bun.IDB) error {
				_, err := db.NewDelete().Model(&BunUser{}).WherePK().Exec(t.Context())
				return err
			},
			"update": func(db bun.IDB) error {
				_, err := db.NewUpdate().Model(&BunOrder{ID: 10_000_000_001}).WherePK().
					Exec(t.Context())
				return err
			},
			"without a model": func(db bun.IDB) error {
				_, err := db.NewRaw("DELETE FROM users WHERE id = ?", BunUserID(0)).Exec(t.Context())
				return err
			},
		} {
			for what, db := range map[string]bun.IDB{"": db, " in a transaction": tx} {
				var refused *bunid.Error
				err := query(db)
				if !errors.As(err, &refused) || !errors.Is(err, idtype.ErrZero) ||
					strings.Contains(err.Error(), "VALUES") || strings.Contains(err.Error(), "name =") {
					t.Errorf("%s%s: %v", name, what, err)
				}
			}
		}
		// The transaction goes on: nothing was sent.
		insert(t, tx, &BunUser{Name: "Bob"})
		try(t, tx.Commit())
		if n, err := db.NewSelect().Model((*BunUser)(nil)).Count(t.Context()); err != nil || n != 2 {
			t.Errorf("%d users, %v", n, err)
		}
		if n, err := db.NewSelect().Model((*BunOrder)(nil)).Count(t.Context()); err != nil || n != 0 {
			t.Errorf("%d orders, %v", n, err)
		}
	})
}

func TestBunBadSource(t *testing.T) {
	everywhere(t, func(t *testing.T, d sqlid.Dialect, sqldb *sql.DB) {
		broken := errors.New("broken")
		db, err := bunid.NewDB(sqldb, bunDialect(d), bunid.Use(failing{broken}))
		try(t, err)
		createTables(t, db, (*BunUser)(nil))
		var refused *bunid.Error
		ann := &BunUser{Name: "Ann"}
		if _, err := db.NewInsert().Model(ann).Exec(t.Context()); !errors.As(err, &refused) ||
			!errors.Is(err, broken) || refused.Table != "users" || ann.ID != 0 {
			t.Errorf("%v, %v", err, ann.ID)
		}
		// What bun alone opened has no rules.
		plain := bun.NewDB(sqldb, bunDialect(d))
		if _, err := plain.NewInsert().Model(ann).Exec(t.Context()); !errors.Is(err,
			bunid.ErrForeignDB) {
			t.Error(err)
		}
		if n, err := db.NewSelect().Model(ann).Count(t.Context()); err != nil || n != 0 {
			t.Errorf("%d users, %v", n, err)
		}
	})
}

// bunRow has a key in every form in which a model may hold one.
type bunRow[T idtype.ID] struct {
	bun.BaseModel `bun:"table:rows,alias:r"`
	bunid.Keyed[T]
	Plain    T
	Pointer  *T
	Null     sql.Null[T]
	SQLID    sqlid.Null[T]
	OrZero   idtype.OrZero[T]
	NullZero T `bun:",nullzero"`
}

func TestBunSchemes(t *testing.T) {
	everywhere(t, func(t *testing.T, d sqlid.Dialect, sqldb *sql.DB) {
		sqldb.SetMaxIdleConns(0) // pgx keeps plans of a table that was dropped
		testBunScheme(t, d, sqldb, "decimal", idtype.MustParse[idtype.DecimalID])
		testBunScheme(t, d, sqldb, "sequence", idtype.MustParse[idtype.SequenceID])
		testBunScheme(t, d, sqldb, "trace", idtype.MustParse[idtype.TraceID])
		testBunScheme(t, d, sqldb, "short", idtype.MustParse[idtype.ShortID])
		testBunScheme(t, d, sqldb, "snowflake", idtype.MustParse[idtype.SnowflakeID])
		testBunScheme(t, d, sqldb, "eightbyte", idtype.MustParse[idtype.EightByteID])
		testBunScheme(t, d, sqldb, "eightbyte",
			idtype.MustParse[idtype.EightByte[idtype.AsBigint[any]]])
		testBunScheme(t, d, sqldb, "sno", idtype.MustParse[idtype.SnoID])
		testBunScheme(t, d, sqldb, "sno", idtype.MustParse[idtype.Sno[idtype.AsText[any]]])
		testBunScheme(t, d, sqldb, "sno", idtype.MustParse[idtype.Sno[idtype.AsUUID[any]]])
		testBunScheme(t, d, sqldb, "uuid7", idtype.MustParse[idtype.UUID7ID])
		testBunScheme(t, d, sqldb, "uuid7", idtype.MustParse[idtype.UUID7[idtype.AsBytes[any]]])
	})
}

func testBunScheme[T idtype.ID](
	t *testing.T, d sqlid.Dialect, sqldb *sql.DB, scheme string, parse func(string) T,
) {
	var ids []T
	for _, text := range texts[scheme] {
		ids = append(ids, parse(text))
	}
	var zero T
	t.Run(fmt.Sprintf("%s/%s", scheme, zero.Storage()), func(t *testing.T) {
		source := &listed[T]{ids: slices.Clone(ids)}
		db, err := bunid.NewDB(sqldb, bunDialect(d), bunid.Use(source))
		try(t, err)
		try(t, bunid.Check(db, (*bunRow[T])(nil)))
		createTables(t, db, (*bunRow[T])(nil))
		defer sqldb.Exec("DROP TABLE rows")

		checkColumns(t, d, sqldb, "rows", zero.Storage())
		rows := []bunRow[T]{
			{Plain: ids[0]},
			{
				Plain: ids[0], Pointer: &ids[1], Null: sql.Null[T]{V: ids[1], Valid: true},
				SQLID: sqlid.NullOf(ids[1]), OrZero: idtype.OrZero[T]{ID: ids[1]}, NullZero: ids[1],
			},
			{Plain: ids[2]},
		}
		insert(t, db, &rows)
		var read []bunRow[T]
		try(t, db.NewSelect().Model(&read).Order("id").Scan(t.Context()))
		for i, r := range read {
			if r.ID != ids[i] || r.Plain != rows[i].Plain || (r.Pointer != nil) != (i == 1) ||
				r.Null != rows[i].Null || r.SQLID != rows[i].SQLID || r.OrZero != rows[i].OrZero ||
				r.NullZero != rows[i].NullZero || r.Pointer != nil && *r.Pointer != ids[1] {
				t.Errorf("row %d is %+v, want %+v", i, r, rows[i])
			}
		}
		n, err := db.NewSelect().Model((*bunRow[T])(nil)).
			Where("id = ? AND pointer = ? AND null_zero IS NOT NULL", ids[1], &ids[1]).Count(t.Context())
		if err != nil || n != 1 || len(read) != 3 {
			t.Errorf("%d of %d rows, %v", n, len(read), err)
		}
		_, err = sqldb.ExecContext(t.Context(),
			"INSERT INTO rows (plain, or_zero) SELECT plain, or_zero FROM rows")
		if err == nil {
			t.Error("rows without keys were stored")
		}
		_, err = db.NewUpdate().Model(&read).Column("pointer").Bulk().Exec(t.Context())
		if err != nil {
			t.Errorf("a bulk update: %v", err)
		}
	})
}

// Tables made for production refuse IDs of launch 0 as keys.
func TestBunRefusesTestIDs(t *testing.T) {
	everywhere(t, func(t *testing.T, d sqlid.Dialect, sqldb *sql.DB) {
		db, err := bunid.NewDB(sqldb, bunDialect(d), bunid.Use(newDecimal(t)), bunid.RefuseTestIDs())
		try(t, err)
		createTables(t, db, (*BunUser)(nil), (*bunRow[idtype.SnoID])(nil))
		user := BunUser{Name: "Ann", Keyed: bunid.Keyed[BunUserID]{ID: 10_000_000_000}}
		if _, err := db.NewInsert().Model(&user).Exec(t.Context()); err == nil {
			t.Error("a test ID was stored")
		}
		insert(t, db, &BunUser{Name: "Bob"})
	})
}
