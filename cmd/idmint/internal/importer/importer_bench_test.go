package importer

import (
	"strings"
	"testing"
)

// BenchmarkImport stores 200,000 rows of three columns, in batches of 5,000. The databases' own
// settings decide what it waits for.
func BenchmarkImport(b *testing.B) {
	const rows = 200_000
	file := strings.ReplaceAll(strings.ReplaceAll(numbered(rows), ",name", ",12345.67,name"),
		"n,12345.67,name", "n,amount,name")
	for _, p := range places {
		b.Run(p.name, func(b *testing.B) {
			at := p.prepare(b)
			for range b.N {
				b.StopTimer()
				f := newFixtureIn(b, at, b.TempDir()+"/app.db")
				b.StartTimer()
				f.mustRun(file, importing(func(im *Import) { im.Batch = 5000 }))
			}
			b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
