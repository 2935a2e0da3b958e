package adapters_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/migrations"
)

// Three replicas of examples/snowflake start at once. Each has a node of its own, and no row is
// refused.
func TestSnowflakeExample(t *testing.T) {
	t.Parallel()
	s := newShop(t, migrations.Postgres)
	program := example(t, "snowflake")
	answers := make(chan string)
	for range 3 {
		go func() {
			cmd := exec.Command(program)
			cmd.Env = append(os.Environ(), "IDMINT_DB="+s.db)
			out, err := cmd.CombinedOutput()
			if err != nil {
				out = fmt.Appendf(out, "%v", err)
			}
			answers <- string(out)
		}()
	}
	nodes := map[int]bool{}
	for range 3 {
		var node int
		said := <-answers
		if _, err := fmt.Sscanf(said, "node %d stored 10000 orders", &node); err != nil {
			t.Errorf("it says %s", said)
		}
		nodes[node] = true
	}
	var rows, minted int
	db := dbtest.OpenSource(t, "pgx", s.db)
	err := db.QueryRow(
		"SELECT count(*), count(DISTINCT id >> 12 & 1023) FROM orders").Scan(&rows, &minted)
	if err != nil || rows != 30_000 || minted != 3 || len(nodes) != 3 {
		t.Errorf("%d rows of %d nodes, %v, %v", rows, minted, nodes, err)
	}
	var last int64 // how far a fleet is, as docs/move/from-snowflake.md asks
	err = db.QueryRow("SELECT (max(id) >> 22) + 1288834974657 FROM orders;").Scan(&last)
	if away := time.Since(time.UnixMilli(last)); err != nil || away < -time.Second || away > time.Hour {
		t.Errorf("the last row is of %v, %v", time.UnixMilli(last), err)
	}
}
