package mysql_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/launchlog/serversuite"
	"github.com/idmint/idmint/launchlog/mysql"
	"github.com/idmint/idmint/migrations"
)

var ctx = context.Background()

var suite = serversuite.Server[*mysql.Store]{
	Kind: databases.MariaDB, Dialect: migrations.MySQL, Open: mysql.Open,
	OnlyReads: "transaction_read_only=1", FindsByReading: true,
	Kill: kill,
	Trip: func(table string) (create, drop string) {
		create = "CREATE TRIGGER trip BEFORE INSERT ON " + table +
			" FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'tripped'"
		return create, "DROP TRIGGER trip"
	},
	Refused: []string{
		"TRUNCATE idmint_namespace", "TRUNCATE idmint_launch",
		"REPLACE INTO idmint_namespace VALUES ('default', 0)",
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
	Refuses: func(err error) bool { return err != nil },
	Unopened: func(_ *testing.T, d dsn.DSN) [][3]string {
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
}

const replaceLaunch = "REPLACE INTO idmint_launch (namespace, launch_id, idempotency_key, " +
	"request_hash, service, environment, initiator, host) VALUES "

func kill(db *sql.DB, n int) (ended int, err error) {
	var list sql.NullString
	err = db.QueryRow(`SELECT group_concat(id) FROM information_schema.processlist
		WHERE db = database() AND id <> connection_id() AND rand() < 0.3`).Scan(&list)
	what := []string{"CONNECTION", "QUERY"}[n%2]
	for id := range strings.FieldsFuncSeq(list.String, func(r rune) bool { return r == ',' }) {
		if _, err := db.Exec(fmt.Sprintf("KILL %s %s", what, id)); err == nil {
			ended++ // it may have ended by itself
		}
	}
	return ended, err
}

func TestMain(m *testing.M) { suite.Main(m) }

func TestServer(t *testing.T) { suite.Run(t) }
