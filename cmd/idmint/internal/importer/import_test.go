package importer

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/idmint/idmint/cmd/idmint/internal/pool"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/launchlog"
)

func TestImport(t *testing.T) { everywhere(t, testImport) }

func testImport(t *testing.T, newFixture func(testing.TB) *fixture) {
	f := newFixture(t)
	result := f.mustRun("name,note\r\nann,\"a, b\"\r\nbob,\r\n", importing())
	ids, values := f.table(`SELECT * FROM t ORDER BY id`)
	if want := [][]string{{"ann", "a, b"}, {"bob", ""}}; !reflect.DeepEqual(values, want) {
		t.Errorf("rows %q, want %q", values, want)
	}
	want := Result{
		Rows: 2, Launch: 1, Generators: []int{0}, First: ids[0], Last: ids[1],
		Duration: result.Duration,
	}
	if !reflect.DeepEqual(result, want) || ids[0] != 1_00000_00001 || ids[1] != 2_00000_00001 {
		t.Errorf("result %+v, want %+v", result, want)
	}
	// The table that is created takes no IDs but those of production, by whatever way they come.
	for _, id := range []int64{0, -1, 1, 1_00000_00000, 922337203_00000_00001} {
		if f.at.kind == databases.ClickHouse { // where a column takes what its type takes
			break
		}
		if _, err := f.db.Exec(fmt.Sprintf(`INSERT INTO t (id) VALUES (%d)`, id)); err == nil {
			t.Errorf("the table takes %d as an ID", id)
		}
	}
}

// NULL, and texts as they are, whatever SQL would make of them.
func TestValues(t *testing.T) { everywhere(t, testValues) }

func testValues(t *testing.T, newFixture func(testing.TB) *fixture) {
	f := newFixture(t)
	f.mustRun(`{"a":"'); DROP TABLE t; --","b":null}`+"\n"+`{"a":"007","b":1e3}`+"\n{}\n",
		importing(func(im *Import) { im.Format = JSONLines }))
	_, values := f.table(`SELECT * FROM t ORDER BY id`)
	want := [][]string{{"'); DROP TABLE t; --", "NULL"}, {"007", "1e3"}, {"NULL", "NULL"}}
	if !reflect.DeepEqual(values, want) {
		t.Errorf("rows %q, want %q", values, want)
	}
}

// NULLs stand where the file has them, whatever a statement before had in their place.
func TestNulls(t *testing.T) { everywhere(t, testNulls) }

func testNulls(t *testing.T, newFixture func(testing.TB) *fixture) {
	const rows, run = 2500, 100 // a run of NULLs is as long as a statement of SQLite
	isNull := func(i int) bool { return i/run%2 == 1 }
	var file strings.Builder
	for i := range rows {
		if isNull(i) {
			fmt.Fprintf(&file, "{\"n\":%d}\n", i)
		} else {
			fmt.Fprintf(&file, "{\"n\":%d,\"v\":\"v%d\"}\n", i, i)
		}
	}
	f := newFixture(t)
	f.mustRun(file.String(), importing(func(im *Import) { im.Format, im.Batch = JSONLines, rows }))
	_, values := f.table(`SELECT * FROM t ORDER BY id`)
	if len(values) != rows {
		t.Fatalf("%d rows, want %d", len(values), rows)
	}
	for i, got := range values {
		want := []string{fmt.Sprint(i), fmt.Sprint("v", i)}
		if isNull(i) {
			want[1] = "NULL"
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("row %d: %q, want %q", i+1, got, want)
		}
	}
}

// Batches end where they should, the last one with fewer rows or with none.
func TestBatches(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 10, 11, 1000} {
		for _, rows := range []int{0, 1, 10, 11, 100} {
			f := newFixture(t)
			var progress []int64
			result := f.mustRun(numbered(rows), importing(func(im *Import) {
				im.Batch = size
				im.Progress = func(rows, _ int64) { progress = append(progress, rows) }
			}))
			f.checkNumbered(rows, 1)
			if result.Rows != int64(rows) || len(progress) != (rows+size-1)/size {
				t.Errorf("batches of %d: %+v, progress %v of %d rows", size, result, progress, rows)
			}
			if rows == 0 && (f.count(`SELECT count(*) FROM idmint_generator`) != 0 ||
				result.Generators == nil) {
				t.Errorf("a file without rows takes a generator number: %+v", result)
			}
		}
	}
}

