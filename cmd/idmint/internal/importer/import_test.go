package importer

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/idmint/idmint/cmd/idmint/internal/pool"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/launchlog"
)

func TestImport(t *testing.T) {
	everywhere(t, func(f *fixture) {
		result := f.mustRun("name,note\r\nann,\"a, b\"\r\nbob,\r\n", importing())
		ids, values := f.table(`SELECT * FROM t ORDER BY id`)
		if want := [][]string{{"ann", "a, b"}, {"bob", ""}}; !reflect.DeepEqual(values, want) {
			f.Errorf("rows %q, want %q", values, want)
		}
		want := Result{
			Rows: 2, Launch: 1, Generators: []int{0}, First: ids[0], Last: ids[1],
			Duration: result.Duration,
		}
		if !reflect.DeepEqual(result, want) || ids[0] != 1_00000_00001 || ids[1] != 2_00000_00001 {
			f.Errorf("result %+v, want %+v", result, want)
		}
		// The table that is created takes no IDs but those of production, by whatever way they come.
		for _, id := range []int64{0, -1, 1, 1_00000_00000, 922337203_00000_00001} {
			if f.kind == databases.ClickHouse { // where a column takes what its type takes
				break
			}
			if _, err := f.db.Exec(fmt.Sprintf(`INSERT INTO t (id) VALUES (%d)`, id)); err == nil {
				f.Errorf("the table takes %d as an ID", id)
			}
		}
	})
}

// Texts are stored as they are, whatever SQL or COPY would make of them. NULL is where the file has
// it, whatever a statement before had in its place.
func TestValues(t *testing.T) {
	everywhere(t, func(f *fixture) {
		hard := []string{
			`\`, `\N`, `\.`, "a\tb", "a\nb", "\r", `\n`, `'"`, "`", "ü 😀", " ", "", "007", "1e3", "NULL",
			"\x01\x7f", `\\`, "a\\\tb", "$1 ? %s", "'); DROP TABLE t; --", strings.Repeat("é", 70_000),
		}
		var file strings.Builder
		file.WriteString("n,name\n")
		for i, v := range hard {
			fmt.Fprintf(&file, "%d,\"%s\"\n", i, strings.ReplaceAll(v, `"`, `""`))
		}
		f.mustRun(file.String(), importing())
		_, values := f.table(`SELECT id, name FROM t ORDER BY id`)
		for i, v := range hard {
			if values[i][0] != v {
				f.Errorf("%.40q is stored as %.40q", v, values[i][0])
			}
		}

		const rows, run = 2500, 100 // a run of NULLs is as long as a statement of SQLite
		file.Reset()
		var want [][]string
		for i := range rows {
			if i/run%2 == 1 {
				fmt.Fprintf(&file, "{\"n\":%d}\n", i)
				want = append(want, []string{fmt.Sprint(i), "NULL"})
			} else {
				fmt.Fprintf(&file, "{\"n\":%d,\"v\":\"v%d\"}\n", i, i)
				want = append(want, []string{fmt.Sprint(i), fmt.Sprint("v", i)})
			}
		}
		f.mustRun(file.String(), importing(func(im *Import) {
			im.Table, im.Format, im.Batch = "u", JSONLines, rows
		}))
		if _, got := f.table(`SELECT * FROM u ORDER BY id`); !reflect.DeepEqual(got, want) {
			f.Error("NULLs, or values beside them, are not where the file has them")
		}
	})
}

// Batches end where they should: after their rows, the last one with fewer or with none, and where
// rows are long.
func TestBatches(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var stored []int64
	progress := func(im *Import) {
		stored = nil
		im.Progress = func(rows, _ int64) { stored = append(stored, rows) }
	}
	for rows, want := range map[int][]int64{0: nil, 9: {9}, 10: {10}, 21: {10, 20, 21}} {
		f = f.fresh()
		result := f.mustRun(numbered(rows), importing(progress))
		f.checkNumbered(rows, 1)
		if result.Rows != int64(rows) || !reflect.DeepEqual(stored, want) {
			t.Errorf("%+v, batches end after %v rows, want %v", result, stored, want)
		}
		if rows == 0 && (f.count(`SELECT count(*) FROM idmint_generator`) != 0 ||
			result.Generators == nil) {
			t.Errorf("a file without rows takes a generator number: %+v", result)
		}
	}
	long := func(n, bytes int) string {
		return "n,name\n" + strings.Repeat("1,"+strings.Repeat("x", bytes)+"\n", n)
	}
	for file, want := range map[string][]int64{
		long(20, 1<<20): {8, 16, 20}, long(2, batchBytes+1): {1, 2},
	} {
		f = f.fresh()
		f.mustRun(file, importing(progress, func(im *Import) { im.Batch = 1000 }))
		if n := f.count(`SELECT count(*) FROM t`); !reflect.DeepEqual(stored, want) ||
			n != int(want[len(want)-1]) {
			t.Errorf("batches end after %v rows, want %v; %d rows are there", stored, want, n)
		}
	}
}

