package serversuite

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/internal/storesuite"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/migrations"
)

// secret is the password of every name that Server.Unopened makes up: no message repeats it.
const secret = "secret"

func (s Server[S]) openErrors(t *testing.T) {
	older, newer := s.Database(t), s.Database(t)
	dbtest.Exec(t, dbtest.Open(t, newer), "INSERT INTO idmint_schema (version) VALUES (1000)")
	if err := migrations.Down(ctx, dbtest.Open(t, older), s.Dialect, 1); err != nil {
		t.Fatal(err)
	}
	for _, test := range append(s.Unopened(t, newer), [][3]string{
		{"no tables", dbtest.New(t, s.Kind).Source(), "create it with `idmint migrate`"},
		{"older", older.Source(), "upgrade it with `idmint migrate`"},
		{"newer", newer.Source(), "newer"},
		{"nobody there", newer.WithHost("127.0.0.1:1").Source(), "refused"},
	}...) {
		name, source, message := test[0], test[1], test[2]
		opening, cancel := context.WithTimeout(ctx, time.Minute)
		store, err := s.Open(opening, source)
		cancel()
		var none S
		if err == nil || !strings.Contains(err.Error(), message) ||
			strings.Contains(err.Error(), secret) || store != none {
			t.Errorf("%s: got %v, want a message with %q", name, err, message)
		}
		storesuite.BeginsWith(t, err, "launchlog/"+string(s.Dialect)+": ")
	}
	var schema *launchlog.SchemaError
	if _, err := s.Open(ctx, older.Source()); !errors.As(err, &schema) || schema.Have != 1 ||
		schema.Want != 3 {
		t.Errorf("older: got %v, want a SchemaError", err)
	}
}
