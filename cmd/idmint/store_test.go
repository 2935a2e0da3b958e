package main

import (
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/cmd/idmint/dsn"
)

// A kind of database without a store is no other kind's.
func TestNoStore(t *testing.T) {
	d, err := dsn.Parse("clickhouse://127.0.0.1:1/db")
	if err != nil {
		t.Fatal(err)
	}
	s, err := (&storeFlags{wait: time.Minute}).openStore(t.Context(), d)
	if s != nil || err == nil || !strings.Contains(err.Error(), "clickhouse has no store") {
		t.Errorf("%v, %v", s, err)
	}
}
