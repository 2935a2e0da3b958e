package sqlsuite

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/formats"
	"github.com/idmint/idmint/sqlid"
)

// refused is beyond every domain.
const refused = sqlid.Positive + 1

type value struct {
	name  string
	value any
	takes sqlid.Domain // the narrowest domain that takes it
	// converted are databases that make of the value another one, of which takes is true; the
	// others refuse the value.
	converted []sqlid.Dialect
}

var (
	inMariaDB = []sqlid.Dialect{sqlid.MariaDB}
	inServers = []sqlid.Dialect{sqlid.MariaDB, sqlid.Postgres}
)

// of is the narrowest domain that takes the value in a database.
func (v value) of(d sqlid.Dialect) sqlid.Domain {
	if v.converted != nil && !slices.Contains(v.converted, d) {
		return refused
	}
	return v.takes
}

// testColumn holds a column of every domain, in every database, against what it is to take. In
// PostgreSQL it does so with a named type too. The first value is a good one.
func testColumn[T idtype.ID](values ...value) func(*testing.T, Database) {
	values = append(values, value{"NULL", nil, refused, nil}, value{"nothing", "", refused, nil})
	// Nobody tells the driver that a named type is a bigint: it does not round, and the server
	// refuses its text.
	named := slices.DeleteFunc(slices.Clone(values), func(v value) bool {
		_, float := v.value.(float64)
		return float
	})
	return func(t *testing.T, s Database) {
		table := "the" + tableOf(t)
		for domain := sqlid.Production; domain <= sqlid.Positive; domain++ {
			key, err := sqlid.Column[T]{Name: "the `id`", Domain: domain}.PrimaryKey(s.Dialect)
			if err != nil {
				t.Fatal(err)
			}
			testTakes(t, s, table, key, domain, values)
			if s.Dialect != sqlid.Postgres {
				continue
			}
			create, err := sqlid.NamedType[T]{Name: `a "type"`, Domain: domain}.Create(s.Dialect)
			if err != nil {
				t.Fatal(err)
			}
			s.exec(t, create)
			testTakes(t, s, table, `id "a ""type""" PRIMARY KEY`, domain, named)
			s.exec(t, `DROP DOMAIN "a ""type"""`)
		}
	}
}

