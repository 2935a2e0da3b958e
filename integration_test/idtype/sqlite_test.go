package idtype_test

import (
	"bytes"
	"cmp"
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"github.com/idmint/idmint/idtype"
)

// The keys of these tests.
type (
	member struct{}

	memberID      = idtype.Decimal[member]
	teamID        = idtype.Decimal[[]member]
	memberShortID = idtype.Short[member]
)

// sqliteColumns are the columns for each form, what SQLite then says they hold, and how a Slice is
// compared with them.
var sqliteColumns = map[idtype.Storage]struct{ column, typeOf, in string }{
	idtype.StorageBytes:  {"BLOB", "blob", "SELECT unhex(value) FROM json_each(?)"},
	idtype.StorageBigint: {"BIGINT", "integer", "SELECT value FROM json_each(?)"},
	idtype.StorageText:   {"CHAR(16)", "text", "SELECT value FROM json_each(?)"},
	idtype.StorageUUID:   {"UUID", "text", "SELECT value FROM json_each(?)"},
}

// openSQLite gives a database of its own, in memory, after a statement.
func openSQLite(t *testing.T, create string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	db.SetMaxOpenConns(1) // each connection would have a database of its own
	exec(t, db, create)
	return db
}

const createUsers = `CREATE TABLE users
	(id INTEGER PRIMARY KEY, boss INTEGER, team INTEGER NOT NULL DEFAULT 0, tags TEXT)`

