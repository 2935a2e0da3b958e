package adapters_test

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/sqlid"
	"github.com/idmint/idmint/sqlid/pgxid"
	"github.com/idmint/idmint/sqlid/pgxid/pgxsuite"
)

// describes says whether the server says in a mode which types the parameters have.
func describes(mode pgx.QueryExecMode) bool {
	return mode != pgx.QueryExecModeExec && mode != pgx.QueryExecModeSimpleProtocol
}

func modeOf(pool *pgxpool.Pool) pgx.QueryExecMode {
	return pool.Config().ConnConfig.DefaultQueryExecMode
}

// apart are the modes that say types to the server and the driver in different ways. The two others
// keep statements in other ways than the first.
var apart = []pgx.QueryExecMode{
	pgx.QueryExecModeCacheStatement, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
}

// inModes runs a test in each of these modes, with the IDs registered.
func inModes(t *testing.T, source string, test func(*testing.T, *pgxpool.Pool)) {
	for _, mode := range apart {
		t.Run(strings.ReplaceAll(mode.String(), " ", "_"), func(t *testing.T) {
			test(t, openPool(t, source, mode, pgxid.AfterConnect))
		})
	}
}

// isState says whether the server refused with a code.
func isState(err error, code string) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == code
}

// A parameter is stored as it is, or refused before anything is sent. No column rounds it, fills it
// up, cuts it off or takes its bytes for something else.
func TestPgxParameters(t *testing.T) {
	t.Parallel()
	forms := map[string]idtype.Storage{ // of the IDs that a column holds
		"int8": idtype.StorageBigint, "numeric": idtype.StorageBigint, "bytea": idtype.StorageBytes,
		"uuid": idtype.StorageUUID, "text": idtype.StorageText, "varchar": idtype.StorageText,
		"bpchar": idtype.StorageText, "name": idtype.StorageText,
	}
	names := map[string]string{"bpchar": "char(16)", "bit": "bit(64)", "char": `"char"`} // in SQL
	columns := strings.Fields("int8 numeric bytea uuid text varchar bpchar name float4 float8 bool bit " +
		"varbit char inet cidr macaddr date time timestamp timestamptz interval xml tsvector jsonpath " +
		"point tid int8range int8multirange") // JSON has a test of its own
	source := dbtest.New(t, databases.Postgres).Source()
	inModes(t, source, func(t *testing.T, pool *pgxpool.Pool) {
		for _, typ := range columns {
			column := cmp.Or(names[typ], typ)
			for _, s := range pgxsuite.Samples {
				holds := forms[typ] == s.Form
				if !holds && !describes(modeOf(pool)) {
					continue // the server knows best
				}
				for _, value := range s.Values {
					got := reflect.New(reflect.TypeOf(value))
					err := pool.QueryRow(t.Context(), "SELECT $1::"+column,
						value).Scan(got.Interface())
					switch {
					case holds && (err != nil || !reflect.DeepEqual(got.Elem().Interface(), value)):
						t.Errorf("%s: %T came back as %v, %v", column, value, got.Elem(), err)
					case !holds && !isStorageError(err, s.Form, typ):
						t.Errorf("%s: %T: %v", column, value, err)
					}
				}
				// The same in an array.
				got := s.Many()
				err := pool.QueryRow(t.Context(), "SELECT $1::"+column+"[]", s.List).Scan(got)
				switch {
				case holds && (err != nil ||
					!reflect.DeepEqual(reflect.ValueOf(got).Elem().Interface(), s.List)):
					t.Errorf("%s: %T came back as %v, %v", column, s.List, got, err)
				case !holds && !isStorageError(err, s.Form, typ+"[]") &&
					typ != "int8multirange": // unknown to pgx
					t.Errorf("%s: %T: %v", column, s.List, err)
				}
			}
		}
		if !describes(modeOf(pool)) {
			return
		}
		// Bytes are no list of numbers.
		for _, s := range pgxsuite.Samples {
			for _, value := range s.Values {
				for _, column := range []string{
					"bigint[]", "double precision[]", "jsonb[]",
					"bytea[]",
				} {
					_, err := pool.Exec(t.Context(), "SELECT $1::"+column, value)
					if err == nil || s.Form == idtype.StorageBytes &&
						!isStorageError(err, s.Form, "an array") {
						t.Errorf("%s: %T: %v", column, value, err)
					}
				}
			}
		}
	})
}

