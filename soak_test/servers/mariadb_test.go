package servers_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog/storetest"
)

// A trigger that MariaDB has read wrong, and keeps so in its cache, is in nobody's way.
func TestMariaDBSpoiltTriggers(t *testing.T) {
	server := dbtest.Run(t, databases.MariaDB)
	db := dbtest.Open(t, migrate(t, server.DSN))
	db.SetMaxOpenConns(1)
	l := logOf(t, openMySQL(t, server.DSN))
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
