package cassandra

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"go.uber.org/goleak"

	"github.com/idmint/idmint/internal/storesuite"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
)

// What is wrong with the settings is said with the package's name, before anything is asked.
func TestSettingsAreChecked(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ca")
	if err := os.WriteFile(file, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	good := Config{Hosts: []string{"127.0.0.1:1"}, Keyspace: "shop"}
	for field, change := range map[string]func(c *Config){
		"Hosts":       func(c *Config) { c.Hosts = nil },
		"Hosts ":      func(c *Config) { c.Hosts = []string{"a", ""} },
		"Hosts  ":     func(c *Config) { c.Hosts = []string{"app:hunter2@node:9042"} },
		"Hosts   ":    func(c *Config) { c.Hosts = []string{"a", "app:hunter2@node"} },
		"Hosts    ":   func(c *Config) { c.Hosts = []string{"cassandra://node"} },
		"Hosts     ":  func(c *Config) { c.Hosts = []string{"a:1,b:2"} },
		"Hosts      ": func(c *Config) { c.Hosts = []string{"a:"} },
		"Keyspace":    func(c *Config) { c.Keyspace = `shop" WITH` },
		"Keyspace ":   func(c *Config) { c.Keyspace = strings.Repeat("k", 49) },
		"Keyspace  ":  func(c *Config) { c.Keyspace = "" },
		"DataCenter":  func(c *Config) { c.LocalSerial = true },
		"Port":        func(c *Config) { c.Port = 1 << 16 },
		"TLS.CA":      func(c *Config) { c.TLS = &TLS{CA: file} },
	} {
		c := good
		change(&c)
		s, opening := Open(t.Context(), c)
		_, _, migrating := Migrate(t.Context(), c)
		for _, err := range []error{opening, migrating} {
			var setting *ConfigError
			if s != nil || !errors.As(err, &setting) || setting.Field != strings.TrimSpace(field) {
				t.Errorf("%s: %v", field, err)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error shows the password: %v", err)
			}
			storesuite.BeginsWith(t, err, "launchlog/cassandra: ")
		}
	}
	for _, host := range []string{"a", "a:1", "::1", "[::1]", "[::1]:9042", "fe80::1%eth0"} {
		c := good
		c.Hosts = []string{host}
		if err := c.check(); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	for name, tls := range map[string]TLS{
		"no file": {CA: file + "s"}, "no key": {Cert: file}, "no certificate": {Key: file},
	} {
		c := good
		c.TLS = &tls
		_, err := Open(t.Context(), c)
		if !errors.Is(err, os.ErrNotExist) && name == "no file" || err == nil {
			t.Errorf("%s: %v", name, err)
		}
		storesuite.BeginsWith(t, err, "launchlog/cassandra: ")
	}
}

// Where nobody answers, Open ends with the context, and says that no node could be reached.
func TestNobodyAnswers(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	soon, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	silent := "192.0.2.1:9042" // an address for documents, which is nowhere
	for name, test := range map[string]struct {
		ctx  context.Context
		host string
		want error
	}{
		"an ended context": {ended, "127.0.0.1:1", context.Canceled},
		"refused":          {soon, "127.0.0.1:1", context.DeadlineExceeded},
		"no answer":        {soon, silent, context.DeadlineExceeded},
		"an unknown name":  {t.Context(), "nobody.invalid", nil},
	} {
		s, err := Open(test.ctx, Config{Hosts: []string{test.host}, Keyspace: "shop"})
		if s != nil || err == nil || test.want != nil && !errors.Is(err, test.want) {
			t.Errorf("%s: %v", name, err)
		}
		storesuite.BeginsWith(t, err, "launchlog/cassandra: ")
	}
}

// A keyspace without a log is a SchemaError. Many may make the log at once, and nothing that is
// there changes.
func TestMigrate(t *testing.T) {
	config := newConfig(t)
	none := func() {
		t.Helper()
		var schema *launchlog.SchemaError
		_, err := Open(t.Context(), config)
		if !errors.As(err, &schema) || schema.Have != 0 || schema.Want != kv.SchemaVersion {
			t.Fatalf("%v, want a SchemaError", err)
		}
		storesuite.BeginsWith(t, err, "launchlog/cassandra: ")
	}
	none()
	untold := config
	untold.Replication = nil
	var setting *ConfigError
	if _, _, err := Migrate(t.Context(), untold); !errors.As(err, &setting) ||
		!strings.Contains(err.Error(), "?replication=3") {
		t.Fatalf("without a replication: %v", err)
	}
	e, err := dial(t.Context(), config, ddlTime)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.session.Close)
	if err := e.makeKeyspace(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	none() // with a keyspace
	var all sync.WaitGroup
	begin := make(chan struct{})
	for i := range 8 {
		e, err := dial(t.Context(), config, ddlTime)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(e.session.Close)
		e.hosts.salt = fmt.Sprint(i) // else all would ask the same node
		all.Go(func() {
			<-begin
			if _, _, err := e.prepare(t.Context(), untold); err != nil {
				t.Error(err)
			}
		})
	}
	close(begin)
	all.Wait()
	if t.Failed() {
		return
	}
	// What was acknowledged by one node is there for all.
	for _, node := range config.Hosts {
		config := config
		config.Hosts = []string{node}
		client(t, config)
	}
	c := client(t, config)
	done, err := c.Commit(t.Context(), "p", kv.Change{Name: "a", Value: []byte("1")})
	if err != nil || !done {
		t.Fatalf("commit: %v, %v", done, err)
	}
	other := config
	other.Replication = map[string]string{"class": "SimpleStrategy", "replication_factor": "2"}
	if _, _, err := Migrate(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	rows, err := c.Read(t.Context(), "p", "a")
	if err != nil || rows[0].Version != 1 {
		t.Errorf("after another Migrate: %+v, %v", rows, err)
	}
	var replication map[string]string
	err = e.session.Query(`SELECT replication FROM system_schema.keyspaces
		WHERE keyspace_name = ?`, config.Keyspace).Scan(&replication)
	want := config.Replication["replication_factor"]
	if err != nil || replication["replication_factor"] != want {
		t.Errorf("replication %v, %v", replication, err)
	}
}

// A log is SERIAL, or LOCAL_SERIAL in one data centre, for ever: the two do not see each other.
func TestSerialConsistencyIsKept(t *testing.T) {
	e, err := dial(t.Context(), Config{Hosts: cluster(t), Keyspace: "system"}, requestTime)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.session.Close)
	var dataCenter string
	err = e.session.Query(`SELECT data_center FROM system.local`).Scan(&dataCenter)
	if err != nil {
		t.Fatal(err)
	}
	wide := newConfig(t)
	local := newConfig(t)
	local.DataCenter, local.LocalSerial = dataCenter, true
	for _, made := range []Config{wide, local} {
		if _, _, err := Migrate(t.Context(), made); err != nil {
			t.Fatal(err)
		}
		l := client(t, made)
		done, err := l.Commit(t.Context(), "p", kv.Change{Name: "a", Value: []byte("1")})
		if err != nil || !done {
			t.Errorf("commit: %v, %v", done, err)
		}
		wanted := made
		wanted.LocalSerial = !made.LocalSerial
		wanted.DataCenter = dataCenter
		_, opening := Open(t.Context(), wanted)
		_, _, migrating := Migrate(t.Context(), wanted)
		for _, err := range []error{opening, migrating} {
			var serial *SerialError
			if !errors.As(err, &serial) || serial.Have != made.serial() ||
				serial.Want != wanted.serial() {
				t.Errorf("%s opened as %s: %v", made.serial(), wanted.serial(), err)
			}
			storesuite.BeginsWith(t, err, "launchlog/cassandra: ")
		}
	}
	// Another data centre's LOCAL_SERIAL is another order, too.
	elsewhere := local
	elsewhere.DataCenter = "elsewhere"
	var serial *SerialError
	if err := client(t, local).find(t.Context(), elsewhere); !errors.As(err, &serial) {
		t.Errorf("%s opened as %s: %v", local.serial(), elsewhere.serial(), err)
	}
	preferred := wide // SERIAL by the nodes of one data centre is the same log
	preferred.DataCenter = dataCenter
	client(t, preferred)
}

// Calls of a closed store fail, and change nothing. Nothing of it runs on.
func TestClosed(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	s, err := Open(t.Context(), prepared(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
	if _, err := s.engine.Read(t.Context(), "p", "a"); !errors.Is(err, gocql.ErrSessionClosed) {
		t.Errorf("read: %v", err)
	}
	_, err = s.engine.Commit(t.Context(), "p", kv.Change{Name: "a"})
	if !errors.Is(err, gocql.ErrSessionClosed) {
		t.Errorf("commit: %v", err)
	}
}
