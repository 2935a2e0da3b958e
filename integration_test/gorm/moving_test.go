package gorm_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/idmint/idmint"
	"github.com/idmint/idmint/gormid"
	"github.com/idmint/idmint/gormid/gormidtest"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/launchlog/memory"
)

// What docs/move/gorm-apps.md shows.

// Model takes the place of gorm.Model.
type Model[T any] struct {
	ID        idtype.Decimal[T] `gorm:"primaryKey"`
	CreatedAt time.Time
	UpdatedAt time.Time
	DeletedAt gorm.DeletedAt `gorm:"index"`
}

type (
	AlbumID = idtype.Decimal[Album]
	PhotoID = idtype.Decimal[Photo]
)

type Album struct {
	Model[Album]
	Title    string
	ParentID *AlbumID
	CoverID  idtype.OrZero[PhotoID]
	Photos   []Photo
}

type Photo struct {
	Model[Photo]
	AlbumID AlbumID
	Path    string
}

// numberedTables makes the tables of the app as it was, with rows.
func numberedTables(t *testing.T, d database) {
	type Photo struct {
		gorm.Model
		AlbumID uint
		Path    string
	}
	type Album struct {
		gorm.Model
		Title    string
		ParentID *uint
		CoverID  uint // 0: none
		Photos   []Photo
	}
	db, err := gorm.Open(d.dialector(t), &gorm.Config{Logger: logger.Discard})
	try(t, err)
	migrate(t, db, &Album{}, &Photo{})
	first := Album{Title: "first", Photos: []Photo{{Path: "a"}, {Path: "b"}}}
	must(t, db.Create(&first))
	must(t, db.Create(&Album{Title: "second", ParentID: &first.ID, CoverID: 2}))
	closeDatabase(t, db)
}

// unnumber are the statements after which the database numbers no albums. SQLite has none.
var unnumber = map[Kind]string{
	Postgres: `ALTER TABLE albums ALTER COLUMN id DROP DEFAULT;`,
	MariaDB:  `ALTER TABLE albums MODIFY id bigint unsigned NOT NULL;`,
}

// An app is moved in place: its tables stay as they are, and its rows keep their IDs.
func testMovedApp(t *testing.T, d database) {
	d = d.with(t)
	numberedTables(t, d)
	log := &trace{Interface: logger.Discard}
	db := openWith(t, d.dialector(t), &gorm.Config{Logger: log}, gormid.Use(newSource()))
	migrate(t, db, &Album{}, &Photo{})
	changes := func(sql string) bool { return !strings.HasPrefix(sql, "SELECT") }
	if i := slices.IndexFunc(log.sql, changes); i >= 0 || len(log.sql) == 0 {
		t.Errorf("%d statements, and one is: %s", len(log.sql), log.sql[max(0, i)])
	}
	var albums []Album
	must(t, db.Preload("Photos").Order("id").Find(&albums))
	if len(albums) != 2 || albums[0].ID != 1 || len(albums[0].Photos) != 2 ||
		*albums[1].ParentID != 1 || albums[1].CoverID.ID != 2 {
		t.Errorf("%+v", albums)
	}
	third := Album{Title: "third", ParentID: &albums[1].ID, Photos: []Photo{{Path: "c"}}}
	must(t, db.Create(&third))
	wantMinted(t, third.ID)
	must(t, db.Model(&third.Photos[0]).Update("album_id", albums[0].ID))
	wantColumn(t, db, "SELECT path FROM photos WHERE album_id = 1", "a", "b", "c")

	// Nobody else shall number rows.
	const insert = "INSERT INTO albums (title) VALUES ('raw')"
	must(t, db.Exec(insert))
	last := column[AlbumID](t, db, "SELECT id FROM albums WHERE title = 'raw'")[0]
	if want := map[Kind]AlbumID{Postgres: 3}[d.Kind]; want != 0 && last != want ||
		want == 0 && last != third.ID+1 {
		t.Errorf("the database gave %d, after %d", last, third.ID)
	}
	if sql := unnumber[d.Kind]; sql != "" {
		must(t, db.Exec(sql))
		if err := db.Exec(insert).Error; err == nil {
			t.Error("the database numbered a row")
		}
	}
}

