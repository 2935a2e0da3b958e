package orms

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/uptrace/bun"

	"github.com/idmint/idmint/bunid"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/internal/checkout"
)

// What is committed is what ent generates of the schema.
func TestGenerated(t *testing.T) {
	t.Chdir("../..")
	dir, release, err := checkout.Hold()
	try(t, err)
	defer func() {
		if err := release(); err != nil {
			t.Error(err)
		}
	}()
	cmd := exec.Command("go", "generate", "./...")
	cmd.Dir = filepath.Join(dir, "examples/ent")
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-ldflags=-w")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	committed, generated := files(t, "examples/ent"), files(t, cmd.Dir)
	if len(committed) < 20 {
		t.Errorf("%d files", len(committed))
	}
	for name := range generated {
		if _, ok := committed[name]; !ok {
			t.Errorf("examples/ent/%s is new: run go generate ./... there", name)
		}
	}
	for name, content := range committed {
		if !bytes.Equal(content, generated[name]) {
			t.Errorf("examples/ent/%s differs: run go generate ./... there", name)
		}
	}
}

// files are those below a folder, by their paths.
func files(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all[path], err = os.ReadFile(filepath.Join(dir, path))
		}
		return err
	})
	try(t, err)
	return all
}

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
