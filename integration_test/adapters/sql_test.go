package adapters_test

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/lib/pq"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/sqlid"
	"github.com/idmint/idmint/sqlid/pgxid"
)

// A sqlDatabase is an empty database of one dialect, by its driver of database/sql.
type sqlDatabase struct {
	Dialect sqlid.Dialect
	DB      *sql.DB
	End     string // of CREATE TABLE
}

// sqlInMemory is a database of SQLite.
func sqlInMemory(t *testing.T) sqlDatabase {
	db := dbtest.OpenSource(t, "sqlite3", ":memory:")
	db.SetMaxOpenConns(1) // another connection would be another database
	return sqlDatabase{sqlid.SQLite, db, " WITHOUT ROWID"}
}

func TestSQLColumns(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) { testSQLColumns(t, sqlInMemory(t)) })
	for kind, dialect := range map[databases.Kind]sqlid.Dialect{
		databases.Postgres: sqlid.Postgres,
		databases.MariaDB:  sqlid.MariaDB,
	} {
		t.Run(string(kind), func(t *testing.T) {
			testSQLColumns(t, sqlDatabase{dialect, dbtest.Open(t, dbtest.New(t, kind)), ""})
		})
	}
}

// Every driver, in every way in which it talks to its server.
func TestSQLDrivers(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) { testSQLDriver(t, sqlInMemory(t)) })
	for name, interpolate := range map[string]bool{
		"go-sql-driver in binary": false,
		"go-sql-driver in text":   true,
	} {
		t.Run(name, func(t *testing.T) {
			config, err := mysql.ParseDSN(dbtest.New(t, databases.MariaDB).Source())
			try(t, err)
			config.InterpolateParams = interpolate
			connector, err := mysql.NewConnector(config)
			try(t, err)
			db := sql.OpenDB(connector)
			t.Cleanup(func() { db.Close() })
			testSQLDriver(t, sqlDatabase{sqlid.MariaDB, db, ""})
		})
	}
	t.Run("pgx", func(t *testing.T) {
		source := dbtest.New(t, databases.Postgres).Source()
		for _, mode := range apart {
			for name, afterConnect := range map[string]func(context.Context, *pgx.Conn) error{
				"alone":      func(context.Context, *pgx.Conn) error { return nil },
				"with pgxid": pgxid.AfterConnect,
			} {
				t.Run(mode.String()+" "+name, func(t *testing.T) {
					config, err := pgx.ParseConfig(source)
					try(t, err)
					config.DefaultQueryExecMode = mode
					// which takes most of the time
					config.RuntimeParams["synchronous_commit"] = "off"
					db := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(afterConnect))
					t.Cleanup(func() { db.Close() })
					testSQLDriver(t, sqlDatabase{sqlid.Postgres, db, ""})
				})
			}
		}
	})
}

// parameter is the i-th parameter of a statement, from 1 on.
func (s sqlDatabase) parameter(i int) string {
	if s.Dialect == sqlid.Postgres {
		return fmt.Sprintf("$%d", i)
	}
	return "?"
}

func (s sqlDatabase) exec(t *testing.T, statement string) {
	t.Helper()
	if _, err := s.DB.Exec(statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// tableOfTest is a table's name for a subtest of one type of IDs. Drivers keep the statements that
// they prepared, with the types that a table of the same name had.
func tableOfTest(t *testing.T) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return -1
	}, t.Name()[strings.LastIndex(t.Name(), "/")+1:])
}

// lib/pq takes IDs, their wrappers and lists of them, as pgx's driver does.
func TestSQLPQ(t *testing.T) {
	t.Parallel()
	testSQLDriver(t, sqlDatabase{sqlid.Postgres, openPQ(t), ""})
}

func openPQ(t *testing.T) *sql.DB {
	return dbtest.OpenSource(t, "postgres", dbtest.New(t, databases.Postgres).Source())
}

// pq.Array reads keys of every form. It sends those that are no bytes. docs/use/database-sql.md has
// these cases.
func TestSQLPQArray(t *testing.T) {
	t.Parallel()
	source := dbtest.New(t, databases.Postgres).Source()
	for _, driver := range []string{"postgres", "pgx"} {
		testPQArrays(t, dbtest.OpenSource(t, driver, source))
	}
}

func testPQArrays(t *testing.T, db *sql.DB) {
	testPQArray(t, db, "bigint", idtype.MustParse[idtype.DecimalID]("14150009200065"), true)
	sno := idtype.MustParse[idtype.SnoID]("8fhmi7mfls62jp64")
	testPQArray(t, db, "uuid", idtype.Sno[idtype.AsUUID[User]](sno), true)
	testPQArray(t, db, "text", idtype.Sno[idtype.AsText[User]](sno), true)
	testPQArray(t, db, "bytea", sno, false)
	testPQArray(t, db, "bytea", idtype.MustParse[idtype.EightByteID]("5b9bda2989e1989b"), false)
}

