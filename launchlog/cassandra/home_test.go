package cassandra

import (
	"errors"
	"math"
	"sync/atomic"
	"testing"

	"github.com/idmint/idmint/internal/faultnet"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
	"github.com/idmint/idmint/launchlog/internal/kv/kvtest"
)

// A log that is deleted and made anew is not the one that an app has opened.
func TestOtherLog(t *testing.T) { kvtest.OtherLog(t, home(t, drop)) }

// TRUNCATE of the rows' table deletes a log as well, and so does DROP TABLE: the table with its
// name stays. Nobody makes it again, since apps may still use it.
func TestDeleted(t *testing.T) {
	for _, statement := range []string{"TRUNCATE ", "DROP TABLE "} {
		t.Run(statement, func(t *testing.T) {
			kvtest.Deleted(t, home(t, func(t testing.TB, config Config) {
				wipe(t, config, statement)
			}))
		})
	}
}

// home is a place of one keyspace.
func home(t *testing.T, drop func(testing.TB, Config)) kvtest.Place {
	config := newConfig(t)
	return kvtest.Place{
		Migrate: func() (int, int, error) { return Migrate(t.Context(), config) },
		Drop: func() error {
			drop(t, config)
			return nil
		},
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

// wipe has a statement about the table of a log's rows carried out.
func wipe(t testing.TB, config Config, statement string) {
	t.Helper()
	e := patient(t, config)
	err := e.find(t.Context())
	if err == nil {
		err = e.define(t.Context(), statement+config.table(e.rows))
	}
	if err != nil {
		t.Fatal(err)
	}
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
	wipe(t, config, "TRUNCATE ")
	if done, err := e.Commit(t.Context(), "p", change("state", 0, "s")); done ||
		!errors.Is(err, launchlog.ErrOtherLog) {
		t.Errorf("a commit that only inserts: %v, %v", done, err)
	}
}

// A step on what is there asks twice, as it would without looking whether the log was truncated.
func TestRequests(t *testing.T) {
	const execute, batch = 0x0a, 0x0d // of Cassandra's protocol, in the fifth byte of a frame
	config, wire := prepared(t), faultnet.New(t)
	config.dialer = wire.Dial
	var requests atomic.Int64
	wire.Hook(func(frame []byte) faultnet.Fate {
		if len(frame) > 4 && (frame[4] == execute || frame[4] == batch) {
			requests.Add(1)
		}
		return faultnet.Pass
	})
	s := kv.New(client(t, config), nil)
	fewest := int64(math.MaxInt64) // a busy node may be asked again
	for range 9 {
		requests.Store(0)
		_, err := s.ReserveNumbers(t.Context(),
			launchlog.CounterRef{Namespace: "default", Name: "c"}, 0, 10)
		if err != nil {
			t.Fatal(err)
		}
		fewest = min(fewest, requests.Load())
	}
	if fewest != 2 {
		t.Errorf("%d requests, want a read and a commit", fewest)
	}
}
