package adapters_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/sqlid/functions"
)

// Literals of a database, and texts of the results. In them %s stands for the value.
type functionDialect struct {
	bytes, text, uuid, time   string
	fromBytes, fromTime, from string
	// column makes a value of a row of a constant, where the two are computed by different code.
	column string
}

var functionDialects = map[functions.Dialect]functionDialect{
	"sqlite": {
		bytes: "x'%s'", text: "'%s'", uuid: "'%s'", time: "'%s'",
		fromBytes: "lower(nullif(hex(%s), ''))", fromTime: "%s", from: "%s",
	},
	functions.Postgres: {
		bytes: `'\x%s'::bytea`, text: "'%s'", uuid: "'%s'::uuid", time: "timestamptz '%s+00'",
		fromBytes: "encode(%s, 'hex')", from: "(%s)::text",
		fromTime: "to_char(%s AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS')",
	},
	functions.MariaDB: {
		bytes: "x'%s'", text: "'%s'", uuid: "CAST('%s' AS UUID)", time: "TIMESTAMP '%s'",
		fromBytes: "LOWER(HEX(%s))", from: "CAST(%s AS CHAR)",
		fromTime: "CAST(CAST(%s AS DATETIME(3)) AS CHAR)",
	},
	functions.ClickHouse: {
		bytes: "unhex('%s')", text: "'%s'", uuid: "toUUID('%s')",
		time:      "toDateTime64('%s', 6, 'UTC')",
		fromBytes: "lower(hex(%s))", from: "toString(%s)",
		fromTime: "toString(toDateTime64(%s, 3, 'UTC'))", column: "materialize(%s)",
	},
}

// A kind is what a result is.
type resultKind int

const (
	asPlain resultKind = iota
	asBytes
	asTime
)

// A value is an argument: its kind of literal, and what stands in it.
type arg struct{ literal, text string }

// A question is a call, and what it is to return: nil for NULL.
type question struct {
	function string
	args     []arg
	kind     resultKind
	want     any
}

// null is an argument of any kind.
var argNull = arg{"null", ""}

func argTime(t time.Time) arg { return arg{"time", t.UTC().Format("2006-01-02 15:04:05.000000")} }

func (d functionDialect) literal(v arg) string {
	switch v.literal {
	case "null":
		return "NULL"
	case "number":
		if v.text == "-9223372036854775808" { // which is an operator and a number too large
			return "(-9223372036854775807 - 1)"
		}
		return v.text
	}
	form := map[string]string{"bytes": d.bytes, "text": d.text, "uuid": d.uuid, "time": d.time}
	return strings.Replace(form[v.literal], "%s", v.text, 1)
}

func (d functionDialect) expression(q question, column bool) string {
	var args []string
	for _, a := range q.args {
		arg := d.literal(a)
		if column {
			arg = strings.Replace(d.column, "%s", arg, 1)
		}
		args = append(args, arg)
	}
	form := map[resultKind]string{asPlain: d.from, asBytes: d.fromBytes, asTime: d.fromTime}[q.kind]
	return strings.Replace(form, "%s", q.function+"("+strings.Join(args, ", ")+")", 1)
}

// wanted is a result as the text that a database makes of it.
func (q question) wanted() sql.NullString {
	switch w := q.want.(type) {
	case nil:
		return sql.NullString{}
	case []byte:
		return sql.NullString{String: fmt.Sprintf("%x", w), Valid: true}
	case time.Time:
		return sql.NullString{String: w.UTC().Format("2006-01-02 15:04:05.000"), Valid: true}
	default:
		return sql.NullString{String: fmt.Sprint(w), Valid: true}
	}
}

// testFunctions holds that each function returns what the Go types say, for constants and for
// columns.
func testFunctions(t *testing.T, db *sql.DB, d functionDialect) {
	all := questions(t)
	for _, column := range []bool{false, true} {
		if column && d.column == "" {
			break
		}
		const most = 100 // expressions of a query
		for first := 0; first < len(all); first += most {
			some := all[first:min(first+most, len(all))]
			var expressions []string
			got := make([]sql.NullString, len(some))
			var into []any
			for i, q := range some {
				expressions = append(expressions, d.expression(q, column))
				into = append(into, &got[i])
			}
			query := "SELECT " + strings.Join(expressions, ", ")
			if err := db.QueryRow(query).Scan(into...); err != nil {
				t.Errorf("%.2000s: %v", query, err)
				continue
			}
			for i, q := range some {
				if want := q.wanted(); got[i] != want {
					t.Errorf("%s: %+v, want %+v", expressions[i], got[i], want)
				}
			}
		}
	}
	t.Logf("%d values of %d functions", len(all), len(askedFunctions(all)))
}

func askedFunctions(all []question) map[string]bool {
	found := map[string]bool{}
	for _, q := range all {
		found[q.function] = true
	}
	return found
}
