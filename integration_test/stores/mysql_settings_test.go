package stores_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog/mysql"
)

// Whatever the connection is set to, the steps are carried out at once, and mean the same times and
// names.
func TestMySQLSettings(t *testing.T) {
	t.Parallel()
	d := mysqlServer.database(t)
	const mode = "&sql_mode=%27ANSI,STRICT_ALL_TABLES%27"
	n := 0
	for _, settings := range []string{
		"parseTime=true&loc=Asia%2FKathmandu&interpolateParams=true",
		"parseTime=true&loc=Asia%2FKathmandu&clientFoundRows=true&time_zone=%27%2B05:45%27",
		"time_zone=%27-11:00%27&transaction_isolation=%27SERIALIZABLE%27&clientFoundRows=true",
		"collation=utf8mb4_unicode_ci&transaction_isolation=%27READ-UNCOMMITTED%27&" +
			"interpolateParams=true",
	} {
		db := dbtest.Open(t, with(t, d, settings+mode))
		app, err := mysql.New(ctx, db)
		if err != nil {
			t.Fatalf("%s: %v", settings, err)
		}
		own, err := mysql.Open(ctx, with(t, d, settings).Source())
		if err != nil {
			t.Fatalf("%s: %v", settings, err)
		}
		for _, store := range []*mysql.Store{app, own} {
			n++
			tour(t, store, fmt.Sprint(n), n)
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := db.Ping(); err != nil {
			t.Errorf("the app's pool was closed: %v", err)
		}
	}
	for _, settings := range []string{"sql_mode=%27%27", "sql_mode=%27ANSI%27", "charset=latin1" +
		mode, "autocommit=0" + mode} {
		if _, err := mysql.New(ctx, dbtest.Open(t, with(t, d, settings))); err == nil ||
			!strings.Contains(err.Error(), "in the DSN") {
			t.Errorf("%s: got %v", settings, err)
		}
	}
}

// A session that is lax makes 0 of NULL, and a smaller number of one that is too large. It changes
// nothing that was acknowledged either.
func TestMySQLLaxSession(t *testing.T) {
	t.Parallel()
	d := mysqlServer.filled(t)
	db := dbtest.Open(t, d)
	before := dump(t, db)
	lax := dbtest.Open(t, with(t, d, "sql_mode=%27%27"))
	for _, text := range mysqlServer.changing() {
		ignore, change := strings.CutPrefix(text, "UPDATE ")
		for _, text := range []string{text, "UPDATE IGNORE " + ignore} {
			if strings.HasPrefix(text, "INSERT") || !change && strings.HasPrefix(text, "UPDATE") {
				continue // new rows harm none
			}
			_, _ = lax.Exec(text)
			if after := dump(t, db); after != before {
				t.Fatalf("%s: before\n%s\nafter\n%s", text, before, after)
			}
		}
	}
}
