package stores_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"testing"

	driver "github.com/go-sql-driver/mysql"

	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog/mysql"
)

// A cutter is a connection that is lost once a statement was sent. It happens once.
type cutter struct {
	net.Conn
	statement []byte
	cut       *atomic.Bool
}

func (c *cutter) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if bytes.Contains(b, c.statement) && c.cut.CompareAndSwap(false, true) {
		c.Conn.Close()
	}
	return n, err
}

// TestMySQLOpeningIsCutOff: a connection that is lost between the questions by which a log is opened
// hides no log from the next attempt.
func TestMySQLOpeningIsCutOff(t *testing.T) {
	t.Parallel()
	d := mysqlServer.database(t)
	for name, open := range map[string]func(source string) (*mysql.Store, error){
		"Open": func(source string) (*mysql.Store, error) { return mysql.Open(t.Context(), source) },
		"New": func(source string) (*mysql.Store, error) {
			return mysql.New(t.Context(), dbtest.OpenSource(t, "mysql", source))
		},
	} {
		for i, statement := range []string{"database()", "max(version)", "SELECT word"} {
			var cut atomic.Bool
			network := fmt.Sprint("cut", name, i)
			driver.RegisterDialContext(network, func(ctx context.Context, addr string) (net.Conn, error) {
				conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
				return &cutter{conn, []byte(statement), &cut}, err
			})
			t.Cleanup(func() { driver.DeregisterDialContext(network) })
			config, err := driver.ParseDSN(d.Source())
			if err != nil {
				t.Fatal(err)
			}
			config.Net = network
			store, err := open(config.FormatDSN())
			if err != nil || !cut.Load() {
				t.Errorf("%s, cut off after %s (%v): %v", name, statement, cut.Load(), err)
				continue
			}
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
