package bunid_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log"
	"slices"
	"strings"
	"sync"
	"testing"

	_ "github.com/mattn/go-sqlite3"
	"github.com/uptrace/bun"
	bundialect "github.com/uptrace/bun/dialect"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	"github.com/uptrace/bun/schema"

	"github.com/idmint/idmint/bunid"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

type UserID = idtype.Decimal[User]

type User struct {
	bunid.Keyed[UserID]
	Name   string
	BossID *idtype.Decimal[User]
}

// none is a source that is never asked.
type none[T idtype.ID] struct{}

func (none[T]) Fill(context.Context, []T) (int, error) { return 0, errors.New("asked") }

func openDB(t *testing.T, d schema.Dialect) *bun.DB {
	t.Helper()
	sqldb, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sqldb.Close() })
	db, err := bunid.NewDB(sqldb, d, bunid.Use(none[idtype.DecimalID]{}))
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func TestNewDBErrors(t *testing.T) {
	sqldb := new(sql.DB)
	decimals, snos := none[idtype.DecimalID]{}, none[idtype.SnoID]{}
	var noSource bunid.Source[idtype.DecimalID]
	var noGenerator *generator.Decimal
	for want, try := range map[string]func() (*bun.DB, error){
		"the *sql.DB is nil": func() (*bun.DB, error) {
			return bunid.NewDB(nil, pgdialect.New(), bunid.Use(decimals))
		},
		"the dialect is nil": func() (*bun.DB, error) {
			return bunid.NewDB(sqldb, nil, bunid.Use(decimals))
		},
		`the dialect is "mysql"`: func() (*bun.DB, error) {
			return bunid.NewDB(sqldb, other{pgdialect.New()}, bunid.Use(decimals))
		},
		"there are no rules": func() (*bun.DB, error) {
			return bunid.NewDB(sqldb, pgdialect.New())
		},
		"rule 0: it has no source": func() (*bun.DB, error) {
			return bunid.NewDB(sqldb, pgdialect.New(), bunid.Use(noSource))
		},
		"rule 1: it has no source": func() (*bun.DB, error) {
			return bunid.NewDB(sqldb, pgdialect.New(), bunid.Use(decimals), bunid.Use(noGenerator))
		},
		"rule 0: it has no source: pass a generator": func() (*bun.DB, error) {
			return bunid.NewDB(sqldb, pgdialect.New(), bunid.For[UserID](noGenerator))
		},
		"rule 0: *idtype.Decimal[bunid_test.User] is not an ID": func() (*bun.DB, error) {
			return bunid.NewDB(sqldb, pgdialect.New(), bunid.For[*UserID](decimals))
		},
		"rule 0: *idtype.DecimalID is not an ID": func() (*bun.DB, error) {
			return bunid.NewDB(sqldb, pgdialect.New(), bunid.Use(none[*idtype.DecimalID]{}))
		},
		"rule 1: a second general rule for decimal IDs": func() (*bun.DB, error) {
			return bunid.NewDB(sqldb, pgdialect.New(), bunid.Use(decimals), bunid.Use(decimals))
		},
		"rule 1: a second rule for idtype.Decimal[bunid_test.User]": func() (*bun.DB, error) {
			return bunid.NewDB(sqldb, pgdialect.New(), bunid.For[UserID](decimals),
				bunid.For[UserID](decimals))
		},
		"rule 0: idtype.Decimal[bunid_test.User] cannot hold sno IDs": func() (*bun.DB, error) {
			return bunid.NewDB(sqldb, pgdialect.New(), bunid.For[UserID](snos))
		},
	} {
		_, err := try()
		if err == nil || !strings.HasPrefix(err.Error(), "bunid: ") ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// other is a dialect of another database.
type other struct{ *pgdialect.Dialect }

func (other) Name() bundialect.Name { return bundialect.MySQL }

type withKey[K any] struct {
	bun.BaseModel `bun:"table:rows"`
	ID            K `bun:",pk"`
}

type (
	definedID    idtype.DecimalID
	definedBytes idtype.SnoID
	definedUUID  idtype.UUID7ID
)

func TestCheck(t *testing.T) {
	type (
		snoID     = idtype.SnoID
		textID    = idtype.Sno[idtype.AsText[any]]
		uuidID    = idtype.Sno[idtype.AsUUID[any]]
		decimalID = idtype.DecimalID
	)
	for _, c := range []struct {
		model            any
		postgres, sqlite string // what is wrong; "" is nothing
	}{
		{(*User)(nil), "", ""},
		{(*withKey[int64])(nil), "", ""},
		{(*withKey[definedID])(nil), "declare it with =", "declare it with ="},
		{(*withKey[definedBytes])(nil), "declare it with =", "declare it with ="},
		{(*withKey[definedUUID])(nil), "declare it with =", "declare it with ="},
		{(*struct {
			ID decimalID `bun:",pk,autoincrement"`
		})(nil), "would number it", "would number it"},
		{(*struct {
			ID decimalID `bun:",pk,identity"`
		})(nil), "would number it", "would number it"},
		{(*struct {
			ID decimalID `bun:",pk,default:7"`
		})(nil), "the default 7", "the default 7"},
		{(*struct {
			ID decimalID `bun:",pk,nullzero"`
		})(nil), "remove nullzero", "remove nullzero"},
		{(*struct {
			ID decimalID `bun:",pk,type:integer"`
		})(nil), "want type:bigint", "SQLite numbers INTEGER keys itself"},
		{(*struct {
			Ref decimalID `bun:"type:integer"`
		})(nil), "want type:bigint", ""},
		{(*struct {
			Ref decimalID `bun:"type:bigint"`
		})(nil), "", ""},
		{(*struct {
			Ref decimalID `bun:"type:user_id"` // a domain
		})(nil), "", ""},
		{(*struct {
			Ref *decimalID `bun:"type:numeric(20)"`
		})(nil), "want type:bigint", "want type:integer"},
		{(*struct {
			Ref snoID `bun:"type:varchar(16)"`
		})(nil), "type:varchar(16) cannot hold sno IDs: want type:bytea", "want type:blob"},
		{(*struct {
			Ref sql.Null[snoID] `bun:"type:jsonb"`
		})(nil), "want type:bytea", "want type:blob"},
		{(*struct {
			Ref textID `bun:"type:bytea"`
		})(nil), "want type:text", "want type:text"},
		{(*struct {
			Ref textID `bun:"type:CHAR(16)"`
		})(nil), "", ""},
		{(*struct {
			Ref textID `bun:"type:char(10)"`
		})(nil), "want type:text", "want type:text"},
		{(*struct {
			Ref uuidID `bun:"type:text"`
		})(nil), "want type:uuid", ""},
		{(*struct {
			Ref idtype.EightByte[idtype.AsBigint[any]] `bun:"type:bytea"`
		})(nil), "want type:bigint", "want type:integer"},
	} {
		for want, d := range map[string]schema.Dialect{
			c.postgres + "\x00pg": pgdialect.New(), c.sqlite + "\x00sqlite": sqlitedialect.New(),
		} {
			want, name, _ := strings.Cut(want, "\x00")
			db := openDB(t, d)
			err := bunid.Check(db, c.model)
			var refused *bunid.Error
			if want == "" && err != nil {
				t.Errorf("%s: %T: %v", name, c.model, err)
			}
			if want != "" && (!errors.As(err, &refused) || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s: %T: %v, want %q", name, c.model, err, want)
			}
			if want == "" {
				continue
			}
			// Who forgets Check meets the same error at the first query.
			_, err = db.NewCreateTable().Model(c.model).Exec(t.Context())
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: CREATE TABLE of %T: %v, want %q", name, c.model, err, want)
			}
		}
	}
}

func TestCheckErrors(t *testing.T) {
	db := openDB(t, sqlitedialect.New())
	for _, model := range []any{nil, 7, []User{}} {
		if err := bunid.Check(db, model); err == nil || !strings.Contains(err.Error(), "not a model") {
			t.Errorf("%T: %v", model, err)
		}
	}
	if err := bunid.Check(bun.NewDB(db.DB, sqlitedialect.New()), (*User)(nil)); !errors.Is(err,
		bunid.ErrForeignDB) {
		t.Error(err)
	}
}

// A nextNode is a Valuer that begins with a pointer to its own type.
type nextNode struct{ Next *nextNode }

func (nextNode) Value() (driver.Value, error) { return nil, nil }

// Check and CheckTables take the same models.
func TestCheckTables(t *testing.T) {
	type list struct {
		bunid.Keyed[UserID]
		First nextNode
	}
	db := openDB(t, sqlitedialect.New())
	db.SetMaxOpenConns(1) // each connection has a database of its own
	if _, err := db.Exec("CREATE TABLE users (id INT NOT NULL PRIMARY KEY); " +
		"CREATE TABLE lists (id INTEGER PRIMARY KEY)"); err != nil {
		t.Fatal(err)
	}
	pointer := &User{}
	for _, model := range []any{User{}, (*User)(nil), (**User)(nil), &pointer} {
		if err := errors.Join(bunid.Check(db, model),
			bunid.CheckTables(t.Context(), db, model)); err != nil {
			t.Errorf("%T: %v", model, err)
		}
	}
	err := bunid.CheckTables(t.Context(), db, (**list)(nil))
	if err == nil || !strings.Contains(err.Error(), "the number of the row") {
		t.Error(err)
	}
	if err := bunid.CheckTables(t.Context(), db, (**int)(nil)); err == nil ||
		!strings.Contains(err.Error(), "**int is not a model") {
		t.Error(err)
	}
}

// bun itself takes nil rows only where the query has all values. They have no key to correct.
func TestUpsertOfNilRows(t *testing.T) {
	type row struct {
		bun.BaseModel `bun:"table:rows"`
		ID            UserID `bun:",pk"`
		Name          string
	}
	db := openDB(t, sqlitedialect.New())
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE rows (id INT NOT NULL PRIMARY KEY, name TEXT)"); err != nil {
		t.Fatal(err)
	}
	for i, rows := range [][]*row{{nil, {ID: 5}}, {{ID: 6}, nil}, {nil}} {
		given := slices.Clone(rows)
		_, err := db.NewInsert().Model(&rows).Column("name", "id").Value("name", "'Ann'").
			Value("id", "?", UserID(i+7)).On("CONFLICT DO NOTHING").Exec(t.Context())
		if err != nil || !slices.Equal(rows, given) {
			t.Errorf("%v, %v", rows, err)
		}
		for _, r := range rows {
			if r != nil && r.ID != 0 { // its row is another's
				t.Errorf("%+v", r)
			}
		}
	}
	n, err := db.NewSelect().Model((*row)(nil)).Count(t.Context())
	if err != nil || n != 3 {
		t.Errorf("%d rows, %v", n, err)
	}
}