func isStorageError(err error, want idtype.Storage, column string) bool {
	var e *pgxid.StorageError
	return errors.As(err, &e) && e.Want == want && e.Column == column && e.Value != "" &&
		strings.Contains(err.Error(), fmt.Sprintf("is stored as %s, but the column is %s", want,
			column))
}

// Smaller integers hold the IDs that fit, and pgx refuses the others.
func TestPgxSmallIntegers(t *testing.T) {
	t.Parallel()
	inModes(t, dbtest.New(t, databases.Postgres).Source(), func(t *testing.T, pool *pgxpool.Pool) {
		for _, column := range []string{"int2", "int4", "oid", "xid", "xid8"} {
			var got pgxsuite.UserID
			err := pool.QueryRow(t.Context(), "SELECT $1::"+column, pgxsuite.UserID(7)).Scan(&got)
			if err != nil || got != 7 {
				t.Errorf("%s: %v, %v", column, got, err)
			}
			if column == "xid8" {
				continue
			}
			err = pool.QueryRow(t.Context(), "SELECT $1::"+column,
				pgxsuite.UserID(1<<53+1)).Scan(&got)
			if err == nil {
				t.Errorf("%s holds %v", column, got)
			}
		}
		negative := idtype.MustParse[idtype.EightByte[idtype.AsBigint[pgxsuite.User]]](
			pgxsuite.Negative,
		)
		if _, err := pool.Exec(t.Context(), "SELECT $1::xid8", negative); err == nil &&
			describes(modeOf(pool)) {
			t.Error("xid8 holds a negative number")
		}
	})
}

// What a column holds is read as the ID that it is, or refused. It is so in both formats and all
// modes, alone, in wrappers, behind pointers and in arrays.
func TestPgxColumns(t *testing.T) {
	t.Parallel()
	integers := func(text, short, eightByte string) map[string]string {
		return map[string]string{
			"decimal": text, "trace": text, "sequence": text, "snowflake": text,
			"short": short, "eightbyte as bigint": eightByte,
		}
	}
	digits := func(text string) map[string]string {
		return map[string]string{
			"decimal": text, "trace": text, "sequence": text, "snowflake": text,
		}
	}
	five := integers("5", "F", "0000000000000005")
	snos := map[string]string{
		"sno": pgxsuite.SnoText, "sno as UUID": pgxsuite.SnoText,
		"sno as text": pgxsuite.SnoText,
	}
	tests := []struct {
		sql  string
		want map[string]string // by the sample's name; the others refuse
	}{
		{"5::int2", five},
		{"5::int4", five},
		{"5::int8", five},
		{"5::oid", five},
		{"'5'::xid", five},
		{"'5'::xid8", five},
		{"5::numeric", five},
		{pgxsuite.Large + "::numeric", integers(pgxsuite.Large, "ABgAAAAAA", "0020000000000001")},
		{"5::float4", nil},
		{"5::float8", nil},
		{"true", nil},
		{"B'101'", nil},
		{"B'10101010'::varbit", nil},
		{`'5'::"char"`, nil},
		{"'10.0.0.1'::inet", nil},
		{"'10.0.0.0/8'::cidr", nil},
		{"'10:00:00'::time", nil},
		{"'2026-11-22'::date", nil},
		{"'12345678'::xml", nil},
		{"'12345678'::tsvector", nil},
		{"'12345678'::jsonpath", nil},
		{"'(1,2)'::tid", nil},
		{`convert_to('deadbeef', 'UTF8')`, map[string]string{"eightbyte": pgxsuite.Deadbeef}},
		{`convert_to('12345678', 'UTF8')`, map[string]string{"eightbyte": "3132333435363738"}},
		{"decode('335f48168d9e8808dc82', 'hex')", map[string]string{"sno": pgxsuite.SnoText}},
		{"'" + pgxsuite.SnoUUID + "'::uuid", map[string]string{"sno as UUID": pgxsuite.SnoText}},
		// A text is read where nothing else is meant: text such as ->> gives of JSON.
		{"'" + pgxsuite.SnoText + "'::text", snos},
		{"'" + pgxsuite.Deadbeef + "'::text", map[string]string{
			"decimal": pgxsuite.Deadbeef, "trace": pgxsuite.Deadbeef, "sequence": pgxsuite.Deadbeef,
			"snowflake": pgxsuite.Deadbeef, "eightbyte": pgxsuite.Deadbeef,
		}},
		{"'" + pgxsuite.SnoUUID + "'::text", map[string]string{"sno as UUID": pgxsuite.SnoText}},
		{"'deadbeef'::text", nil},
		{"'12345678'::text", digits("12345678")},
		{"'1234567890'::varchar", digits("1234567890")},
		{"'12345678'::bpchar", digits("12345678")},
		{"'12345678'::name", digits("12345678")},
	}
	source := dbtest.New(t, databases.Postgres).Source()
	inModes(t, source, func(t *testing.T, pool *pgxpool.Pool) {
		formats := [][]any{nil}
		if describes(modeOf(pool)) {
			formats = [][]any{
				{pgx.QueryResultFormats{pgx.TextFormatCode}},
				{pgx.QueryResultFormats{pgx.BinaryFormatCode}},
			}
		}
		for _, test := range tests {
			for _, s := range pgxsuite.Samples {
				if strings.HasPrefix(s.Name, "uuid7") && strings.HasPrefix(test.sql, "'3866686d-") &&
					!(s.Form == idtype.StorageBytes && strings.HasSuffix(test.sql, "::uuid")) {
					continue // to them it is a UUID like any other
				}
				for _, format := range formats {
					testColumn(t, pool, s, test.sql, test.want[s.Name], format)
				}
			}
		}
	})
}

