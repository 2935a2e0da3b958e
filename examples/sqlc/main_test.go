package main

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/idmint/idmint/examples/sqlc/keys"
	"github.com/idmint/idmint/sqlid"
)

// The schemas have what package sqlid writes.
func TestSchemas(t *testing.T) {
	define := func(text string, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	named := func(create func(sqlid.Dialect) (string, error)) string {
		return define(create(sqlid.Postgres)) + ";"
	}
	want := map[string][]string{
		"postgres": {
			named(sqlid.NamedType[keys.UserID]{Name: "user_id"}.Create),
			named(sqlid.NamedType[keys.OrderID]{Name: "order_id"}.Create),
			named(sqlid.NamedType[keys.EventID]{Name: "event_id"}.Create),
		},
		"sqlite": {
			define(sqlid.Column[keys.UserID]{Name: "id"}.PrimaryKey(sqlid.SQLite)),
			define(sqlid.Column[keys.UserID]{Name: "user_id"}.NotNull(sqlid.SQLite)),
			define(sqlid.Column[keys.EventID]{Name: "event_id"}.NotNull(sqlid.SQLite)),
		},
	}
	for engine, lines := range want {
		schema, err := os.ReadFile(engine + "/schema.sql")
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range lines {
			if !strings.Contains(string(schema), line) {
				t.Errorf("%s/schema.sql lacks %s", engine, line)
			}
		}
	}
}

// The generated code is that of these schemas and queries. generate wrote the sums of all of them.
// Where sqlc is installed it is asked too.
func TestGenerated(t *testing.T) {
	sums, err := os.Open("generated.sum")
	if err != nil {
		t.Fatal(err)
	}
	defer sums.Close()
	files := 0
	for lines := bufio.NewScanner(sums); lines.Scan(); files++ {
		want, name, _ := strings.Cut(lines.Text(), "  ")
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(content)); got != want {
			t.Errorf("%s has changed: run go generate", name)
		}
	}
	if files != 13 {
		t.Errorf("generated.sum has %d files: run go generate", files)
	}
	const version = "v1.31.1"
	if out, err := exec.Command("sqlc", "version").Output(); err == nil &&
		strings.TrimSpace(string(out)) == version {
		if out, err := exec.Command("sqlc", "diff").CombinedOutput(); err != nil {
			t.Errorf("sqlc diff: %v\n%s", err, out)
		}
	}
}
