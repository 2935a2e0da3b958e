package adapters_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"strings"
	"testing"

	"gorm.io/driver/clickhouse"
	"gorm.io/driver/mysql"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/internal/gormmatrix"
	"github.com/idmint/idmint/internal/gormsuite"
)

func TestGORMPostgres(t *testing.T) { gormsuite.Run(t, inPostgres(t, false)) }

func TestGORMPostgresSimpleProtocol(t *testing.T) {
	t.Parallel()
	d := inPostgres(t, true)
	t.Run("Schemes", func(t *testing.T) { gormsuite.RunSchemes(t, d) })
	gormsuite.RunUpserts(t, d)
}

func TestGORMMariaDB(t *testing.T) { gormsuite.Run(t, inMariaDB(t, false)) }

// MySQL has no RETURNING, which is nothing to tests without conflicts.
func TestGORMMySQL(t *testing.T) { gormsuite.RunUpserts(t, inMariaDB(t, true)) }

func TestGORMClickHouse(t *testing.T) { gormsuite.Run(t, inClickHouse(t)) }

func BenchmarkCreateInBatches(b *testing.B) {
	b.Run("SQLite", func(b *testing.B) { gormsuite.Benchmark(b, gormsuite.InSQLite) })
	b.Run("PostgreSQL", func(b *testing.B) { gormsuite.Benchmark(b, inPostgres(b, false)) })
	b.Run("MariaDB", func(b *testing.B) { gormsuite.Benchmark(b, inMariaDB(b, false)) })
	b.Run("ClickHouse", func(b *testing.B) { gormsuite.Benchmark(b, inClickHouse(b)) })
}

// inPostgres is a database of the test's own; simple is the simple protocol, for poolers.
func inPostgres(t testing.TB, simple bool) gormsuite.Database {
	server, _, source := newDatabase(t, databases.Postgres)
	return gormsuite.Database{
		Kind: gormsuite.Postgres,
		New: func(t testing.TB) (string, string) {
			schema := newSchema(t, server, "SCHEMA", " CASCADE")
			return schema, source + "&search_path=" + schema
		},
		Open: func(source string) gorm.Dialector {
			return postgres.New(postgres.Config{DSN: source, PreferSimpleProtocol: simple})
		},
		Over: func(pool gorm.ConnPool) gorm.Dialector {
			return postgres.New(postgres.Config{Conn: pool})
		},
	}
}

// inMariaDB is a database of the test's own; plain is one without RETURNING, as MySQL is.
func inMariaDB(t testing.TB, plain bool) gormsuite.Database {
	server, database, source := newDatabase(t, databases.MariaDB)
	return gormsuite.Database{
		Kind:  gormsuite.MariaDB,
		Plain: plain,
		New: func(t testing.TB) (string, string) {
			schema := newSchema(t, server, "DATABASE", "")
			return schema, strings.Replace(source, "/"+database, "/"+schema, 1) + "?parseTime=true"
		},
		Open: func(source string) gorm.Dialector {
			return mysql.New(mysql.Config{DSN: source, DisableWithReturning: plain})
		},
		Over: func(pool gorm.ConnPool) gorm.Dialector {
			return mysql.New(mysql.Config{Conn: pool, DisableWithReturning: plain})
		},
	}
}

func inClickHouse(t testing.TB) gormsuite.Database {
	server, database, source := newDatabase(t, databases.ClickHouse)
	return gormsuite.Database{
		Kind: gormsuite.ClickHouse,
		New: func(t testing.TB) (string, string) {
			schema := newSchema(t, server, "DATABASE", "")
			return schema, strings.Replace(source, "/"+database, "/"+schema, 1)
		},
		Open: clickhouse.Open,
	}
}

// newDatabase makes a database for the test on the shared server.
func newDatabase(t testing.TB, kind databases.Kind) (server *sql.DB, database, source string) {
	t.Helper()
	name := dbtest.New(t, kind)
	return dbtest.Open(t, name), name.Database(), name.Source()
}

// newSchema makes a schema, in the server's word for it, until the test ends.
func newSchema(t testing.TB, server *sql.DB, word, drop string) string {
	t.Helper()
	schema := "s" + strings.ToLower(rand.Text())
	exec := func(query string) {
		if _, err := server.ExecContext(context.Background(), query); err != nil {
			t.Error(err)
		}
	}
	exec("CREATE " + word + " " + schema)
	t.Cleanup(func() { exec("DROP " + word + " " + schema + drop) })
	return schema
}

// Whatever an app does with keys that are bytes, it does with int64. soak_test/gormmatrix tries all
// types of keys, on all databases.
func TestGORMMatrix(t *testing.T) {
	t.Parallel()
	s := gormmatrix.InSQLite
	cells := gormmatrix.Run[idtype.SnoID](t, s, gormmatrix.Twin(t, s))
	t.Logf("%d cells", cells)
}
