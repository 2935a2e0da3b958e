package adapters_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/schemes"
	"github.com/idmint/idmint/sqlid"
)

// pickList takes apart a Slice that is the first parameter.
var pickList = map[sqlid.Dialect]map[idtype.Storage]string{
	sqlid.SQLite: {
		"":                  "SELECT value FROM json_each(?)",
		idtype.StorageBytes: "SELECT unhex(value) FROM json_each(?)",
	},
	sqlid.MariaDB: {
		"":                   "SELECT v FROM JSON_TABLE(?, '$[*]' COLUMNS (v CHAR(36) PATH '$')) j",
		idtype.StorageBigint: "SELECT v FROM JSON_TABLE(?, '$[*]' COLUMNS (v BIGINT PATH '$')) j",
		idtype.StorageBytes: "SELECT UNHEX(v) FROM JSON_TABLE(?, '$[*]' COLUMNS (v CHAR(36) " +
			"PATH '$')) j",
	},
}

//idmint:keys keyTests []keyTest: {NAME, testDriver[KEY[User]], testSQLColumn[KEY[User]]}

// A keyTest has the tests of a type of keys.
type keyTest struct {
	name            string
	driver, columns func(*testing.T, sqlDatabase)
}

// testSQLDriver holds that IDs, their wrappers and lists of them go into tables and come back by a
// driver of database/sql.
func testSQLDriver(t *testing.T, s sqlDatabase) {
	for _, k := range keyTests {
		t.Run("key "+k.name, func(t *testing.T) { k.driver(t, s) })
	}
}

type scannable[T any] interface {
	*T
	sql.Scanner
	json.Unmarshaler
	UnmarshalText([]byte) error
}

// sampleIDs are some IDs of production, as they ascend, of vectors. The last two are one as floats:
// an ID that is compared as one finds the other.
func sampleIDs[T idtype.ID, P scannable[T]](t *testing.T) []T {
	var zero T
	valid := readVectors(t, string(zero.Scheme())).Valid
	valid = slices.DeleteFunc(valid, func(v vector) bool { return isTest(zero.Scheme(), v) })
	slices.SortFunc(valid, func(a, b vector) int { return strings.Compare(a.Hex, b.Hex) })
	ids := make([]T, 4)
	for i := range ids {
		try(t, P(&ids[i]).UnmarshalText([]byte(valid[i*(len(valid)-1)/3].Text)))
	}
	before := idtype.AppendBytes(nil, ids[3])
	before[len(before)-1]--
	return slices.Insert(ids, 3, must(idtype.FromBytes[T](before)))
}

// isTest tells vectors of IDs that are not of production.
func isTest(s idtype.Scheme, v vector) bool {
	return slices.ContainsFunc(schemes.Of(s).Fields, func(f schemes.Field) bool {
		return f.Test && v.Parts[f.Name] == json.Number("0")
	})
}

