package servers_test

import (
	"context"
	"database/sql"
	"testing"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// A server that is killed comes back at the same address with what was committed.
func TestKill(t *testing.T) {
	for _, k := range []databases.Kind{databases.Postgres, databases.MariaDB} {
		t.Run(string(k), func(t *testing.T) {
			s := dbtest.Run(t, k)
			open := func() *sql.DB {
				db, err := sql.Open(s.DSN.Driver(), s.DSN.Source())
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { db.Close() })
				return db
			}
			db := open()
			for _, statement := range []string{
				"CREATE TABLE t (n int)",
				"INSERT INTO t VALUES (7)",
			} {
				if _, err := db.Exec(statement); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Signal(t.Context(), "KILL"); err != nil {
				t.Fatal(err)
			}
			if err := s.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
			var n int
			if err := open().QueryRow("SELECT n FROM t").Scan(&n); err != nil || n != 7 {
				t.Errorf("after the kill: %d, %v", n, err)
			}
		})
	}
}

// A server that is gone does not come back, and says so at once.
func TestGone(t *testing.T) {
	for _, k := range []databases.Kind{databases.Postgres, databases.Etcd} {
		t.Run(string(k), func(t *testing.T) {
			s, err := databases.Run(t.Context(), k, "")
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Stop(); err != nil {
				t.Fatal(err)
			}
			if running, err := s.Running(t.Context()); running || err == nil {
				t.Errorf("it runs: %v, %v", running, err)
			}
			if err := s.Restart(t.Context()); err == nil {
				t.Error("it was started again")
			}
		})
	}
}

// A server whose clients are cut off answers again when it is healed.
func TestCut(t *testing.T) {
	s := dbtest.Run(t, databases.Postgres)
	db := dbtest.Open(t, s.DSN)
	eventually(t, "before", db.PingContext)
	dbtest.Cut(t, s, databases.Clients)
	cut, cancel := context.WithTimeout(t.Context(), refused)
	defer cancel()
	if err := db.PingContext(cut); err == nil {
		t.Error("it answers while it is cut off")
	}
	if err := s.Heal(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "healed", db.PingContext)
}

// Each test has a database to itself, which is gone after it.
func TestNew(t *testing.T) {
	for _, k := range databases.Kinds() {
		t.Run(string(k), func(t *testing.T) {
			var name string
			t.Run("made", func(t *testing.T) {
				d := dbtest.New(t, k)
				name = d.Database()
				db, err := sql.Open(d.Driver(), d.Source())
				if err != nil {
					t.Fatal(err)
				}
				defer db.Close()
				engine := map[databases.Kind]string{databases.ClickHouse: "ENGINE = Memory"}[k]
				if _, err := db.Exec("CREATE TABLE t (n int) " + engine); err != nil {
					t.Fatal(err)
				}
			})
			s := dbtest.Server(t, k)
			t.Log(s.Version)
			if _, drop, err := s.Create(context.Background(), name); err != nil {
				t.Errorf("%s is still there: %v", name, err)
			} else if err := drop(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
}
