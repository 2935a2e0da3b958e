package main

import (
	"testing"

	gormclickhouse "gorm.io/driver/clickhouse"
	"gorm.io/gorm"

	"github.com/ClickHouse/clickhouse-go/v2"
)

func TestGORM(t *testing.T) {
	p := start(t, t.TempDir())
	db, err := gorm.Open(gormclickhouse.New(gormclickhouse.Config{Conn: clickhouse.OpenDB(p.options())}))
	if err != nil {
		t.Fatal(err)
	}
	type Visit struct {
		ID   int64 `gorm:"primaryKey"`
		Page string
	}
	if err := db.AutoMigrate(&Visit{}); err != nil {
		t.Fatal(err)
	}
	if err := db.AutoMigrate(&Visit{}); err != nil {
		t.Fatal("the second time:", err)
	}
	visits := []Visit{{1, "/"}, {2, "/a'b"}, {3, "/c"}}
	if err := db.Create(&visits).Error; err != nil {
		t.Fatal(err)
	}
	var found []Visit
	if err := db.Where("id > ?", 1).Order("id").Find(&found).Error; err != nil {
		t.Fatal(err)
	}
	if len(found) != 2 || found[0] != visits[1] || found[1] != visits[2] {
		t.Errorf("found %v of %v", found, visits)
	}
}
