package gormidtest_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gorm.io/driver/sqlite"
	"gorm.io/gorm"

	"github.com/idmint/idmint/gormid"
	"github.com/idmint/idmint/gormid/gormidtest"
	"github.com/idmint/idmint/idtype"
)

type (
	User struct {
		ID      idtype.Decimal[User]
		Deleted gorm.DeletedAt
		Posts   []Post
	}
	Post struct {
		ID     idtype.Decimal[Post]
		UserID idtype.Decimal[User]
	}
)

func TestCount(t *testing.T) {
	db, err := gorm.Open(sqlite.Open(filepath.Join(t.TempDir(), "test.db")), &gorm.Config{})
	check(t, err)
	pool, err := db.DB()
	check(t, err)
	defer pool.Close()
	pool.SetMaxOpenConns(1) // a look-up beside a transaction would wait for ever
	check(t, db.Use(gormidtest.Count[idtype.DecimalID]()))
	check(t, db.AutoMigrate(&User{}, &Post{}))
	want := func(table string, keys ...int64) {
		t.Helper()
		var got []int64
		err := db.Raw("SELECT id FROM " + table + " ORDER BY id").Scan(&got).Error
		if err != nil || !slices.Equal(got, keys) {
			t.Errorf("%s: %v, %v, want %v", table, got, err, keys)
		}
	}
	check(t, db.Create(&User{Posts: []Post{{}, {}}}).Error)
	check(t, db.Create([]User{{}, {}}).Error)
	want("users", 1, 2, 3)
	want("posts", 1, 2)

	// Fixtures by GORM, which may be deleted softly, and by SQL.
	check(t, db.Create(&User{ID: 5}).Error)
	check(t, db.Delete(&User{ID: 5}).Error)
	check(t, db.Exec("INSERT INTO users (id) VALUES (7)").Error)
	check(t, db.Transaction(func(tx *gorm.DB) error {
		check(t, tx.Create(&User{ID: 8}).Error)
		check(t, tx.Create([]User{{Posts: []Post{{}}}, {}, {}}).Error)
		return tx.Model(&User{}).Create(map[string]any{"deleted": nil}).Error
	}))
	want("users", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
	want("posts", 1, 2, 3)

	err = gormidtest.Count[idtype.TraceID](gormid.Rule{}).Initialize(db)
	if err == nil || !strings.Contains(err.Error(), "rule 1: no source was given") {
		t.Error(err)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
