package doctor

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/launchlog/checks"
)

var mysql = engine{
	place: func(ctx context.Context, db *database) (schema string, err error) {
		err = db.one(ctx, `SELECT database()`, nil, &schema)
		return schema, err
	},
	server: []checks.Probe[*database]{
		{Code: "writable", Look: mysqlWritable},
		{Code: "mysql.version", Look: mysqlVersion},
		setting("mysql.flush_log", checks.Finding, `SELECT @@global.innodb_flush_log_at_trx_commit`,
			"innodb_flush_log_at_trx_commit is %s", "1"),
		setting("mysql.sync_binlog", checks.Finding, `SELECT CASE WHEN @@global.log_bin
			THEN @@global.sync_binlog ELSE 'unused' END`, "sync_binlog is %s", "1", "unused"),
		setting("mysql.doublewrite", checks.Finding, `SELECT @@global.innodb_doublewrite`,
			"innodb_doublewrite is %s", "1", "on", "detect_and_recover", "fast"),
		{Code: "mysql.galera", Look: mysqlGalera},
		{Code: "mysql.replicas", Look: mysqlReplicas},
	},
	content: []checks.Probe[*database]{
		{Code: "tables", Look: mysqlTables},
		{Code: "rights", Look: mysqlRights},
		{Code: "rows", Look: fittingRows},
	},
	identity: mysqlIdentity,
}

// variable returns the value of a system variable, or "" if the server does not have it.
func (db *database) variable(ctx context.Context, name string) (string, error) {
	return db.shown(ctx, "SHOW GLOBAL VARIABLES LIKE '"+name+"'")
}

// shown returns the value of the only line of a SHOW, or "" if there is none.
func (db *database) shown(ctx context.Context, show string) (value string, err error) {
	rows, err := db.QueryContext(ctx, show)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name, &value); err != nil {
			return "", err
		}
	}
	return value, rows.Err()
}

func mysqlWritable(ctx context.Context, db *database, r *checks.Reporter) error {
	for _, name := range []string{"read_only", "super_read_only", "innodb_read_only"} {
		value, err := db.variable(ctx, name)
		if err != nil {
			return err
		}
		if value != "" && value != "OFF" { // MariaDB 12 has more values than ON
			r.Finding("%s is %s: the log cannot hand out numbers", name, value)
		}
	}
	r.Pass("the server accepts writes")
	return nil
}

