package idtype_test

import (
	"bytes"
	"cmp"
	"database/sql"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/idmint/idmint/idtype"
)

// sqliteColumns are the columns for each form, what SQLite then says they hold, and how a Slice is compared with them.
var sqliteColumns = map[idtype.Storage]struct{ column, typeOf, in string }{
	idtype.StorageBytes:  {"BLOB", "blob", "SELECT unhex(value) FROM json_each(?)"},
	idtype.StorageBigint: {"BIGINT", "integer", "SELECT value FROM json_each(?)"},
	idtype.StorageText:   {"CHAR(16)", "text", "SELECT value FROM json_each(?)"},
	idtype.StorageUUID:   {"UUID", "text", "SELECT value FROM json_each(?)"},
}

func TestStorageSQLite(t *testing.T) {
	eachByteKind(t, func(t *testing.T, k byteKind) {
		db := openSQLite(t)
		c := sqliteColumns[k.form]
		exec(t, db, `CREATE TABLE events (id `+c.column+` NOT NULL PRIMARY KEY, cause `+c.column+`, team `+c.column+` NOT NULL) WITHOUT ROWID`)
		all := k.domain()
		slices.SortFunc(all, func(a, b []byte) int {
			if k.form == idtype.StorageBigint { // as signed numbers
				return cmp.Compare(k.refColumn(a).(int64), k.refColumn(b).(int64))
			}
			return bytes.Compare(a, b)
		})
		all = slices.CompactFunc(all, bytes.Equal)
		for _, raw := range all {
			exec(t, db, `INSERT INTO events (id, team) VALUES (?, ?)`, k.new(raw), k.orZero(k.zero()))
		}

		t.Run("order", func(t *testing.T) {
			if got := queryBytes(t, db, k, `SELECT id FROM events ORDER BY id`); !slices.EqualFunc(got, all, bytes.Equal) {
				t.Errorf("stored %x\n read %x", all, got)
			}
		})
		t.Run("what is stored", func(t *testing.T) {
			rows, err := db.Query(`SELECT id, id, typeof(id) FROM events`)
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			for rows.Next() {
				id, typ := k.new(k.before()), ""
				var stored any
				if err := rows.Scan(id, &stored, &typ); err != nil {
					t.Fatal(err)
				}
				if want := k.refColumn(rawOf(id)); typ != c.typeOf || !reflect.DeepEqual(stored, want) {
					t.Errorf("%v is stored as %s %v, want %v", id, typ, stored, want)
				}
			}
			if err := rows.Err(); err != nil {
				t.Fatal(err)
			}
		})
		t.Run("found by its key", func(t *testing.T) {
			for _, raw := range all {
				got := queryBytes(t, db, k, `SELECT id FROM events WHERE id = ?`, k.new(raw))
				if !slices.EqualFunc(got, [][]byte{raw}, bytes.Equal) {
					t.Errorf("row with key %x: %x", raw, got)
				}
			}
		})
		t.Run("slice", func(t *testing.T) {
			want := [][]byte{all[1], all[len(all)/2], all[len(all)-1]}
			list, err := k.slice(want[2], want[0], want[1], want[2])
			if err != nil {
				t.Fatal(err)
			}
			got := queryBytes(t, db, k, `SELECT id FROM events WHERE id IN (`+c.in+`) ORDER BY id`, list)
			if !slices.EqualFunc(got, want, bytes.Equal) {
				t.Errorf("found %x, want %x", got, want)
			}
		})
		t.Run("none and NULL", func(t *testing.T) {
			if _, err := db.Exec(`INSERT INTO events (id, team) VALUES (?, ?)`, k.new(k.zero()), k.orZero(k.zero())); !errors.Is(err, idtype.ErrZero) {
				t.Errorf("insert of a key that was not assigned: error is %v, want ErrZero", err)
			}
			one, two := k.new(all[1]), k.new(all[2])
			exec(t, db, `UPDATE events SET cause = ?, team = ? WHERE id = ?`, two, k.orZero(all[2]), one)
			for _, tt := range []struct {
				row  key
				want []byte // nil for NULL and none
			}{{one, all[2]}, {two, nil}} {
				row := func() *sql.Row { return db.QueryRow(`SELECT team, cause FROM events WHERE id = ?`, tt.row) }
				team, cause := k.orZero(k.before()), k.new(k.before())
				err := row().Scan(team, cause)
				if tt.want == nil {
					if !errors.Is(err, idtype.ErrNull) || !team.IsZero() || !bytes.Equal(rawOf(cause), k.before()) {
						t.Errorf("none is %x, NULL is %v, %v", rawOf(team), cause, err)
					}
					if err := row().Scan(cause, new(any)); !errors.Is(err, idtype.ErrZero) {
						t.Errorf("none into a plain ID: error is %v, want ErrZero", err)
					}
				} else if err != nil || !bytes.Equal(rawOf(team), tt.want) || !bytes.Equal(rawOf(cause), tt.want) {
					t.Errorf("%x and %v came back, %v, want %x", rawOf(team), cause, err, tt.want)
				}
			}
		})
	})
}

func queryBytes(t *testing.T, db *sql.DB, k byteKind, query string, args ...any) (raws [][]byte) {
	t.Helper()
	rows, err := db.Query(query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		id := k.new(k.before())
		if err := rows.Scan(id); err != nil {
			t.Fatal(err)
		}
		raws = append(raws, rawOf(id))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return raws
}

// TestStorageSQLiteBounds finds the IDs of a span of time by its bounds, in a table of both modes.
func TestStorageSQLiteBounds(t *testing.T) {
	db := openSQLite(t)
	exec(t, db, `CREATE TABLE events (id BLOB NOT NULL PRIMARY KEY, ms INTEGER) WITHOUT ROWID`)
	const from, to = 1_700_000_000_000, 1_700_000_000_010
	for ms := int64(from - 5); ms <= to+5; ms++ {
		for _, p := range []idtype.EightByteParts{{sequential, ms, 0, 0, 0}, {sequential, ms, 63, 2047, 15}, {spread, ms, 9, 9, 9}} {
			id, err := p.ID()
			if err != nil {
				t.Fatal(err)
			}
			exec(t, db, `INSERT INTO events (id, ms) VALUES (?, ?)`, id, ms)
		}
	}
	first, _ := idtype.EightByteParts{Mode: sequential, UnixMs: from}.ID()
	last, _ := idtype.EightByteParts{Mode: sequential, UnixMs: to}.ID()
	minID, err := idtype.MinEightByteID(first.Time())
	if err != nil {
		t.Fatal(err)
	}
	maxID, err := idtype.MaxEightByteID(last.Time())
	if err != nil {
		t.Fatal(err)
	}
	var n, least, most int64
	err = db.QueryRow(`SELECT count(*), min(ms), max(ms) FROM events WHERE id BETWEEN ? AND ?`, minID, maxID).Scan(&n, &least, &most)
	if err != nil || n != 2*(to-from+1) || least != from || most != to {
		t.Errorf("%d IDs from %d to %d, %v, want both of each millisecond from %d to %d", n, least, most, err, int64(from), int64(to))
	}
}
