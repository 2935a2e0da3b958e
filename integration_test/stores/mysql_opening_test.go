package stores_test

import (
	"bytes"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	mysqllog "github.com/idmint/idmint/launchlog/mysql"
	"github.com/idmint/idmint/migrations"
)

// TestMySQLOpeningIsCutOff: a connection is lost amid the step that looks for the log. The next
// attempt finds the log.
func TestMySQLOpeningIsCutOff(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, databases.MariaDB)
	if _, _, err := migrations.Up(t.Context(), dbtest.Open(t, d), migrations.MySQL); err != nil {
		t.Fatal(err)
	}
	config, err := mysql.ParseDSN(d.Source())
	if err != nil {
		t.Fatal(err)
	}
	var cut atomic.Int32
	config.Addr = relay(t, config.Addr, func(sent []byte) bool {
		return bytes.Contains(sent, []byte("max(version)")) && cut.Add(1) == 1
	})
	store, err := mysqllog.Open(t.Context(), config.FormatDSN())
	if err != nil {
		t.Fatal(err)
	}
	store.Close()
	if cut.Load() != 2 {
		t.Errorf("the version was asked for %d times, want 2", cut.Load())
	}
}

// relay passes connections on to an address, and returns its own. A connection on which cut says yes
// of what the client sent is closed instead.
func relay(t *testing.T, to string, cut func(sent []byte) bool) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", to)
			if err != nil {
				client.Close()
				continue
			}
			go func() {
				defer client.Close()
				_, _ = io.Copy(client, server)
			}()
			go func() {
				defer server.Close()
				for buf := make([]byte, 64<<10); ; {
					n, err := client.Read(buf)
					if err != nil || cut(buf[:n]) {
						return
					}
					if _, err := server.Write(buf[:n]); err != nil {
						return
					}
				}
			}()
		}
	}()
	return l.Addr().String()
}