var mysqlNumber = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\d+)\.(\d+)\.(\d+)`)
})

func mysqlVersion(ctx context.Context, db *database, r *checks.Reporter) error {
	var name string
	if err := db.one(ctx, `SELECT version()`, nil, &name); err != nil {
		return err
	}
	tooOld, err := oldMySQL(name)
	if err != nil {
		return err
	}
	if tooOld {
		r.Finding("the server is %s, older than MySQL 8.0.29 or MariaDB 10.6", name)
	}
	r.Pass("the server is %s", name)
	return nil
}

// oldMySQL parses the result of version(), which MariaDB may prefix with 5.5.5-.
func oldMySQL(version string) (bool, error) {
	m := mysqlNumber().FindStringSubmatch(strings.TrimPrefix(version, "5.5.5-"))
	if m == nil {
		return false, fmt.Errorf("%q is not a version", version)
	}
	number := 0
	for _, digits := range m[1:] {
		part, _ := strconv.Atoi(digits)
		number = number*1000 + part
	}
	if strings.Contains(version, "MariaDB") {
		return number < 10_006_000, nil
	}
	return number < 8_000_029, nil
}

func mysqlGalera(ctx context.Context, db *database, r *checks.Reporter) error {
	value, err := db.variable(ctx, "wsrep_on")
	if value == "ON" {
		r.Finding("wsrep_on is ON: the server is a node of a Galera cluster")
	}
	r.Pass("the server is not a node of a Galera cluster")
	return err
}

// mysqlReplicas counts the replicas that read the binary log. MariaDB has a status for that,
// whereas in MySQL they appear among the server's processes, if the role is allowed to see these.
func mysqlReplicas(ctx context.Context, db *database, r *checks.Reporter) error {
	connected, err := db.shown(ctx, "SHOW GLOBAL STATUS LIKE 'Slaves_connected'")
	if err == nil && connected == "" {
		err = db.one(ctx, `SELECT count(*) FROM information_schema.processlist
			WHERE command LIKE 'Binlog Dump%'`, nil, &connected)
	}
	if err != nil {
		return err
	}
	for _, name := range []string{
		"Rpl_semi_sync_master_clients", "Rpl_semi_sync_source_clients",
	} {
		waited, err := db.shown(ctx, "SHOW GLOBAL STATUS LIKE '"+name+"'")
		if err != nil {
			return err
		}
		if waited != "" && waited != "0" {
			r.Pass("%s replicas are connected, %s of them semi-synchronous", connected, waited)
			return nil
		}
	}
	if connected != "0" {
		r.Note("%s replicas are connected, and none is semi-synchronous", connected)
	}
	r.Pass("no connected replica is visible")
	return nil
}

// mysqlTables asks for each table in turn, because the server does not list tables on which the
// role has no right. The role needs no right on the empty tables that prevent TRUNCATE.
func mysqlTables(ctx context.Context, db *database, r *checks.Reporter) error {
	var missing []string
	tables, _ := expected(db.dialect, "TABLE")
	for _, name := range tables {
		_, err := db.ExecContext(ctx, "EXPLAIN SELECT 1 FROM "+db.table(name))
		switch number := dialect.MySQLNumber(err); {
		case err != nil && number == "":
			return err
		case number == noTable:
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		r.Finding("tables are missing: %s", first(missing))
	}
	other, err := db.list(ctx, `SELECT table_name FROM information_schema.tables
		WHERE table_schema = ? AND table_name LIKE 'idmint\_%' AND engine <> 'InnoDB'`, db.schema)
	if len(other) > 0 {
		r.Finding("tables are not InnoDB, and lack transactions: %s", first(other))
	}
	r.Pass("all tables exist, and are InnoDB")
	return err
}

// Error numbers of the server.
const (
	noTable      = "1146"
	denied       = "1142" // a right on a table
	deniedColumn = "1143"
)

// mysqlUses are the statements by which an app changes its tables, with the app's rights as
// "Grants" in docs/operate/mysql.md lists them. mysqlAbuses are statements that no app makes.
var mysqlUses, mysqlAbuses = []use{
	{"INSERT", "idmint_namespace", "INSERT INTO {} (namespace) SELECT namespace FROM {}"},
	{"INSERT", "idmint_generator", "INSERT INTO {} SELECT * FROM {}"},
	{"INSERT", "idmint_launch_event", "INSERT INTO {} SELECT * FROM {}"},
	{"INSERT", "idmint_counter", "INSERT INTO {} SELECT * FROM {}"},
	{"INSERT", "idmint_order", "INSERT INTO {} SELECT * FROM {}"},
	{"UPDATE", "idmint_launch", "UPDATE {} SET next_generator_id = 0"},
	{"UPDATE", "idmint_counter", "UPDATE {} SET value = 0, updated_at = '', note = '', holder = ''"},
	{"UPDATE", "idmint_order", "UPDATE {} SET namespace = '', service = '', value = 0, looks = 0"},
}, []use{
	{"UPDATE", "idmint_schema", "UPDATE {} SET word = ''"},
	{"INSERT", "idmint_schema", "INSERT INTO {} SELECT * FROM {}"},
}

// A use is a right on a table, and a statement that requires it.
type use struct{ right, table, text string }

// mysqlRights asks the server for the plan of a statement, which the server refuses if it would
// refuse the statement. Roles and patterns therefore count as they do for an app.
func mysqlRights(ctx context.Context, db *database, r *checks.Reporter) error {
	// those lists the uses for which the role has the right, or those for which it lacks it, and
	// leaves missing tables to another check.
	those := func(uses []use, has bool) (list []string, err error) {
		for _, u := range uses {
			text := strings.ReplaceAll(u.text, "{}", db.table(u.table))
			rows, err := db.QueryContext(ctx, "EXPLAIN "+text+" WHERE false")
			if err == nil {
				rows.Close()
			}
			switch code := dialect.MySQLNumber(err); {
			case code == noTable:
			case err != nil && code != denied && code != deniedColumn:
				return nil, err
			case (err == nil) == has:
				list = append(list, u.right+" on "+u.table)
			}
		}
		return list, nil
	}
	uses, abuses := slices.Clone(mysqlUses), slices.Clone(mysqlAbuses)
	for _, table := range used {
		uses = append(uses, use{"SELECT", table, "SELECT 1 FROM {}"})
		abuses = append(abuses, use{"DELETE", table, "DELETE FROM {}"})
		if table != "idmint_order" {
			abuses = append(abuses, use{"UPDATE of keys", table, "UPDATE {} SET namespace = ''"})
		}
	}
	missing, err := those(uses, false)
	if err != nil {
		return err
	}
	more, err := those(abuses, true)
	if err != nil {
		return err
	}
	var role string
	if err := db.one(ctx, `SELECT current_user()`, nil, &role); err != nil {
		return err
	}
	others, err := db.list(ctx, `SELECT DISTINCT privilege_type FROM (
		SELECT privilege_type FROM information_schema.user_privileges WHERE grantee = ?
		UNION SELECT privilege_type FROM information_schema.schema_privileges
			WHERE grantee = ? AND ? LIKE table_schema) p
		WHERE privilege_type IN ('DROP', 'ALTER', 'TRIGGER', 'SUPER') ORDER BY 1`,
		grantee(role), grantee(role), db.schema)
	rights(r, role, missing, append(more, others...))
	return err
}

// grantee formats an account as the tables of rights do: 'user'@'host'.
func grantee(account string) string {
	i := strings.LastIndexByte(account, '@')
	return "'" + account[:i] + "'@'" + account[i+1:] + "'"
}

// mysqlIdentity returns the server's identifiers: MySQL has server_uuid, and MariaDB servers that
// replicate from each other differ by server_id.
func mysqlIdentity(ctx context.Context, db *database) (map[string]string, error) {
	identity := map[string]string{"database": db.schema}
	for _, name := range []string{"server_uuid", "server_id", "gtid_domain_id"} {
		value, err := db.variable(ctx, name)
		if err != nil {
			return nil, err
		}
		if value != "" {
			identity[name] = value
		}
	}
	return identity, nil
}
