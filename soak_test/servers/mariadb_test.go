package servers_test

import (
	"crypto/rand"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/checks"
	"github.com/idmint/idmint/launchlog/storetest"
	"github.com/idmint/idmint/migrations"
	"github.com/idmint/idmint/sqlid/functions"
)

// A managed server writes a binary log, and gives nobody SUPER. The launch log works there, as does
// the way from a log of an earlier release, once somebody let its triggers be dropped. What such a
// server refuses says so with error 1419, which names the setting that cures it.
func TestMariaDBBinaryLogWithoutSuper(t *testing.T) {
	server := dbtest.Run(t, databases.MariaDB, "--log-bin=binlog", "--server-id=7", "--sync-binlog=1")
	admin := dbtest.Open(t, server.DSN)
	dbtest.Exec(t, admin, "CREATE USER owner@'%' IDENTIFIED BY 'app'",
		"GRANT ALL ON idmint.* TO owner@'%'")
	d := changed(t, server.DSN, func(u *url.URL, _ url.Values) {
		u.User = url.UserPassword("owner", "app")
	})
	db := dbtest.Open(t, d)
	refused := func(what string, err error) {
		t.Helper()
		if dialect.MySQLNumber(err) != "1419" || !strings.Contains(err.Error(), "1419") ||
			!strings.Contains(err.Error(), "log_bin_trust_function_creators") {
			t.Errorf("%s: %v, want error 1419, which names the setting", what, err)
		}
	}
	latest := migrations.Latest(migrations.MySQL)
	up := func(wantFrom int) {
		t.Helper()
		from, to, err := migrations.Up(ctx, db, migrations.MySQL)
		if err != nil || from != wantFrom || to != latest {
			t.Fatalf("up: from %d to %d, %v; want from %d", from, to, err, wantFrom)
		}
	}
	up(0)
	const trigger = "CREATE TRIGGER idmint_launch_delete BEFORE DELETE ON idmint_launch " +
		"FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'idmint: launches are not deleted'"
	_, err := db.Exec(trigger)
	refused("a trigger", err)
	refused("functions", functions.Install(ctx, db, functions.MySQL))

	l := logOf(t, openMySQL(t, d))
	launch, err := l.Start(ctx, storetest.Request("a"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if c, err := l.Claim(ctx, launch.ID); err != nil || c.Generator != i {
			t.Errorf("claim: %+v, %v; want generator %d", c, err, i)
		}
	}
	counter, err := l.Counter("c")
	if err != nil {
		t.Fatal(err)
	}
	if first, err := counter.Reserve(ctx, 0, 10); err != nil || first != 1 {
		t.Errorf("numbers from %d on, %v", first, err)
	}
	results, err := doctor.SQL(ctx, db, migrations.MySQL)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Level == checks.Finding {
			t.Errorf("doctor: %s: %s", r.Check, r.Message)
		}
	}

	if err := migrations.Down(ctx, db, migrations.MySQL, 4); err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, admin, strings.Replace(trigger, "TRIGGER", "DEFINER=owner@'%' TRIGGER", 1))
	_, at, err := migrations.Up(ctx, db, migrations.MySQL)
	refused("up with a trigger", err)
	if at != 4 {
		t.Errorf("up was refused, and went to %d", at)
	}
	dbtest.Exec(t, admin, "SET GLOBAL log_bin_trust_function_creators = 1")
	up(4)
	var left int
	err = admin.QueryRow("SELECT count(*) FROM information_schema.triggers " +
		"WHERE trigger_schema = 'idmint'").Scan(&left)
	if err != nil || left != 0 {
		t.Errorf("%d triggers are left, %v", left, err)
	}
	if err := functions.Install(ctx, db, functions.MySQL); err != nil {
		t.Error(err)
	}
}

// InnoDB shows a row before its commit has come to the disk, or to the replica: here to one that is
// away, so that the commit waits until the test lets it. A step that finds the row waits as well,
// because a crash or a failover may take the row back until then.
func TestMariaDBCommitsInDoubt(t *testing.T) {
	server := dbtest.Run(t, databases.MariaDB, "--log-bin=binlog", "--server-id=7",
		"--rpl-semi-sync-master-wait-point=AFTER_COMMIT", "--rpl-semi-sync-master-timeout=4294967295")
	admin := dbtest.Open(t, server.DSN)
	status := func(name string) (value string) {
		t.Helper()
		if err := admin.QueryRow("SELECT variable_value FROM information_schema.global_status "+
			"WHERE variable_name = ?", name).Scan(&value); err != nil {
			t.Fatal(err)
		}
		return value
	}
	for name := range storetest.Writes(nil) {
		t.Run(name, func(t *testing.T) {
			d, drop, err := server.Create(ctx, "t_"+strings.ToLower(rand.Text()))
			if err != nil {
				t.Fatal(err)
			}
			s := openMySQL(t, migrate(t, d))
			if _, err := logOf(t, s).Start(ctx, storetest.Request("a")); err != nil {
				t.Fatal(err)
			}
			c := launchlog.CounterRef{Namespace: launchlog.DefaultNamespace, Name: "c"}
			if _, err := s.ReserveNumbers(ctx, c, 0, 10); err != nil {
				t.Fatal(err)
			}
			dbtest.Exec(t, admin, "SET GLOBAL rpl_semi_sync_master_enabled = ON")
			answers := make(chan error, 2)
			running := 0
			for _, waiting := range []string{"1", "2"} {
				step := storetest.Writes(openMySQL(t, d))[name]
				go func() { answers <- step() }()
				for running++; status("Rpl_semi_sync_master_wait_sessions") != waiting; {
					select {
					case err := <-answers:
						running--
						if !errors.Is(err, launchlog.ErrNotFound) {
							t.Errorf("of %s steps one is answered at once: %v", waiting, err)
						}
						waiting = status("Rpl_semi_sync_master_wait_sessions")
					case <-time.After(10 * time.Millisecond):
					}
				}
			}
			dbtest.Exec(t, admin, "SET GLOBAL rpl_semi_sync_master_enabled = OFF")
			for range running {
				if err := <-answers; err != nil {
					t.Error(err)
				}
			}
			if err := drop(ctx); err != nil {
				t.Error(err)
			}
		})
	}
}
