package measure

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/idtype"
)

// All schemes mint the IDs that were asked for, each once, by all generators.
func TestMint(t *testing.T) {
	for _, k := range Keys() {
		t.Run(k.Name(), func(t *testing.T) {
			const n = 20_000
			for _, r := range []Rhythm{
				{IDs: n, Generators: 1, PerSecond: 10_000},
				{IDs: n, Generators: 64, PerSecond: 10_000},
				{IDs: n, Generators: 4, PerSecond: 10_000, Deployments: 3},
			} {
				ids, err := k.Mint(t.Context(), r)
				if err != nil {
					t.Fatal(err)
				}
				seen, numbers := map[any]bool{}, map[int]bool{}
				for i := range ids.Len() {
					id := ids.At(i)
					if v, ok := id.(interface{ Validate() error }); ok && v.Validate() != nil {
						t.Fatal(v.Validate())
					}
					seen[id] = true
					if number, ok := generatorOf(id); ok {
						numbers[number] = true
					}
				}
				if len(seen) != n || ids.Len() != n {
					t.Errorf("%+v: %d different IDs of %d", r, len(seen), ids.Len())
				}
				if len(numbers) != 0 && len(numbers) < r.Generators {
					t.Errorf("%+v: IDs of %d generators", r, len(numbers))
				}
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := k.Mint(ctx, Rhythm{IDs: 1, Generators: 1, PerSecond: 1}); !errors.Is(err,
				context.Canceled) {
				t.Errorf("%v", err)
			}
		})
	}
}

// generatorOf is the number of the generator, if the ID has it.
func generatorOf(id any) (int, bool) {
	switch id := id.(type) {
	case interface{ Generator() int }:
		return id.Generator(), true
	case interface{ Node() int }:
		return id.Node(), true
	case interface{ Partition() int }:
		return id.Partition(), true
	}
	return 0, false
}

// UUIDs are of the version, and of the simulated time.
func TestUUIDv7(t *testing.T) {
	ids, err := Keys()[len(Keys())-1].Mint(t.Context(),
		Rhythm{IDs: 3_000, Generators: 3, PerSecond: 1_000})
	if err != nil {
		t.Fatal(err)
	}
	id := ids.At(2_999).(uuid.UUID)
	took := time.Unix(id.Time().UnixTime()).Sub(day)
	if id.Version() != 7 || id.Variant() != uuid.RFC4122 || took < 2*time.Second || took > 4*time.Second {
		t.Errorf("%v is %v after the first", id, took)
	}
}

func placeInSQLite(t *testing.T) *Database {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	d, err := Open(t.Context(), dsn.DSN{Kind: dsn.SQLite})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		left, err := filepath.Glob(filepath.Join(os.TempDir(), "*"))
		if err != nil || len(left) != 0 {
			t.Errorf("%v are left, %v", left, err)
		}
	})
	return d
}

// The measurement of order notices an order that is not the documented one, and one that is not
// that of the IDs.
func TestOrderDiffers(t *testing.T) {
	d := placeInSQLite(t)
	as := func(name, column string) OrderCase {
		return OrderCase{Key: d.Find(name), Column: column, Documented: ofIDs}
	}
	naive := as("decimal", "INT") // is no naive choice
	naive.naive = true
	wrong := as("trace", "INT")
	wrong.sortKey = func(id any) string {
		runes := []rune(id.(idtype.TraceID).String())
		slices.Reverse(runes)
		return string(runes)
	}
	for _, c := range []struct {
		OrderCase
		asIDs, agrees bool
	}{
		{as("eightbyte, SPREAD as bigint", "INT"), false, false}, // sorts as signed numbers
		{as("decimal", "TEXT"), false, false},                    // sorts as digits: 9…, 10…
		{naive, true, false},
		{wrong, true, false},
		{as("trace", "INT"), true, true},
	} {
		o, err := d.Order(t.Context(), c.OrderCase, 2_000)
		if err != nil {
			t.Fatal(err)
		}
		if o.AsIDs != c.asIDs || o.Agrees != c.agrees {
			t.Errorf("%s as %s: %+v", c.Name(), c.Column, o)
		}
	}
	// A query that does not use the index is not taken for one that does.
	defer func(w walker) { walkers[dsn.SQLite] = w }(walkers[dsn.SQLite])
	w := walkers[dsn.SQLite]
	w.index = "USING INDEX"
	walkers[dsn.SQLite] = w
	if _, err := d.Order(t.Context(), as("trace", "INT"), 2_000); !errors.Is(err, errNoIndex) {
		t.Errorf("%v", err)
	}
}

// Each case is measured in each round, and once more before. The first one's speed is 1.
func TestFill(t *testing.T) {
	d := placeInSQLite(t)
	one := Rhythm{IDs: 20_000, Generators: 1, PerSecond: 10_000}
	less := one
	less.IDs = 5_000
	told := 0
	figures, err := d.Fill(t.Context(), []FillCase{
		{Key: d.Find("short"), Rhythm: one}, {Key: d.Find("short"), Rhythm: less},
	}, 7, func(FillCase) { told++ })
	if err != nil || told != 2*8 {
		t.Fatalf("%v, after %d tables", err, told)
	}
	whole, part := figures[0], figures[1]
	if whole.Relative != 1 || whole.Low != 1 || whole.High != 1 || part.Rows != 5_000 ||
		part.Low > part.Relative || part.High < part.Relative || part.RowsPerSecond <= 0 ||
		part.BytesPerRow < 0.9*whole.BytesPerRow || part.BytesPerRow > 1.1*whole.BytesPerRow {
		t.Errorf("%+v\n%+v", whole, part)
	}
}

// Speeds are compared within a round: a case that stores fewer rows is no faster for it.
func TestCompare(t *testing.T) {
	all := []Figure{{Rows: 800}, {Rows: 200}}
	compare(all, [][]float64{
		{2, 4, 800}, // the machine is slower in each round
		{1, 2, 200},
	})
	if all[0].RowsPerSecond != 200 || all[1].RowsPerSecond != 100 || all[0].Relative != 1 ||
		all[1].Relative != 0.5 {
		t.Errorf("%+v", all)
	}
	if m := median([]float64{9, 1, 5}); m.Center != 5 {
		t.Errorf("%+v", m)
	}
}
