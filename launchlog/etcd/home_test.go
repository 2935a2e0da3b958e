package etcd

import (
	"errors"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/namespace"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
	"github.com/idmint/idmint/launchlog/internal/kv/kvtest"
	"github.com/idmint/idmint/launchlog/storetest"
)

// otherCluster is a node of another cluster, for which the keys of this one are not there.
func otherCluster(t *testing.T, s *Store) *node {
	t.Helper()
	mine := s.engine.all[0]
	client, err := newNodes(s.engine.config).connect(ctx, &node{
		endpoint: mine.endpoint, plain: mine.plain, making: make(chan struct{}, 1),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	client.KV = namespace.NewKV(client.KV, "/elsewhere")
	return &node{endpoint: "elsewhere:2379", making: make(chan struct{}, 1), client: client}
}

// Endpoints of two clusters hand out nothing twice, whether the second one has a log of its own.
func TestOtherCluster(t *testing.T) {
	for _, migrated := range []bool{false, true} {
		s := open(t, place(t))
		other := otherCluster(t, s)
		if migrated {
			elsewhere := newEngine(s.engine.config)
			elsewhere.all = []*node{other}
			if _, _, err := kv.Migrate(ctx, elsewhere); err != nil {
				t.Fatal(err)
			}
		}
		l, err := launchlog.New(s, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Start(ctx, storetest.Request("a")); err != nil {
			t.Fatal(err)
		}
		// As if a name in Endpoints led elsewhere, and that node answered first.
		home := s.engine.preferred.Load()
		s.engine.preferred.Store(int64(len(s.engine.all)))
		s.engine.all = append(s.engine.all, other)
		if launch, err := l.Start(ctx, storetest.Request("b")); !errors.Is(err, launchlog.ErrOtherLog) {
			t.Errorf("migrated %v: launch %d, %v", migrated, launch.ID, err)
		}
		done, err := s.engine.Commit(ctx, "default/launches", kv.Change{Name: "state"})
		if done || !errors.Is(err, launchlog.ErrOtherLog) {
			t.Errorf("migrated %v: a commit is done: %v, %v", migrated, done, err)
		}
		s.engine.preferred.Store(home)
		if launch, err := l.Start(ctx, storetest.Request("b")); err != nil || launch.ID != 2 {
			t.Errorf("migrated %v: launch %d, %v", migrated, launch.ID, err)
		}
	}
}

// A log that is deleted and made anew is not the one that an app has opened.
func TestOtherLog(t *testing.T) {
	t.Parallel()
	config := place(t)
	kvtest.OtherLog(t, kvtest.Place{
		Migrate: func() (int, int, error) { return Migrate(ctx, config) },
		Drop: func() error {
			e := newEngine(config)
			defer e.close()
			client, err := e.connect(ctx, e.all[0])
			if err != nil {
				return err
			}
			_, err = client.Delete(ctx, config.Prefix+":", clientv3.WithPrefix())
			return err
		},
		Open: func() (launchlog.Store, kv.Engine, error) {
			s, err := Open(ctx, config)
			if err != nil {
				return nil, nil, err
			}
			t.Cleanup(func() { s.Close() })
			return s, s.engine, nil
		},
	})
}

// Logs are apart whose prefixes, and a namespace of the one, make the same words.
func TestPrefixesAreApart(t *testing.T) {
	t.Parallel()
	config := place(t)
	kvtest.Apart(t, func(below string) launchlog.Store {
		c := config
		c.Prefix += below
		return open(t, c)
	}, "", "/b", "/b/counters", "b")
}
