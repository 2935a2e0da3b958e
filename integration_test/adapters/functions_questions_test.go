package adapters_test

import (
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/internal/schemes"
	"github.com/idmint/idmint/sqlid/functions"
)

// questions are all that testFunctions asks. Vectors have the answers.
func questions(t *testing.T) (all []question) {
	for _, s := range schemes.All() {
		if f := s.Known(); f.Names != nil && (f.Size == 0 || f.SQL != "") { // it has functions
			all = append(all, questionsOf(t, s)...)
		}
	}
	for name := range askedFunctions(all) {
		if name != "idmint_trace_time" {
			all = append(all, question{name, []arg{argNull}, asPlain, nil})
		}
	}
	return all
}

func questionsOf(t *testing.T, s schemes.Scheme) (all []question) {
	f, scheme := s.Known(), string(s.Name())
	ask := func(name string, kind resultKind, want any, args ...arg) {
		all = append(all, question{"idmint_" + scheme + "_" + name, args, kind, want})
	}
	file := readVectors(t, scheme)
	kind, of := asPlain, func(v vector) arg { return arg{"number", v.Number} }
	column := func(v vector) any { return v.Number }
	storedOf := func(text string) any {
		return must(must(s.Parse(schemes.Text, text)).Value().(driver.Valuer).Value())
	}
	if f.Size > 0 {
		kind, of = asBytes, func(v vector) arg { return arg{"bytes", v.Hex} }
		column = func(v vector) any { return must(hex.DecodeString(v.Hex)) }
	}
	// What is no ID has no parts, and no other form.
	none := []vector{
		{Number: "0"},
		{Number: "-1"},
		{Number: fmt.Sprint(math.MinInt64)},
		{Hex: "01"},
		{Hex: strings.Repeat("00", 8)},
		{Hex: strings.Repeat("00", 10)},
		{Hex: strings.Repeat("31", 7)},
		{Hex: strings.Repeat("31", 9)},
		{Hex: strings.Repeat("31", 11)},
	}
	for _, v := range slices.Concat(file.Valid, file.Older, none) {
		if of(v).text == "" || v.Text != "" && v.Source != "formats" {
			continue
		}
		for name := range file.Valid[0].Parts {
			switch part := v.Parts[name]; {
			case name != "unix_ms":
				ask(schemes.FunctionOf(name), asPlain, part, of(v))
			case part == nil:
				ask("time", asTime, nil, of(v))
			default:
				ask("time", asTime, time.UnixMilli(must(part.(json.Number).Int64())), of(v))
			}
		}
		for _, form := range s.FormNames() {
			if f.Text.Digits || form == schemes.Hex || form == schemes.Number && f.Size == 0 {
				continue
			}
			value := map[string]string{
				schemes.Text: v.Text, schemes.Number: v.Number, schemes.UUID: v.UUID,
			}[form]
			if v.Text == "" {
				ask(form, asPlain, nil, of(v))
				continue
			}
			ask(form, asPlain, value, of(v))
			ask("from_"+form, kind, column(v), arg{form, value})
		}
	}
	if scheme == "eightbyte" {
		ask("from_number", asBytes, nil, arg{"number", "0"})
	}
	if scheme == "sno" {
		for _, other := range []string{
			"00000000-0000-0000-0000-000000000000", "32323232-3232-3232-3232-323232323232",
			"f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "6272706b-3471-3732-7877-66326d363379",
		} {
			ask("from_uuid", asBytes, nil, arg{"uuid", other})
		}
	}
	if !f.Text.Digits {
		for _, v := range file.Invalid {
			if !strings.Contains(v.Text, "\x00") { // PostgreSQL has no such text
				ask("from_text", kind, nil, arg{"text", v.Text})
			}
		}
	}
	last := 0
	for i, b := range file.Bounds {
		if len(b.Ranges) == 0 {
			continue
		}
		from, to := time.UnixMilli(b.From), time.UnixMilli(b.To)
		first, end := storedOf(b.Ranges[0].Min), storedOf(b.Ranges[len(b.Ranges)-1].Max)
		for _, within := range []time.Duration{0, time.Microsecond, 999 * time.Microsecond} {
			ask("min", kind, first, argTime(from.Add(within)))
			ask("max", kind, end, argTime(to.Add(within)))
		}
		if b.To > file.Bounds[last].To {
			last = i
		}
	}
	// Times that IDs cannot carry have the bounds of the first and the last one that they can.
	if _, below := f.Part("unix_ms"); below >= 0 {
		before, after := time.Date(1902, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2299, 12, 31, 0, 0, 0, 0, time.UTC)
		ask("min", kind, storedOf(file.Bounds[0].Ranges[0].Min), argTime(before))
		ask("max", kind, storedOf(file.Bounds[0].Ranges[0].Max), argTime(before))
		ask("max", kind, storedOf(file.Bounds[last].Ranges[0].Max), argTime(after))
	}
	if scheme == "trace" {
		for _, c := range file.Times {
			at := must(time.Parse(time.RFC3339, c.Times[0]))
			ask("time", asTime, at, arg{"number", c.Text}, argTime(time.UnixMilli(c.Around)))
		}
		now := argTime(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
		ask("time", asTime, nil, argNull, now)
		ask("time", asTime, nil, arg{"number", "1"}, argNull)
		ask("time", asTime, nil, arg{"number", "0"}, now)
	}
	return all
}

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
	d.answers(t, db, questions(t))
}

func (d functionDialect) answers(t *testing.T, db *sql.DB, all []question) {
	t.Helper()
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
