package gormid_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gorm.io/driver/sqlite"
	"gorm.io/gorm"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/gormid"
	"github.com/idmint/idmint/gormid/gormidtest"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/gormsuite"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
)

type (
	Album = gormsuite.Album
	Photo = gormsuite.Photo
)

// openDatabase opens the app's database. The plugin assigns the keys.
func openDatabase(dialector gorm.Dialector, keys gorm.Plugin) (*gorm.DB, error) {
	db, err := gorm.Open(dialector, &gorm.Config{})
	if err != nil {
		return nil, err
	}
	if err := db.Use(keys); err != nil {
		return nil, err
	}
	return db, db.AutoMigrate(&Album{}, &Photo{})
}

// newGenerator returns the generator of an app that people install themselves.
func newGenerator(
	ctx context.Context, launches *launchlog.Log, version string,
) (*generator.Decimal, error) {
	launch, err := launches.Start(ctx, launchlog.Request{
		Service: "albums", Environment: "installed", Key: "albums/" + version,
		Initiator: "albums", Version: version,
	})
	if err != nil {
		return nil, err
	}
	gen, err := generator.NewDecimal(launches.Generators(launch.ID))
	if err != nil {
		return nil, err
	}
	return gen, gen.Ready(ctx)
}

// An app that people install starts, restarts, and is updated and set back.
func TestInstalledApp(t *testing.T) {
	launches, err := launchlog.New(memory.New(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	dialector := sqlite.Open(filepath.Join(t.TempDir(), "albums.db"))
	last := idtype.DecimalID(0)
	for _, start := range []struct {
		version           string
		launch, generator int
	}{{"1.0", 1, 0}, {"1.0", 1, 1}, {"1.1", 2, 0}, {"1.0", 1, 2}} {
		gen, err := newGenerator(t.Context(), launches, start.version)
		if err != nil {
			t.Fatal(err)
		}
		app, err := openDatabase(dialector, gormid.New(gormid.Use(gen), gormid.Strict()))
		if err != nil {
			t.Fatal(err)
		}
		album := Album{Title: "a"}
		if err := app.Create(&album).Error; err != nil {
			t.Fatal(err)
		}
		id := idtype.DecimalID(album.ID)
		parts := id.Parts()
		if parts.Launch != start.launch || parts.Generator != start.generator || id <= last {
			t.Errorf("%s: %v after %v", start.version, id, last)
		}
		last = id
		if err := gen.Close(t.Context()); err != nil {
			t.Error(err)
		}
		closeDatabase(t, app)
	}
	other := sqlite.Open(filepath.Join(t.TempDir(), "test.db"))
	test, err := openDatabase(other, gormidtest.Count[idtype.DecimalID](gormid.Strict()))
	if err != nil {
		t.Fatal(err)
	}
	album := Album{Photos: []Photo{{}, {}}}
	if err := test.Create(&album).Error; err != nil || album.ID != 1 || album.Photos[1].ID != 2 {
		t.Errorf("%+v, %v", album, err)
	}
	closeDatabase(t, test)
}

func closeDatabase(t *testing.T, db *gorm.DB) {
	t.Helper()
	if conn, err := db.DB(); err != nil || conn.Close() != nil {
		t.Error("close:", err)
	}
}

// The code of docs/moving-gorm.md is that of this file and of the suite, but for white space.
func TestMovingPage(t *testing.T) {
	words := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	var sources string
	for _, name := range []string{"moving_test.go", "../internal/gormsuite/moving.go"} {
		sources += words(read(t, name))
	}
	blocks := regexp.MustCompile("(?s)```(?:go|sql)\n(.*?)```").
		FindAllStringSubmatch(read(t, "../docs/moving-gorm.md"), -1)
	for _, block := range blocks {
		for part := range strings.SplitSeq(block[1], "\n\n") {
			if !strings.Contains(sources, words(part)) {
				t.Errorf("no test has\n%s", part)
			}
		}
	}
	if len(blocks) < 7 {
		t.Errorf("the page has %d blocks", len(blocks))
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