// testDriver takes IDs into a table and back.
func testDriver[T idtype.ID, P scannable[T]](t *testing.T, s sqlDatabase) {
	ids := sampleIDs[T, P](t)
	form := ids[0].Storage()
	key, err := sqlid.Column[T]{Name: "id"}.PrimaryKey(s.Dialect)
	try(t, err)
	opt, err := sqlid.Column[T]{Name: "opt"}.Nullable(s.Dialect)
	try(t, err)
	zeroed, err := sqlid.Column[T]{}.Type(s.Dialect)
	try(t, err)
	table := tableOfTest(t)
	s.exec(t, "CREATE TABLE "+table+" ("+key+", "+opt+", zeroed "+zeroed+" NOT NULL)"+s.End)
	defer s.exec(t, "DROP TABLE "+table)
	values := fmt.Sprintf(" VALUES (%s, %s, %s)", s.parameter(1), s.parameter(2), s.parameter(3))

	// In: as themselves, by a prepared statement, and by pointers and wrappers.
	insert, err := s.DB.Prepare("INSERT INTO " + table + values)
	try(t, err)
	defer insert.Close()
	for i, id := range slices.Backward(ids) {
		switch i % 3 {
		case 0:
			_, err = insert.Exec(id, sqlid.NullOf(id), idtype.OrZero[T]{})
		case 1:
			_, err = s.DB.Exec("INSERT INTO "+table+values, &id, (*T)(nil),
				idtype.OrZero[T]{ID: id})
		default:
			_, err = insert.Exec(sql.Null[T]{V: id, Valid: true}, nil, &idtype.OrZero[T]{ID: id})
		}
		if err != nil {
			t.Fatalf("%v: %v", id, err)
		}
	}
	var zero T
	for _, bad := range []any{
		zero, &zero,
		sql.Null[T]{Valid: true},
		sqlid.Null[T]{Null: sql.Null[T]{Valid: true}},
	} {
		if _, err := insert.Exec(bad, nil, ids[0]); !errors.Is(err, idtype.ErrZero) {
			t.Errorf("zero as %T: %v", bad, err)
		}
	}

	// Out, without parameters and with.
	for _, where := range []string{"", " WHERE id <> " + s.parameter(1)} {
		var args []any
		want := ids
		if where != "" {
			args, want = []any{ids[0]}, ids[1:]
		}
		rows, err := s.DB.Query("SELECT id, id, id, id, opt, opt, opt, zeroed FROM "+table+where,
			args...)
		try(t, err)
		var got []T
		for rows.Next() {
			var (
				id, again T
				null      sql.Null[T]
				ours      sqlid.Null[T]
				opt       *T
				optNull   sql.Null[T]
				optOurs   sqlid.Null[T]
				orZero    idtype.OrZero[T]
			)
			if err := rows.Scan(&id, &again, &null, &ours, &opt, &optNull, &optOurs,
				&orZero); err != nil {
				t.Fatal(err)
			}
			var wantOpt, wantZero T
			if i := slices.Index(ids, id); i%3 == 0 {
				wantOpt = id
			} else {
				wantZero = id
			}
			has := !wantOpt.IsZero()
			if again != id || null.V != id || ours.V != id || (opt != nil) != has || has &&
				*opt != id || optNull.V != wantOpt ||
				optNull.Valid != has || optOurs.V != wantOpt || optOurs.Valid != has ||
				orZero.ID != wantZero {
				t.Errorf("%v: %v %v %v, %v %v %v, %v", id, again, null, ours, opt, optNull, optOurs,
					orZero)
			}
			got = append(got, id)
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil || len(got) != len(want) {
			t.Errorf("rows%s: %v, %v, want %v", where, got, err, want)
		}
	}
	kept := ids[0]
	err = s.DB.QueryRow("SELECT opt FROM " + table + " WHERE opt IS NULL").Scan(&kept)
	if !errors.Is(err, idtype.ErrNull) || !strings.Contains(err.Error(), "sql.Null") ||
		kept != ids[0] {
		t.Errorf("NULL into a plain ID: %v, which is %v", err, kept)
	}
	err = s.DB.QueryRow("SELECT zeroed FROM " + table + " WHERE opt IS NOT NULL").Scan(&kept)
	if !errors.Is(err, idtype.ErrZero) || kept != ids[0] {
		t.Errorf("zero into a plain ID: %v, which is %v", err, kept)
	}

	// The order of the IDs, but of those that turn negative.
	inOrder := form != idtype.StorageBigint || ids[0].Scheme() != idtype.SchemeEightByte
	if got := listIDs[T](t, s, "SELECT id FROM "+table+" ORDER BY id"); slices.Equal(got,
		ids) != inOrder {
		t.Errorf("in order: %v", got)
	}

	// Lists.
	some := []T{ids[1], ids[0]}
	in, args := sqlid.In(some)
	if s.Dialect == sqlid.Postgres {
		in, args = sqlid.InNumbered(1, some)
	}
	sameSet(t, "IN", listIDs[T](t, s, "SELECT id FROM "+table+" WHERE id IN "+in, args...), some)
	switch picks := pickList[s.Dialect]; {
	case s.Dialect == sqlid.Postgres:
		testArray(t, s, table, some)
		// pgx alone knows no arrays of IDs where the server does not say
		if !strings.Contains(t.Name(), "pgxid") {
			break
		}
		sameSet(t, "ANY", listIDs[T](t, s, "SELECT id FROM "+table+" WHERE id = ANY($1)", some), some)
		var array idtype.Slice[T]
		query := "SELECT array_agg(id) FROM " + table + " WHERE id = ANY($1)"
		if err := s.DB.QueryRow(query, some).Scan(&array); err != nil {
			t.Error(err)
		}
		sameSet(t, "an array", array, some)
	case picks[form] != "":
		sameSet(
			t, "a Slice",
			listIDs[T](
				t, s, "SELECT id FROM "+table+" WHERE id IN ("+picks[form]+")",
				idtype.Slice[T](some),
			),
			some,
		)
	default:
		sameSet(
			t, "a Slice",
			listIDs[T](
				t, s, "SELECT id FROM "+table+" WHERE id IN ("+picks[""]+")", idtype.Slice[T](some),
			),
			some,
		)
	}
}

// testArray takes lists of IDs to PostgreSQL and back by [sqlid.Array], which no driver knows of.
func testArray[T idtype.ID](t *testing.T, s sqlDatabase, table string, some []T) {
	where := " FROM " + table + " WHERE id = ANY($1)"
	sameSet(t, "ANY of an Array", listIDs[T](t, s, "SELECT id"+where, sqlid.Array[T](some)), some)
	for _, none := range []sqlid.Array[T]{nil, {}} {
		if got := listIDs[T](t, s, "SELECT id"+where, none); got != nil {
			t.Errorf("ANY of no IDs: %v", got)
		}
	}
	var array sqlid.Array[T]
	query := "SELECT array_agg(id)" + where
	if err := s.DB.QueryRow(query, sqlid.Array[T](some)).Scan(&array); err != nil {
		t.Error(err)
	}
	sameSet(t, "an Array", array, some)
	before := array
	if err := s.DB.QueryRow(query, sqlid.Array[T]{}).Scan(&array); !errors.Is(err,
		idtype.ErrNull) || !slices.Equal(array, before) {
		t.Errorf("NULL into an Array: %v, %v", array, err)
	}
	if _, err := s.DB.Exec("SELECT 1"+where, sqlid.Array[T]{some[0], *new(T)}); !errors.Is(err,
		idtype.ErrZero) {
		t.Errorf("zero in an Array: %v", err)
	}
}

func listIDs[T idtype.ID](t *testing.T, s sqlDatabase, query string, args ...any) (ids []T) {
	t.Helper()
	rows, err := s.DB.Query(query, args...)
	if err != nil {
		t.Errorf("%s: %v", query, err)
		return nil
	}
	defer rows.Close()
	for rows.Next() {
		var id T
		if err := rows.Scan(&id); err != nil {
			t.Error(err)
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		t.Errorf("%s: %v", query, err)
	}
	return ids
}

func sameSet[T idtype.ID](t *testing.T, what string, got, want []T) {
	t.Helper()
	set := func(ids []T) map[T]bool {
		m := map[T]bool{}
		for _, id := range ids {
			m[id] = true
		}
		return m
	}
	if len(got) != len(want) || !reflect.DeepEqual(set(got), set(want)) {
		t.Errorf("by %s: %v, want %v", what, got, want)
	}
}
