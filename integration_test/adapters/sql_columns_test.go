package adapters_test

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/schemes"
	"github.com/idmint/idmint/sqlid"
)

// testSQLColumns holds that a column takes the values of its domain and no others.
func testSQLColumns(t *testing.T, s sqlDatabase) {
	for name, test := range map[string]func(*testing.T, sqlDatabase){
		"Definitions":      testSQLDefinitions,
		"Number":           testSQLNumber,
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

// A column of the domain Number takes what a sequence up to 2^53−1 mints, and nothing above.
func testSQLNumber(t *testing.T, s sqlDatabase) {
	const most = 1<<53 - 1
	key, err := sqlid.Column[idtype.SequenceID]{Name: "id", Domain: sqlid.Number}.PrimaryKey(s.Dialect)
	try(t, err)
	s.exec(t, "CREATE TABLE numbers ("+key+")"+s.End)
	for value, takes := range map[int64]bool{1: true, most: true, 0: false, -1: false, most + 1: false} {
		_, err := s.DB.Exec("INSERT INTO numbers VALUES ("+s.parameter(1)+")", value)
		if (err == nil) != takes {
			t.Errorf("%d: %v", value, err)
		}
	}
}

// refusedDomain is beyond every domain.
const refusedDomain = sqlid.Number + 1

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
// PostgreSQL it does so with a named type too.
func testSQLColumn[T idtype.ID, P scannable[T]](t *testing.T, s sqlDatabase) {
	values := sqlValuesOf[T, P](t)
	// Nobody tells the driver that a named type is a bigint: it does not round, and the server
	// refuses its text.
	named := slices.DeleteFunc(slices.Clone(values), func(v sqlValue) bool {
		_, float := v.value.(float64)
		return float
	})
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
	for _, k := range keyTests {
		t.Run(k.name, func(t *testing.T) { k.columns(t, s) })
	}
}

// sqlValuesOf are values for columns of a type. The first one is an ID.
func sqlValuesOf[T idtype.ID, P scannable[T]](t *testing.T) (all []sqlValue) {
	ids := sampleIDs[T, P](t)
	f, file := schemes.Of(ids[0].Scheme()), readVectors(t, string(ids[0].Scheme()))
	add := func(name string, value any, takes sqlid.Domain, converted ...sqlid.Dialect) {
		all = append(all, sqlValue{name, value, takes, converted})
	}
	for _, id := range ids {
		add("an ID", id, sqlid.Production)
	}
	zeros := make([]byte, f.Size)
	text := f.Text.Example
	switch ids[0].Storage() {
	case idtype.StorageBigint:
		add("zero", 0, refusedDomain)
		half := sqlid.Production
		if f.Size > 0 {
			add("the smallest", int64(math.MinInt64), sqlid.Production)
			add("its bytes", idtype.AppendBytes(nil, ids[0]), refusedDomain)
		} else {
			if must(idtype.FromBytes[T]([]byte{7: 2})).Validate() != nil {
				half = sqlid.Positive
			}
			add("negative", -1, refusedDomain)
			add("2^63", "9223372036854775808", refusedDomain)
		}
		add("a half", 1.5, half, takenByServers...) // it is rounded
		if !f.Text.Digits && f.Size == 0 {
			add("its text", text, refusedDomain)
		}
		for _, v := range file.Older {
			add("older", must(strconv.ParseInt(v.Number, 10, 64)), sqlid.Positive)
		}
		for _, v := range file.Valid {
			if isTest(f.Scheme, v) {
				add("a test's", must(strconv.ParseInt(v.Number, 10, 64)), sqlid.Layout)
			}
		}
	case idtype.StorageBytes:
		const characters = "12345678901234567890"
		some := sqlid.Production
		if f.Size == 16 { // of another version
			some = sqlid.Positive
			add("version 4", must(idtype.FromBytes[T]([]byte("123456\x438\x819123456"))), sqlid.Positive)
		}
		add("zero", zeros, refusedDomain)
		add("a byte less", []byte(characters[:f.Size-1]), some, takenByMariaDB...)
		add("a byte more", []byte(characters[:f.Size+1]), refusedDomain)
		add("a text of the size", characters[:f.Size], some, takenByServers...)
		add("its text", text, refusedDomain)
		add("a number", 1, some, takenByMariaDB...)
	case idtype.StorageText:
		add("zero", strings.Repeat(f.Text.Alphabet[:1], len(text)), refusedDomain)
		add("upper case", strings.ToUpper(text), refusedDomain)
		add("a character less", text[1:], refusedDomain)
		add("a character more", text+text[:1], refusedDomain)
		add("another alphabet", text[1:]+"0", refusedDomain)
		add("a line", text[1:]+"\n", refusedDomain)
		add("its bytes", idtype.AppendBytes(nil, ids[0]), refusedDomain)
		add("half of it", 1.5, refusedDomain)
	case idtype.StorageUUID:
		uuid := file.Valid[0].UUID
		add("the nil UUID", "00000000-0000-0000-0000-000000000000", refusedDomain)
		if f.Size == 16 {
			add("version 4", "f81d4fae-7dec-41d0-a765-00a0c91e6bf6", sqlid.Positive)
			add("another variant", "01932c07-209d-7c3a-cf5e-2b1a90d4e6f7", sqlid.Positive)
			add("upper case", strings.ToUpper(text), sqlid.Production, takenByServers...)
			break
		}
		add("zero", "32323232-3232-3232-3232-323232323232", refusedDomain)
		add("upper case", strings.ToUpper(uuid), sqlid.Production, takenByServers...)
		add("no dashes", strings.ReplaceAll(uuid, "-", ""), sqlid.Production, takenByServers...)
		add("another UUID", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", refusedDomain)
		add("a y among the characters", uuid[:34]+"79", sqlid.Production, sqlid.SQLite)
	}
	add("NULL", nil, refusedDomain)
	add("nothing", "", refusedDomain)
	return all
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
