package doctor_test

import (
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/mysql"
)

// Each setting is found while it is wrong, and not before nor after.
func TestMariaDB(t *testing.T) {
	server := dbtest.Run(t, databases.MariaDB, "--log-bin=binlog", "--sync-binlog=1",
		"--server-id=7")
	admin := dbtest.Open(t, server.DSN)
	app := as(t, server.DSN, "app")
	const tables = "idmint_namespace idmint_launch idmint_generator idmint_launch_event " +
		"idmint_counter"
	dbtest.Exec(t, admin, "CREATE USER app@'%' IDENTIFIED BY 'app'",
		"GRANT CREATE ON idmint.* TO app@'%'")
	want(t, "before migrate", app, map[string]string{"schema": "finding: there is no launch log"})
	migrated(t, server.DSN)
	dbtest.Exec(t, admin, "REVOKE CREATE ON idmint.* FROM app@'%'",
		"GRANT SELECT ON idmint.idmint_schema TO app@'%'")
	for _, table := range strings.Fields(tables) {
		dbtest.Exec(t, admin, "GRANT SELECT, INSERT, UPDATE ON idmint."+table+" TO app@'%'")
	}
	want(t, "after migrate", app, nil)
	const counters = "idmint.idmint_counter"
	root, unneeded := "@root", map[string]string{"rights": "note: the role root@% needs no"}
	want(t, "as root", server.DSN, unneeded)
	for _, c := range []struct{ as, do, undo, code, text string }{
		{
			"", "SET GLOBAL innodb_flush_log_at_trx_commit = 2",
			"SET GLOBAL innodb_flush_log_at_trx_commit = 1",
			"mysql.flush_log", "finding: innodb_flush_log_at_trx_commit is 2",
		},
		{
			"", "SET GLOBAL sync_binlog = 0", "SET GLOBAL sync_binlog = 1",
			"mysql.sync_binlog", "finding: sync_binlog is 0",
		},
		{
			"", "SET GLOBAL sync_binlog = 100", "SET GLOBAL sync_binlog = 1",
			"mysql.sync_binlog", "finding: sync_binlog is 100",
		},
		{
			"", "SET GLOBAL innodb_doublewrite = OFF", "SET GLOBAL innodb_doublewrite = ON",
			"mysql.doublewrite", "finding: innodb_doublewrite is OFF",
		},
		{
			"", "SET GLOBAL binlog_format = 'STATEMENT'", "SET GLOBAL binlog_format = 'ROW'",
			"mysql.binlog_format", "finding: binlog_format is STATEMENT",
		},
		{
			root, "SET GLOBAL read_only = 1", "SET GLOBAL read_only = 0", "writable",
			"finding: read_only is ON",
		},
		{
			"", "REVOKE UPDATE ON " + counters + " FROM app@'%'",
			"GRANT UPDATE ON " + counters + " TO app@'%'",
			"rights", "finding: the role app@% lacks UPDATE on idmint_counter",
		},
		{
			"", "REVOKE INSERT ON " + counters + " FROM app@'%'",
			"GRANT INSERT ON " + counters + " TO app@'%'",
			"rights", "finding: the role app@% lacks INSERT on idmint_counter",
		},
		{
			"", "GRANT DELETE ON " + counters + " TO app@'%'",
			"REVOKE DELETE ON " + counters + " FROM app@'%'",
			"rights", "note: the role app@% needs no DELETE on idmint_counter",
		},
		{
			"", "GRANT DROP, TRIGGER ON idmint.* TO app@'%'",
			"REVOKE DROP, TRIGGER ON idmint.* FROM app@'%'",
			"rights", "note: the role app@% needs no DROP, TRIGGER",
		},
		{
			"", "GRANT SUPER ON *.* TO app@'%'", "REVOKE SUPER ON *.* FROM app@'%'",
			"rights", "note: the role app@% needs no SUPER",
		},
		{
			"", "ALTER TABLE idmint_counter RENAME TO counter",
			"ALTER TABLE counter RENAME TO idmint_counter",
			"tables", "finding: tables are missing: idmint_counter",
		},
		{ // its foreign key refuses another engine
			root, "ALTER TABLE idmint_counter_kept DROP FOREIGN KEY idmint_counter_kept_counter; " +
				"ALTER TABLE idmint_counter_kept ENGINE = Aria", "",
			"tables",
			"finding: tables are not InnoDB, and know no transactions: idmint_counter_kept",
		},
		{
			root, "DROP TABLE idmint_counter_kept", "", "tables",
			"finding: tables are missing: idmint_counter_kept",
		},
		{
			"", "DROP TRIGGER idmint_counter_update", "", "triggers",
			"finding: 1 of 12 triggers are missing: idmint_counter_update of 000",
		},
	} {
		run(t, admin, c.do)
		if c.as == root {
			want(t, c.do, server.DSN, with(unneeded, c.code, c.text))
		} else {
			want(t, c.do, app, map[string]string{c.code: c.text})
		}
		run(t, admin, c.undo)
	}
	statementFormat(t, server.DSN)
	id, err := doctor.Identity(ctx, admin, doctor.MySQL)
	if err != nil || id["server_id"] != "7" || id["gtid_domain_id"] != "0" ||
		id["database"] != "idmint" || len(id) != 3 {
		t.Errorf("%v, %v", id, err)
	}
}

