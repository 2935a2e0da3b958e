package mysql_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"github.com/idmint/idmint/launchlog/mysql"
	"github.com/idmint/idmint/launchlog/storetest"
)

// What the driver says leaves the constructors with the package's name in front, once.
func TestErrorsBeginWithThePackage(t *testing.T) {
	const nowhere = "me@tcp(127.0.0.1:1)/none"
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	db, err := sql.Open("mysql", nowhere)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for name, open := range map[string]func() (*mysql.Store, error){
		"not a DSN":     func() (*mysql.Store, error) { return mysql.Open(t.Context(), "me@nowhere") },
		"as for --db":   func() (*mysql.Store, error) { return mysql.Open(t.Context(), "mysql://a/b") },
		"no pool":       func() (*mysql.Store, error) { return mysql.New(t.Context(), nil) },
		"a closed pool": func() (*mysql.Store, error) { return mysql.New(t.Context(), db) },
		"an ended context": func() (*mysql.Store, error) {
			return mysql.Open(ended, nowhere)
		},
	} {
		s, err := open()
		if s != nil {
			t.Errorf("%s: a store was opened", name)
		}
		storetest.BeginsWith(t, err, "launchlog/mysql: ")
		if canceled := errors.Is(err, context.Canceled); canceled != (name == "an ended context") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