// Each database has a limit on columns, which is known before anything is made. Up to it rows are
// stored, as many at once as a statement has parameters for.
func TestColumns(t *testing.T) {
	everywhere(t, func(f *fixture) {
		wide := func(columns, rows int) string {
			var b strings.Builder
			for i := range columns {
				fmt.Fprintf(&b, ",column_%d", i)
			}
			return b.String()[1:] + "\n" + strings.Repeat(strings.Repeat(",x", columns)[1:]+"\n", rows)
		}
		most := map[databases.Kind]int{
			"": 2000, databases.Postgres: 1600, databases.MariaDB: 1017, databases.ClickHouse: 2000,
		}[f.kind]
		for _, columns := range []int{most, 100_000} {
			_, err := f.run(ctx, strings.NewReader(wide(columns, 1)), importing())
			var wrong *ColumnsError
			if !errors.As(err, &wrong) || wrong.Columns != columns+1 || wrong.Most != most ||
				!strings.Contains(err.Error(), fmt.Sprintf("the file has %d columns", columns)) {
				f.Errorf("%d columns: %v", columns, err)
			}
		}
		if f.exists("t") || f.exists("idmint_import") ||
			f.count(`SELECT count(*) FROM idmint_launch`) != 0 {
			f.Error("something was made")
		}
		if f.kind == databases.MariaDB {
			// As it makes tables here. InnoDB keeps 40 bytes of each text in the row, and takes more
			// columns where it is told to.
			most = 197
		}
		const rows = 45
		f.mustRun(wide(most-1, rows), importing(func(im *Import) { im.Batch = rows }))
		n := f.count(fmt.Sprintf(`SELECT count(*) FROM t WHERE column_%d = 'x'`, most-2))
		if n != rows {
			f.Errorf("%d rows with %d columns", n, most)
		}
	})
}

func TestNames(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, table := range []string{`a b"c`, `select`, "täble", "x.y", "a;--", "'", "[t]", " ", "1"} {
		im := importing(func(im *Import) { im.Table, im.Source = table, table })
		f.mustRun("\"x \"\"y\",order,group\n1,2,3\n", im)
		quoted := `"` + strings.ReplaceAll(table, `"`, `""`) + `"`
		n := f.count(`SELECT count(*) FROM ` + quoted + ` WHERE "x ""y" = 1 AND "order" = 2`)
		if n != 1 {
			t.Errorf("table %q: %d rows", table, n)
		}
		f.stopAfter(10, strings.Replace(numbered(30), "n,name", "\"x \"\"y\",order", 1), im)
		im.Restart = true
		r := f.mustRun("\"x \"\"y\",order\n1,2\n", im)
		if r.Removed != 10 || f.count(`SELECT count(*) FROM `+quoted) != 2 {
			t.Errorf("table %q: restart %+v", table, r)
		}
	}
	for table, column := range map[string]string{
		"": "id", "sqlite_x": "id", "IDMINT_import": "id", "a\x00": "id", "a\xff": "id", "t": "x\x00",
	} {
		_, err := f.run(ctx, strings.NewReader("a\n1\n"),
			importing(func(im *Import) { im.Table, im.IDColumn = table, column }))
		if err == nil || errors.As(err, new(*StoppedError)) || f.exists("t") {
			t.Errorf("table %q, column %q: %v", table, column, err)
		}
	}
}

func TestIDColumn(t *testing.T) {
	everywhere(t, func(f *fixture) {
		for _, header := range []string{"id", "x,Id"} {
			_, err := f.run(ctx, strings.NewReader(header+"\n"), importing())
			if err == nil || !strings.Contains(err.Error(), "--id-column") {
				f.Errorf("header %s: %v", header, err)
			}
		}
		f.mustRun("id,b\n7,x\n", importing(func(im *Import) { im.IDColumn = `row "id"` }))
		quoted := `"row ""id"""`
		if f.kind == databases.MariaDB {
			quoted = "`row \"id\"`"
		}
		ids, values := f.table(`SELECT ` + quoted + `, id, b FROM t`)
		if len(ids) != 1 || ids[0] != 1_00000_00001 ||
			!reflect.DeepEqual(values, [][]string{{"7", "x"}}) {
			f.Errorf("%v %q", ids, values)
		}
	})
}

