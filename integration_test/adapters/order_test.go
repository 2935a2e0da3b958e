package adapters_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/cmd/idmint/measure"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
)

// inEach runs a test in each kind of database, in a place of its own.
func inEach(t *testing.T, test func(t *testing.T, d *measure.Database)) {
	t.Parallel()
	run := func(name string, of func(t *testing.T) dsn.DSN) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := measure.Open(t.Context(), of(t))
			try(t, err)
			defer func() { try(t, d.Close()) }()
			test(t, d)
		})
	}
	run("SQLite", func(*testing.T) dsn.DSN { return dsn.DSN{Kind: dsn.SQLite} })
	for _, kind := range append(databases.Kinds(), databases.Postgres18) {
		run(string(kind), func(t *testing.T) dsn.DSN { return dbtest.New(t, kind) })
	}
}

// naive are the columns whose order is not that of the IDs, in the words of measure.OrderCase. All
// others sort as the IDs do.
var naive = map[dsn.Kind][]string{
	dsn.SQLite:   {"eightbyte as bigint", "eightbyte, SPREAD as bigint"},
	dsn.Postgres: {"eightbyte as bigint", "eightbyte, SPREAD as bigint", "sno as text, Czech"},
	dsn.MySQL:    {"eightbyte as bigint", "eightbyte, SPREAD as bigint", "sno as text, Czech"},
	dsn.ClickHouse: {
		measure.UUIDv7, "eightbyte as bigint", "eightbyte, SPREAD as bigint", "sno as uuid",
	},
}

// ORDER BY, the order along the index and the documented order are one, for every scheme in every
// form. So is the order of the IDs, except where a choice is naive.
func TestOrder(t *testing.T) {
	inEach(t, func(t *testing.T, d *measure.Database) {
		others := map[string]bool{}
		cases := d.OrderCases()
		for _, c := range cases {
			name := c.Name()
			if c.What != "" {
				name += ", " + c.What
			}
			o, err := d.Order(t.Context(), c, 10_000)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if !o.Agrees {
				t.Errorf("%s in %s does not sort %s, as documented", name, c.Column, o.Documented)
			}
			if !o.AsIDs {
				others[name] = true
			}
		}
		if got := slices.Sorted(maps.Keys(others)); !slices.Equal(got, naive[d.Kind]) {
			t.Errorf("not in the order of the IDs: %q, want %q", got, naive[d.Kind])
		}
		t.Logf("%s: %d columns", d.Name, len(cases))
	})
}
