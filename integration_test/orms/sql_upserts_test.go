package orms

import (
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/sqlid"
)

// The statements of docs/use/upserts.md. sqlc sends them as they are, :one by QueryRow, :exec by Exec.
const (
	sqlInsert  = "INSERT INTO users (id, name) VALUES ($1, $2)"
	sqlUpdates = sqlInsert + " ON CONFLICT (name) DO UPDATE SET visits = users.visits + 1"
	sqlNothing = sqlInsert + " ON CONFLICT (name) DO NOTHING"
	sqlBulk    = "INSERT INTO users (id, name) VALUES ($1, $2), ($3, $4) ON CONFLICT (name) DO NOTHING"
)

type sqlUser struct{}

type sqlUserID = idtype.Decimal[sqlUser]

// A sqlShop is a table of users in which Ann is already.
type sqlShop struct {
	*sql.DB
	ids *generator.Decimal
	ann sqlUserID
}

func inSQL(t *testing.T, test func(t *testing.T, s sqlShop)) {
	everywhere(t, func(t *testing.T, d sqlid.Dialect, db *sql.DB) {
		s := sqlShop{DB: db, ids: newDecimal(t)}
		key, err := sqlid.Column[sqlUserID]{Name: "id"}.PrimaryKey(d)
		try(t, err)
		dbtest.Exec(t, db, "CREATE TABLE users ("+key+
			", name VARCHAR(20) UNIQUE NOT NULL, visits INT NOT NULL DEFAULT 0)")
		s.ann = s.next(t)
		s.exec(t, sqlInsert, s.ann, "Ann")
		test(t, s)
	})
}

func (s sqlShop) next(t *testing.T) sqlUserID {
	t.Helper()
	id, err := s.ids.Next(t.Context())
	try(t, err)
	return sqlUserID(id)
}

func (s sqlShop) exec(t *testing.T, query string, args ...any) {
	t.Helper()
	if _, err := s.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatal(err)
	}
}

// stored is the key that a user has in the table.
func (s sqlShop) stored(t *testing.T, name string) (id sqlUserID) {
	t.Helper()
	err := s.QueryRowContext(t.Context(), "SELECT id FROM users WHERE name = $1", name).Scan(&id)
	try(t, err)
	return id
}

func TestSQLUpserts(t *testing.T) {
	inSQL(t, func(t *testing.T, s sqlShop) {
		id := s.next(t)
		err := s.QueryRowContext(t.Context(), sqlUpdates+" RETURNING id", id, "Ann").Scan(&id)
		if err != nil || id != s.ann || s.stored(t, "Ann") != s.ann {
			t.Errorf("updates, RETURNING: %v, %v", id, err)
		}
		id = s.next(t)
		s.exec(t, sqlUpdates, id, "Ann")
		if id == s.ann || s.stored(t, "Ann") != s.ann {
			t.Errorf("updates: %v, stored is %v", id, s.stored(t, "Ann"))
		}
		err = s.QueryRowContext(t.Context(), sqlNothing+" RETURNING id", id, "Ann").Scan(&id)
		if !errors.Is(err, sql.ErrNoRows) || s.stored(t, "Ann") != s.ann {
			t.Errorf("does nothing, RETURNING: %v", err)
		}
		bob := s.next(t)
		err = s.QueryRowContext(t.Context(), sqlNothing+" RETURNING id", bob, "Bob").Scan(&id)
		if err != nil || id != bob || s.stored(t, "Bob") != bob {
			t.Errorf("does nothing, a new row: %v, %v", id, err)
		}
		// Of two rows one is returned: the second.
		cem := s.next(t)
		err = s.QueryRowContext(t.Context(), sqlBulk+" RETURNING id", id, "Ann", cem, "Cem").Scan(&id)
		if err != nil || id != cem || s.stored(t, "Ann") != s.ann {
			t.Errorf("does nothing, several rows: %v, %v", id, err)
		}
		// The stored key is rewritten.
		other := s.next(t)
		s.exec(t, sqlInsert+" ON CONFLICT (name) DO UPDATE SET id = excluded.id", other, "Ann")
		if s.stored(t, "Ann") != other {
			t.Errorf("SET id: stored is %v", s.stored(t, "Ann"))
		}
		if strings.Contains(t.Name(), "SQLite") {
			other = s.next(t)
			s.exec(t, "INSERT OR REPLACE INTO users (id, name) VALUES ($1, $2)", other, "Ann")
			if s.stored(t, "Ann") != other {
				t.Errorf("OR REPLACE: stored is %v", s.stored(t, "Ann"))
			}
		}
	})
}

// pgx says the same in words of its own.
func TestPgxUpserts(t *testing.T) {
	d := dbtest.New(t, databases.Postgres)
	conn, err := pgx.Connect(t.Context(), d.Source())
	try(t, err)
	defer conn.Close(t.Context())
	dbtest.Exec(t, dbtest.Open(t, d), "CREATE TABLE users (id bigint PRIMARY KEY, "+
		"name text UNIQUE NOT NULL, visits int NOT NULL DEFAULT 0)",
		"INSERT INTO users VALUES (10000000001, 'Ann', 0)")
	id := sqlUserID(20_000_000_001)
	err = conn.QueryRow(t.Context(), sqlNothing+" RETURNING id", id, "Ann").Scan(&id)
	if !errors.Is(err, pgx.ErrNoRows) || id != 20_000_000_001 {
		t.Errorf("%v, %v", id, err)
	}
	err = conn.QueryRow(t.Context(), sqlUpdates+" RETURNING id", id, "Ann").Scan(&id)
	if err != nil || id != 10_000_000_001 {
		t.Errorf("%v, %v", id, err)
	}
	rows, err := conn.Query(t.Context(), sqlBulk+" RETURNING id", id+1, "Ann", id+2, "Bob")
	try(t, err)
	got, err := pgx.CollectRows(rows, pgx.RowTo[sqlUserID])
	if err != nil || len(got) != 1 || got[0] != id+2 {
		t.Errorf("%v, %v", got, err)
	}
}