// testTakes makes a table with a key of a domain, and puts each value into it.
func testTakes(
	t *testing.T, s Database, table, key string, domain sqlid.Domain, values []value,
) {
	t.Helper()
	s.exec(t, "CREATE TABLE "+table+" ("+key+")"+s.End)
	defer s.exec(t, "DROP TABLE "+table)
	for _, v := range values {
		tx, err := s.DB.Begin()
		if err != nil {
			t.Fatal(err)
		}
		_, err = tx.Exec("INSERT INTO "+table+" VALUES ("+s.parameter(1)+")", v.value)
		if took := err == nil; took != (v.of(s.Dialect) <= domain) {
			t.Errorf("%s, domain %d: %s (%v): %v", key, domain, v.name, v.value, err)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
	}
}

func testSchemes(t *testing.T, s Database) {
	sno := idtype.MustParse[idtype.SnoID]("brpk4q72xwf2m63l")
	eight := idtype.MustParse[idtype.EightByteID]("cb54ecf284000000")
	// it is rounded
	half := func(takes sqlid.Domain) value { return value{"a half", 1.5, takes, inServers} }
	tests := map[string]func(*testing.T, Database){
		"decimal": testColumn[UserID](
			value{"an ID", UserID(14150009200065), sqlid.Production, nil},
			value{"the smallest", 10000000001, sqlid.Production, nil},
			value{"the largest", int64(formats.DecimalMax), sqlid.Production, nil},
			value{"a test launch", 14150009200000, sqlid.Layout, nil},
			value{"counter 0", 9999999999, sqlid.Positive, nil},
			value{"counter beyond", int64(formats.DecimalMax) + 1, sqlid.Positive, nil},
			value{"zero", 0, refused, nil}, value{"negative", -14150009200065, refused, nil},
			half(sqlid.Positive),
			value{"2^63", "9223372036854775808", refused, nil},
		),
		"trace": testColumn[idtype.TraceID](
			value{"an ID", idtype.MustParse[idtype.TraceID]("137438954496"), sqlid.Production, nil},
			value{"the largest", int64(math.MaxInt64), sqlid.Production, nil},
			value{"bottom 0", int64(1) << 38, sqlid.Positive, nil},
			value{"zero", 0, refused, nil}, value{"negative", -1, refused, nil},
			half(sqlid.Production),
		),
		"short": testColumn[idtype.ShortID](
			value{"an ID", idtype.MustParse[idtype.ShortID]("xinaS8QBh"), sqlid.Production, nil},
			value{"60 bits", int64(1)<<60 - 1, sqlid.Production, nil},
			value{"61 bits", int64(1) << 60, sqlid.Positive, nil},
			value{"zero", 0, refused, nil}, value{"its text", "xinaS8QBh", refused, nil},
			half(sqlid.Production),
		),
		"sequence": testColumn[idtype.SequenceID](
			value{"one", idtype.SequenceID(1), sqlid.Production, nil},
			value{"the largest", int64(math.MaxInt64), sqlid.Production, nil},
			value{"zero", 0, refused, nil}, value{"negative", -1, refused, nil},
			half(sqlid.Production),
		),
		"eightbyte": testColumn[idtype.EightByteID](
			value{"an ID", eight, sqlid.Production, nil},
			value{"zero", make([]byte, 8), refused, nil},
			value{"7 bytes", []byte("1234567"), sqlid.Production, inMariaDB},
			value{"9 bytes", []byte("123456789"), refused, nil},
			value{"text of 8", "12345678", sqlid.Production, inServers},
			value{"a number", 1, sqlid.Production, inMariaDB},
		),
		"eightbyte as bigint": testColumn[idtype.EightByte[idtype.AsBigint[User]]](
			value{
				"a negative ID", idtype.EightByte[idtype.AsBigint[User]](eight), sqlid.Production,
				nil,
			},
			value{"the smallest", int64(math.MinInt64), sqlid.Production, nil},
			value{"zero", 0, refused, nil}, value{"its bytes", eight[:], refused, nil},
			half(sqlid.Production),
		),
		"sno": testColumn[idtype.SnoID](
			value{"an ID", sno, sqlid.Production, nil},
			value{"zero", make([]byte, 10), refused, nil},
			value{"9 bytes", []byte("123456789"), sqlid.Production, inMariaDB},
			value{"11 bytes", []byte("12345678901"), refused, nil},
			value{"its text", sno.String(), refused, nil},
		),
		"sno as text": testColumn[idtype.Sno[idtype.AsText[User]]](
			value{"an ID", idtype.Sno[idtype.AsText[User]](sno), sqlid.Production, nil},
			value{"zero", "2222222222222222", refused, nil},
			value{"upper case", "BRPK4Q72XWF2M63L", refused, nil},
			value{"15 characters", "brpk4q72xwf2m63", refused, nil},
			value{"17 characters", "brpk4q72xwf2m63ll", refused, nil},
			value{"another alphabet", "brpk4q72xwf2m630", refused, nil},
			value{"its bytes", sno[:], refused, nil},
			value{"a line", "brpk4q72xwf2m63\n", refused, nil},
			value{"half of it", 1.5, refused, nil},
		),
		"sno as UUID": testColumn[idtype.Sno[idtype.AsUUID[User]]](
			value{"an ID", idtype.Sno[idtype.AsUUID[User]](sno), sqlid.Production, nil},
			value{"the nil UUID", "00000000-0000-0000-0000-000000000000", refused, nil},
			value{"zero", "32323232-3232-3232-3232-323232323232", refused, nil},
			value{
				"upper case", "6272706B-3471-3732-7877-66326D36336C", sqlid.Production,
				inServers,
			},
			value{"no dashes", "6272706b34713732787766326d36336c", sqlid.Production, inServers},
			value{"another UUID", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", refused, nil},
			value{
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

// UUIDs that are sno IDs sort as these do, wherever a UUID keeps its version, and whatever is in
// its parts.
func testUUIDOrder(t *testing.T, s Database) {
	type id = idtype.Sno[idtype.AsUUID[User]]
	random := rand.New(rand.NewPCG(1, 2))
	var ids []id
	for range 1000 {
		var i id
		binary.BigEndian.PutUint64(i[:], random.Uint64())
		binary.BigEndian.PutUint16(i[8:], uint16(random.Uint32()))
		ids = append(ids, i)
	}
	key, err := sqlid.Column[id]{Name: "id"}.PrimaryKey(s.Dialect)
	if err != nil {
		t.Fatal(err)
	}
	s.exec(t, "CREATE TABLE uuids ("+key+")"+s.End)
	var rows []string
	var args []any
	for i, id := range ids {
		rows, args = append(rows, "("+s.parameter(i+1)+")"), append(args, id)
	}
	if _, err := s.DB.Exec("INSERT INTO uuids VALUES "+strings.Join(rows, ", "),
		args...); err != nil {
		t.Fatal(err)
	}
	want := slices.SortedFunc(slices.Values(ids), idtype.Compare[id])
	if got := list[id](t, s, "SELECT id FROM uuids ORDER BY id"); !slices.Equal(got, want) {
		t.Errorf("%d rows, not in order", len(got))
	}
}
