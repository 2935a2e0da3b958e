package stores_test

import (
	"testing"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/migrations"
)

var mysqlServer = server{
	kind: databases.MariaDB, dialect: migrations.MySQL,
	onlyReads: "transaction_read_only=1", findsByReading: true,
	// InnoDB's own locks would do, but innodb_trx shows a copy of 0.1 s ago, which is not made anew
	// while anybody looks at it more often.
	locks: "LOCK TABLES idmint_launch WRITE, idmint_namespace WRITE",
	calls: `SELECT id FROM information_schema.processlist
		WHERE db = database() AND state = 'Waiting for table metadata lock'`,
	trip: func(table string) (create, drop string) {
		create = "CREATE TRIGGER trip BEFORE INSERT ON " + table +
			" FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'tripped'"
		return create, "DROP TRIGGER trip"
	},
	refused: []string{
		"TRUNCATE idmint_namespace", "TRUNCATE idmint_launch",
		"REPLACE INTO idmint_namespace (namespace, last_launch_id) VALUES ('default', 0)",
		replaceLaunch + "('default', 2, 'new', '', '', '', '', '')",
		replaceLaunch + "('default', 3, 'b', '', '', '', '', '')",
		"REPLACE INTO idmint_generator (namespace, launch_id, generator_id, token, host, pid) " +
			"VALUES ('default', 1, 0, 'x', 'h', 1)",
		"REPLACE INTO idmint_launch_event (event_id, namespace, kind, actor) " +
			"VALUES (1, 'default', 'x', 'y')",
		"REPLACE INTO idmint_counter (namespace, name, value) VALUES ('default', 'c', 0)",
		"INSERT INTO idmint_counter (namespace, name, value) VALUES ('default', 'c', 0) " +
			"ON DUPLICATE KEY UPDATE value = 0",
	},
	unopened: func(_ *testing.T, d dsn.DSN) [][3]string {
		const want = "user:password@tcp(host:3306)/database"
		return [][3]string{
			{"no database", d.WithDatabase("none").Source(), "Unknown database 'none'"},
			{
				"none named", d.WithDatabase("").Source(),
				"the connection has no database: name one in the DSN",
			},
			{"not a DSN", "me:secret@nowhere", "invalid DSN"},
			{"as for --db", "mysql://me:secret@127.0.0.1:1/none", want},
			{"as for --db, with the network", "mariadb://me:secret@tcp(127.0.0.1:1)/none", want},
		}
	},
	objects: objectsOfMySQL, whole: "?multiStatements=true",
}
