package adapters_test

import (
	"testing"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/cmd/idmint/measure"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
)

// What documents claim of sizes holds, of fewer IDs than they speak of. The bytes are those of the
// key's index for each row, and those of the column in ClickHouse.

// sizes are those of tables that are filled once, in the order of the cases. Each must have been
// inserted at some speed.
func sizes(t *testing.T, d *measure.Database, cases ...measure.FillCase) (bytes []float64) {
	t.Helper()
	figures, err := d.Fill(t.Context(), cases, 1, func(measure.FillCase) {})
	try(t, err)
	for _, f := range figures {
		bytes = append(bytes, f.BytesPerRow)
		t.Logf("%s: %s, %d writers, %d deployments, by arrival: %t: %.3f bytes a row", f.Database,
			f.Name(), f.Writers, f.Deployments, f.ByArrival, f.BytesPerRow)
		if f.RowsPerSecond <= 0 || f.Relative <= 0 || f.BytesPerRow <= 0 {
			t.Errorf("%+v", f)
		}
	}
	return bytes
}

func written(k measure.Key, ids, generators, deployments int) measure.FillCase {
	return measure.FillCase{Key: k, Rhythm: measure.Rhythm{
		IDs: ids, Generators: generators, PerSecond: 10_000, Deployments: deployments,
	}}
}

// Decimal IDs of several deployments take what the database's own counter takes, as each goes on
// where the one before has ended. Wide keys take more, and so do keys without order.
func TestIndexBytesInRowStores(t *testing.T) {
	inEach(t, func(t *testing.T, d *measure.Database) {
		if d.Kind == dsn.ClickHouse {
			return // see TestColumnCompressionInClickHouse
		}
		const rows = 40_000
		decimal := d.Find("decimal")
		slow := written(decimal, rows, 4, 10)
		slow.PerSecond = 30
		s := sizes(t, d,
			written(d.Find(measure.Serial), rows, 1, 1), written(decimal, rows, 1, 10),
			written(decimal, rows, 4, 1), written(decimal, rows, 4, 10), slow,
			written(d.Find("short"), rows, 4, 1), written(d.Find("eightbyte, SPREAD as bytes"), rows, 4, 1),
			written(d.Find(measure.UUIDv7), rows, 4, 1), written(d.Find("short"), 2_000, 4, 1))
		serial, short, spread, uuid7, few := s[0], s[5], s[6], s[7], s[8]
		if few < 12 { // a key and a number
			t.Errorf("a row of few takes %.1f bytes", few)
		}
		for i, most := range map[dsn.Kind][]float64{
			dsn.Postgres: {1.05, 1.45, 1.45, 1.10}, // pages of fast writers split: see docs/reference/databases.md
			dsn.MySQL:    {1.05, 1.80, 1.80, 1.80}, // so they do, at any rate
			dsn.SQLite:   {1.75, 1.75, 1.75, 1.75}, // serial is the row's number there
		}[d.Kind] {
			if decimal := s[1+i]; decimal > most*serial {
				t.Errorf("case %d of decimal takes %.1f bytes a row, serial %.1f: want at most %v times",
					i, decimal, serial, most)
			}
		}
		if uuid7 < serial+6 || d.Kind != dsn.SQLite && spread < 1.15*short {
			t.Errorf("UUIDv7 takes %.1f bytes a row, SPREAD %.1f, short %.1f, serial %.1f", uuid7,
				spread, short, serial)
		}
	})
}

// Columns of each scheme, in the codec that users get, compared with UUIDs in their best order.
func TestColumnCompressionInClickHouse(t *testing.T) {
	t.Parallel()
	d, err := measure.Open(t.Context(), dbtest.New(t, databases.ClickHouse))
	try(t, err)
	defer func() { try(t, d.Close()) }()
	cases := []measure.FillCase{written(d.Find(measure.UUIDv7), 100_000, 1, 1)}
	for _, k := range measure.Keys() {
		if k.Peer() {
			continue
		}
		c := written(k, 100_000, 4, 1)
		switch k.Scheme {
		case "decimal":
			c.IDs, c.Deployments = 500_000, 10
		case "trace":
			c.IDs = 500_000
		}
		arrival := c
		arrival.ByArrival = true
		cases = append(cases, c, arrival)
	}
	bytes := sizes(t, d, cases...)
	uuid7 := bytes[0]
	if uuid7 > 10.5 {
		t.Errorf("UUIDv7 takes %.2f bytes an ID", uuid7)
	}
	for i := 1; i < len(cases); i += 2 {
		name, sorted, arrival := cases[i].Name(), bytes[i], bytes[i+1]
		most := uuid7 / 3
		if name == "decimal" || name == "trace" {
			most = min(0.03, uuid7/250)
		}
		if sorted > most || arrival < sorted || arrival > 0.7*uuid7 {
			t.Errorf("%s takes %.3f bytes an ID, and %.3f by arrival; UUIDv7 takes %.2f: want at most %.3f",
				name, sorted, arrival, uuid7, most)
		}
	}
}
