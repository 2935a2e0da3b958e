package stores_test

import (
	"context"
	"fmt"
	"net"
	"testing"

	driver "github.com/go-sql-driver/mysql"

	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/internal/faultnet"
	"github.com/idmint/idmint/launchlog/mysql"
)

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
			wire := faultnet.New(t)
			met := wire.Once([]byte(statement), faultnet.End)
			network := fmt.Sprint("cut", name, i)
			driver.RegisterDialContext(network, func(ctx context.Context, addr string) (net.Conn, error) {
				return wire.Dial(ctx, "tcp", addr)
			})
			t.Cleanup(func() { driver.DeregisterDialContext(network) })
			config, err := driver.ParseDSN(d.Source())
			if err != nil {
				t.Fatal(err)
			}
			config.Net = network
			store, err := open(config.FormatDSN())
			if err != nil {
				t.Errorf("%s, cut off after %s: %v", name, statement, err)
				continue
			}
			select {
			case <-met:
			default:
				t.Errorf("%s never sends %s", name, statement)
			}
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