func exec(t *testing.T, db *sql.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.Exec(query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// queryIDs are the IDs that a query of one column finds.
func queryIDs[T idtype.ID](t *testing.T, db *sql.DB, query string, args ...any) (ids []T) {
	t.Helper()
	rows, err := db.Query(query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id T
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return ids
}

// numbers are every number of bits and of digits, ascending.
func numbers() (all []int64) {
	for bit := range 63 {
		all = append(all, 1<<bit, 1<<bit+1<<bit-1)
	}
	for p := int64(1); p <= math.MaxInt64/10; p *= 10 {
		all = append(all, p, p+1)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// idsOf are IDs in the order of their binary forms.
func idsOf[T idtype.ID](t *testing.T, all [][]byte) (ids []T) {
	t.Helper()
	for _, raw := range all {
		var id T
		if err := any(&id).(encoding.BinaryUnmarshaler).UnmarshalBinary(raw); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

func TestSQLite(t *testing.T) {
	var integers, eight, signed, ten [][]byte
	for _, v := range numbers() {
		integers = append(integers, binary.BigEndian.AppendUint64(nil, uint64(v)))
	}
	for bit := range 64 { // each bit alone, and alone missing
		for _, v := range []uint64{1 << bit, ^(uint64(1) << bit)} {
			eight = append(eight, binary.BigEndian.AppendUint64(nil, v))
			ten = append(ten, binary.BigEndian.AppendUint64([]byte{0, byte(bit)}, v),
				binary.BigEndian.AppendUint64([]byte{0xff, byte(v)}, v))
		}
	}
	slices.SortFunc(eight, bytes.Compare)
	slices.SortFunc(ten, bytes.Compare)
	signed = slices.Clone(eight)
	slices.SortFunc(signed, func(a, b []byte) int {
		return cmp.Compare(int64(binary.BigEndian.Uint64(a)), int64(binary.BigEndian.Uint64(b)))
	})
	t.Run("decimal", sqliteTest[idtype.DecimalID](integers))
	t.Run("trace", sqliteTest[idtype.TraceID](integers))
	t.Run("short", sqliteTest[memberShortID](integers))
	t.Run("sequence", sqliteTest[idtype.SequenceID](integers))
	t.Run("eightbyte", sqliteTest[idtype.EightByteID](eight))
	t.Run("eightbyte as bigint", sqliteTest[idtype.EightByte[idtype.AsBigint[member]]](signed))
	t.Run("sno", sqliteTest[idtype.SnoID](ten))
	t.Run("sno as text", sqliteTest[idtype.Sno[idtype.AsText[member]]](ten))
	t.Run("sno as UUID", sqliteTest[idtype.Sno[idtype.AsUUID[member]]](ten))
}

func sqliteTest[T idtype.ID](raws [][]byte) func(*testing.T) {
	return func(t *testing.T) { testSQLite(t, idsOf[T](t, raws)) }
}

// testSQLite stores the IDs, which are in the order of their column.
func testSQLite[T idtype.ID](t *testing.T, all []T) {
	c := sqliteColumns[all[0].Storage()]
	db := openSQLite(t, `CREATE TABLE events (
		id `+c.column+` NOT NULL PRIMARY KEY, cause `+c.column+`,
		team `+c.column+` NOT NULL) WITHOUT ROWID`)
	shuffled := slices.Clone(all)
	slices.SortFunc(shuffled, func(a, b T) int {
		return cmp.Compare(a.String()[1:], b.String()[1:])
	})
	for i, id := range shuffled {
		if i%2 == 0 { // by value and by pointer
			exec(t, db, `INSERT INTO events (id, team) VALUES (?, ?)`, id, idtype.OrZero[T]{})
		} else {
			exec(t, db, `INSERT INTO events (id, team) VALUES (?, ?)`, &id, &idtype.OrZero[T]{})
		}
	}

	t.Run("order", func(t *testing.T) {
		if got := queryIDs[T](t, db, `SELECT id FROM events ORDER BY id`); !slices.Equal(got, all) {
			t.Errorf("stored %v\n read %v", all, got)
		}
	})
	t.Run("what is stored", func(t *testing.T) {
		for _, id := range all {
			var back, fromText T
			var stored any
			var typ string
			row := db.QueryRow(`SELECT id, id, typeof(id) FROM events WHERE id = ?`, id)
			if err := row.Scan(&back, &stored, &typ); err != nil {
				t.Fatal(err)
			}
			want, err := id.Value()
			if err != nil || back != id || typ != c.typeOf || !sameValue(stored, want) {
				t.Errorf("%v is stored as %s %v, want %v; it comes back as %v", id, typ, stored,
					want, back)
			}
			if id.Storage() == idtype.StorageBytes {
				continue
			}
			// What the database itself prints.
			row = db.QueryRow(`SELECT CAST(id AS TEXT) FROM events WHERE id = ?`, id)
			if err := row.Scan(&fromText); err != nil || fromText != id {
				t.Errorf("%v is read from its text as %v, %v", id, fromText, err)
			}
		}
	})
	t.Run("slice", func(t *testing.T) {
		want := idtype.Slice[T]{all[1], all[len(all)/2], all[len(all)-1]}
		list := idtype.Slice[T]{want[2], want[0], want[1], want[2]}
		got := queryIDs[T](t, db, `SELECT id FROM events WHERE id IN (`+c.in+`) ORDER BY id`, list)
		if !slices.Equal(got, want) {
			t.Errorf("found %v, want %v", got, want)
		}
		got = queryIDs[T](t, db, `SELECT id FROM events WHERE id IN (`+c.in+`) ORDER BY id`,
			idtype.Slice[T](all))
		if !slices.Equal(got, all) {
			t.Errorf("found %v, want all", got)
		}
	})
	t.Run("none and NULL", func(t *testing.T) {
		var zero T
		// SQLite would number a row by itself if it got NULL, and make a row 0 if it got 0.
		_, err := db.Exec(`INSERT INTO events (id, team) VALUES (?, ?)`, zero, idtype.OrZero[T]{})
		if !errors.Is(err, idtype.ErrZero) {
			t.Errorf("insert of a key that was not assigned: error is %v, want ErrZero", err)
		}
		one, two := all[1], all[2]
		exec(t, db, `UPDATE events SET cause = ?, team = ? WHERE id = ?`, two,
			idtype.OrZero[T]{ID: two}, one)
		query := func(row T, dst ...any) error {
			return db.QueryRow(`SELECT team, cause FROM events WHERE id = ?`, row).Scan(dst...)
		}
		var team idtype.OrZero[T]
		var cause T
		if err := query(one, &team, &cause); err != nil || team.ID != two || cause != two {
			t.Errorf("%v and %v came back, %v, want %v", team, cause, err, two)
		}
		if err := query(two, &team, &cause); !errors.Is(err, idtype.ErrNull) || !team.IsZero() ||
			cause != two {
			t.Errorf("none is %v, NULL is %v, %v", team, cause, err)
		}
		if err := query(two, &cause, new(any)); !errors.Is(err, idtype.ErrZero) || cause != two {
			t.Errorf("none into a plain ID: %v, %v, want ErrZero", cause, err)
		}
	})
}

func sameValue(a, b driver.Value) bool {
	if raw, ok := a.([]byte); ok {
		other, ok := b.([]byte)
		return ok && bytes.Equal(raw, other)
	}
	return a == b
}

// TestSQLiteForgottenKey: see the column of integers, which SQLite fills by itself.
func TestSQLiteForgottenKey(t *testing.T) {
	db := openSQLite(t, createUsers)
	if _, err := db.Exec(`INSERT INTO users (id) VALUES (?)`, memberID(0)); !errors.Is(err,
		idtype.ErrZero) {
		t.Errorf("insert of a key that was not assigned: error is %v, want ErrZero", err)
	}
	var n int
	if err := db.QueryRow(`SELECT count(*) FROM users`).Scan(&n); err != nil || n != 0 {
		t.Errorf("%d rows, %v, want none", n, err)
	}
}

func TestSQLiteNull(t *testing.T) {
	db := openSQLite(t, createUsers)
	boss := memberID(math.MaxInt64)
	for i, value := range []any{
		sql.Null[memberID]{}, (*memberID)(nil), sql.Null[memberID]{V: boss, Valid: true}, &boss,
	} {
		row := memberID(i + 1)
		exec(t, db, `INSERT INTO users (id, boss) VALUES (?, ?)`, row, value)
		null := i < 2
		query := func(dst any) error {
			return db.QueryRow(`SELECT boss FROM users WHERE id = ?`, row).Scan(dst)
		}
		plain := memberID(77)
		err := query(&plain)
		if null {
			if !errors.Is(err, idtype.ErrNull) || !strings.Contains(err.Error(), "sql.Null") ||
				plain != 77 {
				t.Errorf(
					"row %d: plain ID = %d, %v, want it untouched and an error that names sql.Null",
					row, plain, err)
			}
		} else if err != nil || plain != boss {
			t.Errorf("row %d: plain ID = %d, %v, want %d", row, plain, err, boss)
		}

		wrapped := sql.Null[memberID]{V: 7, Valid: null}
		if err := query(&wrapped); err != nil || wrapped.Valid == null ||
			!null && wrapped.V != boss {
			t.Errorf("row %d: sql.Null = %+v, %v", row, wrapped, err)
		}
		pointer := new(memberID)
		if err := query(&pointer); err != nil || (pointer == nil) != null ||
			!null && *pointer != boss {
			t.Errorf("row %d: pointer = %v, %v", row, pointer, err)
		}
		orZero := idtype.OrZero[memberID]{ID: 7}
		if err := query(&orZero); null != errors.Is(err, idtype.ErrNull) ||
			!null && orZero.ID != boss {
			t.Errorf("row %d: OrZero = %+v, %v", row, orZero, err)
		}
	}
}

func TestSQLiteOrZero(t *testing.T) {
	db := openSQLite(t, createUsers)
	for row, team := range map[memberID]idtype.OrZero[teamID]{1: {}, 2: {ID: 14150009200065}} {
		exec(t, db, `INSERT INTO users (id, team) VALUES (?, ?)`, row, team)
		var got idtype.OrZero[teamID]
		var stored int64
		err := db.QueryRow(`SELECT team, team FROM users WHERE id = ?`, row).Scan(&got, &stored)
		if err != nil || got != team || stored != int64(team.ID) {
			t.Errorf("row %d: came back as %v, stored as %d, %v, want %v", row, got, stored, err,
				team)
		}
	}
}

func TestSQLiteSlice(t *testing.T) {
	db := openSQLite(t, createUsers)
	for _, v := range numbers() {
		exec(t, db, `INSERT INTO users (id) VALUES (?)`, memberID(v))
	}
	for _, tt := range []struct {
		name string
		ids  idtype.Slice[memberID]
		want []memberID
	}{
		{"nil", nil, nil},
		{"one", idtype.Slice[memberID]{1000}, []memberID{1000}},
		{"absent", idtype.Slice[memberID]{77}, nil},
		// Floats hold neither of these: a text that was compared as one would find both, or
		// neither.
		{
			"above 2^53",
			idtype.Slice[memberID]{1e16 + 1, math.MaxInt64, 1 << 53, 1e16 + 1},
			[]memberID{1 << 53, 1e16 + 1, math.MaxInt64},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := queryIDs[memberID](t, db, `SELECT id FROM users
				WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id`, tt.ids)
			if !slices.Equal(got, tt.want) {
				t.Errorf("found %v, want %v", got, tt.want)
			}
		})
	}
	t.Run("as a column", func(t *testing.T) {
		want := idtype.Slice[memberID]{3, math.MaxInt64, 3}
		exec(t, db, `UPDATE users SET tags = ? WHERE id = 1`, want)
		var got idtype.Slice[memberID]
		err := db.QueryRow(`SELECT tags FROM users WHERE id = 1`).Scan(&got)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("came back as %v, %v, want %v", got, err, want)
		}
		if err := db.QueryRow(`SELECT tags FROM users WHERE id = 2`).Scan(&got); !errors.Is(err,
			idtype.ErrNull) {
			t.Errorf("NULL: error is %v, want ErrNull", err)
		}
	})
}

// TestSQLiteBounds finds the IDs of a span of time by its bounds, in a table of both modes.
func TestSQLiteBounds(t *testing.T) {
	const sequential, spread = idtype.EightByteTimeSequential, idtype.EightByteSpread
	db := openSQLite(t,
		`CREATE TABLE events (id BLOB NOT NULL PRIMARY KEY, ms INTEGER) WITHOUT ROWID`)
	const from, to = 1_700_000_000_000, 1_700_000_000_010
	for ms := int64(from - 5); ms <= to+5; ms++ {
		for _, p := range []idtype.EightByteParts{
			{Mode: sequential, UnixMs: ms},
			{Mode: sequential, UnixMs: ms, Sequence: 63, Generator: 2047, Cluster: 15},
			{Mode: spread, UnixMs: ms, Sequence: 9, Generator: 9, Cluster: 9},
		} {
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
	row := db.QueryRow(`SELECT count(*), min(ms), max(ms) FROM events WHERE id BETWEEN ? AND ?`,
		minID, maxID)
	err = row.Scan(&n, &least, &most)
	if err != nil || n != 2*(to-from+1) || least != from || most != to {
		t.Errorf("%d IDs from %d to %d, %v, want both of each millisecond from %d to %d",
			n, least, most, err, int64(from), int64(to))
	}
}
