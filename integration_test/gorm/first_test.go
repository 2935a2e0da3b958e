package gorm_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

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

type FirstItem struct {
	ID   idtype.Decimal[FirstItem]
	Name string
}

// TestFirstIDInATransaction: the app's own transaction has SQLite's lock, and waits for the log,
// which waits for the lock. The error says what to do, and the app goes on when it has rolled back.
func TestFirstIDInATransaction(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "shop.db")
	db, err := gorm.Open(gormsqlite.Open(path))
	try(t, err)
	conn, err := db.DB()
	try(t, err)
	defer conn.Close()
	if _, _, err := migrations.Up(ctx, conn, migrations.SQLite); err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(ctx, path)
	try(t, err)
	defer store.Close()
	calling, cancel := context.WithCancel(ctx)
	defer cancel()
	log, err := launchlog.New(store, &launchlog.Options{
		Observe: func(_ context.Context, step launchlog.Step) {
			if step.Attempt > 1 { // the log knows what is in the way
				cancel() // as the budget's end would
			}
		},
	})
	try(t, err)
	launch, err := log.Start(ctx, storetest.Request("a"))
	try(t, err)
	ids, err := generator.NewDecimal(log.Generators(launch.ID))
	try(t, err)
	try(t, db.Use(gormid.New(gormid.Use(ids))))
	try(t, db.AutoMigrate(&FirstItem{}))
	create := func(ctx context.Context, item *FirstItem) error {
		return db.Transaction(func(tx *gorm.DB) error {
			if err := tx.Exec("UPDATE first_items SET name = 'x'").Error; err != nil {
				return err
			}
			return tx.WithContext(ctx).Create(item).Error
		})
	}
	err = create(calling, &FirstItem{Name: "a"})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "Ready") {
		t.Errorf("got %v, want advice", err)
	}
	item := FirstItem{Name: "b"}
	if err := db.Create(&item).Error; err != nil || item.ID == 0 {
		t.Errorf("after the transaction was rolled back: %v, %v", item.ID, err)
	}
	if err := create(ctx, &FirstItem{Name: "c"}); err != nil {
		t.Errorf("with a number in hand: %v", err)
	}
}
