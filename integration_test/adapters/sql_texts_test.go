package adapters_test

import (
	"strings"
	"testing"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/sqlid"
)

// A column of texts may take upper case for lower. Then two short IDs are one. IDs of the other
// schemes have no upper case: Scan refuses it, also where such a column has found it.
func testSQLTextsWithoutCase(t *testing.T, s sqlDatabase) {
	columns := map[sqlid.Dialect][2]string{
		sqlid.SQLite: {"TEXT COLLATE NOCASE", "TEXT"}, sqlid.Postgres: {"CITEXT", "TEXT"},
		sqlid.MariaDB: {"VARCHAR(20)", "VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin"},
	}
	if s.Dialect == sqlid.Postgres {
		s.exec(t, "CREATE EXTENSION citext")
	}
	s.exec(t, "CREATE TABLE folded (id "+columns[s.Dialect][0]+" PRIMARY KEY)")
	s.exec(t, "CREATE TABLE exact (id "+columns[s.Dialect][1]+" PRIMARY KEY)")
	insert := func(table, text string) error {
		_, err := s.DB.Exec("INSERT INTO " + table + " VALUES ('" + text + "')")
		return err
	}
	short, other := idtype.MustParse[idtype.ShortID]("xinaS8QBh"), idtype.MustParse[idtype.ShortID]("xinas8QBh")
	for _, table := range []string{"folded", "exact"} {
		for _, text := range []string{
			short.String(), "brpk4q72xwf2m63k", "brpk4q72xwf2m63l", "cb54ecf284000000",
			"cb54ecf284000001", "14150009200065",
		} {
			if err := insert(table, text); err != nil {
				t.Errorf("%s into %s: %v", text, table, err)
			}
		}
		if err := insert(table, other.String()); (err == nil) != (table == "exact") {
			t.Errorf("%v beside %v in %s: %v", other, short, table, err)
		}
	}
	var found string
	if err := s.DB.QueryRow("SELECT id FROM folded WHERE id = '" + other.String() +
		"'").Scan(&found); err != nil || found != short.String() {
		t.Errorf("%v finds %q, %v", other, found, err)
	}
	for _, lower := range []string{"brpk4q72xwf2m63k", "cb54ecf284000000"} {
		var stored string
		err := s.DB.QueryRow("SELECT id FROM folded WHERE id = '" + strings.ToUpper(lower) +
			"'").Scan(&stored)
		if err != nil || stored != lower {
			t.Errorf("%s in upper case finds %q, %v", lower, stored, err)
		}
	}
	s.exec(t, "UPDATE folded SET id = upper(id) WHERE id = 'brpk4q72xwf2m63k'")
	var id idtype.Sno[idtype.AsText[User]]
	if err := s.DB.QueryRow(
		"SELECT id FROM folded WHERE id = 'brpk4q72xwf2m63k'").Scan(&id); err == nil ||
		!strings.Contains(err.Error(), "is upper case") {
		t.Errorf("upper case is scanned as %v: %v", id, err)
	}
}
