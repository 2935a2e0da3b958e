package bunid_test

import (
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"

	"github.com/idmint/idmint/bunid"
	"github.com/idmint/idmint/idtype"
)

// A refusedRow has a key that is no ID, because of a missing "=".
type refusedRow struct {
	bun.BaseModel `bun:"table:rows"`
	ID            definedID `bun:",pk"`
	Name          string
	Note          *string
}

// A nullRow has a key that bun would write as NULL, and SQLite would number.
type nullRow struct {
	bun.BaseModel `bun:"table:rows"`
	ID            idtype.DecimalID `bun:",pk,nullzero"`
	Name          string           `bun:",nullzero"`
	Note          *string          `bun:",default:'-'"`
}

// A goodRow is not refused. Its reference may be zero, and its relation is.
type goodRow struct {
	bun.BaseModel `bun:"table:rows"`
	bunid.Keyed[UserID]
	Name  UserID      // zero: not to be written
	Other *refusedRow `bun:"rel:belongs-to,join:id=id"`
}

// Nothing refused is stored, deleted or read, whatever the query goes through. A Conn of
// database/sql does not look at contexts that have ended.
func TestRefusedEverywhere(t *testing.T) {
	for name, query := range map[string]func(bun.IDB) error{
		"INSERT": func(db bun.IDB) error {
			_, err := db.NewInsert().Model(&refusedRow{Name: "Bob"}).Exec(t.Context())
			return err
		},
		"INSERT of a set key": func(db bun.IDB) error {
			_, err := db.NewInsert().Model(&refusedRow{ID: 7, Name: "Bob"}).Exec(t.Context())
			return err
		},
		"INSERT RETURNING": func(db bun.IDB) error {
			_, err := db.NewInsert().Model(&refusedRow{ID: 7}).Returning("id").Exec(t.Context())
			return err
		},
		"INSERT of many": func(db bun.IDB) error {
			_, err := db.NewInsert().Model(&[]refusedRow{{ID: 7}, {ID: 8}}).Exec(t.Context())
			return err
		},
		"INSERT into a table of its own name": func(db bun.IDB) error {
			_, err := db.NewInsert().Model(&refusedRow{ID: 7}).ModelTableExpr("rows").
				Exec(t.Context())
			return err
		},
		"INSERT of NULL": func(db bun.IDB) error {
			_, err := db.NewInsert().Model(&nullRow{}).Exec(t.Context())
			return err
		},
		"INSERT of NULL into a table of its own name": func(db bun.IDB) error {
			_, err := db.NewInsert().Model(&nullRow{}).ModelTableExpr("rows").Exec(t.Context())
			return err
		},
		"INSERT of one column": func(db bun.IDB) error {
			_, err := db.NewInsert().Model(&nullRow{}).ModelTableExpr("rows").Column("note").
				Exec(t.Context())
			return err
		},
		"UPDATE": func(db bun.IDB) error {
			_, err := db.NewUpdate().Model(&refusedRow{ID: 1, Name: "Bob"}).WherePK().
				Exec(t.Context())
			return err
		},
		"UPDATE SET": func(db bun.IDB) error {
			_, err := db.NewUpdate().Model((*refusedRow)(nil)).Set("name = 'Bob'").
				Where("TRUE").Exec(t.Context())
			return err
		},
		"DELETE": func(db bun.IDB) error {
			_, err := db.NewDelete().Model(&refusedRow{ID: 1}).WherePK().Exec(t.Context())
			return err
		},
		"DELETE from a table of its own name": func(db bun.IDB) error {
			_, err := db.NewDelete().Model(&refusedRow{ID: 1}).ModelTableExpr("rows AS refused_row").
				WherePK().Exec(t.Context())
			return err
		},
		"DROP TABLE": func(db bun.IDB) error {
			_, err := db.NewDropTable().Model((*refusedRow)(nil)).Exec(t.Context())
			return err
		},
		"SELECT": func(db bun.IDB) error {
			var rows []refusedRow
			return db.NewSelect().Model(&rows).Scan(t.Context())
		},
		"SELECT of a relation": func(db bun.IDB) error {
			var rows []goodRow
			return db.NewSelect().Model(&rows).Relation("Other").Scan(t.Context())
		},
		"INSERT of a zero reference": func(db bun.IDB) error {
			_, err := db.NewInsert().Model(&goodRow{Keyed: bunid.Keyed[UserID]{ID: 7}}).
				Exec(t.Context())
			return err
		},
		"INSERT of a zero in SQL": func(db bun.IDB) error {
			_, err := db.NewRaw("INSERT INTO rows VALUES (7, ?, NULL)", UserID(0)).
				Exec(t.Context())
			return err
		},
		"INSERT of a zero by ExecContext": func(db bun.IDB) error {
			_, err := db.ExecContext(t.Context(), "INSERT INTO rows VALUES (7, ?, NULL)", UserID(0))
			return err
		},
	} {
		for _, through := range []string{"DB", "Tx", "Conn", "Tx of a Conn"} {
			wantRefused(t, name, through, query)
		}
	}
}

// wantRefused runs a query on a table with one row, and wants that row there afterwards.
func wantRefused(t *testing.T, name, through string, query func(bun.IDB) error) {
	t.Helper()
	db := openDB(t, sqlitedialect.New())
	db.SetMaxOpenConns(1) // each connection has a database of its own
	if _, err := db.Exec("CREATE TABLE rows (id INTEGER PRIMARY KEY, name TEXT, note TEXT); " +
		"INSERT INTO rows VALUES (1, 'Ann', NULL)"); err != nil {
		t.Fatal(err)
	}
	var err error
	switch through {
	case "DB":
		err = query(db)
	case "Tx":
		err = inTx(t, db, query)
	default:
		conn, failed := db.Conn(t.Context())
		if failed != nil {
			t.Fatal(failed)
		}
		if err = query(conn); through != "Conn" {
			err = inTx(t, conn, query)
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
	}
	var refused *bunid.Error
	if err == nil || through != "Conn" && (!errors.As(err, &refused) ||
		errors.Is(err, idtype.ErrZero) != strings.Contains(name, "zero")) {
		t.Errorf("%s through %s: %v", name, through, err)
	}
	var names string
	var note sql.NullString
	if err := db.QueryRow("SELECT group_concat(id || name), max(note) FROM rows").Scan(&names,
		&note); err != nil || names != "1Ann" || note.Valid {
		t.Errorf("%s through %s: the table holds %q, %v, %v", name, through, names, note, err)
	}
}

// inTx commits whatever the query did.
func inTx(t *testing.T, db bun.IDB, query func(bun.IDB) error) error {
	t.Helper()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	refused := query(tx)
	if err := tx.Commit(); err != nil {
		t.Errorf("the transaction does not go on: %v", err)
	}
	return refused
}
