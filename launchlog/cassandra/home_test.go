package cassandra

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"testing"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/idmint/idmint/internal/storesuite"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
	"github.com/idmint/idmint/launchlog/internal/kv/kvtest"
)

// A log that is deleted and made anew is not the one that an app has opened.
func TestOtherLog(t *testing.T) {
	config := newConfig(t)
	kvtest.OtherLog(t, home(t, config, func() error {
		drop(t, config)
		return nil
	}))
}

// home is a place of one keyspace.
func home(t *testing.T, config Config, drop func() error) kvtest.Place {
	return kvtest.Place{
		Migrate: func() (int, int, error) { return Migrate(t.Context(), config) },
		Drop:    drop,
		Open: func() (launchlog.Store, kv.Engine, error) {
			s, err := Open(t.Context(), config)
			if err != nil {
				return nil, nil, err
			}
			t.Cleanup(func() { _ = s.Close() })
			return s, s.engine, nil
		},
	}
}

// truncate deletes all rows of a log.
func truncate(t *testing.T, config Config) {
	t.Helper()
	e, err := dial(t.Context(), config, ddlTime)
	if err != nil {
		t.Fatal(err)
	}
	defer e.close()
	have, err := e.log(t.Context(), config, gocql.Quorum)
	if err != nil || have.rows == "" {
		t.Fatalf("the log: %+v, %v", have, err)
	}
	if err := e.session.Query(`TRUNCATE ` + config.table(have.rows)).Exec(); err != nil {
		t.Fatal(err)
	}
}

// TRUNCATE of the rows' table deletes a log as well: the table with its name stays.
func TestTruncated(t *testing.T) {
	config := newConfig(t)
	kvtest.Deleted(t, home(t, config, func() error {
		truncate(t, config)
		return nil
	}))
}

// The log is truncated behind the look of a step that makes a partition. The step hands out
// nothing, though it has inserted its rows.
func TestTruncatedBehindTheLook(t *testing.T) {
	config := prepared(t)
	e := client(t, config)
	rows, err := e.Read(t.Context(), "p", "state")
	if err != nil || rows[0].Version != 0 {
		t.Fatalf("%+v, %v", rows, err)
	}
	truncate(t, config)
	insert := kv.Change{Name: "state", Value: []byte("s")}
	if done, err := e.Commit(t.Context(), "p", insert); done ||
		!errors.Is(err, launchlog.ErrOtherLog) {
		t.Errorf("a commit that only inserts: %v, %v", done, err)
	}
	// Whoever gave up waiting for the last look does not know what became of the commit.
	soon, cancel := context.WithCancel(t.Context())
	cancel()
	var attempt *launchlog.AttemptError
	if err := e.still(soon); !errors.As(err, &attempt) || !errors.Is(err, context.Canceled) {
		t.Errorf("a look with an ended context: %v", err)
	}
}

// Steps on what is there ask twice, as they would without looking whether the log was truncated.
func TestRequests(t *testing.T) {
	config := prepared(t)
	var reads, commits atomic.Int64
	config.dialer = &cuts{choose: func(opcode byte) string {
		switch opcode {
		case opExecute:
			reads.Add(1)
		case opBatch:
			commits.Add(1)
		}
		return ""
	}}
	s, err := Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	counter := launchlog.CounterRef{Namespace: "default", Name: "c"}
	steps := map[string]func(n int) error{
		"reserve": func(int) error {
			_, err := s.ReserveNumbers(t.Context(), counter, 0, 10)
			return err
		},
		"raise": func(n int) error {
			_, err := s.RaiseCounter(t.Context(),
				launchlog.CounterRef{Namespace: "default", Name: "r"}, launchlog.Raise{
					From: int64(n), To: int64(n) + 1, Note: launchlog.NewNote(),
				})
			return err
		},
		"start": func(n int) error {
			_, err := s.StartLaunch(t.Context(), launchlog.Start{
				Namespace: "default", Request: storesuite.Request(fmt.Sprint(n)), RequestHash: "h",
			})
			return err
		},
		"claim": func(n int) error {
			_, err := s.ClaimGenerator(t.Context(), launchlog.Take{
				Ref:   launchlog.Ref{Namespace: "default", Launch: 1},
				Token: fmt.Sprint(n),
			})
			return err
		},
	}
	for _, name := range []string{"reserve", "raise", "start", "claim"} {
		if err := steps[name](0); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		fewest := int64(math.MaxInt64) // a busy node may be asked again
		for n := 1; n < 9; n++ {
			reads.Store(0)
			commits.Store(0)
			if err := steps[name](n); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if reads.Load() == 0 || commits.Load() == 0 {
				t.Errorf("%s %d: %d reads and %d commits", name, n, reads.Load(), commits.Load())
			}
			fewest = min(fewest, reads.Load()+commits.Load())
		}
		if fewest != 2 {
			t.Errorf("%s: %d requests, want a read and a commit", name, fewest)
		}
	}
}

// Of those that make a log at once one wins, and the others leave no table behind. Nobody makes a
// table that is missing: apps may still use its name.
func TestMakeLog(t *testing.T) {
	config := newConfig(t)
	e, err := dial(t.Context(), config, ddlTime)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.session.Close)
	from, to, err := e.prepare(t.Context(), config)
	if err != nil || from != 0 || to != kv.SchemaVersion {
		t.Fatalf("a new log, from %d to %d: %v", from, to, err)
	}
	from, to, err = Migrate(t.Context(), config)
	if err != nil || from != kv.SchemaVersion || to != kv.SchemaVersion {
		t.Fatalf("a log that is there, from %d to %d: %v", from, to, err)
	}
	tables := func() (names []string) {
		t.Helper()
		rows := e.session.Query(`SELECT table_name FROM system_schema.tables
			WHERE keyspace_name = ?`, config.Keyspace).Iter()
		for name := ""; rows.Scan(&name); {
			names = append(names, name)
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
		return names
	}
	before := tables()
	rows := e.rows
	have, err := e.makeLog(t.Context(), config) // as if it had found no log
	if err != nil || have.rows != rows || have.serial != "SERIAL" {
		t.Errorf("%+v, %v, want the table %s", have, err, rows)
	}
	if after := tables(); len(before) != 2 || len(after) != 2 {
		t.Errorf("tables %q, and afterwards %q", before, after)
	}
	if err := e.session.Query(`DROP TABLE ` + config.table(rows)).Exec(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Migrate(t.Context(), config); !errors.Is(err, launchlog.ErrOtherLog) {
		t.Errorf("Migrate, where the table of the rows was deleted: %v", err)
	}
	if _, err := Open(t.Context(), config); !errors.Is(err, launchlog.ErrOtherLog) {
		t.Errorf("a log without its table: %v", err)
	}
}
