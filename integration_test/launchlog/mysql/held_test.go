package mysql_test

import (
	"testing"

	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/integration_test/launchlog/serversuite"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/mysql"
	"github.com/idmint/idmint/launchlog/storetest"
)

// An app's transactions hold all connections of its pool.
func TestHeld(t *testing.T) {
	d := suite.Database(t)
	db := dbtest.Open(t, serversuite.With(t, d, "sql_mode=%27STRICT_ALL_TABLES%27"))
	db.SetMaxOpenConns(2)
	elsewhere := dbtest.Open(t, d)
	storetest.Held(t, storetest.AppPool{
		Connections: 2,
		New:         func() (launchlog.Store, error) { return mysql.New(ctx, db) },
		Elsewhere:   suite.Store(t, d),
		Begin: func() (func(), error) {
			tx, err := db.Begin()
			return func() { _ = tx.Rollback() }, err
		},
		Lock: func() (func(), error) {
			tx, err := elsewhere.Begin()
			if err == nil {
				_, err = tx.Exec("UPDATE idmint_launch SET next_generator_id = next_generator_id")
			}
			return func() { _ = tx.Rollback() }, err
		},
	})
}
