// Package testing_test is an app and its tests, as docs/use/testing.md shows them.
package testing_test

import (
	"encoding/json"
	"testing"

	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/idmint/idmint"
	"github.com/idmint/idmint/gormid"
	"github.com/idmint/idmint/idminttest"
	"github.com/idmint/idmint/idtype"
)

type UserID = idtype.Decimal[User]

type User struct {
	ID   UserID `gorm:"check:id % 100000 <> 0"` // no test IDs
	Name string
}

type Event struct {
	ID EventID
	By UserID
}

type EventID = idtype.Sno[Event]

func TestUserJSON(t *testing.T) {
	ann := User{ID: idminttest.Key[User](t), Name: "Ann"}
	got, err := json.Marshal(ann)
	if want := `{"ID":"10000000000","Name":"Ann"}`; err != nil || string(got) != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}

func TestEvent(t *testing.T) {
	event := Event{
		ID: idtype.MustParse[EventID]("8fhmi7mfls62jp64"), // of a sno generator, once
		By: idminttest.Key[User](t),
	}
	if event.ID.Validate() != nil || !event.By.IsTest() {
		t.Errorf("%+v", event)
	}
}

// A Note is a row without that check.
type Note struct {
	ID   idtype.Decimal[Note]
	Text string
}

// openDB opens a database of the test's own in memory.
func openDB(t *testing.T, ids *idmint.IDs) *gorm.DB {
	t.Helper()
	db, err := gorm.Open(sqlite.Open(":memory:"), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	pool, err := db.DB()
	if err != nil {
		t.Fatal(err)
	}
	pool.SetMaxOpenConns(1) // each connection has a memory of its own
	t.Cleanup(func() { pool.Close() })
	if err := db.Use(gormid.New(ids)); err != nil {
		t.Fatal(err)
	}
	if err := db.AutoMigrate(&User{}, &Note{}); err != nil {
		t.Fatal(err)
	}
	return db
}

func TestNotes(t *testing.T) {
	t.Parallel()
	db := openDB(t, idminttest.IDs(t))
	known := Note{ID: idminttest.Key[Note](t), Text: "a"}
	added := Note{Text: "b"}
	if err := db.Create([]*Note{&known, &added}).Error; err != nil {
		t.Fatal(err)
	}
	if known.ID != 10000000000 || added.ID != 20000000000 {
		t.Errorf("%v, %v", known.ID, added.ID)
	}
}

func TestUsers(t *testing.T) {
	t.Parallel()
	store, app := idminttest.Launch(t, "shop")
	ids, err := idmint.Open(t.Context(), store, app)
	if err != nil {
		t.Fatal(err)
	}
	db := openDB(t, ids)
	ann := User{Name: "Ann"}
	if err := db.Create(&ann).Error; err != nil || ann.ID != 10000000001 {
		t.Errorf("%v, %v", ann.ID, err)
	}
	if err := db.Create(&User{ID: idminttest.Key[User](t)}).Error; err == nil {
		t.Error("the database takes a test ID")
	}
}

// begin opens a database that all tests share, in a transaction that is undone when the test ends.
func begin(t *testing.T, shared gorm.Dialector) *gorm.DB {
	t.Helper()
	db, err := gorm.Open(shared)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Use(gormid.New(idminttest.IDs(t))); err != nil {
		t.Fatal(err)
	}
	tx := db.Begin()
	t.Cleanup(func() { tx.Rollback() })
	return tx
}

func TestSharedDatabase(t *testing.T) {
	pool, err := openDB(t, idminttest.IDs(t)).DB()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one", "another"} {
		t.Run(name, func(t *testing.T) {
			note := Note{Text: name}
			err := begin(t, sqlite.Dialector{Conn: pool}).Create(&note).Error
			if err != nil || note.ID != 10000000000 {
				t.Errorf("%v, %v", note.ID, err)
			}
		})
	}
}
