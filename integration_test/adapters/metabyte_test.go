package adapters_test

import (
	"os"
	"strings"
	"testing"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/sqlid"
)

// The conditions of docs/use/metabyte.md find the rows of a metabyte, as the ranges of SnoBounds do.
func TestMetabyteConditions(t *testing.T) {
	t.Parallel()
	postgres := sqlDatabase{sqlid.Postgres, dbtest.Open(t, dbtest.New(t, databases.Postgres)), ""}
	maria := sqlDatabase{sqlid.MariaDB, dbtest.Open(t, dbtest.New(t, databases.MariaDB)), ""}
	const bytes = "substr(id, 6, 1) = X'A3'"
	page := strings.Join(strings.Fields(string(must(os.ReadFile("../../docs/use/metabyte.md")))), " ")
	for condition, d := range map[string]sqlDatabase{
		"get_byte(id, 5) = 163": postgres, bytes: maria, bytes + " ": sqlInMemory(t),
	} {
		if !strings.Contains(page, "`"+strings.TrimSpace(condition)+"`") {
			t.Errorf("docs/use/metabyte.md does not show %s", condition)
		}
		key := sqlid.Must(sqlid.Column[idtype.SnoID]{Name: "id"}.PrimaryKey(d.Dialect))
		d.exec(t, "CREATE TABLE requests ("+key+")"+d.End)
		at := idtype.MustParse[idtype.SnoID]("9g3ab9q2me222229").Time() // metabyte 163
		for _, meta := range []int{0, 162, 163, 164, 255} {
			for sequence := range 3 {
				id := must(idtype.SnoParts{UnixMs: at.UnixMilli(), Meta: meta, Sequence: sequence}.ID())
				_, err := d.DB.Exec("INSERT INTO requests VALUES ("+d.parameter(1)+")", id)
				try(t, err)
			}
		}
		if d.Dialect == sqlid.Postgres {
			d.exec(t, "CREATE INDEX ON requests ((get_byte(id, 5)), id)")
		}
		var found int
		try(t, d.DB.QueryRow("SELECT count(*) FROM requests WHERE "+condition).Scan(&found))
		sought := 0
		for _, r := range must(idtype.SnoBounds[any](at, at, 163, 163)) {
			var n int
			try(t, d.DB.QueryRow("SELECT count(*) FROM requests WHERE id BETWEEN "+d.parameter(1)+" AND "+
				d.parameter(2), r.Min, r.Max).Scan(&n))
			sought += n
		}
		if found != 3 || sought != 3 {
			t.Errorf("%s: %d rows by %s, %d by ranges", d.Dialect, found, condition, sought)
		}
	}
}
