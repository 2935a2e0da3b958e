package orms

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/sqlid"
)

type sqlxID = idtype.Decimal[sqlxUser]

type sqlxUser struct {
	ID        sqlxID  `db:"id"`
	Name      string  `db:"name"`
	InvitedBy *sqlxID `db:"invited_by"`
}

func openUsers(t *testing.T) *sqlx.DB {
	t.Helper()
	db, err := sqlx.Open("sqlite3", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1) // another connection would be another database
	t.Cleanup(func() { db.Close() })
	key, err := sqlid.Column[sqlxID]{Name: "id"}.PrimaryKey(sqlid.SQLite)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec("CREATE TABLE users (" + key + ", name TEXT NOT NULL, invited_by INTEGER)")
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func insertUsers(ctx context.Context, db *sqlx.DB, users any) error {
	_, err := db.NamedExecContext(ctx, "INSERT INTO users (id, name, invited_by) "+
		"VALUES (:id, :name, :invited_by)", users)
	return err
}

// A key that was forgotten is an error, in one row and in many, and nothing is stored.
func TestSqlxForgottenKey(t *testing.T) {
	db := openUsers(t)
	for _, rows := range []any{
		sqlxUser{Name: "Ann"},
		[]sqlxUser{{ID: 10000000001, Name: "Ann"}, {Name: "Bob"}},
		[]map[string]any{{"id": sqlxID(0), "name": "Ann", "invited_by": nil}},
	} {
		if err := insertUsers(t.Context(), db, rows); !errors.Is(err, idtype.ErrZero) {
			t.Errorf("%v: %v", rows, err)
		}
	}
	var n int
	if err := db.Get(&n, "SELECT count(*) FROM users"); err != nil || n != 0 {
		t.Errorf("%d rows, %v", n, err)
	}
}

// sqlx.In spreads a plain slice of IDs. It takes a list that is a Valuer for one value, which finds
// no row and is no error.
func TestSqlxIn(t *testing.T) {
	db := openUsers(t)
	ids := []sqlxID{10000000001, 20000000001}
	for _, id := range ids {
		if err := insertUsers(t.Context(), db, sqlxUser{ID: id, Name: "Ann"}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		list any
		want int
	}{
		{ids, 2}, {idtype.Slice[sqlxID](ids), 0}, {sqlid.Array[sqlxID](ids), 0},
	} {
		query, args, err := sqlx.In("SELECT * FROM users WHERE id IN (?)", c.list)
		if err != nil {
			t.Fatal(err)
		}
		var found []sqlxUser
		if err := db.Select(&found, query, args...); err != nil || len(found) != c.want {
			t.Errorf("%T: %v, %v, want %d rows", c.list, found, err, c.want)
		}
	}
	if _, _, err := sqlx.In("SELECT * FROM users WHERE id IN (?)", ids[:0]); err == nil {
		t.Error("an empty list is no error")
	}
}

// NULL goes into a pointer, and is an error for a plain key.
func TestSqlxNull(t *testing.T) {
	db := openUsers(t)
	if err := insertUsers(t.Context(), db, sqlxUser{ID: 10000000001, Name: "Ann"}); err != nil {
		t.Fatal(err)
	}
	var u sqlxUser
	if err := db.Get(&u, "SELECT * FROM users"); err != nil || u.InvitedBy != nil {
		t.Errorf("%v, %v", u, err)
	}
	plain := struct {
		Inviter sqlxID `db:"invited_by"`
	}{7}
	err := db.Get(&plain, "SELECT invited_by FROM users")
	if !errors.Is(err, idtype.ErrNull) || plain.Inviter != 7 ||
		!strings.Contains(err.Error(), "invited_by") {
		t.Errorf("%v, %v", plain, err)
	}
}
