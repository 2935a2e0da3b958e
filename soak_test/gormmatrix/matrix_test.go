// Package gormmatrix_test runs package gormmatrix with keys of every scheme and form, on every
// database, in each way in which GORM talks to it.
package gormmatrix_test

import (
	"testing"

	"gorm.io/driver/mysql"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/internal/gormmatrix"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func settings() []gormmatrix.Setting {
	lite := gormmatrix.InSQLite.Open
	pg := func(simple bool) func(t *testing.T) gorm.Dialector {
		return func(t *testing.T) gorm.Dialector {
			return postgres.New(postgres.Config{
				DSN: dbtest.New(t, databases.Postgres).Source(), PreferSimpleProtocol: simple,
			})
		}
	}
	maria := func(options string) func(t *testing.T) gorm.Dialector {
		return func(t *testing.T) gorm.Dialector {
			return mysql.Open(dbtest.New(t, databases.MariaDB).Source() +
				"?parseTime=true&clientFoundRows=true" + options)
		}
	}
	prepared := gorm.Config{PrepareStmt: true}
	return []gormmatrix.Setting{
		gormmatrix.InSQLite,
		{Name: "SQLite, PrepareStmt", Open: lite, Config: prepared},
		{Name: "PostgreSQL", Open: pg(false)},
		{Name: "PostgreSQL, PrepareStmt", Open: pg(false), Config: prepared},
		{Name: "PostgreSQL, simple protocol", Open: pg(true)},
		{Name: "MariaDB", Open: maria("")},
		{Name: "MariaDB, PrepareStmt", Open: maria(""), Config: prepared},
		{Name: "MariaDB, interpolateParams", Open: maria("&interpolateParams=true")},
	}
}

func TestMatrix(t *testing.T) {
	for _, s := range settings() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			want := gormmatrix.Twin(t, s)
			cells := gormmatrix.Run[idtype.DecimalID](t, s, want) +
				gormmatrix.Run[idtype.TraceID](t, s, want) +
				gormmatrix.Run[idtype.ShortID](t, s, want) +
				gormmatrix.Run[idtype.SequenceID](t, s, want) +
				gormmatrix.Run[idtype.EightByteID](t, s, want) +
				gormmatrix.Run[idtype.EightByte[idtype.AsBigint[any]]](t, s, want) +
				gormmatrix.Run[idtype.SnoID](t, s, want) +
				gormmatrix.Run[idtype.Sno[idtype.AsText[any]]](t, s, want) +
				gormmatrix.Run[idtype.Sno[idtype.AsUUID[any]]](t, s, want)
			t.Logf("%d cells", cells)
		})
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
