package gormid_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gorm.io/driver/sqlite"
	"gorm.io/gorm"

	"github.com/idmint/idmint/generator"
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

func create(ctx context.Context, db *gorm.DB, launches *launchlog.Log) error {
	shop := launchlog.App{Service: "shop", Environment: "production"}
	numbers, err := launches.Join(ctx, shop) // takes the app's first number
	if err != nil {
		return err
	}
	gen, err := generator.NewDecimal(numbers)
	if err != nil {
		return err
	}
	if err := gen.Ready(ctx); err != nil { // before the first transaction
		return err
	}
	if err := db.Use(gormid.New(gormid.Use(gen), gormid.Strict())); err != nil {
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
	log, err := launchlog.New(memory.New(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	launch, err := log.Start(t.Context(), launchlog.Request{
		Service: "shop", Environment: "production", Key: "1", Initiator: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("IDMINT_LAUNCH_ID", strconv.Itoa(launch.ID))
	if err := create(t.Context(), db, log); err != nil {
		t.Fatal(err)
	}
	var found User
	if err := db.First(&found, "name = ?", "Ann").Error; err != nil {
		t.Fatal(err)
	}
	if found.ID.Parts().Launch != launch.ID {
		t.Errorf("%v is not of launch %d", found.ID, launch.ID)
	}
}