// A table that is there is used if it fits. If it does not, nothing begins: no launch number is
// taken, and nothing is in the way of a second try.
func TestExistingTable(t *testing.T) {
	everywhere(t, func(f *fixture) {
		const notKey = `"id" is not its primary key`
		const window = ` ENGINE = MergeTree ORDER BY id ` +
			`SETTINGS non_replicated_deduplication_window = 100`
		for _, test := range map[databases.Kind][]struct{ create, want string }{
			"": {
				{`TABLE T (NAME TEXT, n INT, ID BIGINT NOT NULL PRIMARY KEY, extra INT DEFAULT 7)`, ""},
				{`TABLE t (id INT PRIMARY KEY, n, name) WITHOUT ROWID`, ""},
				{`TABLE t (id INTEGER PRIMARY KEY, n TEXT)`, `has no column "name"`},
				{`TABLE t (key INTEGER PRIMARY KEY, id INT, n TEXT, name TEXT)`, notKey},
				{`TABLE t (id INTEGER, n TEXT, name TEXT, PRIMARY KEY (id, n))`, notKey},
				{`VIEW t AS SELECT 1 AS id, 2 AS n, 3 AS name`, notKey},
				// IDs as text would be in the order of their digits, and as floats would lose some.
				{`TABLE t (id TEXT PRIMARY KEY, n TEXT, name TEXT)`, `"id" is TEXT: want INTEGER`},
				{`TABLE t (id PRIMARY KEY, n TEXT, name TEXT)`, `"id" is of no type: want INTEGER`},
			},
			databases.Postgres: {
				{`TABLE t (name text, n int, id bigint PRIMARY KEY, extra text)`, ""},
				{`TABLE t (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, n text, name text)
					PARTITION BY RANGE (id); CREATE TABLE t1 PARTITION OF t DEFAULT`, ""},
				{`TABLE t (id bigint PRIMARY KEY, n text, "NAME" text)`, `has no column "name"`},
				{`TABLE t (id int PRIMARY KEY, n text, name text)`, `is integer: want bigint`},
				{`TABLE t (id bigint UNIQUE, n text, name text)`, notKey},
				{`TABLE t (id bigint, n text, name text, PRIMARY KEY (id, n))`, notKey},
				{`VIEW t AS SELECT 1::bigint AS id, '' AS n, '' AS name`, notKey},
			},
			databases.MariaDB: {
				{`TABLE t (NAME TEXT, n INT, ID BIGINT UNSIGNED PRIMARY KEY)`, ""},
				{`TABLE t (id BIGINT PRIMARY KEY, n BIT(20), name TEXT)`, `bit(20), which changes any text`},
				{`TABLE t (id INT PRIMARY KEY, n TEXT, name TEXT)`, `"id" is int(11): want bigint`},
				{`TABLE t (id BIGINT, n INT, name TEXT, PRIMARY KEY (id, n))`, notKey},
				{`TABLE t (id BIGINT PRIMARY KEY, n TEXT, name TEXT) ENGINE = MyISAM`, `is MyISAM: want InnoDB`},
				{`VIEW t AS SELECT 1 AS id, '' AS n, '' AS name`, `its engine is none: want InnoDB`},
			},
			databases.ClickHouse: {
				{`TABLE t (name Nullable(String), id UInt64, n String, extra Int8)` + window, ""},
				{`TABLE t (id Int64, n String)` + window, `has no column "name"`},
				{`TABLE t (id Int32, n String, name String)` + window, `Int32: want Int64 or UInt64`},
				{
					`TABLE t (id Int64, n Int32, name String)` + window,
					`"n" is Int32: want String or Nullable(String)`,
				},
				{
					`TABLE t (id Int64, n String, name String) ENGINE = MergeTree ORDER BY id`,
					"ALTER TABLE `t` MODIFY SETTING non_replicated_deduplication_window = 10000",
				},
				{
					`TABLE t (id Int64, n String, name String) ENGINE = Memory`, "its engine is Memory: want " +
						"MergeTree with SETTINGS non_replicated_deduplication_window = 10000",
				},
			},
		}[f.kind] {
			f = f.fresh()
			f.exec("CREATE " + test.create)
			_, err := f.run(ctx, strings.NewReader(numbered(25)), importing())
			switch {
			case test.want == "" && err == nil:
				f.checkNumbered(25, 1)
			case err == nil || test.want == "" || !strings.Contains(err.Error(), test.want) ||
				errors.As(err, new(*StoppedError)):
				f.Errorf("%s: %v, want %q", test.create, err, test.want)
			case f.count(`SELECT count(*) FROM idmint_launch`) != 0:
				f.Errorf("%s: a launch was started", test.create)
			}
			if strings.HasPrefix(test.create, "VIEW") {
				f.exec("DROP VIEW t")
			}
		}
		if f.kind == databases.Postgres { // which would cut such a name off by itself
			_, err := f.run(ctx, strings.NewReader(strings.Repeat("x", 64)+"\n1\n"), importing())
			if err == nil || !strings.Contains(err.Error(), "has 64 bytes: the database allows at most 63") {
				f.Errorf("a long name: %v", err)
			}
		}
	})
}