// More columns than a statement has parameters for in 100 rows.
func TestManyColumns(t *testing.T) {
	t.Parallel()
	names, values := make([]string, 1500), make([]string, 1500)
	for i := range names {
		names[i], values[i] = fmt.Sprintf("c%d", i), fmt.Sprint(i)
	}
	f := newFixture(t)
	row := strings.Join(values, "\t") + "\n"
	f.mustRun(strings.Join(names, "\t")+"\n"+strings.Repeat(row, 45),
		importing(func(im *Import) { im.Format, im.Batch = TSV, 100 }))
	if n := f.count(`SELECT count(*) FROM t WHERE c0 = '0' AND c1499 = '1499'`); n != 45 {
		t.Errorf("%d rows of 45", n)
	}
	_, err := f.run(ctx,
		strings.NewReader(strings.Join(names, "\t")+"\t"+strings.Join(names, "x\t")+
			"x\n"), importing(func(im *Import) { im.Format, im.Table = TSV, "u" }))
	if !errors.As(err, new(*ColumnsError)) {
		t.Errorf("3000 columns: %v", err)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, table := range []string{
		`a b"c`, `select`, "täble", "x.y", "a;--", "'", "[t]", " ", "1",
	} {
		f.mustRun("id \"\"x\",order\n",
			importing(func(im *Import) { im.Table, im.Format = table+"0", TSV }))
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
	for _, table := range []string{
		"", "sqlite_x", "SQLite_x", "idmint_x", "idmint_launch",
		"IDMINT_import", "a\x00", "a\xff",
	} {
		_, err := f.run(ctx, strings.NewReader("a\n1\n"),
			importing(func(im *Import) { im.Table = table }))
		if err == nil || errors.As(err, new(*StoppedError)) ||
			!strings.Contains(err.Error(), fmt.Sprintf("%q", table)) {
			t.Errorf("table %q: %v", table, err)
		}
	}
	for _, column := range []string{"x\x00", "\xff"} {
		_, err := f.run(ctx, strings.NewReader("a\n1\n"),
			importing(func(im *Import) { im.IDColumn = column }))
		if err == nil {
			t.Errorf("column %q is taken", column)
		}
	}
}

func TestIDColumn(t *testing.T) { everywhere(t, testIDColumn) }

func testIDColumn(t *testing.T, newFixture func(testing.TB) *fixture) {
	f := newFixture(t)
	for _, header := range []string{"id", "ID", "x,Id"} {
		_, err := f.run(ctx, strings.NewReader(header+"\n"), importing())
		if err == nil || !strings.Contains(err.Error(), "--id-column") {
			t.Errorf("header %s: %v", header, err)
		}
	}
	f.mustRun("id,b\n7,x\n", importing(func(im *Import) { im.IDColumn = `row "id"` }))
	quoted := `"row ""id"""`
	if f.at.kind == databases.MariaDB {
		quoted = "`row \"id\"`"
	}
	ids, values := f.table(`SELECT ` + quoted + `, id, b FROM t`)
	if len(ids) != 1 || ids[0] != 1_00000_00001 ||
		!reflect.DeepEqual(values, [][]string{{"7", "x"}}) {
		t.Errorf("%v %q", ids, values)
	}
	if _, err := f.run(ctx, strings.NewReader("b\ny\n"), importing()); err == nil ||
		!strings.Contains(err.Error(), "is not its primary key") &&
			f.at.kind != databases.ClickHouse {
		t.Errorf("another ID column in the same table: %v", err)
	}
}

func TestExistingTable(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, create, want string }{
		{"fits", `CREATE TABLE t (id INTEGER PRIMARY KEY, n TEXT, name TEXT)`, ""},
		{
			"fits in another order and case",
			`CREATE TABLE T (NAME TEXT, n INT, ID BIGINT NOT NULL PRIMARY KEY)`, "",
		},
		{"without rowid", `CREATE TABLE t (id INT PRIMARY KEY, n, name) WITHOUT ROWID`, ""},
		{"more columns", `CREATE TABLE t (id INTEGER PRIMARY KEY, n TEXT, name TEXT, extra TEXT, ` +
			`at INT DEFAULT 7)`, ""},
		{
			"lacks a column", `CREATE TABLE t (id INTEGER PRIMARY KEY, n TEXT)`,
			`has no column "name"`,
		},
		{
			"other key", `CREATE TABLE t (key INTEGER PRIMARY KEY, id INT, n TEXT, name TEXT)`,
			`"id" is not its primary key`,
		},
		{"no key", `CREATE TABLE t (id INTEGER, n TEXT, name TEXT)`, `"id" is not its primary key`},
		{
			"key of two columns",
			`CREATE TABLE t (id INTEGER, n TEXT, name TEXT, PRIMARY KEY (id, n))`,
			`"id" is not its primary key`,
		},
		{
			"view", `CREATE VIEW t AS SELECT 1 AS id, 2 AS n, 3 AS name`,
			`"id" is not its primary key`,
		},
		// IDs as text would be in the order of their digits, and as floats would lose some.
		{
			"text key", `CREATE TABLE t (id TEXT PRIMARY KEY, n TEXT, name TEXT)`,
			"its key \"id\" is TEXT: want INTEGER",
		},
		{
			"float key", `CREATE TABLE t (id REAL PRIMARY KEY, n TEXT, name TEXT)`,
			"its key \"id\" is REAL: want INTEGER",
		},
		{
			"key without type", `CREATE TABLE t (id PRIMARY KEY, n TEXT, name TEXT)`,
			"its key \"id\" is of no type: want INTEGER",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t)
			f.exec(test.create)
			_, err := f.run(ctx, strings.NewReader(numbered(25)), importing())
			if test.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				f.checkNumbered(25, 1)
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) ||
				errors.As(err, new(*StoppedError)) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			// Nothing began, so nothing is in the way of a second try, and no launch number was
			// taken.
			n := f.count(`SELECT (SELECT count(*) FROM idmint_launch) + (SELECT count(*) FROM ` +
				`sqlite_schema WHERE name = 'idmint_import')`)
			if n != 0 {
				t.Errorf("%d launches and tables were made", n)
			}
		})
	}
}

