package adapters_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/idmint/idmint/cmd/idmint/measure"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
)

// inEach runs a test in each kind of database, in a place of its own.
func inEach(t *testing.T, test func(t *testing.T, d *measure.Database)) {
	t.Parallel()
	run := func(name string, open func(t *testing.T) (*measure.Database, error)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := open(t)
			test(t, measured(t, d, err))
		})
	}
	run("SQLite", func(t *testing.T) (*measure.Database, error) {
		return measure.OpenSQLite(t.Context())
	})
	for _, kind := range databases.Kinds() {
		run(string(kind), func(t *testing.T) (*measure.Database, error) {
			return measure.Open(t.Context(), dbtest.New(t, kind))
		})
	}
}

// naive are the columns whose order is not that of the IDs, in the words of measure.OrderCase. All
// others sort as the IDs do.
var naive = map[string][]string{
	"SQLite": {
		"eightbyte as bigint, before and after 2039-09-07",
		"eightbyte, SPREAD as bigint, before and after 2039-09-07",
	},
	"PostgreSQL 17": {
		"eightbyte as bigint, before and after 2039-09-07",
		"eightbyte, SPREAD as bigint, before and after 2039-09-07", "sno as text, Czech",
	},
	"MariaDB": {
		"UUIDv4", "eightbyte as bigint, before and after 2039-09-07",
		"eightbyte, SPREAD as bigint, before and after 2039-09-07", "sno as text, Czech",
	},
	"ClickHouse": {
		"UUIDv4", "UUIDv7", "eightbyte as bigint, before and after 2039-09-07",
		"eightbyte, SPREAD as bigint, before and after 2039-09-07", measure.ClickHouseV7, "sno as uuid",
	},
}

// ORDER BY, the order along the index and the documented order are one, for every scheme in every
// form. So is the order of the IDs, except where a choice is naive.
func TestOrder(t *testing.T) {
	inEach(t, func(t *testing.T, d *measure.Database) {
		others := map[string]bool{}
		ids := 0
		for _, c := range d.OrderCases() {
			o, err := d.Order(t.Context(), c, 10_000, 8)
			if err != nil {
				t.Fatalf("%s, %s: %v", c.Name(), c.What, err)
			}
			name := c.Name()
			if c.What != "" && (c.Naive || !o.AsIDs) {
				name += ", " + c.What
			}
			if !o.OrderBy || !o.Index {
				t.Errorf(
					"%s, %s in %s: the order is documented as %s: "+
						"ORDER BY gives it: %t, the index: %t",
					name, c.What, c.Column, o.Documented, o.OrderBy, o.Index)
			}
			if !o.AsIDs {
				others[name] = true
			}
			ids += o.IDs
		}
		if got := slices.Sorted(maps.Keys(others)); !slices.Equal(got, naive[d.Name]) {
			t.Errorf("not in the order of the IDs: %q, want %q", got, naive[d.Name])
		}
		t.Logf("%s: %d columns of 8 generators at once, %d IDs", d.Version, len(d.OrderCases()),
			ids)
	})
}

// Every key can be inserted in every way that a database has, and is compared with what the database
// gives. How fast that is, idmint report says.
func TestInsert(t *testing.T) {
	inEach(t, func(t *testing.T, d *measure.Database) {
		all, err := d.Insert(t.Context(),
			measure.Rhythm{IDs: measure.MinRows, Generators: 4, PerSecond: 10_000}, 1)
		try(t, err)
		baseline := measure.Serial
		if d.Name == "ClickHouse" { // which gives none
			baseline = measure.Plain
		}
		ours := 0
		for _, m := range all {
			if m.Baseline != baseline || m.RowsPerSec <= 0 || m.Relative <= 0 ||
				m.Scheme == baseline && m.Relative != 1 {
				t.Errorf("%+v", m)
			}
			if !m.Peer {
				ours++
			}
		}
		if ours < 4 || len(all) < 9 {
			t.Errorf("%d measurements, %d of ours", len(all), ours)
		}
	})
}
