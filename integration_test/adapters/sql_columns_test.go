package adapters_test

import (
	"math"
	"slices"
	"testing"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/idtype/formats"
	"github.com/idmint/idmint/sqlid"
)

// testSQLColumns holds that a column takes the values of its domain and no others.
func testSQLColumns(t *testing.T, s sqlDatabase) {
	for name, test := range map[string]func(*testing.T, sqlDatabase){
		"Definitions":      testSQLDefinitions,
		"Schemes":          testSQLSchemes,
		"TextsWithoutCase": testSQLTextsWithoutCase,
	} {
		t.Run(name, func(t *testing.T) { test(t, s) })
	}
}

// A column holds its domain as a key, as a foreign key and as an optional one; SQLite makes no
// index of the check.
func testSQLDefinitions(t *testing.T, s sqlDatabase) {
	const id, good, test = "the INTEGER `\"id\"`", int64(20000000001), int64(20000000000)
	key, err := sqlid.Column[UserID]{Name: id}.PrimaryKey(s.Dialect)
	try(t, err)
	ref, err := sqlid.Column[UserID]{Name: "ref", Domain: sqlid.Layout}.NotNull(s.Dialect)
	try(t, err)
	opt, err := sqlid.Column[UserID]{Name: "opt"}.Nullable(s.Dialect)
	try(t, err)
	s.exec(t, "CREATE TABLE t ("+key+", "+ref+", "+opt+")"+s.End)
	for _, row := range []struct {
		args []any
		took bool
	}{
		{[]any{good, good, good}, true},
		{[]any{good + 1, test, nil}, true},
		{[]any{good, good, nil}, false}, // a second time
		{[]any{test, good, nil}, false},
		{[]any{good + 2, 0, nil}, false},
		{[]any{good + 2, good, test}, false},
		{[]any{good + 2, nil, nil}, false},
		{[]any{nil, good, nil}, false},
	} {
		list, args := "("+s.parameter(1)+", "+s.parameter(2)+", "+s.parameter(3)+")", row.args
		if _, err := s.DB.Exec("INSERT INTO t VALUES "+list, args...); (err == nil) != row.took {
			t.Errorf("%v: %v", row.args, err)
		}
	}
	if _, err := s.DB.Exec("INSERT INTO t (ref) VALUES ("+s.parameter(1)+")", good); err == nil {
		t.Error("a row without a key was taken")
	}
	var got UserID
	if err := s.DB.QueryRow("SELECT min(" + s.Dialect.Quote(id) +
		") FROM t").Scan(&got); err != nil || got != UserID(good) {
		t.Errorf("the first key is %v, %v", got, err)
	}
	if s.Dialect == sqlid.SQLite {
		var indexes int
		err := s.DB.QueryRow("SELECT count(*) FROM pragma_index_list('t') WHERE origin <> 'pk'").
			Scan(&indexes)
		if err != nil || indexes != 0 {
			t.Errorf("the table has %d indexes beside its key, %v", indexes, err)
		}
	}
}

// refusedDomain is beyond every domain.
const refusedDomain = sqlid.Positive + 1

type sqlValue struct {
	name  string
	value any
	takes sqlid.Domain // the narrowest domain that takes it
	// converted are databases that make of the value another one, of which takes is true; the
	// others refuse the value.
	converted []sqlid.Dialect
}

var (
	takenByMariaDB = []sqlid.Dialect{sqlid.MariaDB}
	takenByServers = []sqlid.Dialect{sqlid.MariaDB, sqlid.Postgres}
)

// of is the narrowest domain that takes the value in a database.
func (v sqlValue) of(d sqlid.Dialect) sqlid.Domain {
	if v.converted != nil && !slices.Contains(v.converted, d) {
		return refusedDomain
	}
	return v.takes
}