// The wire formats of the page's table.
func testMovedJSON(t *testing.T, _ database) {
	text, err := json.Marshal(Album{Model: Model[Album]{ID: 7}})
	for _, want := range []string{`"ID":"7"`, `"ParentID":null`, `"CoverID":null`} {
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s, %v lacks %s", text, err, want)
		}
	}
	for body, want := range map[string]AlbumID{`{"ID":7}`: 7, `{"ID":"7"}`: 7, `{"ID":null}`: 0} {
		var a Album
		if err := json.Unmarshal([]byte(body), &a); err != nil || a.ID != want {
			t.Errorf("%s: %v, %v", body, a.ID, err)
		}
	}
	for _, body := range []string{`{"CoverID":0}`, `{"CoverID":"0"}`, `{"CoverID":null}`} {
		a := Album{CoverID: idtype.OrZero[PhotoID]{ID: 7}}
		if err := json.Unmarshal([]byte(body), &a); err != nil || !a.CoverID.IsZero() {
			t.Errorf("%s: %v, %v", body, a.CoverID, err)
		}
	}
	for _, body := range []string{`{"ParentID":0}`, `{"ID":"007"}`, `{"ID":7.0}`} {
		var refused *idtype.InputError
		if err := json.Unmarshal([]byte(body), &Album{}); !errors.As(err, &refused) {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// NumberModel is a Model whose clients take no strings yet.
type NumberModel[T any] struct {
	ID idtype.Decimal[idtype.AsNumber[T]] `gorm:"primaryKey"`
}

type TrackID = idtype.Decimal[idtype.AsNumber[Track]]

type Track struct {
	NumberModel[Track]
	NextID idtype.OrZero[TrackID]
	Covers []Cover
}

type Cover struct {
	NumberModel[Cover]
	TrackID TrackID
}

// A client that knows numbers alone sends and gets what it did before.
func testMovedNumbers(t *testing.T, d database) {
	db := d.open(t, gormid.Use(newSource()))
	migrate(t, db, &Track{}, &Cover{})
	type client struct {
		ID, NextID uint
		Covers     []struct{ ID, TrackID uint }
	}
	sent := client{Covers: make([]struct{ ID, TrackID uint }, 1)}
	var track Track
	text, err := json.Marshal(sent)
	try(t, err)
	try(t, json.Unmarshal(text, &track))
	must(t, db.Create(&track))
	var stored Track
	must(t, db.Preload("Covers").First(&stored, track.ID))
	var got client
	text, err = json.Marshal(stored)
	try(t, err)
	if err := json.Unmarshal(text, &got); err != nil || got.ID != uint(track.ID) || got.ID == 0 ||
		len(got.Covers) != 1 || got.Covers[0].TrackID != got.ID {
		t.Errorf("%s, %v", text, err)
	}
	if err := db.First(&stored, stored.Covers[0].ID).Error; err == nil {
		t.Error("the key of a cover finds a track")
	}
}

// UnsignedModel is a Model for tables of MySQL and MariaDB that gorm.Model made.
type UnsignedModel[T any] struct {
	ID idtype.Decimal[T] `gorm:"primaryKey;type:bigint unsigned"`
}

type UnsignedAlbum struct {
	UnsignedModel[UnsignedAlbum]
	Title string
}

func (UnsignedAlbum) TableName() string { return "albums" }

type Comment struct {
	UnsignedModel[Comment]
	AlbumID idtype.Decimal[UnsignedAlbum]
	Album   UnsignedAlbum
}

type SignedComment struct {
	Model[SignedComment]
	AlbumID AlbumID
	Album   Album
}

// A new table refers to the keys of an old one if its columns are unsigned too.
func testMovedUnsigned(t *testing.T, d database) {
	d = d.with(t)
	numberedTables(t, d)
	db := openWith(t, d.dialector(t), &gorm.Config{}, gormid.Use(newSource()))
	migrate(t, db, &UnsignedAlbum{}, &Comment{})
	comments := []Comment{{AlbumID: 1}, {Album: UnsignedAlbum{Title: "new"}}}
	must(t, db.Create(&comments))
	wantMinted(t, comments[1].AlbumID)
	if err := db.AutoMigrate(&SignedComment{}); err == nil || !strings.Contains(err.Error(), "150") {
		t.Errorf("a bigint refers to a bigint unsigned: %v", err)
	}
}

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

// An app that people install starts, restarts, and is updated and set back.
func TestInstalledApp(t *testing.T) {
	store := memory.New(nil)
	dialector := sqlite.Open(filepath.Join(t.TempDir(), "albums.db"))
	last := idtype.DecimalID(0)
	for _, start := range []struct {
		version           string
		launch, generator int
	}{{"1.0", 1, 0}, {"1.0", 1, 1}, {"1.1", 2, 0}, {"1.0", 1, 2}} {
		ctx, version := t.Context(), start.version
		ids, err := idmint.Open(ctx, store, idmint.App{
			Service: "albums", Environment: "installed", Deployment: version,
		})
		try(t, err)
		app, err := openDatabase(dialector, gormid.New(ids))
		try(t, err)
		album := Album{Title: "a"}
		try(t, app.Create(&album).Error)
		id := idtype.DecimalID(album.ID)
		parts := id.Parts()
		if parts.Launch != start.launch || parts.Generator != start.generator || id <= last {
			t.Errorf("%s: %v after %v", start.version, id, last)
		}
		last = id
		if err := ids.Close(ctx); err != nil {
			t.Error(err)
		}
		closeDatabase(t, app)
	}
	other := sqlite.Open(filepath.Join(t.TempDir(), "test.db"))
	test, err := openDatabase(other, gormidtest.Count[idtype.DecimalID]())
	try(t, err)
	album := Album{Photos: []Photo{{}, {}}}
	if err := test.Create(&album).Error; err != nil || album.ID != 1 || album.Photos[1].ID != 2 {
		t.Errorf("%+v, %v", album, err)
	}
	closeDatabase(t, test)
}

func closeDatabase(t testing.TB, db *gorm.DB) {
	t.Helper()
	if conn, err := db.DB(); err != nil || conn.Close() != nil {
		t.Error("close:", err)
	}
}
