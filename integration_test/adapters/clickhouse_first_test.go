package adapters_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	ch "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/idmint/idmint/clickhouse"
)

var id = clickhouse.Column[UserID]{Name: "id"}

func createUsers(ctx context.Context, conn ch.Conn) error {
	return conn.Exec(ctx, fmt.Sprintf(
		"CREATE TABLE users (%v, name String) ENGINE = MergeTree ORDER BY id", id.PrimaryKey()))
}

func insertUsers(ctx context.Context, conn ch.Conn, ids []UserID, names []string) error {
	batch, err := conn.PrepareBatch(ctx, "INSERT INTO users (id, name)")
	if err != nil {
		return err
	}
	if err := clickhouse.Append(batch.Column(0), ids); err != nil {
		return err
	}
	if err := batch.Column(1).Append(names); err != nil {
		return err
	}
	return batch.Send()
}

func findUsers(ctx context.Context, conn ch.Conn, name string) ([]UserID, error) {
	rows, err := conn.Query(ctx, "SELECT id FROM users WHERE name = ?", name)
	if err != nil {
		return nil, err
	}
	return clickhouse.Collect[UserID](nil, rows)
}

// The first use in the manual is this file's, and works.
func TestClickHouseFirstUse(t *testing.T) {
	t.Parallel()
	source := string(must(os.ReadFile("clickhouse_first_test.go")))
	manual := string(must(os.ReadFile("../../clickhouse/doc.go")))
	_, shown, _ := strings.Cut(source, "\nvar id")
	shown, _, _ = strings.Cut("var id"+shown, "\n\n// The first use")
	shown = "//\t" + strings.ReplaceAll(shown, "\n", "\n//\t")
	shown = strings.ReplaceAll(shown, "\n//\t\n", "\n//\n")
	if !strings.Contains(manual, shown+"\n") {
		t.Errorf("doc.go does not show\n%s", shown)
	}

	ctx, conn := newClickHouse(t)
	try(t, createUsers(ctx, conn))
	try(t, insertUsers(ctx, conn, []UserID{14150009200065, 14160009200065}, []string{"Ann", "Bob"}))
	found, err := findUsers(ctx, conn, "Bob")
	try(t, err)
	same(t, found, []UserID{14160009200065})
}