// What the check of binlog_format says is so: the server refuses a launch.
func statementFormat(t *testing.T, d dsn.DSN) {
	t.Helper()
	dbtest.Exec(t, dbtest.Open(t, d), "SET GLOBAL binlog_format = 'STATEMENT'")
	store, err := mysql.Open(ctx, d.Source())
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	log, err := launchlog.New(store, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = log.Start(ctx, launchlog.Request{
		Key: "k", Service: "s", Environment: "e", Initiator: "i",
	})
	if err == nil || !strings.Contains(err.Error(), "BINLOG_FORMAT = STATEMENT") {
		t.Errorf("with binlog_format STATEMENT: %v", err)
	}
}

// run runs statements.
func run(t *testing.T, db *sql.DB, statements string) {
	t.Helper()
	for text := range strings.SplitSeq(statements, "; ") {
		if text != "" {
			dbtest.Exec(t, db, text)
		}
	}
}

// An asynchronous replica is noted, a semi-synchronous one passes.
func TestMariaDBReplicas(t *testing.T) {
	server := dbtest.Run(t, databases.MariaDB, "--log-bin=binlog", "--sync-binlog=1",
		"--server-id=7", "--rpl-semi-sync-master-enabled=ON")
	db := dbtest.Open(t, server.DSN)
	dbtest.Exec(t, db, "CREATE USER replica@'127.0.0.1' IDENTIFIED BY 'r'",
		"GRANT REPLICATION SLAVE ON *.* TO replica@'127.0.0.1'", "RESET MASTER")
	none := map[string]string{"schema": "no launch log"}
	want(t, "alone", server.DSN, none)
	// The replica is another server in the same container.
	const replica = "mariadb -uroot -S /tmp/r.sock -e "
	sh := func(command string) error {
		_, err := server.Exec(ctx, "sh", "-c", command)
		return err
	}
	if err := sh("mariadb-install-db --skip-test-db --auth-root-authentication-method=normal " +
		"--user=$(id -un) --datadir=/tmp/r >/dev/null && " +
		"setsid mariadbd --no-defaults --user=$(id -un) --datadir=/tmp/r --port=3307 " +
		"--socket=/tmp/r.sock --pid-file=/tmp/r.pid --server-id=8 --skip-slave-start " +
		">/tmp/r.log 2>&1 </dev/null &"); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); sh(replica+"'SELECT 1'") != nil; {
		if time.Now().After(deadline) {
			t.Fatal("the replica does not start")
		}
	}
	if err := sh(replica + `"CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT=3306, ` +
		`MASTER_USER='replica', MASTER_PASSWORD='r', MASTER_SSL=0; START SLAVE"`); err != nil {
		t.Fatal(err)
	}
	status := func(name, value string) {
		t.Helper()
		var got string
		end := time.Now().Add(time.Minute)
		for ; got != value; time.Sleep(10 * time.Millisecond) {
			err := db.QueryRow("SHOW GLOBAL STATUS LIKE '"+name+"'").Scan(&name, &got)
			if err != nil || time.Now().After(end) {
				t.Fatalf("%s is %s, %v", name, got, err)
			}
		}
	}
	status("Slaves_connected", "1")
	want(t, "asynchronous", server.DSN, with(none, "mysql.replicas",
		"note: 1 replicas are connected, and none is semi-synchronous"))
	err := sh(replica + "'STOP SLAVE; SET GLOBAL rpl_semi_sync_slave_enabled = 1; START SLAVE'")
	if err != nil {
		t.Fatal(err)
	}
	status("Rpl_semi_sync_master_clients", "1")
	want(t, "semi-synchronous", server.DSN, none)
}

// A node of Galera is not certified, be it alone.
func TestGalera(t *testing.T) {
	server := dbtest.Run(t, databases.MariaDB, "--wsrep-on=ON",
		"--wsrep-provider=/usr/lib/galera/libgalera_smm.so", "--wsrep-cluster-address=gcomm://",
		"--binlog-format=ROW", "--innodb-autoinc-lock-mode=2")
	want(t, "as a node", server.DSN, map[string]string{
		"schema": "no launch log", "mysql.galera": "finding: wsrep_on is ON",
	})
}