// A row that the table refuses spoils its batch, and no other. The error names the row. Once the
// file is put right, the import goes on.
func TestRefusedRow(t *testing.T) {
	inPlaces(t, places[:3], func(f *fixture) {
		long := strings.Repeat("x", 300)
		for _, test := range map[databases.Kind][]struct {
			create string // behind the key
			row    string // the 138th
			column string
			want   string
		}{
			"": {
				{`n INT CHECK (n <> 137), name TEXT)`, "137,x", "", "CHECK constraint failed"},
				{`n INT, name TEXT UNIQUE)`, "1,name 77", "", "UNIQUE constraint"},
				{`n INT, name TEXT UNIQUE ON CONFLICT FAIL)`, "1,name 77", "", "UNIQUE constraint"},
				{`n INT, name TEXT UNIQUE ON CONFLICT FAIL)`, "1,name 136", "", "UNIQUE constraint"},
				{`n INT, name TEXT UNIQUE ON CONFLICT ROLLBACK)`, "1,name 136", "", "UNIQUE constraint"},
				{`n INT, name TEXT CHECK (name <> ''))`, "1,", "", "CHECK constraint failed"},
				{`n INT, name TEXT) STRICT`, "twenty,x", "", "cannot store TEXT value in INT column t.n"},
			},
			databases.Postgres: {
				{`n int CHECK (n <> 137), name text)`, "137,x", "", "violates check constraint"},
				{`n int, name varchar(200))`, "137," + long, "name", "value too long"},
				{`n int, name text)`, "\"x, line 1: y\nCOPY t, line 2\",x", "n", "invalid input syntax"},
				// the place in the JSON text comes first
				{`n json, name text)`, "\"{\"\"a\"\":\n1\",x", "n", "invalid input syntax for type json"},
			},
			databases.MariaDB: {
				{`n INT CHECK (n <> 137), name TEXT)`, "137,x", "", "CONSTRAINT"},
				{`n INT, name VARCHAR(200))`, "137," + long, "name", "Data too long for column 'name'"},
				{`n INT, name TEXT)`, "twenty,x", "n", "Incorrect integer value"},
				{`n INT, name TEXT, UNIQUE (n))`, "3,x", "", "Duplicate entry"},
			},
		}[f.kind] {
			f = f.fresh()
			key := "BIGINT"
			if f.kind == "" { // as STRICT wants it
				key = "INTEGER"
			}
			f.exec("CREATE TABLE t (id " + key + " PRIMARY KEY, " + test.create)
			file := numbered(137) + test.row + "\n138,name 138\n"
			result, err := f.run(ctx, strings.NewReader(file),
				importing(func(im *Import) { im.Batch = 130 }))
			var stopped *StoppedError
			var refused *RowError
			if !errors.As(err, &stopped) || stopped.Rows != 130 || result.Rows != 130 ||
				!errors.As(err, &refused) || refused.Row != 138 || refused.Column != test.column ||
				!strings.Contains(err.Error(), test.want) {
				f.Errorf("%s: %+v, %v; want row 138, column %q", test.create, result, err, test.column)
			}
			f.checkNumbered(130, 1)
			f.mustRun(numbered(137), importing(resume))
			f.checkNumbered(137, 1)
		}
	})
}