// A row that the table refuses spoils its batch, and no other.
func TestRefusedRow(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ create, want string }{
		{
			`CREATE TABLE t (id INTEGER PRIMARY KEY, n INT CHECK (n <> 25), name TEXT)`,
			"CHECK constraint failed",
		},
		{`CREATE TABLE t (id INTEGER PRIMARY KEY, n INT, name TEXT UNIQUE); INSERT INTO t VALUES ` +
			`(1, NULL, 'name 25')`, "UNIQUE constraint failed: t.name"},
		{
			`CREATE TABLE t (id INTEGER PRIMARY KEY, n INT, name INT) STRICT`,
			"cannot store TEXT value in INT column t.name",
		},
		{
			`CREATE TABLE t (id INTEGER PRIMARY KEY, n INT, name TEXT, must TEXT NOT NULL)`,
			"NOT NULL constraint failed: t.must",
		},
	} {
		f := newFixture(t)
		f.exec(test.create)
		result, err := f.run(ctx, strings.NewReader(numbered(100)), importing())
		stored := int64(20)
		if !strings.Contains(test.create, "25") {
			stored = 0 // every row is refused
		}
		var stopped *StoppedError
		if !errors.As(err, &stopped) || stopped.Rows != stored ||
			!strings.Contains(err.Error(), test.want) || result.Rows != stored {
			t.Errorf("%s: %+v, %v", test.create, result, err)
		}
		f.checkNumbered(int(stored), 1)
		// The file is good: it is the table that was wrong, and once it is right the import goes
		// on.
		f.exec(`CREATE TABLE u (id INTEGER PRIMARY KEY, n INT, name TEXT); INSERT INTO u SELECT ` +
			`id, n, name FROM t; DROP TABLE t; ALTER TABLE u RENAME TO t`)
		r := f.mustRun(numbered(100), importing(resume))
		if r.Rows != 100-stored || r.Resumed != stored {
			t.Errorf("%s: resumed %+v", test.create, r)
		}
		f.checkNumbered(100, 1)
	}
}

func TestBadRowInFile(t *testing.T) { everywhere(t, testBadRowInFile) }