// A key that only has the methods of IDs is an error, and not a panic.
func TestKeyedOfNoID(t *testing.T) {
	type row struct {
		bunid.Keyed[*UserID]
	}
	type embedding struct {
		bunid.Keyed[struct{ UserID }]
	}
	id := UserID(7)
	db := openDB(t, sqlitedialect.New())
	for _, model := range []any{
		&row{}, &row{bunid.Keyed[*UserID]{ID: &id}}, &embedding{},
	} {
		_, err := db.NewInsert().Model(model).Exec(t.Context())
		var refused *bunid.Error
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), "is not an ID") {
			t.Errorf("%T: %v", model, err)
		}
	}
}

// A value that bun cannot write stops the query, and the error shows no other value.
func TestValueErrors(t *testing.T) {
	db := openDB(t, sqlitedialect.New())
	for _, c := range []struct {
		value driver.Valuer
		want  string
	}{
		{UserID(0), `idtype: "0" as DecimalID: zero means not assigned: set the ID first, or ` +
			`declare an optional one as OrZero or sqlid.Null ` +
			`(in GORM, a rule of gormid sets a primary key, after db.Use)`},
		{UserID(-1), `idtype: "-1" as DecimalID: `},
		{odd(`a \) b "`), `"a \\) b \"" (it is odd)`},
		{odd(`(`), `"(" (it is odd)`},
		{unbalanced{}, "its error is incomplete"},
	} {
		_, err := db.NewRaw("SELECT ?, '?!(secret)'", c.value).Exec(t.Context())
		want := "bunid: a value cannot be written: " + c.want
		if err == nil || !strings.HasPrefix(err.Error(), want) ||
			strings.Contains(err.Error(), "secret") {
			t.Errorf("%v: %v, want %q", c.value, err, want)
		}
	}
	var n int
	err := db.NewRaw("SELECT length('it''s ?!(fine)')").Scan(t.Context(), &n)
	if err != nil || n != 13 {
		t.Errorf("%d, %v", n, err)
	}
}

