package mysql_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/integration_test/launchlog/serversuite"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/mysql"
	"github.com/idmint/idmint/launchlog/storetest"
	"github.com/idmint/idmint/migrations"
)

// hostile are defaults of a server that change what statements do. Refused is what New says of them
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
	{"max_join_size", "1", "MAX_JOIN_SIZE"},
	{"init_connect", "'SET NAMES latin1'", "character_set_client = utf8mb4"},
	{"time_zone", "'-11:00'", ""},
	{"transaction_isolation", "'SERIALIZABLE'", ""},
	{"transaction_isolation", "'READ-UNCOMMITTED'", ""},
	{"sql_auto_is_null", "1", ""},
	{"innodb_lock_wait_timeout", "1", ""},
	{"lock_wait_timeout", "1", ""},
	{"max_statement_time", "5", ""},
	{"div_precision_increment", "0", ""},
	{"group_concat_max_len", "4", ""},
	{"low_priority_updates", "1", ""},
	{"lc_messages", "'de_DE'", ""},
	{"default_storage_engine", "'Aria'", ""},
	{"explicit_defaults_for_timestamp", "0", ""},
	{"auto_increment_increment", "7", ""},
}

// hostileServer is a server whose defaults a test may change, and a user of it that has no special
// rights.
type hostileServer struct {
	*databases.Server
	*sql.DB // of one who may change them
}

func newHostileServer(t *testing.T) *hostileServer {
	t.Helper()
	server := dbtest.Run(t, databases.MariaDB)
	admin := dbtest.Open(t, server.DSN)
	admin.SetMaxOpenConns(1)
	dbtest.Exec(t, admin, "CREATE USER app@'%' IDENTIFIED BY 'app'",
		"GRANT ALL ON `t_%`.* TO app@'%'")
	return &hostileServer{server, admin}
}

// database makes one with an empty launch log, and names it for the user.
func (s *hostileServer) database(t *testing.T) dsn.DSN {
	t.Helper()
	d, _, err := s.Create(ctx, "t_"+strings.ToLower(rand.Text()))
	if err != nil {
		t.Fatal(err)
	}
	d, err = dsn.Parse("mysql://app:app@" + d.Host() + "/" + d.Database())
	if err != nil {
		t.Fatal(err)
	}
	limited, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	db := dbtest.Open(t, d)
	latest := migrations.Latest(migrations.MySQL)
	other := dbtest.Open(t, d)
	for range 2 {
		_, err := migrations.Version(limited, other, migrations.MySQL) // which locks nothing
		if err != nil {
			t.Errorf("version: %v", err)
		}
		if _, to, err := migrations.Up(limited, db, migrations.MySQL); err != nil || to != latest {
			t.Errorf("up: to %d, %v", to, err)
		}
		if err := migrations.Down(limited, db, migrations.MySQL, 0); err != nil {
			t.Errorf("down: %v", err)
		}
	}
	if _, to, err := migrations.Up(limited, other, migrations.MySQL); err != nil || to != latest {
		t.Errorf("up again: to %d, %v", to, err)
	}
	version, err := migrations.Version(limited, db, migrations.MySQL)
	if err != nil || version != latest {
		t.Errorf("version %d, %v", version, err)
	}
	return d
}

// Whatever a server's defaults are, Open's connections do every step. Those of New do as well, or
// it names the setting.
func TestHostileDefaults(t *testing.T) {
	server := newHostileServer(t)
	for _, test := range hostile {
		t.Run(test.name+test.value, func(t *testing.T) {
			var before string
			if err := server.QueryRow("SELECT @@global." + test.name).Scan(&before); err != nil {
				t.Fatal(err)
			}
			dbtest.Exec(t, server.DB, "SET GLOBAL "+test.name+" = "+test.value)
			defer func() {
				if _, err := server.DB.Exec("SET GLOBAL "+test.name+" = ?", before); err != nil {
					dbtest.Exec(t, server.DB, "SET GLOBAL "+test.name+" = "+before) // it is no text
				}
			}()
			d := server.database(t)
			serversuite.Tour(t, suite.Store(t, d), "own", 1)
			s, err := mysql.New(ctx, dbtest.Open(t, d))
			switch {
			case test.refused == "" && err == nil:
				serversuite.Tour(t, s, "app", 2)
			case test.refused == "" || err == nil || !strings.Contains(err.Error(), test.refused):
				t.Errorf("New: %v, want %q", err, test.refused)
			}
		})
	}
}

// The suite, with all that is hostile at once.
func TestHostileDefaultsAtOnce(t *testing.T) {
	server := newHostileServer(t)
	set := map[string]bool{}
	for _, h := range hostile {
		if !set[h.name] {
			dbtest.Exec(t, server.DB, "SET GLOBAL "+h.name+" = "+h.value)
		}
		set[h.name] = true
	}
	databases := map[launchlog.Store]string{}
	storetest.Run(t, func(t *testing.T) launchlog.Store {
		d := server.database(t)
		s := suite.Store(t, d)
		databases[s] = d.Database()
		return s
	}, func(store launchlog.Store, ref launchlog.Ref, next int) error {
		return serversuite.Jump(server.DB, databases[store]+".idmint_launch", ref, next)
	})
}

// An app that shares the pool turns its connections to another database, where there is a log too.
func TestUseOtherDatabase(t *testing.T) {
	server := dbtest.Server(t, databases.MariaDB)
	name := "t-`" + strings.ToLower(rand.Text()) // which must be quoted
	quoted := "`" + strings.ReplaceAll(name, "`", "``") + "`"
	admin := dbtest.Open(t, server.DSN)
	dbtest.Exec(t, admin, "CREATE DATABASE "+quoted)
	defer dbtest.Exec(t, admin, "DROP DATABASE "+quoted)
	d, other := server.DSN.WithDatabase(name), suite.Database(t)
	if _, _, err := migrations.Up(ctx, dbtest.Open(t, d), migrations.MySQL); err != nil {
		t.Fatal(err)
	}
	const connections = 3
	db := dbtest.Open(t, serversuite.With(t, d, "sql_mode=%27STRICT_ALL_TABLES%27"))
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
	serversuite.Tour(t, s, "a", 1)
	for table, want := range map[string]int{quoted: 1, other.Database(): 0} {
		var launches int
		err := admin.QueryRow("SELECT count(*) FROM " + table + ".idmint_launch").Scan(&launches)
		if err != nil || launches != want {
			t.Errorf("%s has %d launches, %v; want %d", table, launches, err, want)
		}
	}
}