// testSQLColumn holds a column of every domain, in every database, against what it is to take. In
// PostgreSQL it does so with a named type too. The first value is a good one.
func testSQLColumn[T idtype.ID](values ...sqlValue) func(*testing.T, sqlDatabase) {
	values = append(values, sqlValue{"NULL", nil, refusedDomain, nil},
		sqlValue{"nothing", "", refusedDomain, nil})
	// Nobody tells the driver that a named type is a bigint: it does not round, and the server
	// refuses its text.
	named := slices.DeleteFunc(slices.Clone(values), func(v sqlValue) bool {
		_, float := v.value.(float64)
		return float
	})
	return func(t *testing.T, s sqlDatabase) {
		table := "the" + tableOfTest(t)
		for domain := sqlid.Production; domain <= sqlid.Positive; domain++ {
			key, err := sqlid.Column[T]{Name: "the `id`", Domain: domain}.PrimaryKey(s.Dialect)
			try(t, err)
			testSQLTakes(t, s, table, key, domain, values)
			if s.Dialect != sqlid.Postgres {
				continue
			}
			create, err := sqlid.NamedType[T]{Name: `a "type"`, Domain: domain}.Create(s.Dialect)
			try(t, err)
			s.exec(t, create)
			testSQLTakes(t, s, table, `id "a ""type""" PRIMARY KEY`, domain, named)
			s.exec(t, `DROP DOMAIN "a ""type"""`)
		}
	}
}

// testSQLTakes makes a table with a key of a domain, and puts each value into it.
func testSQLTakes(
	t *testing.T, s sqlDatabase, table, key string, domain sqlid.Domain, values []sqlValue,
) {
	t.Helper()
	s.exec(t, "CREATE TABLE "+table+" ("+key+")"+s.End)
	defer s.exec(t, "DROP TABLE "+table)
	for _, v := range values {
		tx, err := s.DB.Begin()
		try(t, err)
		_, err = tx.Exec("INSERT INTO "+table+" VALUES ("+s.parameter(1)+")", v.value)
		if took := err == nil; took != (v.of(s.Dialect) <= domain) {
			t.Errorf("%s, domain %d: %s (%v): %v", key, domain, v.name, v.value, err)
		}
		try(t, tx.Rollback())
	}
}

