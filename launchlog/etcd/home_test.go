package etcd

import (
	"errors"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
	"github.com/idmint/idmint/launchlog/internal/kv/kvtest"
	"github.com/idmint/idmint/launchlog/storetest"
)

// Endpoints of two clusters hand out nothing twice, whether the second one has a log of its own.
func TestOtherCluster(t *testing.T) {
	found := clusters(t)
	if len(found) < 2 {
		t.Skip("IDMINT_TEST_ETCD and IDMINT_KV_ETCD3 name no cluster")
	}
	for _, migrated := range []bool{false, true} {
		one, other := found["OneNode"][0], found["ThreeNodes"][0]
		config := place(one)
		s := open(t, config)
		if migrated {
			config.Endpoints = []string{other}
			if _, _, err := Migrate(ctx, config); err != nil {
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
		s.engine.all = append(s.engine.all,
			&node{endpoint: other, making: make(chan struct{}, 1)})
		s.engine.preferred.Store(1)
		if launch, err := l.Start(ctx, storetest.Request("b")); !errors.Is(err, launchlog.ErrOtherLog) {
			t.Errorf("migrated %v: launch %d, %v", migrated, launch.ID, err)
		}
		done, err := s.engine.Commit(ctx, "default/launches", kv.Change{Name: "state"})
		if done || !errors.Is(err, launchlog.ErrOtherLog) {
			t.Errorf("migrated %v: a commit is done: %v, %v", migrated, done, err)
		}
		s.engine.preferred.Store(0)
		if launch, err := l.Start(ctx, storetest.Request("b")); err != nil || launch.ID != 2 {
			t.Errorf("migrated %v: launch %d, %v", migrated, launch.ID, err)
		}
	}
}

// A log that is deleted and made anew is not the one that an app has opened.
func TestOtherLog(t *testing.T) {
	for name, endpoints := range clusters(t) {
		t.Run(name, func(t *testing.T) {
			config := place(endpoints...)
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
		})
	}
}

// Logs are apart whose prefixes, and a namespace of the one, make the same words.
func TestPrefixesAreApart(t *testing.T) {
	for name, endpoints := range clusters(t) {
		t.Run(name, func(t *testing.T) {
			config := place(endpoints...)
			kvtest.Apart(t, func(below string) launchlog.Store {
				c := config
				c.Prefix += below
				return open(t, c)
			}, "", "/b", "/b/counters", "b")
		})
	}
}
