package integration_test

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	gormsqlite "gorm.io/driver/sqlite"
	"gorm.io/gorm"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/gormid"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/sqlite"
	"github.com/idmint/idmint/launchlog/storetest"
	"github.com/idmint/idmint/migrations"
)

type Item struct {
	ID   idtype.Decimal[Item]
	Name string
}

// TestFirstIDInATransaction: the app's own transaction has SQLite's lock, and waits for the log,
// which waits for the lock.
func TestFirstIDInATransaction(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: only Linux says which process has a lock")
	}
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "shop.db")
	db, err := gorm.Open(gormsqlite.Open(path))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := db.DB()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, _, err := migrations.Up(ctx, conn, migrations.SQLite); err != nil {
		t.Fatal(err)
	}
	open := func() *launchlog.Log {
		store, err := sqlite.Open(ctx, path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { store.Close() })
		log, err := launchlog.New(store, nil) // with its budget of 30 s
		if err != nil {
			t.Fatal(err)
		}
		return log
	}
	launch, err := open().Start(ctx, storetest.Request("a")) // as a deployment does
	if err != nil {
		t.Fatal(err)
	}
	log := open() // a store that has written nothing yet
	ids, err := generator.NewDecimal(log.Generators(launch.ID))
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Use(gormid.New(gormid.Use(ids))); err != nil {
		t.Fatal(err)
	}
	if err := db.AutoMigrate(&Item{}); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	err = db.Transaction(func(tx *gorm.DB) error {
		if err := tx.Exec("UPDATE items SET name = 'x'").Error; err != nil {
			return err
		}
		return tx.Create(&Item{Name: "a"}).Error
	})
	if !errors.Is(err, launchlog.ErrHeld) || !strings.Contains(err.Error(), "Ready") {
		t.Errorf("got %v, want ErrHeld with advice", err)
	}
	if d := time.Since(began); d > 8*time.Second {
		t.Errorf("it took %v: the budget, and not what is known after a second", d)
	}
	item := Item{Name: "b"}
	if err := db.Create(&item).Error; err != nil || item.ID == 0 {
		t.Errorf("after the transaction was rolled back: %v, %v", item.ID, err)
	}
	err = db.Transaction(func(tx *gorm.DB) error {
		if err := tx.Exec("UPDATE items SET name = 'x'").Error; err != nil {
			return err
		}
		return tx.Create(&Item{Name: "c"}).Error
	})
	if err != nil {
		t.Errorf("with a number in hand: %v", err)
	}
}
