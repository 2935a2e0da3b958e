package stores_test

import (
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog/mysql"
	"github.com/idmint/idmint/migrations"
)

// hostile are settings that change what statements do. Sessions have them as a server would give
// them by default: package servers of soak_test has such a server. Refused is what New says of them
// to a pool that goes by them, where it does not take it.
var hostile = []struct{ name, value, refused string }{
	{"completion_type", "'CHAIN'", "completion_type = 'NO_CHAIN'"},
	{"completion_type", "'RELEASE'", "completion_type = 'NO_CHAIN'"},
	{"autocommit", "0", "autocommit = 1"},
	{"sql_mode", "''", "sql_mode = "},
	{
		"sql_mode", "'ORACLE,STRICT_ALL_TABLES,ONLY_FULL_GROUP_BY," +
			"HIGH_NOT_PRECEDENCE,IGNORE_SPACE'", "",
	},
	{"sql_mode", "'STRICT_ALL_TABLES,EMPTY_STRING_IS_NULL'", "sql_mode = "},
	{"sql_mode", "'ANSI,STRICT_TRANS_TABLES,NO_BACKSLASH_ESCAPES,PAD_CHAR_TO_FULL_LENGTH'", ""},
	{"unique_checks", "0", "unique_checks = 1"},
	{"foreign_key_checks", "0", ""},
	{"sql_select_limit", "1", "sql_select_limit = 18446744073709551615"},
	{"sql_safe_updates", "1", ""},
	{"charset", "latin1", "character_set_client = utf8mb4"},
	{"time_zone", "'-11:00'", ""},
	{"transaction_isolation", "'SERIALIZABLE'", ""},
	{"transaction_isolation", "'READ-UNCOMMITTED'", ""},
	{"sql_auto_is_null", "1", ""},
	{"div_precision_increment", "0", ""},
	{"group_concat_max_len", "4", ""},
	{"low_priority_updates", "1", ""},
	{"lc_messages", "'de_DE'", ""},
	{"default_storage_engine", "'Aria'", ""},
	{"auto_increment_increment", "7", ""},
	// The driver's own.
	{"parseTime", "true", ""},
	{"loc", "Asia/Kathmandu", ""},
	{"interpolateParams", "true", ""},
	{"clientFoundRows", "true", ""},
}

// Whatever a session is set to, Open's connections do every step. Those of New do as well, or it
// names the setting.
func TestMySQLHostileSessions(t *testing.T) {
	t.Parallel()
	d := mysqlServer.database(t)
	launches := 0
	for _, test := range hostile {
		set := with(t, d, test.name+"="+url.QueryEscape(test.value))
		own := open(t, set)
		launches++
		tour(t, own, fmt.Sprint("own ", launches), launches)
		own.Close()
		db := dbtest.Open(t, set)
		s, err := mysql.New(ctx, db)
		switch {
		case test.refused == "" && err == nil:
			launches++
			tour(t, s, fmt.Sprint("app ", launches), launches)
		case test.refused == "" || err == nil || !strings.Contains(err.Error(), test.refused):
			t.Errorf("New with %s = %s: %v, want %q", test.name, test.value, err, test.refused)
		}
		if err == nil {
			if err := errors.Join(s.Close(), db.Ping()); err != nil {
				t.Errorf("the app's pool was closed: %v", err)
			}
		}
		db.Close()
	}
}

// Migrations go up and down in sessions that have several of these settings at once.
func TestMySQLHostileMigrations(t *testing.T) {
	t.Parallel()
	left := hostile
	for n := 0; len(left) != 0; n++ {
		settings, later := url.Values{}, left[:0:0]
		for _, h := range left {
			if settings.Has(h.name) {
				later = append(later, h)
			} else {
				settings.Set(h.name, h.value)
			}
		}
		left = later
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			db := dbtest.Open(t, with(t, dbtest.New(t, databases.MariaDB), settings.Encode()))
			latest := migrations.Latest(migrations.MySQL)
			for range 2 {
				_, to, err := migrations.Up(ctx, db, migrations.MySQL)
				if err != nil || to != latest {
					t.Errorf("up: to %d, %v", to, err)
				}
				version, err := migrations.Version(ctx, db, migrations.MySQL)
				if err != nil || version != latest {
					t.Errorf("version %d, %v", version, err)
				}
				if err := migrations.Down(ctx, db, migrations.MySQL, 0); err != nil {
					t.Errorf("down: %v", err)
				}
			}
		})
	}
}

// An app that shares the pool turns its connections to another database, where there is a log too.
func TestMySQLUseOtherDatabase(t *testing.T) {
	t.Parallel()
	server := dbtest.Server(t, databases.MariaDB)
	name := "t-`" + strings.ToLower(rand.Text()) // which must be quoted
	quoted := "`" + strings.ReplaceAll(name, "`", "``") + "`"
	admin := dbtest.Open(t, server.DSN)
	dbtest.Exec(t, admin, "CREATE DATABASE "+quoted)
	defer dbtest.Exec(t, admin, "DROP DATABASE "+quoted)
	d, other := mysqlServer.migrated(t, server.DSN.WithDatabase(name)), mysqlServer.database(t)
	const connections = 3
	db := dbtest.Open(t, with(t, d, "sql_mode=%27STRICT_ALL_TABLES%27"))
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	s, err := mysql.New(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	var held []*sql.Conn
	for range connections {
		conn, err := db.Conn(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.ExecContext(ctx, "USE "+other.Database()); err != nil {
			t.Fatal(err)
		}
		held = append(held, conn)
	}
	for _, conn := range held {
		conn.Close()
	}
	tour(t, s, "a", 1)
	for table, want := range map[string]int{quoted: 1, other.Database(): 0} {
		var launches int
		err := admin.QueryRow("SELECT count(*) FROM " + table + ".idmint_launch").Scan(&launches)
		if err != nil || launches != want {
			t.Errorf("%s has %d launches, %v; want %d", table, launches, err, want)
		}
	}
}
