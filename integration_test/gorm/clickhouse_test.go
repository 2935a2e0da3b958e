package gorm_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"

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

// Row is a model of the usual width.
type Row struct {
	ID                 idtype.DecimalID
	Name, Email, Notes string
	Count              int
	CreatedAt          time.Time
}

func (Row) TableName() string { return "bench_rows" }

const (
	benchRows  = 10_000
	benchBatch = 1_000
)

// create makes a database, with the plugin or without. Its function fills the database with rows:
// without an ID, or with IDs that are set by hand as the rows are made.
func create(b *testing.B, d database, rules ...gormid.Rule) func() time.Duration {
	db, err := gorm.Open(d.dialector(b), &gorm.Config{Logger: logger.Discard})
	try(b, err)
	if len(rules) > 0 {
		try(b, db.Use(gormid.NewRules(rules...)))
	}
	migrate(b, db, &Row{})
	batch := benchBatch
	if d.Kind == ClickHouse {
		batch = benchRows // see the documentation
	}
	gen := generator.NewTestDecimal(nil)
	now := time.Now()
	return func() time.Duration {
		empty(b, db, "bench_rows")
		begin := time.Now()
		rows := make([]Row, benchRows)
		for i := range rows {
			rows[i] = Row{Name: "name", Email: "someone@example.com", Count: i, CreatedAt: now}
			if len(rules) == 0 {
				id, err := gen.Next(b.Context())
				try(b, err)
				rows[i].ID = id
			}
		}
		must(b, db.CreateInBatches(rows, batch))
		return time.Since(begin)
	}
}

func BenchmarkCreateInBatches(b *testing.B) {
	b.Run("SQLite", func(b *testing.B) { measure(b, inSQLite) })
	b.Run("PostgreSQL", func(b *testing.B) { measure(b, inPostgres(b, false)) })
	b.Run("MariaDB", func(b *testing.B) { measure(b, inMariaDB(b, false)) })
	b.Run("ClickHouse", func(b *testing.B) { measure(b, inClickHouse(b)) })
}

// measure measures the plugin beside IDs that are set by hand, turn by turn. It reports ratio, of
// the medians, and ratio-of-best, of the fastest turns. A busy machine disturbs the second less.
func measure(b *testing.B, d database) {
	hand, plugin := create(b, d), create(b, d, gormid.Use(generator.NewTestDecimal(nil)))
	hand()
	plugin()
	var byHand, byPlugin []time.Duration
	for i := 0; b.Loop(); i++ {
		if i%2 == 0 {
			byHand, byPlugin = append(byHand, hand()), append(byPlugin, plugin())
		} else {
			byPlugin, byHand = append(byPlugin, plugin()), append(byHand, hand())
		}
	}
	median := func(d []time.Duration) float64 {
		slices.Sort(d)
		return float64(d[len(d)/2])
	}
	b.ReportMetric(float64(slices.Min(byPlugin))/float64(slices.Min(byHand)), "ratio-of-best")
	b.ReportMetric(median(byPlugin)/median(byHand), "ratio")
	b.ReportMetric(median(byHand)/benchRows, "ns/row-by-hand")
	b.ReportMetric(0, "ns/op")
}
