package sqlid_test

import (
	"math"
	"slices"
	"testing"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/sqlid"
)

// refused is beyond every domain.
const refused = sqlid.Positive + 1

type value struct {
	name  string
	value any
	takes sqlid.Domain // the narrowest domain that takes it
}

// testColumn holds a column of every domain against what it is to take. The first value is a good one.
func testColumn[T idtype.ID](values ...value) func(*testing.T) {
	return func(t *testing.T) {
		for domain := sqlid.Production; domain <= sqlid.Positive; domain++ {
			db := openDB(t)
			column := sqlid.Column[T]{Name: "the id", Domain: domain}
			key, err := column.PrimaryKey(sqlid.SQLite)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.Exec("CREATE TABLE t (" + key + ") WITHOUT ROWID"); err != nil {
				t.Fatal(err)
			}
			for _, v := range append(values, value{"NULL", nil, refused}, value{"a fraction", 1.5, refused}, value{"nothing", "", refused}) {
				_, err := db.Exec("INSERT INTO t VALUES (?)", v.value)
				if took := err == nil; took != (v.takes <= domain) {
					t.Errorf("domain %d: %s (%v): %v", domain, v.name, v.value, err)
				}
				if _, err := db.Exec("DELETE FROM t"); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

func TestColumnsOfAllSchemes(t *testing.T) {
	sno := idtype.MustParseSnoID("brpk4q72xwf2m63l")
	eight := idtype.MustParseEightByteID("cb54ecf284000000")
	t.Run("trace", testColumn[idtype.TraceID](
		value{"an ID", idtype.MustParseTraceID("137438954496"), sqlid.Production},
		value{"the largest", int64(math.MaxInt64), sqlid.Production},
		value{"bottom 0", int64(1) << 38, sqlid.Positive},
		value{"zero", 0, refused}, value{"negative", -1, refused},
	))
	t.Run("short", testColumn[idtype.ShortID](
		value{"an ID", idtype.MustParseShortID("xinaS8QBh"), sqlid.Production},
		value{"60 bits", int64(1)<<60 - 1, sqlid.Production},
		value{"61 bits", int64(1) << 60, sqlid.Positive},
		value{"zero", 0, refused}, value{"its text", "xinaS8QBh", refused},
	))
	t.Run("sequence", testColumn[idtype.SequenceID](
		value{"one", idtype.SequenceID(1), sqlid.Production},
		value{"the largest", int64(math.MaxInt64), sqlid.Production},
		value{"zero", 0, refused}, value{"negative", -1, refused},
	))
	t.Run("eightbyte", testColumn[idtype.EightByteID](
		value{"an ID", eight, sqlid.Production},
		value{"zero", make([]byte, 8), refused}, value{"7 bytes", make([]byte, 7), refused},
		value{"9 bytes", []byte("123456789"), refused}, value{"text of 8", "12345678", refused}, value{"a number", 1, refused},
	))
	t.Run("eightbyte as bigint", testColumn[idtype.EightByte[idtype.AsBigint[User]]](
		value{"a negative ID", idtype.EightByte[idtype.AsBigint[User]](eight), sqlid.Production},
		value{"the smallest", int64(math.MinInt64), sqlid.Production},
		value{"zero", 0, refused}, value{"its bytes", eight[:], refused},
	))
	t.Run("sno", testColumn[idtype.SnoID](
		value{"an ID", sno, sqlid.Production},
		value{"zero", make([]byte, 10), refused}, value{"9 bytes", make([]byte, 9), refused}, value{"its text", sno.String(), refused},
	))
	t.Run("sno as text", testColumn[idtype.Sno[idtype.AsText[User]]](
		value{"an ID", idtype.Sno[idtype.AsText[User]](sno), sqlid.Production},
		value{"zero", "2222222222222222", refused}, value{"upper case", "BRPK4Q72XWF2M63L", refused},
		value{"15 characters", "brpk4q72xwf2m63", refused}, value{"17 characters", "brpk4q72xwf2m63ll", refused},
		value{"another alphabet", "brpk4q72xwf2m630", refused}, value{"its bytes", sno[:], refused},
	))
	t.Run("sno as UUID", testColumn[idtype.Sno[idtype.AsUUID[User]]](
		value{"an ID", idtype.Sno[idtype.AsUUID[User]](sno), sqlid.Production},
		value{"the nil UUID", "00000000-0000-0000-0000-000000000000", refused},
		value{"upper case", "6272706B-3471-3732-7877-66326D36336C", refused},
		value{"no dashes", "6272706b347137327877663266d36336c", refused},
		value{"another UUID", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", refused},
	))
}

// Byte IDs go into and out of such columns, and come back in the order of their bytes.
func TestByteIDsRoundTrip(t *testing.T) {
	db := openDB(t)
	type id = idtype.Sno[idtype.AsUUID[User]]
	key, err := sqlid.Column[id]{Name: "id"}.PrimaryKey(sqlid.SQLite)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE t (" + key + ")"); err != nil {
		t.Fatal(err)
	}
	want := []id{idtype.MustParse[id]("brpk4q72xwf2m63k"), idtype.MustParse[id]("brpk4q72xwf2m63l"), idtype.MustParse[id]("crpk4q72xwf2m632")}
	for _, i := range []int{2, 0, 1} {
		if _, err := db.Exec("INSERT INTO t VALUES (?)", want[i]); err != nil {
			t.Fatal(err)
		}
	}
	list, args := sqlid.In(want)
	rows, err := db.Query("SELECT id FROM t WHERE id IN "+list+" ORDER BY id", args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var got []id
	for rows.Next() {
		var n sqlid.Null[id]
		if err := rows.Scan(&n); err != nil {
			t.Fatal(err)
		}
		got = append(got, n.V)
	}
	if err := rows.Err(); err != nil || !slices.Equal(got, want) {
		t.Fatalf("got %v, %v, want %v", got, err, want)
	}
}
