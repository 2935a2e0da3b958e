package mysql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/idmint/idmint/launchlog"
)

// silent connects to nobody.
type silent struct{}

func (silent) Connect(context.Context) (driver.Conn, error) { return silentConn{}, nil }

func (silent) Driver() driver.Driver { return mysql.MySQLDriver{} }

type silentConn struct{ driver.Conn }

func (silentConn) Close() error { return nil }

// A step that waits in vain for a connection of an app's pool says what to do. One that waits for a
// connection of the store's own does not: no transaction of the app has it.
func TestAllConnectionsInUse(t *testing.T) {
	db := sql.OpenDB(silent{})
	defer db.Close()
	db.SetMaxOpenConns(1)
	held, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	for _, own := range []bool{false, true} {
		s := &Store{db: db, own: own}
		s.steps = newSteps(s, "")
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		_, reading := s.LastNumber(ctx, launchlog.CounterRef{Namespace: "n", Name: "c"})
		_, writing := s.ReserveNumbers(ctx, launchlog.CounterRef{Namespace: "n", Name: "c"}, 0, 1)
		cancel()
		for _, err := range []error{reading, writing} {
			if !errors.Is(err, context.DeadlineExceeded) ||
				strings.Contains(err.Error(), "Ready") == own {
				t.Errorf("with a pool of its own %v: %v", own, err)
			}
		}
	}
}
