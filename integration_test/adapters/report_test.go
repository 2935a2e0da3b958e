package adapters_test

import (
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/cmd/idmint/measure"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
)

// What idmint report measures beside order, inserts and sizes, of few rows. soak_test/report has
// more.

// onRowStores runs a test in databases that keep rows, and have servers.
func onRowStores(t *testing.T, test func(t *testing.T, d *measure.Database)) {
	t.Parallel()
	for _, kind := range []databases.Kind{
		databases.Postgres, databases.Postgres18, databases.MariaDB,
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			d, err := measure.Open(t.Context(), dbtest.New(t, kind))
			test(t, measured(t, d, err))
		})
	}
}

// Keys that the database gives, and ours, take as much as they must. Other tests write to the same
// server: what is counted of all of it may be theirs as well, or not be known.
func TestReportFootprint(t *testing.T) {
	onRowStores(t, func(t *testing.T, d *measure.Database) {
		const rows = 2_000
		keys := append(d.ServerKeys(), measure.Find("decimal", idtype.StorageBigint))
		if d.Name == "PostgreSQL 18" && (len(keys) != 3 || keys[1].Scheme != measure.ServerV7) {
			t.Errorf("%s gives %v", d.Name, d.ServerKeys())
		}
		for _, k := range keys {
			f, err := d.Footprint(t.Context(), k,
				measure.Rhythm{IDs: rows, Generators: 1, PerSecond: 10_000})
			try(t, err)
			if perRow := f.KeyBytes / rows; f.Rows != rows || f.TableBytes < f.KeyBytes ||
				perRow < 8 || perRow > 150 {
				t.Errorf("%s: %+v", k.Name(), f)
			}
			if known := f.LogBytes > f.KeyBytes && f.Pages > 0 && f.Splits != nil; !known &&
				!strings.Contains(f.Unknown, "checkpoints") {
				t.Errorf("%s: %+v", k.Name(), f)
			}
			if strings.HasPrefix(d.Name, "PostgreSQL") && (f.LeafFill < 50 || f.LeafFill > 100 ||
				f.Cold == nil || f.Cold.Rows != rows/10 || f.Cold.Hits+f.Cold.Read == 0) {
				t.Errorf("%s: %+v, %+v", k.Name(), f, f.Cold)
			}
		}
	})
}

// A key that is minted saves the round trips of RETURNING, and no more than a statement that stores
// all at once does.
func TestReportFamilies(t *testing.T) {
	t.Parallel()
	opened, err := measure.Open(t.Context(), dbtest.New(t, databases.Postgres))
	d := measured(t, opened, err)
	const delay = 2 * time.Millisecond
	all, err := d.Families(t.Context(), delay, 3)
	try(t, err)
	trips := map[string]int{
		measure.WayReturning: 4, measure.WayTwoFlights: 2, measure.WayStatement: 1,
		measure.WayBatch: 1,
	}
	if len(all) != 5 {
		t.Errorf("%d ways", len(all))
	}
	for _, f := range all {
		least := float64(f.RoundTrips) * float64(delay.Microseconds())
		if f.RoundTrips != trips[f.Way] || f.Microseconds < least || f.DelayMillis != 2 ||
			f.Rounds != 3 {
			t.Errorf("%+v: want %d round trips, and %.0f µs", f, trips[f.Way], least)
		}
	}
}

// The newest rows are the last by their key, as far as its order goes. A key that the database
// counts up finds all of them. Generators that keep in step find some, and UUIDv4 finds none.
func TestReportReads(t *testing.T) {
	onRowStores(t, func(t *testing.T, d *measure.Database) {
		all, err := d.Reads(t.Context(),
			measure.Rhythm{IDs: 5_000, Generators: 4, PerSecond: 10_000}, 1)
		try(t, err)
		if want := 2 * (len(d.ServerKeys()) + 6); len(all) != want {
			t.Errorf("%d reads, want %d", len(all), want)
		}
		for _, r := range all {
			found := map[string]int{measure.Newest: 100, measure.Range: 1000}[r.What]
			if r.Found != found || r.Relative <= 0 || r.Microseconds <= 0 {
				t.Errorf("%+v", r)
			}
			if strings.HasPrefix(d.Name, "PostgreSQL") && (r.Touched <= 0 || r.Touched < r.Read) {
				t.Errorf("%+v", r)
			}
			least, most := 90, 100
			switch {
			case r.What == measure.Range:
				least, most = 0, 0
			case r.ByServer:
				least = 100
			case r.Scheme == "decimal":
				least = 25
			case r.Scheme == "UUIDv4":
				least, most = 0, 10
			}
			if r.Newest < least || r.Newest > most {
				t.Errorf("%s: %d of the newest, want %d to %d", r.Scheme, r.Newest, least, most)
			}
		}
	})
}
