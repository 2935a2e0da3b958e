package mysql_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/integration_test/launchlog/serversuite"
	"github.com/idmint/idmint/launchlog/mysql"
	"github.com/idmint/idmint/launchlog/storetest"
	"github.com/idmint/idmint/migrations"
)

// Whatever the connection is set to, the steps are carried out at once, and mean the same times and
// names.
func TestSettings(t *testing.T) {
	d := suite.Database(t)
	const mode = "&sql_mode=%27ANSI,STRICT_ALL_TABLES%27"
	n := 0
	for _, settings := range []string{
		"parseTime=true&loc=Asia%2FKathmandu&interpolateParams=true",
		"parseTime=true&loc=Asia%2FKathmandu&clientFoundRows=true&time_zone=%27%2B05:45%27",
		"time_zone=%27-11:00%27&transaction_isolation=%27SERIALIZABLE%27&clientFoundRows=true",
		"collation=utf8mb4_unicode_ci&transaction_isolation=%27READ-UNCOMMITTED%27&" +
			"interpolateParams=true",
	} {
		db := dbtest.Open(t, serversuite.With(t, d, settings+mode))
		app, err := mysql.New(ctx, db)
		if err != nil {
			t.Fatalf("%s: %v", settings, err)
		}
		own, err := mysql.Open(ctx, serversuite.With(t, d, settings).Source())
		if err != nil {
			t.Fatalf("%s: %v", settings, err)
		}
		for _, store := range []*mysql.Store{app, own} {
			n++
			serversuite.Tour(t, store, fmt.Sprint(n), n)
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
		if _, err := mysql.New(ctx, dbtest.Open(t, serversuite.With(t, d, settings))); err == nil ||
			!strings.Contains(err.Error(), "in the DSN") {
			t.Errorf("%s: got %v", settings, err)
		}
	}
}

// A trigger that MariaDB has read wrong, and keeps so in its cache, is in nobody's way.
func TestSpoiltTriggers(t *testing.T) {
	server := dbtest.Run(t, databases.MariaDB)
	if _, _, err := migrations.Up(ctx, dbtest.Open(t, server.DSN), migrations.MySQL); err != nil {
		t.Fatal(err)
	}
	db := dbtest.Open(t, server.DSN)
	db.SetMaxOpenConns(1)
	s := suite.Store(t, server.DSN)
	l := serversuite.Log(t, s, 0)
	launch, err := l.Start(ctx, storetest.Request("a"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Claim(ctx, launch.ID); err != nil {
		t.Fatal(err)
	}
	triggers := "/var/lib/mysql/" + server.DSN.Database() + "/"
	script := func(text string) {
		if out, err := server.Exec(ctx, "sh", "-c", "cd "+triggers+" && for t in idmint_*.TRG; do "+
			text+"; done"); err != nil {
			t.Fatal(out, err)
		}
	}
	script("cp $t /tmp/$t; sed 's/SIGNAL SQLSTATE/SIGNAX SQLSTATE/g' /tmp/$t > /tmp/x; " +
		"cat /tmp/x > $t")
	dbtest.Exec(t, db, "FLUSH TABLES")
	for _, text := range []string{
		"UPDATE idmint_launch SET next_generator_id = next_generator_id",
		"UPDATE idmint_namespace SET last_launch_id = last_launch_id",
	} {
		if _, err := db.Exec(text); err == nil ||
			!strings.Contains(err.Error(), "has an error in its body") {
			t.Fatalf("%s: %v, want the trigger spoilt", text, err)
		}
	}
	script("cat /tmp/$t > $t")
	for i := range 5 {
		if c, err := l.Claim(ctx, launch.ID); err != nil || c.Generator != 1+i {
			t.Errorf("claim: %+v, %v", c, err)
		}
		if next, err := l.Start(ctx, storetest.Request(fmt.Sprint(i))); err != nil ||
			next.ID != launch.ID+1+i {
			t.Errorf("start: %+v, %v", next, err)
		}
	}
}

// A session that is lax makes 0 of NULL, and a smaller number of one that is too large. It changes
// nothing that was acknowledged either.
func TestLaxSession(t *testing.T) {
	d := suite.Filled(t)
	db := dbtest.Open(t, d)
	before := serversuite.Dump(t, db)
	lax := dbtest.Open(t, serversuite.With(t, d, "sql_mode=%27%27"))
	for _, text := range suite.Changing() {
		ignore, change := strings.CutPrefix(text, "UPDATE ")
		for _, text := range []string{text, "UPDATE IGNORE " + ignore} {
			if strings.HasPrefix(text, "INSERT") || !change && strings.HasPrefix(text, "UPDATE") {
				continue // new rows harm none
			}
			_, _ = lax.Exec(text)
			if after := serversuite.Dump(t, db); after != before {
				t.Fatalf("%s: before\n%s\nafter\n%s", text, before, after)
			}
		}
	}
}