func testSQLSchemes(t *testing.T, s sqlDatabase) {
	sno := idtype.MustParse[idtype.SnoID]("brpk4q72xwf2m63l")
	eight := idtype.MustParse[idtype.EightByteID]("cb54ecf284000000")
	// it is rounded
	half := func(takes sqlid.Domain) sqlValue { return sqlValue{"a half", 1.5, takes, takenByServers} }
	tests := map[string]func(*testing.T, sqlDatabase){
		"decimal": testSQLColumn[UserID](
			sqlValue{"an ID", UserID(14150009200065), sqlid.Production, nil},
			sqlValue{"the smallest", 10000000001, sqlid.Production, nil},
			sqlValue{"the largest", int64(formats.DecimalMax), sqlid.Production, nil},
			sqlValue{"a test launch", 14150009200000, sqlid.Layout, nil},
			sqlValue{"counter 0", 9999999999, sqlid.Positive, nil},
			sqlValue{"counter beyond", int64(formats.DecimalMax) + 1, sqlid.Positive, nil},
			sqlValue{"zero", 0, refusedDomain, nil},
			sqlValue{"negative", -14150009200065, refusedDomain, nil},
			half(sqlid.Positive),
			sqlValue{"2^63", "9223372036854775808", refusedDomain, nil},
		),
		"trace": testSQLColumn[idtype.TraceID](
			sqlValue{"an ID", idtype.MustParse[idtype.TraceID]("137438954496"), sqlid.Production, nil},
			sqlValue{"the largest", int64(math.MaxInt64), sqlid.Production, nil},
			sqlValue{"bottom 0", int64(1) << 38, sqlid.Positive, nil},
			sqlValue{"zero", 0, refusedDomain, nil}, sqlValue{"negative", -1, refusedDomain, nil},
			half(sqlid.Production),
		),
		"short": testSQLColumn[idtype.ShortID](
			sqlValue{"an ID", idtype.MustParse[idtype.ShortID]("xinaS8QBh"), sqlid.Production, nil},
			sqlValue{"60 bits", int64(1)<<60 - 1, sqlid.Production, nil},
			sqlValue{"61 bits", int64(1) << 60, sqlid.Positive, nil},
			sqlValue{"zero", 0, refusedDomain, nil}, sqlValue{"its text", "xinaS8QBh", refusedDomain, nil},
			half(sqlid.Production),
		),
		"sequence": testSQLColumn[idtype.SequenceID](
			sqlValue{"one", idtype.SequenceID(1), sqlid.Production, nil},
			sqlValue{"the largest", int64(math.MaxInt64), sqlid.Production, nil},
			sqlValue{"zero", 0, refusedDomain, nil}, sqlValue{"negative", -1, refusedDomain, nil},
			half(sqlid.Production),
		),
		"eightbyte": testSQLColumn[idtype.EightByteID](
			sqlValue{"an ID", eight, sqlid.Production, nil},
			sqlValue{"zero", make([]byte, 8), refusedDomain, nil},
			sqlValue{"7 bytes", []byte("1234567"), sqlid.Production, takenByMariaDB},
			sqlValue{"9 bytes", []byte("123456789"), refusedDomain, nil},
			sqlValue{"text of 8", "12345678", sqlid.Production, takenByServers},
			sqlValue{"a number", 1, sqlid.Production, takenByMariaDB},
		),
		"eightbyte as bigint": testSQLColumn[idtype.EightByte[idtype.AsBigint[User]]](
			sqlValue{
				"a negative ID", idtype.EightByte[idtype.AsBigint[User]](eight), sqlid.Production,
				nil,
			},
			sqlValue{"the smallest", int64(math.MinInt64), sqlid.Production, nil},
			sqlValue{"zero", 0, refusedDomain, nil}, sqlValue{"its bytes", eight[:], refusedDomain, nil},
			half(sqlid.Production),
		),
		"sno": testSQLColumn[idtype.SnoID](
			sqlValue{"an ID", sno, sqlid.Production, nil},
			sqlValue{"zero", make([]byte, 10), refusedDomain, nil},
			sqlValue{"9 bytes", []byte("123456789"), sqlid.Production, takenByMariaDB},
			sqlValue{"11 bytes", []byte("12345678901"), refusedDomain, nil},
			sqlValue{"its text", sno.String(), refusedDomain, nil},
		),
		"sno as text": testSQLColumn[idtype.Sno[idtype.AsText[User]]](
			sqlValue{"an ID", idtype.Sno[idtype.AsText[User]](sno), sqlid.Production, nil},
			sqlValue{"zero", "2222222222222222", refusedDomain, nil},
			sqlValue{"upper case", "BRPK4Q72XWF2M63L", refusedDomain, nil},
			sqlValue{"15 characters", "brpk4q72xwf2m63", refusedDomain, nil},
			sqlValue{"17 characters", "brpk4q72xwf2m63ll", refusedDomain, nil},
			sqlValue{"another alphabet", "brpk4q72xwf2m630", refusedDomain, nil},
			sqlValue{"its bytes", sno[:], refusedDomain, nil},
			sqlValue{"a line", "brpk4q72xwf2m63\n", refusedDomain, nil},
			sqlValue{"half of it", 1.5, refusedDomain, nil},
		),
		"sno as UUID": testSQLColumn[idtype.Sno[idtype.AsUUID[User]]](
			sqlValue{"an ID", idtype.Sno[idtype.AsUUID[User]](sno), sqlid.Production, nil},
			sqlValue{"the nil UUID", "00000000-0000-0000-0000-000000000000", refusedDomain, nil},
			sqlValue{"zero", "32323232-3232-3232-3232-323232323232", refusedDomain, nil},
			sqlValue{
				"upper case", "6272706B-3471-3732-7877-66326D36336C", sqlid.Production,
				takenByServers,
			},
			sqlValue{"no dashes", "6272706b34713732787766326d36336c", sqlid.Production, takenByServers},
			sqlValue{"another UUID", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", refusedDomain, nil},
			sqlValue{
				"a y among the characters", "6272706b-3471-3732-7877-66326d363379",
				sqlid.Production,
				[]sqlid.Dialect{sqlid.SQLite},
			},
		),
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { test(t, s) })
	}
}

// A column of texts may take upper case for lower. Then two short IDs are one.
func testSQLTextsWithoutCase(t *testing.T, s sqlDatabase) {
	columns := map[sqlid.Dialect][2]string{
		sqlid.SQLite: {"TEXT COLLATE NOCASE", "TEXT"}, sqlid.Postgres: {"CITEXT", "TEXT"},
		sqlid.MariaDB: {"VARCHAR(20)", "VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin"},
	}
	if s.Dialect == sqlid.Postgres {
		s.exec(t, "CREATE EXTENSION citext")
	}
	for i, column := range columns[s.Dialect] {
		s.exec(t, "CREATE TABLE texts (id "+column+" PRIMARY KEY)")
		s.exec(t, "INSERT INTO texts VALUES ('xinaS8QBh')")
		if _, err := s.DB.Exec("INSERT INTO texts VALUES ('xinas8QBh')"); (err == nil) != (i == 1) {
			t.Errorf("another short ID in %s: %v", column, err)
		}
		s.exec(t, "DROP TABLE texts")
	}
}
