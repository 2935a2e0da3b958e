package stores_test

import (
	"strings"
	"testing"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog"
)

// A database went back on the same server, which says that it is the same one. Then it was used
// until its numbers passed those of the last look. What lies under them tells.
func TestDoctorUsedAgain(t *testing.T) {
	t.Parallel()
	admin := dbtest.Open(t, dbtest.Server(t, databases.Postgres).DSN)
	app := postgresServer.database(t)
	name, backup := app.Database(), app.Database()+"_backup"
	using(t, app, func(log *launchlog.Log) { use(t, log, "a", 2) })
	for { // the copy keeps the tables' numbers
		_, err := admin.Exec("CREATE DATABASE " + backup + " TEMPLATE " + name)
		if err == nil {
			break
		} else if !strings.Contains(err.Error(), "being accessed by other users") { // who have left
			t.Fatal(err)
		}
	}

	var before doctor.State
	using(t, app, func(log *launchlog.Log) {
		use(t, log, "b", 3)
		var err error
		if before, _, err = doctor.Look(ctx, log, identity(t, app), nil); err != nil {
			t.Fatal(err)
		}
		_, results, err := doctor.Look(ctx, log, identity(t, app), &before)
		if err != nil || len(results) != 2 || results[1].Level != doctor.Passed {
			t.Errorf("nothing happened: %+v, %v", results, err)
		}
	})
	dbtest.Exec(t, admin, "DROP DATABASE "+name+" WITH (FORCE)",
		"ALTER DATABASE "+backup+" RENAME TO "+name)
	using(t, app, func(log *launchlog.Log) {
		use(t, log, "c", 3)
		use(t, log, "d", 3)
		_, results, err := doctor.Look(ctx, log, identity(t, app), &before)
		if err != nil {
			t.Fatal(err)
		}
		var lost []string
		for _, r := range results {
			if r.Check == "identity" && r.Level != doctor.Passed {
				t.Errorf("%+v", r)
			}
			if r.Check == "lost" && r.Level == doctor.Finding {
				lost = append(lost, r.Message)
			}
		}
		if len(lost) != 1 || !strings.HasPrefix(lost[0], "launch 2 is another one: it ") {
			t.Errorf("%q", lost)
		}
	})
}

// using opens a log, and closes it after f.
func using(t *testing.T, d dsn.DSN, f func(log *launchlog.Log)) {
	t.Helper()
	s := open(t, d)
	defer s.Close()
	f(logOf(t, s))
}

// use starts a launch, and takes generator numbers of it.
func use(t *testing.T, log *launchlog.Log, key string, claims int) {
	t.Helper()
	launch, err := log.Start(ctx, launchlog.Request{
		Key: key, Service: "shop", Environment: "test", Initiator: "me",
	})
	for range claims {
		if err == nil {
			_, err = log.Claim(ctx, launch.ID)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

func identity(t *testing.T, d dsn.DSN) map[string]string {
	t.Helper()
	db := dbtest.Open(t, d)
	defer db.Close()
	id, err := doctor.Identity(ctx, db, doctor.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	return id
}