func testBadRowInFile(t *testing.T, newFixture func(testing.TB) *fixture) {
	bad := []string{"x\n", "1,2,3\n", "1,\x00\n", "\"1,2\n"}
	f := newFixture(t)
	if f.at.kind != "" { // to all servers one is as bad as the other
		bad = bad[:1]
	}
	for _, row := range bad {
		f = newFixture(t)
		_, err := f.run(ctx, strings.NewReader(numbered(23)+row+"24,name 24\n"), importing())
		var stopped *StoppedError
		var bad *RecordError
		if !errors.As(err, &stopped) || !errors.As(err, &bad) || stopped.Rows != 20 ||
			bad.Line != 25 {
			t.Errorf("row %q: %v, want line 25 after 20 rows", row, err)
		}
		if err != nil && (!strings.HasPrefix(err.Error(), "line 25: ") ||
			!strings.HasSuffix(err.Error(),
				"20 rows are stored, and nothing of what follows: correct the row, and go on with --resume")) {
			t.Errorf("row %q: message %v", row, err)
		}
		f.checkNumbered(20, 1) // of the batch with the bad row, nothing
		// Once the row is put right, which changes the file behind what was stored, it goes on.
		f.mustRun(numbered(30), importing(resume))
		f.checkNumbered(30, 1)
	}
	// In the first batch, nothing is stored at all.
	f = newFixture(t)
	if _, err := f.run(ctx, strings.NewReader("n,name\n1\n"), importing()); err == nil ||
		f.count(`SELECT count(*) FROM t`) != 0 {
		t.Errorf("%v", err)
	}
}

func TestBadFile(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, file := range []string{"", "a,a\n", "a,\n"} {
		_, err := f.run(ctx, strings.NewReader(file), importing())
		if err == nil || errors.As(err, new(*StoppedError)) {
			t.Errorf("file %q: %v", file, err)
		}
	}
	if f.exists("t") || f.exists("idmint_import") {
		t.Error("tables were made for files that are none")
	}
}

// A finished import may be run again, and adds its rows again; each run has its launch.
func TestTwice(t *testing.T) { everywhere(t, testTwice) }

func testTwice(t *testing.T, newFixture func(testing.TB) *fixture) {
	f := newFixture(t)
	first := f.mustRun(numbered(35), importing())
	for range 2 {
		f.mustRun(numbered(35), importing())
	}
	f.checkNumbered(35, 3)
	f.mustRun(numbered(35), importing(restart)) // there is nothing to remove
	f.checkNumbered(35, 4)
	n := f.count(`SELECT count(*) FROM idmint_launch WHERE outcome = 'succeeded'`)
	if n != 4 || first.Launch != 1 {
		t.Errorf("%d launches succeeded, want 4", n)
	}
}

// The IDs of an app that uses the same launch do not meet those of an import.
func TestWithOtherGenerators(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.start("deployment")
	app, err := f.log.Generators(id).NextGenerator(ctx)
	if err != nil {
		t.Fatal(err)
	}
	result := f.mustRun(numbered(10), importing(launch(id)))
	if result.Launch != id || len(result.Generators) != 1 || result.Generators[0] == app {
		t.Errorf("%+v beside generator %d", result, app)
	}
	got := (idtype.DecimalParts{Counter: 1, Generator: result.Generators[0], Launch: id})
	if result.First.Parts() != got {
		t.Errorf("first ID %+v, want %+v", result.First.Parts(), got)
	}
	if outcome := f.outcome(id); outcome != "" {
		t.Errorf("the deployment's launch was ended: %s", outcome)
	}
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
	n := f.count(`SELECT count(*) FROM sqlite_schema WHERE name IN ('t', 'idmint_import')`)
	if n != 0 {
		t.Errorf("%d tables were made for a launch that is none", n)
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
	for want, stopped := range map[string]*StoppedError{
		"why; 7 rows are stored, and nothing of what follows: go on with --resume": {
			Rows: 7, Err: errors.New("why"),
		},
		"the server did not answer; 7 rows are stored, and nothing of what follows: go on with " +
			"--resume, and with smaller batches (--batch) or more patience (--wait)": {
			Rows: 7, Err: pool.ErrSilent,
		},
		"of the rows 3 to 5 the table left out 1, as its triggers or its constraints tell it; " +
			"7 rows are stored, and nothing of what follows: change the table, and go on with --resume": {
			Rows: 7, Err: &LeftOutError{3, 5, 2},
		},
		"line 3: why; 7 rows are stored, and nothing of what follows: " +
			"correct the row, and go on with --resume": {
			Rows: 7, Err: &RecordError{Line: 3, Reason: "why"},
		},
		"row 3: why; 7 rows are stored, and nothing of what follows: " +
			"correct the row, or the table, and go on with --resume": {
			Rows: 7, Err: &RowError{Row: 3, Err: errors.New("why")},
		},
		"row 3: why; 7 rows are stored, the next 2 are in doubt, and nothing of what follows is " +
			"stored: correct the row, or the table, and go on with --resume": {
			Rows: 7, InDoubt: 2, Err: &RowError{Row: 3, Err: errors.New("why")},
		},
	} {
		if got := stopped.Error(); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}
