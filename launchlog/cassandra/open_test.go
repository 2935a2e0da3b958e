package cassandra

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"go.uber.org/goleak"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
	"github.com/idmint/idmint/launchlog/internal/kv/kvtest"
	"github.com/idmint/idmint/launchlog/storetest"
)

// What is wrong with the settings is said with the package's name, before anything is asked.
func TestSettingsAreChecked(t *testing.T) {
	good, long := []string{"127.0.0.1:1"}, strings.Repeat("k", 49)
	for _, test := range []struct {
		config       Config
		field, value string
	}{
		{Config{Keyspace: "shop"}, "Hosts", ""},
		{Config{Hosts: []string{"a", "app:hunter2@b"}, Keyspace: "shop"}, "Hosts", "app:xxxxx@b"},
		{Config{Hosts: good}, "Keyspace", ""},
		{Config{Hosts: good, Keyspace: `shop" WITH`}, "Keyspace", `shop" WITH`},
		{Config{Hosts: good, Keyspace: long}, "Keyspace", long},
		{Config{Hosts: good, Keyspace: "shop", LocalSerial: true}, "DataCenter", ""},
	} {
		s, opening := Open(t.Context(), test.config)
		_, _, migrating := Migrate(t.Context(), test.config)
		for _, err := range []error{opening, migrating} {
			var wrong *launchlog.RequestError
			if s != nil || !errors.As(err, &wrong) || wrong.Field != test.field ||
				wrong.Value != test.value {
				t.Errorf("%+v: %v", test, err)
			}
			storetest.BeginsWith(t, err, "launchlog/cassandra: "+test.field)
		}
	}
}

// Open says of each node what is in the way.
func TestCauses(t *testing.T) {
	kvtest.Causes(t, func(ctx context.Context, n kvtest.Nodes) error {
		_, err := Open(ctx, Config{
			Hosts: n.Addresses, Keyspace: "shop", User: n.User, Password: n.Password, TLS: n.TLS,
		})
		return err
	})
}

// Where a node takes connections and says nothing, Open ends with the context.
func TestNobodyAnswers(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = Open(ctx, Config{Hosts: []string{silent.Addr().String()}, Keyspace: "shop"})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	storetest.BeginsWith(t, err, "launchlog/cassandra: ")
}

// A keyspace without a log is a SchemaError. Many may make the log at once, by several nodes.
// Nothing that is there changes, and no table is left over.
func TestMigrate(t *testing.T) {
	config := newConfig(t)
	none := func() {
		t.Helper()
		var schema *launchlog.SchemaError
		_, err := Open(t.Context(), config)
		if !errors.As(err, &schema) || schema.Have != 0 || schema.Want != kv.SchemaVersion {
			t.Fatalf("%v, want a SchemaError", err)
		}
	}
	none()
	untold := config
	untold.Replication = nil
	var setting *launchlog.RequestError
	if _, _, err := Migrate(t.Context(), untold); !errors.As(err, &setting) ||
		!strings.Contains(err.Error(), "?replication=3") {
		t.Fatalf("without a replication: %v", err)
	}
	e := patient(t, config)
	if err := e.makeKeyspace(t.Context()); err != nil {
		t.Fatal(err)
	}
	none() // with a keyspace
	var all sync.WaitGroup
	for i := range 8 {
		own, n := untold, i%len(config.Hosts)
		own.Hosts = slices.Concat(config.Hosts[n:], config.Hosts[:n])
		all.Go(func() {
			if _, to, err := Migrate(t.Context(), own); err != nil || to != kv.SchemaVersion {
				t.Errorf("to %d, %v", to, err)
			}
		})
	}
	all.Wait()
	if t.Failed() {
		return
	}
	for _, node := range config.Hosts { // what was acknowledged by one node is there for all
		own := config
		own.Hosts = []string{node}
		client(t, own)
	}
	c := client(t, config)
	commit(t, c)
	other := config
	other.Replication = map[string]string{"class": "SimpleStrategy", "replication_factor": "2"}
	from, to, err := Migrate(t.Context(), other)
	if err != nil || from != kv.SchemaVersion || to != kv.SchemaVersion {
		t.Fatalf("from %d to %d, %v", from, to, err)
	}
	rows, err := c.Read(t.Context(), "p", "a")
	if err != nil || rows[0].Version != 1 {
		t.Errorf("after another Migrate: %+v, %v", rows, err)
	}
	have, err := e.makeLog(t.Context()) // as if it had found no log
	if err != nil || have.rows != c.rows || have.serial != "SERIAL" {
		t.Errorf("%+v, %v, want the table %s", have, err, c.rows)
	}
	session, err := config.Session(t.Context(), config.Hosts[0])
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	tables, err := session.Query(`SELECT table_name FROM system_schema.tables
		WHERE keyspace_name = ?`, config.Keyspace).Iter().SliceMap()
	if err != nil || len(tables) != 2 {
		t.Errorf("tables %v, %v", tables, err)
	}
}

func change(name string, version int64, value string) kv.Change {
	return kv.Change{Name: name, Version: version, Value: []byte(value)}
}

// commit makes a row.
func commit(t *testing.T, e *engine) {
	t.Helper()
	done, err := e.Commit(t.Context(), "p", change("a", 0, "1"))
	if err != nil || !done {
		t.Errorf("commit: %v, %v", done, err)
	}
}

