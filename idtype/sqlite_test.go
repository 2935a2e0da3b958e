package idtype_test

import (
	"database/sql"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"github.com/idmint/idmint/idtype"
)

// openSQLite gives a database of its own, in memory, with the table users.
func openSQLite(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	db.SetMaxOpenConns(1) // each connection would have a database of its own
	exec(t, db, `CREATE TABLE users (id INTEGER PRIMARY KEY, boss INTEGER, team INTEGER NOT NULL DEFAULT 0, tags TEXT)`)
	return db
}

func exec(t *testing.T, db *sql.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.Exec(query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

func TestSQLitePrimaryKey(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		db := openSQLite(t)
		want := domain()
		slices.Sort(want)
		want = slices.Compact(want)
		for _, v := range want {
			exec(t, db, `INSERT INTO users (id) VALUES (?)`, k.new(v))
		}

		// Ordered by the column, and equal to what the database itself prints of its integers.
		rows, err := db.Query(`SELECT id, typeof(id), CAST(id AS TEXT), CAST(id AS TEXT) FROM users ORDER BY id`)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		var got []int64
		for rows.Next() {
			id, fromText := k.new(0), k.new(0)
			var typ, text string
			if err := rows.Scan(id, &typ, &text, fromText); err != nil {
				t.Fatal(err)
			}
			if v := number(id); typ != "integer" || text != refDigits(v) || number(fromText) != v {
				t.Errorf("%d is stored as %s %s, and read from its digits as %d", v, typ, text, number(fromText))
			}
			got = append(got, number(id))
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("stored %v\n read %v", want, got)
		}

		for _, v := range want {
			id := k.new(0)
			if err := db.QueryRow(`SELECT id FROM users WHERE id = ?`, k.new(v)).Scan(id); err != nil || number(id) != v {
				t.Errorf("row with key %d: %d, %v", v, number(id), err)
			}
		}
	})
}

// TestSQLiteForgottenKey: SQLite would number the row by itself if it got NULL, and make a row 0 if it got 0.
func TestSQLiteForgottenKey(t *testing.T) {
	db := openSQLite(t)
	if _, err := db.Exec(`INSERT INTO users (id) VALUES (?)`, UserID(0)); !errors.Is(err, idtype.ErrZero) {
		t.Errorf("insert of a key that was not assigned: error is %v, want ErrZero", err)
	}
	var n int
	if err := db.QueryRow(`SELECT count(*) FROM users`).Scan(&n); err != nil || n != 0 {
		t.Errorf("%d rows, %v, want none", n, err)
	}
}

func TestSQLiteNull(t *testing.T) {
	db := openSQLite(t)
	boss := UserID(math.MaxInt64)
	exec(t, db, `INSERT INTO users (id, boss) VALUES (?, ?)`, UserID(1), sql.Null[UserID]{})
	exec(t, db, `INSERT INTO users (id, boss) VALUES (?, ?)`, UserID(2), (*UserID)(nil))
	exec(t, db, `INSERT INTO users (id, boss) VALUES (?, ?)`, UserID(3), sql.Null[UserID]{V: boss, Valid: true})
	exec(t, db, `INSERT INTO users (id, boss) VALUES (?, ?)`, UserID(4), &boss)

	for _, tt := range []struct {
		row  UserID
		null bool
	}{{1, true}, {2, true}, {3, false}, {4, false}} {
		query := func(dst any) error {
			return db.QueryRow(`SELECT boss FROM users WHERE id = ?`, tt.row).Scan(dst)
		}
		plain := UserID(before)
		err := query(&plain)
		if tt.null {
			if !errors.Is(err, idtype.ErrNull) || !strings.Contains(err.Error(), "sql.Null") || plain != UserID(before) {
				t.Errorf("row %d: plain ID = %d, %v, want it untouched and an error that names sql.Null", tt.row, plain, err)
			}
		} else if err != nil || plain != boss {
			t.Errorf("row %d: plain ID = %d, %v, want %d", tt.row, plain, err, boss)
		}

		null := sql.Null[UserID]{V: 7, Valid: tt.null}
		if err := query(&null); err != nil || null.Valid == tt.null || !tt.null && null.V != boss {
			t.Errorf("row %d: sql.Null = %+v, %v", tt.row, null, err)
		}
		pointer := new(UserID)
		if err := query(&pointer); err != nil || (pointer == nil) != tt.null || !tt.null && *pointer != boss {
			t.Errorf("row %d: pointer = %v, %v", tt.row, pointer, err)
		}
		orZero := idtype.OrZero[UserID]{ID: 7}
		if err := query(&orZero); tt.null != errors.Is(err, idtype.ErrNull) || !tt.null && orZero.ID != boss {
			t.Errorf("row %d: OrZero = %+v, %v", tt.row, orZero, err)
		}
	}
}

