package main

import (
	"slices"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
	gormclickhouse "gorm.io/driver/clickhouse"
	"gorm.io/gorm"
)

type visit struct {
	ID   int64 `gorm:"primaryKey"`
	Page string
}

// TestGORM migrates, creates, finds, changes and deletes by GORM's driver.
func TestGORM(t *testing.T) {
	p := start(t, t.TempDir())
	db, err := gorm.Open(gormclickhouse.New(gormclickhouse.Config{Conn: clickhouse.OpenDB(p.options())}))
	if err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"creates the table", "finds it"} {
		if err := db.AutoMigrate(&visit{}); err != nil {
			t.Fatalf("a migration that %s: %v", what, err)
		}
	}
	all := []visit{{1, "/"}, {2, "/a'b"}, {3, "/c"}, {4, "/d"}, {5, "/e"}}
	if err := db.Create(&all).Error; err != nil {
		t.Fatal(err)
	}
	if err := db.Model(&visit{}).Create(map[string]any{"ID": 6, "Page": "/f"}).Error; err != nil {
		t.Fatal(err)
	}
	now := clickhouse.Context(t.Context(), clickhouse.WithSettings(clickhouse.Settings{"mutations_sync": 1}))
	if err := db.WithContext(now).Model(&visit{}).Where("id = ?", 3).Update("page", "changed").Error; err != nil {
		t.Fatal(err)
	}
	if err := db.WithContext(now).Delete(&visit{}, "id IN ?", []int64{4, 5}).Error; err != nil {
		t.Fatal(err)
	}
	var found []visit
	if err := db.Where("id > ?", 1).Order("id").Find(&found).Error; err != nil {
		t.Fatal(err)
	}
	if want := []visit{{2, "/a'b"}, {3, "changed"}, {6, "/f"}}; !slices.Equal(found, want) {
		t.Errorf("found %v, want %v", found, want)
	}
	m := db.Migrator()
	if !m.HasTable(&visit{}) || !m.HasColumn(&visit{}, "Page") || m.HasColumn(&visit{}, "nope") {
		t.Error("the migrator does not see the table as it is")
	}
	if err := m.DropTable(&visit{}); err != nil || m.HasTable(&visit{}) {
		t.Errorf("the table is not dropped: %v", err)
	}
}