type odd string

func (o odd) Value() (driver.Value, error) { return nil, fmt.Errorf("%q (it is odd)", string(o)) }

type unbalanced struct{}

func (unbalanced) Value() (driver.Value, error) { return nil, errors.New(`a "quote`) }

// Goroutines meet a model at the same time, and no two of them get the same key.
func TestGoroutines(t *testing.T) {
	sqldb, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer sqldb.Close()
	sqldb.SetMaxOpenConns(1) // each connection has a database of its own
	if _, err := sqldb.Exec("CREATE TABLE users (id INT NOT NULL PRIMARY KEY, name TEXT, " +
		"boss_id INT)"); err != nil {
		t.Fatal(err)
	}
	db, err := bunid.NewDB(sqldb, sqlitedialect.New(),
		bunid.Use(generator.NewTestDecimal(nil)))
	if err != nil {
		t.Fatal(err)
	}
	const goroutines, each = 8, 5
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for range each {
				users := []User{{Name: "Ann"}, {Name: "Bob"}}
				_, err := db.NewInsert().Model(&users).On("CONFLICT DO NOTHING").Returning("id").
					Exec(t.Context())
				if err != nil || users[0].ID == 0 || users[1].ID == 0 {
					t.Errorf("%+v, %v", users, err)
				}
			}
			if err := bunid.Check(db, (*User)(nil)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	n, err := db.NewSelect().Model((*User)(nil)).Count(t.Context())
	if err != nil || n != 2*goroutines*each {
		t.Errorf("%d users, %v", n, err)
	}
}

func Example() {
	type Order struct {
		bunid.Keyed[idtype.Decimal[struct{}]]
		What string
	}
	ctx := context.Background()
	sqldb, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		log.Fatal(err)
	}
	ids := generator.NewTestDecimal(nil) // in an app: NewDecimal
	db, err := bunid.NewDB(sqldb, sqlitedialect.New(), bunid.Use(ids))
	if err != nil {
		log.Fatal(err)
	}
	if err := bunid.Check(db, (*Order)(nil)); err != nil {
		log.Fatal(err)
	}
	if _, err := db.NewCreateTable().Model((*Order)(nil)).Exec(ctx); err != nil {
		log.Fatal(err)
	}
	orders := []Order{{What: "tea"}, {What: "cake"}}
	if _, err := db.NewInsert().Model(&orders).Exec(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println(orders[0].ID, orders[1].ID)
	// Output: 10000000000 20000000000
}