func TestSQLiteOrZero(t *testing.T) {
	db := openSQLite(t)
	for row, team := range map[UserID]idtype.OrZero[OrderID]{1: {}, 2: {ID: published}} {
		exec(t, db, `INSERT INTO users (id, team) VALUES (?, ?)`, row, team)
		var got idtype.OrZero[OrderID]
		var stored int64
		if err := db.QueryRow(`SELECT team, team FROM users WHERE id = ?`, row).Scan(&got, &stored); err != nil {
			t.Fatal(err)
		}
		if got != team || stored != int64(team.ID) {
			t.Errorf("row %d: came back as %v, stored as %d, want %v", row, got, stored, team)
		}
	}
	var plain OrderID
	if err := db.QueryRow(`SELECT team FROM users WHERE id = 1`).Scan(&plain); !errors.Is(err, idtype.ErrZero) {
		t.Errorf("0 into a plain ID: error is %v, want ErrZero", err)
	}
}

func TestSQLiteSlice(t *testing.T) {
	db := openSQLite(t)
	all := domain()
	slices.Sort(all)
	all = slices.Compact(all)
	for _, v := range all {
		exec(t, db, `INSERT INTO users (id) VALUES (?)`, UserID(v))
	}
	for _, tt := range []struct {
		name string
		ids  idtype.Slice[UserID]
		want []int64
	}{
		{"nil", nil, nil},
		{"one", idtype.Slice[UserID]{published}, []int64{published}},
		{"absent", idtype.Slice[UserID]{77}, nil},
		// Floats hold neither of these: a text that was compared as one would find both, or neither.
		{
			"above 2^53",
			idtype.Slice[UserID]{1<<53 + 1, math.MaxInt64, math.MaxInt64 - 1, 1<<53 + 1},
			[]int64{1<<53 + 1, math.MaxInt64 - 1, math.MaxInt64},
		},
		{"all", idtype.Slice[UserID](toUserIDs(all)), all},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := queryIDs(t, db, `SELECT id FROM users WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id`, tt.ids)
			if !slices.Equal(got, tt.want) {
				t.Errorf("found %v, want %v", got, tt.want)
			}
		})
	}

	// The column holds numbers, and what JSON has for a short ID otherwise is its text.
	t.Run("short IDs", func(t *testing.T) {
		var ids idtype.Slice[UserShortID]
		for _, v := range all {
			ids = append(ids, UserShortID(v))
		}
		got := queryIDs(t, db, `SELECT id FROM users WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id`, ids)
		if !slices.Equal(got, all) {
			t.Errorf("found %v, want %v", got, all)
		}
	})

	t.Run("as a column", func(t *testing.T) {
		want := idtype.Slice[UserID]{3, math.MaxInt64, 3}
		exec(t, db, `UPDATE users SET tags = ? WHERE id = 1`, want)
		var got idtype.Slice[UserID]
		if err := db.QueryRow(`SELECT tags FROM users WHERE id = 1`).Scan(&got); err != nil || !slices.Equal(got, want) {
			t.Errorf("came back as %v, %v, want %v", got, err, want)
		}
		if err := db.QueryRow(`SELECT tags FROM users WHERE id = 9`).Scan(&got); !errors.Is(err, idtype.ErrNull) {
			t.Errorf("NULL: error is %v, want ErrNull", err)
		}
	})
}

func toUserIDs(values []int64) (ids []UserID) {
	for _, v := range values {
		ids = append(ids, UserID(v))
	}
	return ids
}

func queryIDs(t *testing.T, db *sql.DB, query string, args ...any) (ids []int64) {
	t.Helper()
	rows, err := db.Query(query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id UserID
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, int64(id))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return ids
}
