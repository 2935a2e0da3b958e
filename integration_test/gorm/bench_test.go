package gorm_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/gormid"
	"github.com/idmint/idmint/idtype"
)

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
		try(b, db.Use(gormid.New(rules...)))
	}
	migrate(b, db, &Row{})
	batch := benchBatch
	if d.Kind == ClickHouse {
		batch = benchRows // see the documentation
	}
	gen := generator.NewTestDecimal(new(numbers))
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
	hand, plugin := create(b, d), create(b, d, gormid.Use(generator.NewTestDecimal(new(numbers))))
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

// What the plugin allocates is a fixed number of times per statement, not per row.
func testAllocationsPerRow(t *testing.T, d database) {
	dry := func(rules ...gormid.Rule) *gorm.DB {
		db, err := gorm.Open(
			d.dialector(t),
			&gorm.Config{Logger: logger.Discard, DryRun: true, SkipDefaultTransaction: true},
		)
		try(t, err)
		if len(rules) > 0 {
			try(t, db.Use(gormid.New(rules...)))
		}
		return db
	}
	plain, plugged := dry(), dry(gormid.Use(generator.NewTestDecimal(new(numbers))))
	// The least of several runs: the collector empties pools, and what others allocate counts too.
	allocations := func(db *gorm.DB, rows any, clear func()) float64 {
		least := math.MaxFloat64
		for range 10 {
			least = min(least, testing.AllocsPerRun(3, func() {
				clear()
				must(t, db.Create(rows))
			}))
		}
		return least
	}
	for name, test := range map[string]func(n int) (rows any, clear func()){
		"structs": func(n int) (any, func()) {
			rows := make([]Item, n)
			return rows, func() { clear(rows) }
		},
		"embedded": func(n int) (any, func()) {
			rows := make([]TwoLevels, n)
			return rows, func() { clear(rows) }
		},
	} {
		extra := func(n int) float64 {
			rows, clear := test(n)
			return allocations(plugged, rows, clear) - allocations(plain, rows, clear)
		}
		few, many := extra(10), extra(1000)
		t.Logf("%s: %.0f allocations more for 10 rows, %.0f for 1,000", name, few, many)
		if few > 12 || many > few+99 { // an allocation a row would be 990 more
			t.Errorf("%s: %.0f allocations more for 10 rows, %.0f for 1,000", name, few, many)
		}
	}
}
