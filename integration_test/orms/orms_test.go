package orms

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/mattn/go-sqlite3"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
	"github.com/idmint/idmint/sqlid"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func try(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// everywhere runs a test on a database of its own of both kinds.
func everywhere(t *testing.T, test func(t *testing.T, d sqlid.Dialect, db *sql.DB)) {
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		db := dbtest.OpenSource(t, "sqlite3", filepath.Join(t.TempDir(), "shop.db")+"?_fk=1")
		test(t, sqlid.SQLite, db)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		test(t, sqlid.Postgres, dbtest.Open(t, dbtest.New(t, databases.Postgres)))
	})
}

// newDecimal is a generator of launch 1.
func newDecimal(t *testing.T) *generator.Decimal {
	t.Helper()
	launches, err := launchlog.New(memory.New(nil), nil)
	try(t, err)
	launch, err := launches.Start(t.Context(), launchlog.Request{
		Key: "deploy-1", Service: "shop", Environment: "dev", Initiator: "test",
	})
	try(t, err)
	ids, err := generator.NewDecimal(launches.Generators(launch.ID))
	try(t, err)
	try(t, ids.Ready(t.Context()))
	return ids
}

// texts are IDs of each scheme, in their order.
var texts = map[string][3]string{
	"snowflake": {"1", "1541815603606036480", "9223372036854775807"},
	"decimal":   {"10000000001", "20000000001", "14150009200065"},
	"sequence":  {"7", "70", "9223372036854775807"},
	"trace":     {"4646428214845635103", "4646428214845635104", "4646428214845635105"},
	"short":     {"xinaS8QBh", "xinaS8QBi", "xinaS8QBj"},
	"eightbyte": {"5b9bda2989e1989b", "5b9bda2989e1989c", "5b9bda2989e1989d"},
	"sno":       {"8fhmi7mfls62jp64", "8fhmi7mfls62jp65", "8fhmi7mfls62jp66"},
	"uuid7": {
		"01932c07-209d-7c3a-8f5e-2b1a90d4e6f7", "01932c07-209d-7c3a-8f5e-2b1a90d4e6f8",
		"f81d4fae-7dec-41d0-a765-00a0c91e6bf6", // an older row, of version 4
	},
}

// columnsOf are the types of columns, as each database calls them.
var columnsOf = map[sqlid.Dialect]map[idtype.Storage]string{
	sqlid.Postgres: {
		idtype.StorageBigint: "bigint", idtype.StorageBytes: "bytea", idtype.StorageText: "text",
		idtype.StorageUUID: "uuid",
	},
	sqlid.SQLite: {
		idtype.StorageBigint: "INTEGER", idtype.StorageBytes: "BLOB", idtype.StorageText: "TEXT",
		idtype.StorageUUID: "TEXT",
	},
}

// listed is a source of given IDs.
type listed[T idtype.ID] struct{ ids []T }

func (l *listed[T]) Fill(_ context.Context, dst []T) (int, error) {
	n := copy(dst, l.ids)
	l.ids = l.ids[n:]
	if n < len(dst) {
		return n, errors.New("no IDs are left")
	}
	return n, nil
}

// columnTypes are the types of a table's columns, by name.
func columnTypes(t *testing.T, d sqlid.Dialect, db *sql.DB, table string) map[string]string {
	t.Helper()
	query := "SELECT name, type FROM pragma_table_info($1)"
	if d == sqlid.Postgres {
		query = "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = $1"
	}
	rows, err := db.QueryContext(t.Context(), query, table)
	try(t, err)
	defer rows.Close()
	types := map[string]string{}
	for rows.Next() {
		var name, typ string
		try(t, rows.Scan(&name, &typ))
		types[name] = typ
	}
	if err := rows.Err(); err != nil || len(types) == 0 {
		t.Fatalf("%d columns, %v", len(types), err)
	}
	return types
}

// failing is a source that has no IDs.
type failing struct{ err error }

func (f failing) Fill(context.Context, []idtype.DecimalID) (int, error) { return 0, f.err }

// checkColumns looks whether all columns of a table hold IDs of a form, and id numbers nothing.
func checkColumns(
	t *testing.T, d sqlid.Dialect, db *sql.DB, table string, form idtype.Storage,
) {
	t.Helper()
	for column, typ := range columnTypes(t, d, db, table) {
		want := columnsOf[d][form]
		if want == "INTEGER" && column == "id" {
			want = "INT" // an INTEGER key would number itself
		}
		if typ != want {
			t.Errorf("column %s is %s, want %s", column, typ, want)
		}
	}
}
