package orms

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/idmint/idmint/bunid"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

type EventID = idtype.Decimal[Event]

type Event struct {
	Key  EventID `bun:"event_id,pk"`
	What string
}

func (e *Event) BeforeAppendModel(ctx context.Context, query bun.Query) error {
	return bunid.Assign(ctx, query, &e.Key)
}

func TestBunOtherColumn(t *testing.T) {
	inBun(t, func(t *testing.T, db *bun.DB, _ *generator.Decimal) {
		createTables(t, db, (*Event)(nil))
		if err := bunid.CheckTables(t.Context(), db, (*Event)(nil), (*BunUser)(nil)); err != nil {
			t.Error(err)
		}
		events := []Event{{What: "start"}, {What: "end"}}
		insert(t, db, &events)
		n, err := db.NewSelect().Model((*Event)(nil)).Where("event_id = ?", events[1].Key).
			Count(t.Context())
		if err != nil || n != 1 || events[0].Key != 10_000_000_001 {
			t.Errorf("%d, %v, %v", n, events, err)
		}
	})
}

// The code of the pages is code that runs.
func TestPages(t *testing.T) {
	var sources strings.Builder
	for _, pattern := range []string{
		"*_test.go", "../../examples/bun/*.go", "../../examples/ent/*.go",
		"../../examples/ent/shopid/*.go", "../../examples/ent/ent/schema/*.go",
	} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, name := range names {
			sources.WriteString(read(t, name))
		}
	}
	block := regexp.MustCompile("(?ms)^```go\n(.*?)^```$")
	found := 0
	for _, page := range []string{"bun.md", "ent.md", "upserts.md"} {
		for _, m := range block.FindAllStringSubmatch(read(t, "../../docs/"+page), -1) {
			if found++; !strings.Contains(sources.String(), m[1]) {
				t.Errorf("docs/%s: no program and no test has\n%s", page, m[1])
			}
		}
	}
	if found < 6 {
		t.Errorf("the pages have %d blocks", found)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