func testColumn(
	t *testing.T, pool *pgxpool.Pool, s pgxsuite.Sample, expression, want string, format []any,
) {
	for _, value := range s.Values {
		var dst any
		if v := reflect.ValueOf(value); v.Kind() == reflect.Pointer {
			dst = reflect.New(v.Type()).Interface() // nil, to be set
		} else {
			p := reflect.New(v.Type())
			p.Elem().Set(v) // an ID that an error is to leave
			dst = p.Interface()
		}
		before := fmt.Sprint(reflect.ValueOf(dst).Elem())
		err := pool.QueryRow(t.Context(), "SELECT "+expression, format...).Scan(dst)
		got := reflect.Indirect(reflect.ValueOf(dst).Elem())
		switch {
		case want != "":
			if err != nil || !strings.Contains(fmt.Sprint(got.Interface()), want) {
				t.Errorf("%s into %T: %v, %v, want %s", expression, dst, got, err, want)
			}
		case !isRefused(err, s.Form):
			t.Errorf("%s into %T: %v, %v", expression, dst, got, err)
		default:
			if reflect.ValueOf(value).Kind() != reflect.Pointer && fmt.Sprint(got) != before {
				t.Errorf("%s into %T: changed it to %v", expression, dst, got)
			}
		}
		// Of any type NULL is NULL.
		err = pool.QueryRow(t.Context(), "SELECT CASE WHEN false THEN "+expression+" END",
			format...).Scan(dst)
		n, ok := dst.(interface{ IsZero() bool }) // an ID, an OrZero or a sqlid.Null
		if ok && (err == nil) != n.IsZero() || err != nil &&
			!(ok && errors.Is(err, idtype.ErrNull)) {
			t.Errorf("NULL, not %s, into %T: %v", expression, dst, err)
		}
	}
	many := s.Many()
	err := pool.QueryRow(t.Context(), "SELECT ARRAY["+expression+"]", format...).Scan(many)
	switch got := fmt.Sprint(reflect.ValueOf(many).Elem()); {
	case want != "" && (err != nil || got != "["+want+"]"), want == "" && !isRefused(err, s.Form):
		t.Errorf("%s into %T: %v, %v, want %q", expression, many, got, err, want)
	}
}

// isRefused is for a column of another form, or a value that is no ID of the type.
func isRefused(err error, form idtype.Storage) bool {
	var e *pgxid.StorageError
	var input *idtype.InputError
	return errors.As(err, &e) && e.Want == form && e.Value != "" && e.Column != "" ||
		errors.As(err, &input)
}

// NULL is what it is in any column, in whatever wrapper it comes.
func TestPgxNullIntoAnyColumn(t *testing.T) {
	t.Parallel()
	inModes(t, dbtest.New(t, databases.Postgres).Source(), func(t *testing.T, pool *pgxpool.Pool) {
		for _, column := range []string{
			"bigint", "uuid", "float8", "text", "bytea", "bit(8)",
			"inet",
		} {
			for _, null := range []any{
				(*pgxsuite.UserID)(nil),
				sql.Null[pgxsuite.UserID]{},
				sqlid.Null[pgxsuite.UserID]{},
				sqlid.Null[idtype.SnoID]{},
			} {
				var is bool
				err := pool.QueryRow(t.Context(), "SELECT $1::"+column+" IS NULL", null).Scan(&is)
				if err != nil || !is {
					t.Errorf("%T into %s: %t, %v", null, column, is, err)
				}
			}
		}
	})
}
