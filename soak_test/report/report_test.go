// Package report_test shows what idmint report says of the log and of the cache of PostgreSQL.
package report_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/cmd/idmint/measure"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// open opens the database of a server that nobody else writes to, nor the server by itself.
func open(t *testing.T, kind databases.Kind) (*measure.Database, dsn.DSN) {
	t.Helper()
	name := dbtest.Run(t, kind, "-c", "autovacuum=off", "-c", "checkpoint_timeout=1d").DSN
	d, err := measure.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d, name
}

// What README says of sizes beside an identity column holds on the newest PostgreSQL too, and what
// uuidv7() gives is measured there. Pages are split where keys come in any order.
func TestPostgres18(t *testing.T) {
	d, _ := open(t, databases.Postgres18)
	if d.Name != "PostgreSQL 18" || len(d.ServerKeys()) != 2 ||
		d.ServerKeys()[1].Scheme != measure.ServerV7 {
		t.Fatalf("%s gives %v", d.Name, d.ServerKeys())
	}
	of := func(k measure.Key, r measure.Rhythm) measure.Footprint {
		t.Helper()
		r.IDs, r.PerSecond = 40_000, 10_000
		f, err := d.Footprint(t.Context(), k, r)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %+v", k.Name(), f)
		if f.Unknown != "" || f.Splits == nil || f.Cold == nil || f.LeafFill == 0 ||
			f.Cold.Rows != f.Rows/10 {
			t.Fatalf("%+v", f)
		}
		// A split adds a page, and the root is there at first.
		if pages := f.KeyBytes / 8192; *f.Splits < pages/2 || *f.Splits > pages {
			t.Errorf("%s: %d pages of %d splits", k.Name(), pages, *f.Splits)
		}
		return f
	}
	serial := of(d.ServerKeys()[0], measure.Rhythm{Generators: 1})
	server7 := of(d.ServerKeys()[1], measure.Rhythm{Generators: 1})
	uuid4 := of(measure.Find("UUIDv4", idtype.StorageUUID), measure.Rhythm{Generators: 1})
	for _, c := range []struct {
		measure.Rhythm
		most float64
	}{
		{measure.Rhythm{Generators: 1, Deployments: 10}, 1.05},
		{measure.Rhythm{Generators: 4}, 1.10},
		{measure.Rhythm{Generators: 4, Deployments: 10}, 1.10},
	} {
		r := c.Rhythm
		decimal := of(measure.Find("decimal", idtype.StorageBigint), r)
		if float64(decimal.KeyBytes) > c.most*float64(serial.KeyBytes) {
			t.Errorf("decimal of %+v: %d bytes, serial %d", r, decimal.KeyBytes, serial.KeyBytes)
		}
		if decimal.Cold.Read > 2*serial.Cold.Read+4 {
			t.Errorf("decimal of %+v: %+v, serial %+v", r, decimal.Cold, serial.Cold)
		}
	}
	if server7.KeyBytes <= serial.KeyBytes || uuid4.KeyBytes <= server7.KeyBytes ||
		uuid4.Cold.Read < uuid4.KeyBytes/8192/2 || // 4,000 rows go to nearly all pages
		uuid4.Cold.Read < 5*server7.Cold.Read || uuid4.LeafFill > 80 {
		t.Errorf("serial %+v\nuuidv7() %+v\nUUIDv4 %+v", serial, server7, uuid4)
	}
	reads, err := d.Reads(t.Context(),
		measure.Rhythm{IDs: 20_000, Generators: 4, PerSecond: 10_000}, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range reads {
		if r.Read <= 0 || r.Touched < r.Read {
			t.Errorf("%+v", r)
		}
	}
}

// A checkpoint of somebody else makes the log longer. The table is filled anew then, and where
// they never end nothing is said.
func TestCheckpointsOfOthers(t *testing.T) {
	d, name := open(t, databases.Postgres)
	footprint := func() measure.Footprint {
		t.Helper()
		f, err := d.Footprint(t.Context(), measure.Find("decimal", idtype.StorageBigint),
			measure.Rhythm{IDs: 20_000, Generators: 4, PerSecond: 10_000})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	// disturb makes checkpoints while so many tables are filled one after another, or until end. They
	// remove the log that was written before. End tells how many tables it has seen.
	disturb := func(tables int) (end func() int) {
		conn, err := pgx.Connect(t.Context(), name.Source())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		seen := map[string]bool{}
		go func() {
			defer close(ended)
			for {
				var name string
				err := conn.QueryRow(ctx, "SELECT coalesce(max(tablename), '') FROM pg_tables "+
					"WHERE tablename LIKE 'ids\\_%'").Scan(&name)
				if name != "" {
					seen[name] = true
				}
				if len(seen) > tables {
					return
				}
				for _, step := range []string{"SELECT pg_switch_wal()", "CHECKPOINT"} {
					if err == nil {
						_, err = conn.Exec(ctx, step)
					}
				}
				if err != nil {
					if ctx.Err() == nil {
						t.Error(err)
					}
					return
				}
			}
		}()
		return func() int {
			cancel()
			<-ended
			conn.Close(context.Background())
			return len(seen)
		}
	}
	quiet := footprint()
	if quiet.Unknown != "" || quiet.LogBytes == 0 {
		t.Fatalf("%+v", quiet)
	}
	for tables := 0; tables < 2; { // until a checkpoint has come in between
		end := disturb(1)
		again := footprint()
		tables = end()
		// Switched files would make it a hundred times as long.
		if again.Unknown != "" || again.LogBytes > 2*quiet.LogBytes ||
			again.LogBytes < quiet.LogBytes/2 {
			t.Errorf("%+v\nwithout others %+v", again, quiet)
		}
	}
	var never measure.Footprint
	for never.Unknown == "" { // until one has come in between at each try
		end := disturb(math.MaxInt)
		never = footprint()
		end()
	}
	if !strings.Contains(never.Unknown, "checkpoints") || never.LogBytes != 0 || never.KeyBytes == 0 ||
		never.Splits != nil {
		t.Errorf("%+v", never)
	}
}
