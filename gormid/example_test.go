package gormid_test

import (
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/gormid"
	"github.com/idmint/idmint/idtype"
)

// Author and Book are two entities, whose keys do not compile into each other.
type (
	AuthorID = idtype.Decimal[Author]
	BookID   = idtype.Decimal[Book]

	Author struct {
		ID    AuthorID
		Name  string `gorm:"unique"`
		Books []Book
	}
	Book struct {
		ID       BookID
		AuthorID AuthorID
		Title    string
	}
)

// library opens a database in a directory of its own.
func library(rules ...gormid.Rule) (db *gorm.DB, remove func()) {
	dir, err := os.MkdirTemp("", "gormid")
	if err != nil {
		log.Fatal(err)
	}
	db, err = gorm.Open(
		sqlite.Open(filepath.Join(dir, "library.db")), &gorm.Config{Logger: logger.Discard},
	)
	if err != nil {
		log.Fatal(err)
	}
	if err := db.Use(gormid.NewRules(rules...)); err != nil {
		log.Fatal(err)
	}
	if err := db.AutoMigrate(&Author{}, &Book{}); err != nil {
		log.Fatal(err)
	}
	return db, func() { _ = os.RemoveAll(dir) }
}

func Example() {
	gen := generator.NewTestDecimal(nil) // in an app: idmint.Open
	db, remove := library(gormid.Use(gen))
	defer remove()

	a := Author{Name: "Ursula", Books: []Book{{Title: "The Dispossessed"}, {Title: "Lavinia"}}}
	if err := db.Create(&a).Error; err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.ID, a.Name)
	for _, b := range a.Books {
		fmt.Println(b.ID, b.Title, "by", b.AuthorID)
	}

	var book Book
	if err := db.First(&book, a.Books[1].ID).Error; err != nil {
		log.Fatal(err)
	}
	fmt.Println("found", book.Title)
	// Output:
	// 10000000000 Ursula
	// 20000000000 The Dispossessed by 10000000000
	// 30000000000 Lavinia by 10000000000
	// found Lavinia
}

// Each entity may have a generator of its own.
func ExampleRule_For() {
	authors, books := generator.NewTestDecimal(nil), generator.NewTestDecimal(nil)
	db, remove := library(gormid.Use(authors).For(&Author{}), gormid.Use(books).For(&Book{}))
	defer remove()

	a := Author{Name: "Ursula", Books: []Book{{Title: "Lavinia"}}}
	if err := db.Create(&a).Error; err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.ID, a.Books[0].ID)
	// Output: 10000000000 10000000000
}

func ExampleRule_ForTable() {
	gen := generator.NewTestDecimal(nil)
	db, remove := library(gormid.Use(gen), gormid.Use(gen).ForTable("authors", "id"))
	defer remove()

	rows := []map[string]any{{"name": "Ursula"}, {"name": "Octavia"}}
	if err := db.Table("authors").Create(rows).Error; err != nil {
		log.Fatal(err)
	}
	fmt.Println(rows[0]["id"], rows[1]["id"])
	// Output: 10000000000 20000000000
}

// After an upsert every struct holds the key that is stored, be the row new or not.
func Example_upsert() {
	gen := generator.NewTestDecimal(nil)
	db, remove := library(gormid.Use(gen))
	defer remove()

	known := Author{Name: "Ursula"}
	if err := db.Create(&known).Error; err != nil {
		log.Fatal(err)
	}
	authors := []Author{{Name: "Octavia"}, {Name: "Ursula"}}
	err := db.Clauses(clause.OnConflict{
		Columns:   []clause.Column{{Name: "name"}},
		DoUpdates: clause.AssignmentColumns([]string{"name"}),
	}).Create(&authors).Error
	fmt.Println(authors[0].ID, authors[1].ID == known.ID, err)
	// Output: 20000000000 true <nil>
}

// A profile of nobody is an error, not a profile of somebody invented.
func ExampleError() {
	gen := generator.NewTestDecimal(nil)
	db, remove := library(gormid.Use(gen))
	defer remove()

	err := db.Create(&Book{Title: "Anonymous"}).Error
	var e *gormid.Error
	if errors.As(err, &e) {
		fmt.Println(e)
		fmt.Println(errors.Is(err, idtype.ErrZero))
	}
	// Output:
	// gormid: gormid_test.Book (table books): row 0: AuthorID of type idtype.Decimal[gormid_test.Author] is zero: set it to the ID of an existing Author (if the Author met a conflict, look it up first); if it is optional, declare it as idtype.OrZero if 0 in the column means none, or as a pointer or sqlid.Null if NULL does
	// true
}
