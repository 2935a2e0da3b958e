// Package integration_test measures real databases as the report does.
package integration_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idmint/idmint/cmd/idmint/measure"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// rowStore opens a database that is measured.
func rowStore(t *testing.T, kind databases.Kind) *measure.Database {
	t.Helper()
	d, err := measure.Open(t.Context(), dbtest.New(t, kind))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// What README says of sizes beside an identity column holds on the newest PostgreSQL too, and what
// uuidv7() gives is measured there. Pages are split where keys come in any order.
func TestPostgres18(t *testing.T) {
	d := rowStore(t, databases.Postgres18)
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
}

// A key that is minted saves the round trips of RETURNING, and no more than a statement that stores
// all at once does.
func TestFamilies(t *testing.T) {
	d := rowStore(t, databases.Postgres)
	const delay = 5 * time.Millisecond
	all, err := d.Families(t.Context(), delay, 11)
	if err != nil {
		t.Fatal(err)
	}
	trips := map[string]int{
		measure.WayReturning: 4, measure.WayTwoFlights: 2, measure.WayStatement: 1,
		measure.WayBatch: 1,
	}
	if len(all) != 5 {
		t.Errorf("%d ways", len(all))
	}
	for _, f := range all {
		t.Logf("%s, %s: %d round trips, %.0f µs, %.2f ± %.2f", f.Way, f.Scheme, f.RoundTrips,
			f.Microseconds, f.Relative, f.Spread)
		least := float64(f.RoundTrips) * float64(delay.Microseconds())
		if f.RoundTrips != trips[f.Way] || f.Microseconds < least || f.DelayMillis != 5 ||
			f.Rounds != 11 {
			t.Errorf("%+v: want %d round trips, and %.0f µs", f, trips[f.Way], least)
		}
	}
}

// The newest rows are the last by their key, as far as its order goes. A key that the database
// counts up finds all of them. Generators that keep in step find some, and UUIDv4 finds none.
func TestReads(t *testing.T) {
	for _, kind := range []databases.Kind{databases.Postgres18, databases.MariaDB} {
		t.Run(string(kind), func(t *testing.T) {
			all, err := rowStore(t, kind).Reads(t.Context(),
				measure.Rhythm{IDs: 20_000, Generators: 4, PerSecond: 10_000}, 3)
			if err != nil {
				t.Fatal(err)
			}
			want := map[databases.Kind]int{databases.Postgres18: 2 * 8, databases.MariaDB: 2 * 7}
			if len(all) != want[kind] {
				t.Errorf("%d reads", len(all))
			}
			for _, r := range all {
				t.Logf("%s, %s: %+v", r.Scheme, r.What, r)
				found := map[string]int{measure.Newest: 100, measure.Range: 1000}[r.What]
				if r.Found != found || r.Relative <= 0 || r.Microseconds <= 0 {
					t.Errorf("%+v", r)
				}
				if kind == databases.Postgres18 && (r.Read <= 0 || r.Touched < r.Read) {
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
}

// A checkpoint of somebody else makes the log longer. The table is filled anew then, and where
// they never end nothing is said.
func TestCheckpointsOfOthers(t *testing.T) {
	name := dbtest.New(t, databases.Postgres)
	d, err := measure.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	decimal := measure.Find("decimal", idtype.StorageBigint)
	rhythm := measure.Rhythm{IDs: 20_000, Generators: 4, PerSecond: 10_000}
	footprint := func() measure.Footprint {
		t.Helper()
		f, err := d.Footprint(t.Context(), decimal, rhythm)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	conn, err := pgx.Connect(t.Context(), name.Source())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	// disturb makes checkpoints while so many tables are filled one after another, or until end. They
	// remove the log that was written before. End tells how many tables it has seen.
	disturb := func(tables int) (end func() int) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		seen := map[string]bool{}
		go func() {
			done <- func() error {
				for {
					var name string
					err := conn.QueryRow(ctx, "SELECT coalesce(max(tablename), '') FROM pg_tables "+
						"WHERE tablename LIKE 'ids\\_%'").Scan(&name)
					if err != nil {
						return err
					}
					if name != "" {
						seen[name] = true
					}
					if len(seen) > tables {
						return nil
					}
					for _, step := range []string{"SELECT pg_switch_wal()", "CHECKPOINT"} {
						if _, err := conn.Exec(ctx, step); err != nil {
							return err
						}
					}
				}
			}()
		}()
		return func() int {
			defer cancel()
			select {
			case err := <-done:
				if err != nil {
					t.Error(err)
				}
			default:
				cancel()
				<-done
			}
			return len(seen)
		}
	}
	// The server's own work makes one or the other longer now and then: a pair is measured anew.
	// Switched files would make it a hundred times as long, each time.
	for pair := 1; ; pair++ {
		quiet := footprint()
		if quiet.Unknown != "" || quiet.LogBytes == 0 {
			t.Fatalf("%+v", quiet)
		}
		end := disturb(1)
		again := footprint()
		if tables := end(); tables < 2 {
			t.Fatalf("others came in between, and %d table was filled: %+v", tables, again)
		}
		if again.Unknown == "" && math.Abs(float64(again.LogBytes-quiet.LogBytes)) <=
			0.02*float64(quiet.LogBytes) {
			break
		}
		if t.Logf("%+v\nwithout others %+v", again, quiet); pair == 3 {
			t.Fatal("the log of a table that was filled anew is not what it is without others")
		}
	}
	end := disturb(math.MaxInt)
	never := footprint()
	end()
	if !strings.Contains(never.Unknown, "checkpoints") || never.LogBytes != 0 || never.KeyBytes == 0 ||
		never.Splits != nil {
		t.Errorf("%+v", never)
	}
}
