package mysql_test

import (
	"testing"

	"github.com/idmint/idmint/launchlog/mysql"
	"github.com/idmint/idmint/launchlog/storetest"
)

// An app's transactions hold all connections of its pool.
func TestHeld(t *testing.T) {
	d := newDatabase(t)
	db := openSource(t, with(d, "sql_mode=%27STRICT_ALL_TABLES%27"))
	db.SetMaxOpenConns(2)
	s, err := mysql.New(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := openDB(t, d)
	storetest.Held(t, s, storetest.AppPool{
		Connections: 2,
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
