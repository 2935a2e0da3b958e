package importer

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/idmint/idmint/integration_test/databases"
)

// The row that SQLite refuses is found, whatever the conflict leaves behind.
func TestRefusedRowOfSQLite(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		create string
		file   string
		row    int64 // 0 where it cannot be found
		want   string
	}{
		{`n INT CHECK (n <> 137), name TEXT`, numbered(250), 138, "CHECK constraint failed"},
		{`n INT CHECK (n <> 250), name TEXT`, numbered(251), 251, "CHECK constraint failed"},
		{`n INT, name TEXT UNIQUE`, numbered(150) + "1,name 77\n", 151, "UNIQUE constraint"},
		{`n INT, name TEXT UNIQUE ON CONFLICT FAIL`, numbered(150) + "1,name 77\n", 151, "UNIQUE"},
		{`n INT UNIQUE ON CONFLICT FAIL, name TEXT`, numbered(5) + "0,x\n", 6, "UNIQUE constraint"},
		{`n INT, name TEXT UNIQUE ON CONFLICT ROLLBACK`, numbered(150) + "1,name 77\n", 0, "UNIQUE"},
		{`n INT, name TEXT CHECK (name <> 'name 2')`, numbered(250), 3, "CHECK constraint failed"},
	} {
		f := newFixture(t)
		f.exec("CREATE TABLE t (id INTEGER PRIMARY KEY, " + test.create + ")")
		_, err := f.run(ctx, strings.NewReader(test.file), importing(func(im *Import) { im.Batch = 0 }))
		var refused *RowError
		if errors.As(err, &refused) != (test.row > 0) || test.row > 0 && refused.Row != test.row ||
			err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want row %d", test.create, err, test.row)
		}
		f.checkNumbered(0, 1)
	}
}

// A table may leave rows out without an error. Then nothing of the batch is stored.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	check := func(f *fixture, from, to, stored int64) {
		t.Helper()
		_, err := f.run(ctx, strings.NewReader(numbered(300)),
			importing(func(im *Import) { im.Batch = 130 }))
		var left *LeftOutError
		var stopped *StoppedError
		if !errors.As(err, &left) || *left != (LeftOutError{from, to, stored}) ||
			!errors.As(err, &stopped) || stopped.Rows != 130 ||
			!strings.Contains(err.Error(), "left out 1") ||
			!strings.Contains(err.Error(), "change the table, and go on with --resume") {
			t.Errorf("%v, want rows %d to %d, with %d stored", err, from, to, stored)
		}
		f.checkNumbered(130, 1)
	}
	f := newFixture(t)
	f.exec(`CREATE TABLE t (id INTEGER PRIMARY KEY, n INT, name TEXT);
		CREATE TRIGGER leave BEFORE INSERT ON t WHEN NEW.n = 140 BEGIN SELECT RAISE(IGNORE); END;
		CREATE TABLE log (n INT);
		CREATE TRIGGER log AFTER INSERT ON t BEGIN INSERT INTO log VALUES (1), (2); END`)
	check(f, 131, 230, 99)
	f = newFixture(t)
	f.exec(`CREATE TABLE t (id INTEGER PRIMARY KEY, n INT, name TEXT UNIQUE ON CONFLICT IGNORE)`)
	result, err := f.run(ctx, strings.NewReader(numbered(140)+"140,name 7\n"), importing())
	if left := (*LeftOutError)(nil); !errors.As(err, &left) || left.From != 141 ||
		left.Stored != 0 || result.Rows != 140 {
		t.Errorf("%+v, %v", result, err)
	}
	f.checkNumbered(140, 1)
}

// A trigger of PostgreSQL may leave rows out.
func TestLeftOutByPostgres(t *testing.T) {
	t.Parallel()
	at := place{"PostgreSQL", databases.Postgres, ""}.prepare(t)
	f := newFixtureIn(t, at, t.TempDir()+"/app.db")
	f.exec(`CREATE TABLE t (id bigint PRIMARY KEY, n int, name text);
		CREATE FUNCTION leave() RETURNS trigger LANGUAGE plpgsql AS
			'BEGIN IF NEW.n = 25 THEN RETURN NULL; END IF; RETURN NEW; END';
		CREATE TRIGGER leave BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION leave()`)
	defer f.exec(`DROP FUNCTION leave CASCADE`)
	_, err := f.run(ctx, strings.NewReader(numbered(50)), importing())
	var left *LeftOutError
	if !errors.As(err, &left) || *left != (LeftOutError{21, 30, 9}) {
		t.Error(err)
	}
	f.checkNumbered(20, 1)
}

// The row of a COPY is found in whatever the server says of the place.
func TestCopyPlace(t *testing.T) {
	t.Parallel()
	columns := []string{"n", "name", "na: me", "naïve"}
	for _, test := range []struct {
		where  string
		row    int
		column string
	}{
		{`COPY t, line 26: "25	x"`, 26, ""},
		{`COPY t, line 26, column n: "twenty"`, 26, "n"},
		{`COPY t, line 26, column name: null input`, 26, "name"},
		{`COPY t, line 26, column na: me: "x"`, 26, "na: me"},
		{`COPY t, line 26`, 26, ""},
		{`COPY t, line 26, column n: "x, line 1: y"`, 26, "n"},
		{"COPY t, line 26, column n: \"x\nCOPY t, line 1: y\"", 26, "n"},
		{"JSON data, line 1: {\"a\":\nCOPY t, line 26, column n: \"{\"", 26, "n"},
		{"PL/pgSQL function f() line 3 at RAISE\nCOPY t, line 26: \"25\tx\"", 26, ""},
		{`COPY t, Zeile 26, Spalte n: »twenty«`, 26, "n"},
		{"COPY t, ligne 26, colonne naïve : « twenty »", 26, "naïve"},
		{"COPY t, ligne 26, colonne n\u00a0: «\u00a0twenty\u00a0»", 26, "n"},
		{`COPY t, строка 26, столбец name: "x"`, 26, "name"},
		{`COPY t, 行 26, 列 name: "x"`, 26, "name"},
		{`COPY u, line 26: "x"`, 0, ""},
		{`SQL statement "COPY t, line 26"`, 0, ""},
		{"", 0, ""},
	} {
		row, column := copyPlace(test.where, "t", columns)
		if row != test.row || column != test.column {
			t.Errorf("%q: row %d, column %q, want %d, %q", test.where, row, column, test.row,
				test.column)
		}
	}
	if row, _ := copyPlace(`COPY a.b, line 1: c, line 2: "x"`, "a.b, line 1: c", nil); row != 2 {
		t.Errorf("a strange name: row %d", row)
	}
}

// A driver that reads on, after a connection was lost, gets nothing more of the block.
func TestTextReaderClosed(t *testing.T) {
	t.Parallel()
	block := newBlock()
	for range 100_000 {
		block.add([]byte("value"))
	}
	r := newTextReader(rows{columns: []string{"v"}, ids: make([]int64, 100_000), fields: block},
		func() {})
	read, ended := make(chan error), make(chan error)
	go func() {
		buffer := make([]byte, 64)
		_, err := r.Read(buffer)
		read <- err
		for err == nil || err == io.EOF {
			_, err = r.Read(buffer)
		}
		ended <- err
	}()
	if err := <-read; err != nil {
		t.Fatal(err)
	}
	r.close()
	block.reset()
	block.add([]byte("another")) // a race, if it were still read
	if err := <-ended; !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("it reads on: %v", err)
	}
}