func testPQArray[T interface {
	idtype.ID
	comparable
}](t *testing.T, db *sql.DB, column string, id T, sends bool) {
	t.Helper()
	var got []T
	err := db.QueryRow("SELECT $1::"+column+"[]", sqlid.Array[T]{id}).Scan(pq.Array(&got))
	if err != nil || !slices.Equal(got, []T{id}) {
		t.Errorf("%s: reads %v, %v", column, got, err)
	}
	if err := db.QueryRow("SELECT $1::"+column+"[]", sqlid.Array[T]{id}).Scan(&got); err == nil {
		t.Errorf("%s: a plain slice is a destination", column)
	}
	got = nil
	err = db.QueryRow("SELECT $1::"+column+"[]", pq.Array([]T{id})).Scan(pq.Array(&got))
	if sends && (err != nil || !slices.Equal(got, []T{id})) {
		t.Errorf("%s: sends %v, %v", column, got, err)
	} else if !sends && (err == nil || !strings.Contains(err.Error(), "invalid byte sequence")) {
		t.Errorf("%s: pq.Array sends bytes: %v, %v", column, got, err)
	}
}

// A backslash among the bytes of a key makes another key of it, by pq.Array of whatever driver. An
// Array does not.
func TestSQLPQArrayChangesBytes(t *testing.T) {
	t.Parallel()
	source := dbtest.New(t, databases.Postgres).Source()
	for _, driver := range []string{"postgres", "pgx"} {
		db := dbtest.OpenSource(t, driver, source)
		id := idtype.MustParse[idtype.EightByteID]("5c31303135363738") // \1015678
		if driver == "postgres" {                                      // which makes a pq.Array of a slice
			var plain string
			err := db.QueryRow("SELECT encode(($1::bytea[])[1], 'hex')",
				[]idtype.EightByteID{id}).Scan(&plain)
			if err != nil || plain != "4135363738" {
				t.Errorf("lib/pq sends a plain slice as %s, %v", plain, err)
			}
		}
		var theirs, ours string
		const query = "SELECT encode(($1::bytea[])[1], 'hex')"
		if err := db.QueryRow(query, pq.Array([]idtype.EightByteID{id})).Scan(&theirs); err != nil ||
			theirs != "4135363738" { // \101 is A
			t.Errorf("%s: pq.Array sends %s, %v", driver, theirs, err)
		}
		err := db.QueryRow(query, sqlid.Array[idtype.EightByteID]{id}).Scan(&ours)
		if err != nil || ours != id.String() {
			t.Errorf("%s: an Array sends %s, %v, want %v", driver, ours, err, id)
		}
	}
}

// Without package pgxid no driver knows that a parameter is jsonb. The text of an ID does in all,
// and #>> reads it.
func TestSQLJSONB(t *testing.T) {
	t.Parallel()
	source := dbtest.New(t, databases.Postgres).Source()
	decimal, sno := idtype.MustParse[idtype.DecimalID]("14150009200065"), idtype.MustParse[idtype.SnoID]("8fhmi7mfls62jp64")
	asText := idtype.Sno[idtype.AsText[User]](sno)
	for _, driver := range []string{"postgres", "pgx"} {
		db := dbtest.OpenSource(t, driver, source)
		for _, c := range []struct {
			id   any
			want string // its JSON, or a part of the error
		}{
			{decimal, "14150009200065"}, // a number
			{sno, "invalid byte sequence"},
			{asText, "invalid input syntax for type json"},
		} {
			var got string
			err := db.QueryRow("SELECT $1::jsonb", c.id).Scan(&got)
			if err != nil {
				got = err.Error()
			}
			if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
				t.Errorf("%s: %T as jsonb is %s, want %s", driver, c.id, got, c.want)
			}
		}
		var json string
		var back idtype.SnoID
		err := db.QueryRow("SELECT j, j #>> '{}' FROM (SELECT to_jsonb($1::text)) AS t (j)",
			sno.String()).Scan(&json, &back)
		if err != nil || json != `"8fhmi7mfls62jp64"` || back != sno {
			t.Errorf("%s: %s, %v, %v", driver, json, back, err)
		}
		before := back
		err = db.QueryRow("SELECT to_jsonb($1::text)", sno.String()).Scan(&back)
		if err == nil || back != before {
			t.Errorf("%s: a jsonb into a plain ID: %v, %v", driver, back, err)
		}
	}
}
