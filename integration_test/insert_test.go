package integration_test

import (
	"testing"

	"github.com/idmint/idmint/cmd/idmint/measure"
)

// Our types are inserted at the speed of a key that the database gives, or of plain int64, or near
// it: what is measured here is in idmint's report. The limit is far from the figures, because
// machines that test do other things at the same time.
func TestInsertSpeed(t *testing.T) {
	inEach(t, func(t *testing.T, d *measure.Database) {
		all, err := d.Insert(t.Context(),
			measure.Rhythm{IDs: 10_000, Generators: 4, PerSecond: 10_000}, 5)
		if err != nil {
			t.Fatal(err)
		}
		ours := 0
		for _, m := range all {
			t.Logf("%s, %s: %s as %s: %.0f rows a second, %.2f of %s", d.Name, m.Path,
				m.Scheme, m.Column, m.RowsPerSec, m.Relative, m.Baseline)
			baseline := measure.Serial
			if d.Name == "ClickHouse" { // which gives none
				baseline = measure.Plain
			}
			if m.Baseline != baseline {
				t.Errorf("%s is compared with %s, want %s", d.Name, m.Baseline, baseline)
			}
			if m.Scheme == baseline && m.Relative != 1 {
				t.Errorf("%s, %s: %s is %f times as fast as itself", d.Name, m.Path, m.Scheme,
					m.Relative)
			}
			if m.Peer {
				continue
			}
			if ours++; m.Relative < 0.25 {
				t.Errorf("%s, %s: %s is inserted at %.2f of the speed of %s", d.Name,
					m.Path, m.Scheme, m.Relative, m.Baseline)
			}
		}
		if ours < 4 || len(all) < 9 {
			t.Errorf("%d measurements, %d of ours", len(all), ours)
		}
	})
}
