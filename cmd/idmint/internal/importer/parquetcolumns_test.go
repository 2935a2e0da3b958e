package importer

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/idmint/idmint/integration_test/databases"
)

func asParquet(im *Import) { im.Format = Parquet }

// oneValue is a file with one column v, of one value.
func oneValue[T any](t testing.TB, value T, tags ...string) []byte {
	t.Helper()
	tag := `parquet:"v` + strings.Join(append([]string{""}, tags...), ",") + `"`
	typ := reflect.StructOf([]reflect.StructField{{
		Name: "V", Type: reflect.TypeFor[T](), Tag: reflect.StructTag(tag),
	}})
	var b bytes.Buffer
	row := reflect.New(typ)
	row.Elem().Field(0).Set(reflect.ValueOf(value))
	w := parquet.NewWriter(&b, parquet.SchemaOf(row.Interface()))
	if err := w.Write(row.Interface()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A typed is a file's value, and the types of columns that are there, with what they read.
type typed struct {
	name string // of Parquet's type, as the error says it
	file []byte
	// The column's type, and what the database then finds true. "" means that it is refused before
	// anything is made, and anything else an error of its one row.
	into map[string]string
}

const misfit = "misfit"

func typedValues(t testing.TB) map[string]typed {
	return map[string]typed{
		"boolean":   {"BOOLEAN", oneValue(t, true), nil},
		"bytes":     {"BYTE_ARRAY", oneValue(t, []byte{0, 0xff}), nil},
		"text":      {"STRING", oneValue(t, "007"), nil},
		"spaces":    {"STRING", oneValue(t, "äb   "), nil},
		"wide":      {"DECIMAL(15,2)", oneValue(t, int64(-1234567890123456), "decimal(2:15)"), nil},
		"broad":     {"DECIMAL(15,2)", oneValue(t, int64(-123456789012345), "decimal(2:15)"), nil},
		"int":       {"INT(64,true)", oneValue(t, int64(math.MaxInt64)), nil},
		"int32":     {"INT(32,true)", oneValue(t, int32(-7)), nil},
		"uint64":    {"INT(64,false)", oneValue(t, uint64(math.MaxUint64)), nil},
		"decimal":   {"DECIMAL(18,2)", oneValue(t, int64(1250), "decimal(2:18)"), nil},
		"price":     {"DECIMAL(9,2)", oneValue(t, int32(1250), "decimal(2:9)"), nil},
		"double":    {"DOUBLE", oneValue(t, 0.1), nil},
		"nan":       {"DOUBLE", oneValue(t, math.NaN()), nil},
		"infinity":  {"DOUBLE", oneValue(t, math.Inf(-1)), nil},
		"float":     {"FLOAT", oneValue(t, float32(0.1)), nil},
		"date":      {"DATE", oneValue(t, int32(20_512), "date"), nil},
		"uuid":      {"UUID", oneValue(t, [16]byte{1, 15: 2}, "uuid"), nil},
		"micros":    {"", oneValue(t, int64(1_000_001), "timestamp(microsecond:local)"), nil},
		"nanos":     {"", oneValue(t, int64(1_000_001), "timestamp(nanosecond:local)"), nil},
		"instant":   {"TIMESTAMP", oneValue(t, int64(1_000), "timestamp(millisecond)"), nil},
		"moment":    {"TIMESTAMP", oneValue(t, int64(1_001), "timestamp(millisecond)"), nil},
		"timeofday": {"", oneValue(t, int64(1_000_001), "time(microsecond)"), nil},
	}
}

// checkTyped imports each value into a column of each type.
func checkTyped(t *testing.T, newFixture func(testing.TB) *fixture, tail string,
	tests []struct{ value, into, want string },
) {
	values := typedValues(t)
	f := newFixture(t)
	key := "BIGINT"
	if f.at.kind == "" {
		key = "INTEGER"
	}
	for _, test := range tests {
		v, ok := values[test.value]
		if !ok {
			t.Fatal(test.value)
		}
		name := test.value + " into " + test.into
		f.exec("DROP TABLE IF EXISTS t")
		f.exec("DROP TABLE IF EXISTS idmint_import")
		f.exec("CREATE TABLE t (id " + key + " NOT NULL PRIMARY KEY, v " + test.into + ")" + tail)
		launches := f.count(`SELECT count(*) FROM idmint_launch`)
		_, err := f.run(ctx, bytes.NewReader(v.file), importing(asParquet))
		stored := f.count(`SELECT count(*) FROM t`)
		var wrong *TypeError
		var misfits *ParquetError
		switch test.want {
		case "":
			if !errors.As(err, &wrong) || wrong.Column != "v" || wrong.Table != "t" ||
				!strings.HasPrefix(wrong.Type, v.name) || errors.As(err, new(*StoppedError)) {
				t.Errorf("%s: %v, want a TypeError about %s", name, err, v.name)
				continue
			}
			if base := columnTypeOf(test.into).base; !strings.Contains(err.Error(), quoted("v")) ||
				!strings.Contains(err.Error(), wrong.Type) ||
				!strings.HasPrefix(columnTypeOf(wrong.Into).base, base) && f.at.kind == "" {
				t.Errorf("%s: %v", name, err)
			}
			if stored > 0 || f.exists("idmint_import") ||
				f.count(`SELECT count(*) FROM idmint_launch`) != launches {
				t.Errorf("%s: something was made", name)
			}
		case misfit:
			if !errors.As(err, &misfits) || misfits.Row != 1 || misfits.Column != "v" || stored > 0 {
				t.Errorf("%s: %v with %d rows", name, err, stored)
			}
		default:
			if err != nil || stored != 1 ||
				f.count(`SELECT count(*) FROM t WHERE `+test.want) != 1 {
				_, got := f.table(`SELECT id, v FROM t`)
				t.Errorf("%s: %v, with %q: want %s", name, err, got, test.want)
			}
		}
	}
}

// A column that is there reads a value as what it is, or the import is refused.
func TestTypedColumnsSQLite(t *testing.T) {
	leavesNothing(t)
	for _, strict := range []string{"", " STRICT"} {
		tests := []struct{ value, into, want string }{
			{"boolean", "TEXT", "v = 'true' AND typeof(v) = 'text'"},
			{"boolean", "INTEGER", ""},
			{"boolean", "BLOB", ""},
			{"bytes", "BLOB", ""},
			{"bytes", "TEXT", `v = '\x00ff'`},
			{"text", "BLOB", ""},
			{"text", "INTEGER", ""},
			{"int", "INTEGER", "v = 9223372036854775807 AND typeof(v) = 'integer'"},
			{"int", "REAL", ""},
			{"int", "BLOB", ""},
			{"int32", "REAL", "v = -7.0 AND typeof(v) = 'real'"},
			{"uint64", "INTEGER", ""},
			{"double", "REAL", "v = 0.1 AND typeof(v) = 'real'"},
			{"double", "INTEGER", ""},
			{"nan", "REAL", misfit},
			{"nan", "TEXT", "v = 'NaN'"},
			{"infinity", "REAL", misfit},
			{"decimal", "REAL", ""},
			{"price", "INTEGER", ""},
			{"price", "REAL", "v = 12.5 AND typeof(v) = 'real'"},
			{"broad", "REAL", "v = -1234567890123.45"},
			{"wide", "REAL", misfit},
			{"wide", "TEXT", "v = '-12345678901234.56'"},
			{"date", "INTEGER", ""},
			{"uuid", "BLOB", ""},
			{"instant", "TEXT", "v = '1970-01-01T00:00:01Z'"},
		}
		if strict == "" {
			tests = append(tests, []struct{ value, into, want string }{
				{"boolean", "BOOLEAN", ""},
				{"boolean", "", ""},
				{"bytes", "VARBINARY(10)", ""},
				{"text", "VARCHAR(10)", "v = '007' AND typeof(v) = 'text'"},
				{"text", "", "v = '007' AND typeof(v) = 'text'"},
				{"text", "ANY", ""},
				{"text", "any", ""},
				{"int", "ANY", "v = 9223372036854775807 AND typeof(v) = 'integer'"},
				{"text", "NUMERIC", ""},
				{"text", "DATE", ""},
				{"int", "", ""},
				{"int", "Decimal(10,2)", "v = 9223372036854775807 AND typeof(v) = 'integer'"},
				{"date", "DATE", "v = '2026-02-28' AND typeof(v) = 'text'"},
				{"date", "NUMERIC", ""},
				{"nanos", "DATETIME", "v = '1970-01-01T00:00:00.001000001' AND typeof(v) = 'text'"},
				{"uuid", "UUID", "v = '01000000-0000-0000-0000-000000000002'"},
				{"float", "FLOAT", "v = 0.1"},
				{"price", "DECIMAL(9,2)", "v = 12.5"},
			}...)
		} else {
			tests = append(tests, []struct{ value, into, want string }{
				{"text", "ANY", "v = '007' AND typeof(v) = 'text'"},
				{"int", "ANY", ""},
			}...)
		}
		checkTyped(t, newFixture, strict, tests)
	}
}

// SQLite reads the shortest text of a float as that float.
func TestFloatsInSQLite(t *testing.T) {
	f := newFixture(t)
	f.exec("CREATE TABLE t (id INTEGER PRIMARY KEY, v REAL) STRICT")
	type floats struct {
		V float64 `parquet:"v"`
	}
	random := rand.New(rand.NewPCG(1, 2))
	rows := make([]floats, 20_000)
	for i := range rows {
		for {
			v := math.Float64frombits(random.Uint64())
			if i%2 == 0 {
				v = random.NormFloat64() * math.Pow10(random.IntN(12))
			}
			if rows[i].V = v; !math.IsNaN(v) && !math.IsInf(v, 0) {
				break
			}
		}
	}
	if _, err := f.run(ctx, bytes.NewReader(written(t, rows)),
		importing(asParquet, func(im *Import) { im.Batch = 0 })); err != nil {
		t.Fatal(err)
	}
	found, err := f.db.Query("SELECT v FROM t ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	wrong := 0
	for i := 0; found.Next(); i++ {
		var v float64
		if err := found.Scan(&v); err != nil {
			t.Fatal(err)
		}
		if v != rows[i].V {
			if wrong++; wrong < 5 {
				t.Errorf("%s is stored as %s", strconv.FormatFloat(rows[i].V, 'g', -1, 64),
					strconv.FormatFloat(v, 'g', -1, 64))
			}
		}
	}
	if err := found.Err(); err != nil || wrong > 0 {
		t.Errorf("%d of %d differ, %v", wrong, len(rows), err)
	}
}

func TestTypedColumnsOnServers(t *testing.T) {
	inPlaces(t, onServers, func(t *testing.T, newFixture func(testing.TB) *fixture) {
		tests := []struct{ value, into, want string }{
			{"boolean", "boolean", "v"},
			{"boolean", "integer", ""},
			{"boolean", "text", "v = 'true'"},
			{"bytes", "bytea", `v = '\x00ff'::bytea AND octet_length(v) = 2`},
			{"text", "bytea", ""},
			{"text", "name", ""},
			{"text", "integer", ""},
			{"text", "varchar(3)", "v = '007'"},
			{"text", "character(3)", ""},
			{"text", "varchar", "v = '007'"},
			{"spaces", "varchar(2)", misfit},
			{"spaces", "varchar(5)", "v = 'äb   '"},
			{"spaces", "character(9)", ""},
			{"wide", "numeric(20,2)", "v = -12345678901234.56"},
			{"int", "numeric", "v = 9223372036854775807"},
			{"int", "double precision", ""},
			{"uint64", "numeric(20)", "v = 18446744073709551615"},
			{"decimal", "numeric(18,1)", ""},
			{"decimal", "numeric(18,2)", "v = 12.50"},
			{"decimal", "integer", ""},
			{"double", "double precision", "v = 0.1"},
			{"nan", "double precision", "v = 'NaN'"},
			{"double", "real", ""},
			{"float", "real", "v = 0.1::real"},
			{"date", "date", "v = '2026-02-28'"},
			{"uuid", "uuid", "v = '01000000-0000-0000-0000-000000000002'"},
			{"micros", "timestamp", "v = '1970-01-01 00:00:01.000001'"},
			{"micros", "timestamp(3)", misfit},
			{"nanos", "timestamp", misfit},
			{"micros", "timestamptz", ""},
			{"instant", "timestamptz(0)", "v = '1970-01-01 00:00:01+00'"},
			{"moment", "timestamptz(0)", misfit},
			{"instant", "timestamp", ""},
			{"timeofday", "time", "v = '00:00:01.000001'"},
		}
		if newFixture(t).at.kind == databases.MariaDB {
			tests = []struct{ value, into, want string }{
				{"boolean", "BOOLEAN", ""},
				{"boolean", "BIT(1)", ""},
				{"boolean", "VARCHAR(5)", "v = 'true'"},
				{"bytes", "BLOB", ""},
				{"bytes", "VARBINARY(16)", ""},
				{"bytes", "TEXT", `v = '\\x00ff'`},
				{"text", "BLOB", "v = '007' AND length(v) = 3"},
				{"text", "INT", ""},
				{"text", "CHAR(9)", ""},
				{"int", "JSON", "v = '9223372036854775807'"},
				{"spaces", "VARCHAR(2)", misfit},
				{"spaces", "VARCHAR(5)", "v = 'äb   ' AND length(v) = 6"},
				{"spaces", "TEXT", "length(v) = 6"},
				{"text", "ENUM('a','b')", ""},
				{"text", "BINARY(8)", ""},
				{"int", "BIGINT", "v = 9223372036854775807"},
				{"int32", "DOUBLE", "v = -7"},
				{"uint64", "BIGINT UNSIGNED", "v = 18446744073709551615"},
				{"decimal", "DECIMAL(18,1)", ""},
				{"decimal", "DECIMAL(18,2) UNSIGNED", "v = 12.50"},
				{"decimal", "BIGINT", ""},
				{"double", "DOUBLE", "v = 0.1"},
				{"double", "DOUBLE(8,4)", ""},
				{"double", "FLOAT", ""},
				{"nan", "DOUBLE", misfit},
				{"float", "FLOAT", "abs(v - 0.1) < 1e-7"},
				{"date", "DATE", "v = '2026-02-28'"},
				{"uuid", "UUID", "v = '01000000-0000-0000-0000-000000000002'"},
				{"uuid", "BINARY(16)", ""},
				{"micros", "DATETIME(6)", "v = '1970-01-01 00:00:01.000001'"},
				{"micros", "DATETIME", misfit},
				{"micros", "TIMESTAMP(6)", ""},
				{"instant", "DATETIME", ""},
				{"instant", "TIMESTAMP NULL", ""},
				{"timeofday", "TIME(6)", "v = '00:00:01.000001'"},
				{"timeofday", "TIME", misfit},
			}
		}
		checkTyped(t, newFixture, "", tests)
	})
}

// MySQL's JSON, which MariaDB does not have, loses digits of numbers.
func TestJSONOfMySQL(t *testing.T) {
	for column, want := range map[string]bool{
		"json": false, "longtext": true, "char(9)": false, "varchar(9)": true,
	} {
		if ok, _ := readByMySQL(columnTypeOf(column), &parquetType{family: ofText}); ok != want {
			t.Errorf("%s: %v", column, ok)
		}
	}
}
