package gorm_test

import (
	"errors"
	"slices"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/gormid"
	"github.com/idmint/idmint/idtype"
)

// Reading is a row of ClickHouse, sorted by its key, which that has compressed well.
type Reading struct {
	ID      idtype.Decimal[Reading] `gorm:"codec:Delta,ZSTD(1)"`
	Sensor  idtype.OrZero[idtype.EightByteID]
	Station idtype.EightByteID
	Value   float64
}

func testBatchInClickHouse(t *testing.T, d database) {
	const n = 10_000
	s := newSource()
	pair := generator.EightBytePair{Generator: 9, Cluster: 3}
	stations := made(generator.NewEightByte(idtype.EightByteSpread, generator.Given(pair), nil))
	db := d.open(t, gormid.Use(s))
	migrate(t, db.Set("gorm:table_options", "ENGINE = MergeTree ORDER BY id"), &Reading{})
	migrate(t, db, &Reading{})
	wantColumn(
		t, db,
		"SELECT concat(type, ' ', compression_codec) FROM system.columns WHERE database = "+
			"currentDatabase() AND name = 'id' AND is_in_primary_key",
		"Int64 CODEC(Delta(8), ZSTD(1))",
	)

	station := made(stations.Next(t.Context()))
	rows := make([]Reading, n)
	for i := range rows {
		rows[i] = Reading{Station: station, Value: float64(i)}
	}
	rows[n/2].Sensor.ID = station
	must(t, db.Create(&rows))
	wantFills(t, s, n)
	must(t, db.CreateInBatches([]Reading{{Station: station}, {Station: station}}, 2)) // one batch
	wantFills(t, s, 2)

	var back []Reading
	must(t, db.Order("id").Limit(n).Find(&back))
	if !slices.Equal(back, rows) {
		t.Errorf("read %d rows, which are not those that were created", len(back))
	}
	var few []Reading
	must(t, db.Find(&few, []idtype.Decimal[Reading]{rows[1].ID, rows[n-1].ID}))
	if len(few) != 2 {
		t.Errorf("found %v", few)
	}
	wantColumn(t, db, "SELECT count(*) FROM readings", n+2)
}

// The driver would store zero in a FixedString, from a struct or a map.
func testZeroInClickHouse(t *testing.T, d database) {
	db := d.open(t, gormid.Use(newSource()))
	migrate(t, db, &Reading{})
	for _, dest := range []any{
		&Reading{}, &[]Reading{{Station: idtype.EightByteID{1}}, {}},
		map[string]any{"station": idtype.EightByteID{}, "value": 1.0},
	} {
		err := db.Model(&Reading{}).Create(dest).Error
		var typed *gormid.Error
		if !errors.Is(err, idtype.ErrZero) || !errors.As(err, &typed) {
			t.Errorf("%T: error %v, want ErrZero", dest, err)
		}
	}
	must(t, db.Omit("Station").Create(&Reading{})) // what is not written is not refused
	wantColumn(t, db, "SELECT count(*) FROM readings", 1)
}

// What the package documentation says of GORM's driver: each sentence is a case here.
func testTrapsInClickHouse(t *testing.T, d database) {
	d = d.with(t)
	db := d.open(t, gormid.Use(newSource()))
	migrate(t, db, &Item{})
	if err := db.CreateInBatches(make([]Item, 4), 2).Error; err == nil {
		t.Error("two inserts in one transaction work now")
	}
	skip := openWith(t, d.dialector(t), &gorm.Config{SkipDefaultTransaction: true},
		gormid.Use(newSource()))
	must(t, skip.Create(&Item{Name: "lost"}))
	wantColumn[int](t, db, "SELECT 1 FROM items")
	if err := db.Clauses(clause.OnConflict{DoNothing: true}).
		Create(&Item{Name: "upsert"}).Error; err == nil {
		t.Error("upserts work now")
	}

	type fixed struct {
		ID idtype.Sno[idtype.AsText[Reading]] `gorm:"type:FixedString(16)"`
	}
	db = d.open(t, newSchemes().sno)
	migrate(t, db, &fixed{})
	must(t, db.Create(&fixed{}))
	if err := db.First(&fixed{}).Error; err == nil {
		t.Error("text in a FixedString can be read back now")
	}
}
