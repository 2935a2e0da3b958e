package adapters_test

import (
	"testing"

	"github.com/idmint/idmint/cmd/idmint/measure"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
)

// What documents claim of sizes holds, of fewer IDs than they speak of. soak_test/sizes has more.

// measured opens a database to be measured.
func measured(t *testing.T, d *measure.Database, err error) *measure.Database {
	t.Helper()
	try(t, err)
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// Columns of each scheme, in the codec that users get, beside UUIDs in their best.
func TestCompression(t *testing.T) {
	t.Parallel()
	opened, err := measure.Open(t.Context(), dbtest.New(t, databases.ClickHouse))
	d := measured(t, opened, err)
	smallest := func(k measure.Key, r measure.Rhythm) map[string]float64 {
		t.Helper()
		all, err := d.Compression(t.Context(), k, r, "")
		try(t, err)
		least := map[string]float64{}
		for _, c := range all {
			if was, ok := least[c.Sort]; (c.Peer || c.Codec == c.Shipped()) && (!ok || c.BytesPerID < was) {
				least[c.Sort] = c.BytesPerID
			}
		}
		t.Logf("%s: %d IDs of %d generators: %v bytes per ID", k.Name(), r.IDs, r.Generators, least)
		return least
	}
	uuids := smallest(measure.Find("UUIDv7", idtype.StorageUUID), measure.Rhythm{
		IDs: 100_000, Generators: 1, PerSecond: 10_000,
	})
	uuid7 := uuids[measure.SortedByBytes]
	if uuid7 > 10.5 || uuid7 > uuids[measure.SortedByID] {
		t.Errorf("UUIDv7: %v bytes per ID", uuids)
	}
	for scheme, most := range map[string]float64{"decimal": 0.03, "trace": 0.03} {
		// Ten deployments of decimal IDs: the launch log tells each where the one before has ended.
		deployments := map[string]int{"decimal": 10}[scheme]
		least := smallest(measure.Find(scheme, idtype.StorageBigint), measure.Rhythm{
			IDs: 500_000, Generators: 4, PerSecond: 10_000, Deployments: deployments,
		})
		sorted, arrival := least[measure.SortedByID], least[measure.Arrival]
		if sorted > most || uuid7 < 250*sorted || arrival < sorted {
			t.Errorf("%s: %f bytes per ID, want at most %v, and 250 times less than %f; "+
				"%f in order of arrival", scheme, sorted, most, uuid7, arrival)
		}
	}
	for _, k := range d.Keys() {
		if k.Peer || k.Scheme == "decimal" || k.Scheme == "trace" {
			continue
		}
		least := smallest(k, measure.Rhythm{IDs: 100_000, Generators: 4, PerSecond: 10_000})
		if sorted := least[measure.SortedByID]; 3*sorted > uuid7 {
			t.Errorf("%s: %f bytes per ID, UUIDv7 %f: want a third", k.Name(), sorted, uuid7)
		}
	}
}

// Rows of IDs far apart take more pages to write, and wide keys more room. Nobody else writes to
// this database.
func TestFootprint(t *testing.T) {
	t.Parallel()
	opened, err := measure.OpenSQLite(t.Context())
	d := measured(t, opened, err)
	of := func(scheme string, form idtype.Storage) measure.Footprint {
		k := measure.Find(scheme, form)
		f, err := d.Footprint(t.Context(), k,
			measure.Rhythm{IDs: 50_000, Generators: 4, PerSecond: 10_000})
		try(t, err)
		// No page holds more than the IDs themselves, and none is emptier than a third.
		if perRow := f.KeyBytes / int64(f.Rows); f.Unknown != "" || f.Pages <= 0 || f.LogBytes <= 0 ||
			f.TableBytes < f.KeyBytes || perRow < 8 || perRow > 150 {
			t.Errorf("%+v", f)
		}
		t.Logf("%s: %d rows: key %d bytes, table %d, log %d, %d pages written", k.Name(), f.Rows,
			f.KeyBytes, f.TableBytes, f.LogBytes, f.Pages)
		return f
	}
	decimal, short := of("decimal", idtype.StorageBigint), of("short", idtype.StorageBigint)
	spread := of("eightbyte, SPREAD", idtype.StorageBytes)
	uuid4, ulid := of("UUIDv4", idtype.StorageUUID), of("ULID", idtype.StorageText)
	for _, far := range []measure.Footprint{uuid4, spread} {
		if near := max(decimal.Pages, short.Pages); far.Pages*2 < near*3 {
			t.Errorf("%s: %d pages written, of decimal or short %d: want half as many again",
				far.Scheme, far.Pages, near)
		}
	}
	if longer := int64(26 - 8); ulid.KeyBytes-short.KeyBytes < longer*int64(short.Rows) {
		t.Errorf("the key of ULIDs takes %d bytes, of short %d", ulid.KeyBytes, short.KeyBytes)
	}
}

// A query for a second of IDs, by its bounds, finds the IDs that were minted in it. It reads the
// range of the index that holds them.
func TestDataSkipping(t *testing.T) {
	t.Parallel()
	find := func(t *testing.T, d *measure.Database) {
		keys := d.SkippingKeys()
		if len(keys) < 6 { // trace, short, two of eightbyte, sno as bytes and text
			t.Fatalf("%d keys", len(keys))
		}
		for _, k := range keys {
			const ids = 10_000
			all, err := d.Skipping(t.Context(), k,
				measure.Rhythm{IDs: ids, Generators: 4, PerSecond: ids / measure.SkippingSeconds})
			if err != nil {
				t.Fatalf("%s: %v", k.Name(), err)
			}
			for _, s := range all {
				if s.Found != s.Minted || s.Found == 0 {
					t.Errorf("%s, by %s: %d rows are found, of %d that were minted in the second",
						k.Name(), s.By, s.Found, s.Minted)
				}
			}
		}
	}
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		d, err := measure.OpenSQLite(t.Context())
		find(t, measured(t, d, err))
	})
	for _, kind := range databases.Kinds() { // in ClickHouse TestClickHouseTimeRangesReadTheirGranules counts
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			d, err := measure.Open(t.Context(), dbtest.New(t, kind))
			find(t, measured(t, d, err))
		})
	}
}
