package main

import (
	"errors"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// TestLimits holds what README.md says that the stand-in cannot do.
func TestLimits(t *testing.T) {
	p := start(t)
	c := open(t, p.options())
	for query, code := range map[string]int32{
		"SELECT '{}'::JSON":               codeNotImplemented,
		"SELECT 1::Variant(Int8, String)": codeNotImplemented,
		"SELECT 1::Dynamic":               codeNotImplemented,
		"SELECT sumState(1)":              codeNotImplemented,
		"BEGIN TRANSACTION":               codeNotImplemented,
		"CREATE USER u":                   497,
		"CREATE ROLE r":                   497,
		"SELECT 1 FROM system.query_log":  60,
		"CREATE TABLE r (id Int64) ENGINE = ReplicatedMergeTree('/r', '1') ORDER BY id": 225,
	} {
		var x *clickhouse.Exception
		if err := c.Exec(t.Context(), query); !errors.As(err, &x) || x.Code != code {
			t.Errorf("%s: %v, want code %d", query, err, code)
		}
	}
	progress, others := 0, 0
	ctx := clickhouse.Context(t.Context(),
		clickhouse.WithProgress(func(*clickhouse.Progress) { progress++ }),
		clickhouse.WithProfileEvents(func([]clickhouse.ProfileEvent) { others++ }),
		clickhouse.WithQueryID("mine"))
	rows, err := c.Query(ctx, "SELECT queryID(), count() FROM numbers(300000000) WITH TOTALS")
	if err != nil {
		t.Fatal(err)
	}
	var id string
	var n uint64
	for rows.Next() {
		err = errors.Join(err, rows.Scan(&id, &n))
	}
	if err := errors.Join(err, rows.Err()); err != nil || id == "mine" || n != 300_000_000 {
		t.Errorf("query %q counts %d, %v", id, n, err)
	}
	if err := rows.Totals(&id, &n); err == nil || progress != 1 || others != 0 {
		t.Errorf("totals %v, %d times progress, %d events", err, progress, others)
	}
}
