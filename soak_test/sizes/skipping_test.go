package sizes_test

import (
	"testing"

	"github.com/idmint/idmint/cmd/idmint/measure"
)

// A query for a second of IDs, by its bounds, finds the IDs that were minted in it. It reads the
// range of the index that holds them. In ClickHouse it reads as many granules as their rows fill.
func TestDataSkipping(t *testing.T) {
	inEach(t, func(t *testing.T, d *measure.Database) {
		keys := d.SkippingKeys()
		if len(keys) < 6 { // trace, short, two of eightbyte, sno as bytes and text
			t.Fatalf("%d keys", len(keys))
		}
		for _, k := range keys {
			const ids = 200_000
			all, err := d.Skipping(t.Context(), k,
				measure.Rhythm{IDs: ids, Generators: 4, PerSecond: ids / measure.SkippingSeconds})
			if err != nil {
				t.Fatalf("%s: %v", k.Name(), err)
			}
			for _, s := range all {
				if s.Found != s.Minted || s.Found < ids/200 || s.Found > ids/50 {
					t.Errorf("%s, by %s: %d rows are found, of %d that were minted in the second",
						k.Name(), s.By, s.Found, s.Minted)
				}
				if d.Name != "ClickHouse" {
					continue
				}
				if s.All != (ids+s.GranuleRows-1)/s.GranuleRows || s.Granules < 1 ||
					s.Granules > s.Needed() {
					t.Errorf("%s, by %s: %d of %d granules are read, where the rows fill %d",
						k.Name(), s.By, s.Granules, s.All, s.Needed())
				}
			}
			last := all[len(all)-1]
			t.Logf("%s: %s: %d of %d rows, by %s: %s", d.Name, k.Name(), last.Found, last.Rows,
				last.By, last.Access)
		}
	})
}
