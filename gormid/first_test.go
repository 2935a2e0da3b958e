package gormid_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gorm.io/driver/sqlite"
	"gorm.io/gorm"

	"github.com/idmint/idmint"
	"github.com/idmint/idmint/gormid"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
)

type UserID = idtype.Decimal[User] // an alias, with "="

type User struct {
	ID   UserID
	Name string
}

func create(ctx context.Context, db *gorm.DB, store launchlog.Store) (err error) {
	ids, err := idmint.Open(ctx, store, idmint.App{Service: "shop"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ids.Close(ctx)) }()
	if err := db.Use(gormid.New(ids)); err != nil {
		return err
	}
	if err := db.AutoMigrate(&User{}); err != nil {
		return err
	}
	ann := User{Name: "Ann"}
	return db.Create(&ann).Error // ann.ID is set
}

// The first use in the manual is this file's, and works.
func TestFirstUse(t *testing.T) {
	source, err := os.ReadFile("first_test.go")
	if err != nil {
		t.Fatal(err)
	}
	manual, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(source), "\ntype UserID")
	shown, _, _ = strings.Cut("type UserID"+shown, "\n\n// The first use")
	shown = "//\t" + strings.ReplaceAll(shown, "\n", "\n//\t")
	shown = strings.ReplaceAll(shown, "\n//\t\n", "\n//\n")
	if !strings.Contains(string(manual), shown+"\n") {
		t.Errorf("doc.go does not show\n%s", shown)
	}

	db, err := gorm.Open(sqlite.Open(filepath.Join(t.TempDir(), "users.db")), &gorm.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := create(t.Context(), db, memory.New(nil)); err != nil {
		t.Fatal(err)
	}
	var found User
	if err := db.First(&found, "name = ?", "Ann").Error; err != nil {
		t.Fatal(err)
	}
	if found.ID.Parts().Launch != 1 {
		t.Errorf("%v is not of launch 1", found.ID)
	}
}
