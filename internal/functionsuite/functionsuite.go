// Package functionsuite has the tests of package functions for any database. It asks for the value
// of each function, and compares it with what the Go types say.
package functionsuite

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/sqlid/functions"
)

// A Database is one that has the functions.
type Database struct {
	Dialect functions.Dialect // "sqlite" too
	DB      *sql.DB
}

// Literals of a database, and texts of the results. In them %s stands for the value.
type dialect struct {
	bytes, text, uuid, time   string
	fromBytes, fromTime, from string
	// column makes a value of a row of a constant, where the two are computed by different code.
	column string
}

var dialects = map[functions.Dialect]dialect{
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
type kind int

const (
	plain kind = iota
	bytes
	moment
)

// A value is an argument: its kind of literal, and what stands in it.
type value struct{ literal, text string }

// A question is a call, and what it is to return: nil for NULL.
type question struct {
	function string
	args     []value
	kind     kind
	want     any
}

// null is an argument of any kind.
var null = value{"null", ""}

func number(n int64) value      { return value{"number", fmt.Sprint(n)} }
func raw(b []byte) value        { return value{"bytes", fmt.Sprintf("%x", b)} }
func text(s string) value       { return value{"text", s} }
func instant(t time.Time) value { return value{"time", t.UTC().Format("2006-01-02 15:04:05.000000")} }

func (d dialect) literal(v value) string {
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

func (d dialect) expression(q question, column bool) string {
	var args []string
	for _, a := range q.args {
		arg := d.literal(a)
		if column {
			arg = strings.Replace(d.column, "%s", arg, 1)
		}
		args = append(args, arg)
	}
	form := map[kind]string{plain: d.from, bytes: d.fromBytes, moment: d.fromTime}[q.kind]
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

// Values holds that each function returns what the Go types say, for constants and for columns.
func Values(t *testing.T, s Database) {
	d := dialects[s.Dialect]
	all := questions()
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
			if err := s.DB.QueryRow(query).Scan(into...); err != nil {
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
	t.Logf("%d values of %d functions", len(all), len(asked(all)))
}

func asked(all []question) map[string]bool {
	found := map[string]bool{}
	for _, q := range all {
		found[q.function] = true
	}
	return found
}

// Names are the functions that Values asks for.
func Names() map[string]bool { return asked(questions()) }