// A log is SERIAL, or LOCAL_SERIAL in one data centre, for ever: the two do not see each other.
func TestSerialConsistencyIsKept(t *testing.T) {
	wide, local := newConfig(t), newConfig(t)
	var dataCenter string
	_, err := patient(t, wide).one(t.Context(), gocql.One, []any{&dataCenter},
		`SELECT data_center FROM system.local`)
	if err != nil {
		t.Fatal(err)
	}
	local.DataCenter, local.LocalSerial = dataCenter, true
	for _, made := range []Config{wide, local} {
		if _, _, err := Migrate(t.Context(), made); err != nil {
			t.Fatal(err)
		}
		commit(t, client(t, made))
		wanted := made
		wanted.DataCenter, wanted.LocalSerial = dataCenter, !made.LocalSerial
		_, opening := Open(t.Context(), wanted)
		_, _, migrating := Migrate(t.Context(), wanted)
		for _, err := range []error{opening, migrating} {
			var serial *SerialError
			if !errors.As(err, &serial) || serial.Have != made.serialLevel() ||
				serial.Want != wanted.serialLevel() {
				t.Errorf("%s opened as %s: %v", made.serialLevel(), wanted.serialLevel(), err)
			}
			storetest.BeginsWith(t, err, "launchlog/cassandra: ")
		}
	}
	// Another data centre's LOCAL_SERIAL is another order, too. No node of one is ever asked.
	elsewhere := client(t, local)
	elsewhere.config.DataCenter = "elsewhere"
	var serial *SerialError
	if err := elsewhere.find(t.Context()); !errors.As(err, &serial) {
		t.Errorf("%s opened as one of elsewhere: %v", local.serialLevel(), err)
	}
	session, err := elsewhere.config.Session(t.Context(), local.Hosts[0])
	if session != nil || err == nil || !strings.Contains(err.Error(), `not in "elsewhere"`) {
		t.Errorf("a node of %s is asked: %v", dataCenter, err)
	}
	preferred := wide // SERIAL by the nodes of one data centre is the same log
	preferred.DataCenter = dataCenter
	client(t, preferred)
}

// Calls of a closed store fail. Nothing of it runs on.
func TestClosed(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	s, err := Open(t.Context(), prepared(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
	if _, err := s.engine.Read(t.Context(), "p", "a"); !errors.Is(err, kv.ErrClosed) {
		t.Error(err)
	}
}

// The driver's Close may never return. Ours does.
func TestCloseEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ever := make(chan struct{})
		for want, do := range map[time.Duration]func(){
			closeTime / 2: func() { time.Sleep(closeTime / 2) }, closeTime: func() { <-ever },
		} {
			began := time.Now()
			within(closeTime, do)
			if took := time.Since(began); took != want {
				t.Errorf("it took %v, not %v", took, want)
			}
		}
		close(ever)
	})
}

// serverError is what a node says, by its code.
type serverError int

func (e serverError) Code() int { return int(e) }

func (e serverError) Message() string { return fmt.Sprintf("code %#x", int(e)) }

func (e serverError) Error() string { return e.Message() }

func TestClassify(t *testing.T) {
	for _, test := range []struct {
		err   error
		is    kv.Verdict
		stays bool
	}{
		{serverError(gocql.ErrCodeWriteTimeout), kv.Unsure, true},
		{serverError(gocql.ErrCodeReadTimeout), kv.Unsure, true},
		{serverError(gocql.ErrCodeCASWriteUnknown), kv.Unsure, true},
		{serverError(gocql.ErrCodeWriteFailure), kv.Unsure, true},
		{serverError(gocql.ErrCodeReadFailure), kv.Unsure, true},
		{serverError(gocql.ErrCodeTruncate), kv.Unsure, true},
		{serverError(gocql.ErrCodeUnavailable), kv.Unsure, false},
		{serverError(gocql.ErrCodeOverloaded), kv.Unsure, false},
		{serverError(gocql.ErrCodeBootstrapping), kv.Unsure, false},
		{serverError(gocql.ErrCodeServer), kv.Unsure, false},
		{gocql.ErrTimeoutNoResponse, kv.Unsure, false},
		{gocql.ErrConnectionClosed, kv.Unsure, false},
		{io.ErrUnexpectedEOF, kv.Unsure, false},
		{context.DeadlineExceeded, kv.Unsure, false},
		{gocql.ErrFrameTooBig, kv.Unsure, false}, // of the answer
		{gocql.NewErrProtocol("unexpected protocol version in response"), kv.Unsure, false},
		{gocql.ErrNoConnections, kv.Refused, false},
		{gocql.ErrNoStreams, kv.Refused, false},
		{gocql.ErrSessionClosed, kv.Refused, false},
		{serverError(gocql.ErrCodeSyntax), kv.Final, true},
		{serverError(gocql.ErrCodeInvalid), kv.Final, true},
		{serverError(gocql.ErrCodeUnauthorized), kv.Final, true},
		{serverError(gocql.ErrCodeCredentials), kv.Final, true},
		{serverError(gocql.ErrCodeConfig), kv.Final, true},
		{serverError(gocql.ErrCodeProtocol), kv.Final, true},
		{serverError(gocql.ErrCodeAlreadyExists), kv.Final, true},
		{serverError(gocql.ErrCodeFunctionFailure), kv.Final, true},
	} {
		err := fmt.Errorf("about: %w", test.err)
		if judge(err) != test.is || stays(err) != test.stays {
			t.Errorf("%v: %v, stays %t", err, judge(err), stays(err))
		}
	}
}
