package cassandra

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
	"github.com/idmint/idmint/launchlog/internal/kv/kvtest"
	"github.com/idmint/idmint/launchlog/storetest"
)

// newConfig names a keyspace of the test's own in the cluster that the environment names. The
// test's end drops it. Of three nodes each has a copy of all rows.
func newConfig(t testing.TB) Config {
	t.Helper()
	nodes := kvtest.NodesOf(t, "IDMINT_TEST_CASSANDRA")
	config := Config{
		Hosts:    nodes,
		Keyspace: "idmint_test_" + strings.ToLower(rand.Text()[:10]),
		Replication: map[string]string{
			"class": "SimpleStrategy", "replication_factor": fmt.Sprint(min(3, len(nodes))),
		},
	}
	t.Cleanup(func() { drop(t, config) })
	return config
}

// patient is an engine for changes of the schema, which the test's end closes.
func patient(t testing.TB, config Config) *engine {
	t.Helper()
	config, err := config.Checked()
	if err != nil {
		t.Fatal(err)
	}
	e := newEngine(config, ddlTime, migrateTime)
	t.Cleanup(e.Close)
	return e
}

func drop(t testing.TB, config Config) {
	t.Helper()
	e := patient(t, config)
	err := e.define(context.Background(), `DROP KEYSPACE IF EXISTS "`+config.Keyspace+`"`)
	if err != nil {
		t.Errorf("dropping %s: %v", config.Keyspace, err)
	}
}

// prepared is a keyspace that was migrated.
func prepared(t testing.TB) Config {
	t.Helper()
	config := newConfig(t)
	if _, _, err := Migrate(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	return config
}

// client is an engine with connections of its own, which the test's end closes.
func client(t testing.TB, config Config) *engine {
	t.Helper()
	s, err := Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s.engine
}

// A place is a part of a keyspace that has partitions of its own. To make a keyspace takes seconds.
type place struct {
	*engine
	prefix string
}

func (p *place) Read(ctx context.Context, part string, names ...string) ([]kv.Row, error) {
	return p.engine.Read(ctx, p.prefix+part, names...)
}

func (p *place) Commit(ctx context.Context, part string, changes ...kv.Change) (bool, error) {
	return p.engine.Commit(ctx, p.prefix+part, changes...)
}

func (p *place) List(
	ctx context.Context, part, after, before string, limit int,
) ([]kv.Row, error) {
	return p.engine.List(ctx, p.prefix+part, after, before, limit)
}

func (p *place) Each(ctx context.Context, parts []string, name string) ([]kv.Row, error) {
	all := make([]string, len(parts))
	for i, part := range parts {
		all[i] = p.prefix + part
	}
	return p.engine.Each(ctx, all, name)
}

func TestEngine(t *testing.T) {
	config := prepared(t)
	kvtest.Run(t, func(t *testing.T) func() kv.Engine {
		t.Parallel()
		prefix := rand.Text()
		return func() kv.Engine { return &place{client(t, config), prefix} }
	})
}

func TestStore(t *testing.T) {
	e := client(t, prepared(t))
	var places sync.Map // the engines of stores
	storetest.Run(t, func(t *testing.T) launchlog.Store {
		t.Parallel()
		p := &place{e, rand.Text()}
		s := kv.New(p, nil)
		places.Store(s, p)
		return s
	}, func(s launchlog.Store, ref launchlog.Ref, next int) error {
		p, _ := places.Load(s)
		return kvtest.Jump(p.(kv.Engine), ref, next)
	})
}

func TestFaults(t *testing.T) {
	config := prepared(t)
	for n := len(config.Hosts); n < 3; n++ { // each has connections of its own
		config.Hosts = append(config.Hosts, config.Hosts[0])
	}
	kvtest.Faults(t, func(t *testing.T) func(kvtest.Dial) kvtest.Client {
		prefix := rand.Text()
		return func(dial kvtest.Dial) kvtest.Client {
			c := config
			c.dialer = dialer(dial)
			return &place{client(t, c), prefix}
		}
	})
}