// A table may leave rows out without an error. Then nothing of the batch is stored.
func TestLeftOut(t *testing.T) {
	inPlaces(t, places[:2], func(f *fixture) {
		from, to, stored := int64(131), int64(230), int64(99) // the rows of a statement
		f.exec(`CREATE TABLE t (id BIGINT PRIMARY KEY, n INT, name TEXT)`)
		if f.kind == "" {
			f.exec(`CREATE TABLE log (n INT);
			CREATE TRIGGER leave BEFORE INSERT ON t WHEN NEW.n = 140 BEGIN SELECT RAISE(IGNORE); END;
			CREATE TRIGGER log AFTER INSERT ON t BEGIN INSERT INTO log VALUES (1), (2); END`)
		} else {
			f.exec(`CREATE FUNCTION leave() RETURNS trigger LANGUAGE plpgsql AS
				'BEGIN IF NEW.n = 140 THEN RETURN NULL; END IF; RETURN NEW; END';
			CREATE TRIGGER leave BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION leave()`)
			to, stored = 260, 129
		}
		_, err := f.run(ctx, strings.NewReader(numbered(300)),
			importing(func(im *Import) { im.Batch = 130 }))
		var left *LeftOutError
		var stopped *StoppedError
		if !errors.As(err, &left) || *left != (LeftOutError{from, to, stored}) ||
			!errors.As(err, &stopped) || stopped.Rows != 130 {
			f.Errorf("%v, want rows %d to %d, with %d stored", err, from, to, stored)
		}
		f.checkNumbered(130, 1)
	})
}

func TestBadRowInFile(t *testing.T) {
	everywhere(t, func(f *fixture) {
		_, err := f.run(ctx, strings.NewReader(numbered(23)+"x\n24,name 24\n"), importing())
		var stopped *StoppedError
		var bad *RecordError
		if !errors.As(err, &stopped) || !errors.As(err, &bad) || stopped.Rows != 20 || bad.Line != 25 {
			f.Errorf("%v, want line 25 after 20 rows", err)
		}
		f.checkNumbered(20, 1) // of the batch with the bad row, nothing
		// Once the row is put right, which changes the file behind what was stored, it goes on.
		f.mustRun(numbered(30), importing(resume))
		f.checkNumbered(30, 1)
	})
}

// A finished import may be run again, and adds its rows again; each run has its launch.
func TestTwice(t *testing.T) {
	everywhere(t, func(f *fixture) {
		for range 2 {
			f.mustRun(numbered(35), importing())
		}
		f.mustRun(numbered(35), importing(restart)) // there is nothing to remove
		f.checkNumbered(35, 3)
		if n := f.count(`SELECT count(*) FROM idmint_launch WHERE outcome = 'succeeded'`); n != 3 {
			f.Errorf("%d launches succeeded, want 3", n)
		}
	})
}

func TestLaunches(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ended := f.start("ended")
	f.end(ended, launchlog.Succeeded)
	for id, want := range map[int]error{ended: launchlog.ErrEnded, 77: launchlog.ErrNotFound} {
		_, err := f.run(ctx, strings.NewReader(numbered(5)), importing(launch(id)))
		if !errors.Is(err, want) || errors.As(err, new(*StoppedError)) {
			t.Errorf("launch %d: %v, want %v", id, err, want)
		}
	}
	if f.exists("t") || f.exists("idmint_import") {
		t.Error("tables were made for a launch that is none")
	}
	own := f.mustRun(numbered(5), importing())
	l, err := f.log.Show(ctx, own.Launch)
	if err != nil || l.Outcome != launchlog.Succeeded || l.Initiator != "ann" ||
		l.NextGenerator != 1 {
		t.Errorf("the import's launch is %+v, %v", l, err)
	}
}

// What to do is said of what is wrong.
func TestRemedies(t *testing.T) {
	t.Parallel()
	const rest = "; 7 rows are stored, and nothing after them: "
	for want, stopped := range map[string]*StoppedError{
		"why" + rest + "continue with --resume": {Rows: 7, Err: errors.New("why")},
		"the server did not answer" + rest + "continue with --resume, and with smaller batches (--batch) " +
			"or a longer --wait": {Rows: 7, Err: pool.ErrSilent},
		"of the rows 3 to 5 the table left out 1, because of its triggers or constraints" + rest +
			"change the table, and continue with --resume": {Rows: 7, Err: &LeftOutError{3, 5, 2}},
		"line 3: why" + rest + "correct the row, and continue with --resume": {
			Rows: 7, Err: &RecordError{Line: 3, Reason: "why"},
		},
		"row 3: why; 7 rows are stored, the next 2 are in doubt, and nothing after them is " +
			"stored: correct the row or the table, and continue with --resume": {
			Rows: 7, InDoubt: 2, Err: &RowError{Row: 3, Err: errors.New("why")},
		},
	} {
		if got := stopped.Error(); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}
