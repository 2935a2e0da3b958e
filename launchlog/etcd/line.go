package etcd

import (
	"context"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/idmint/idmint/launchlog/internal/kv"
)

const (
	lineTime = 20 * time.Second // that a process stands in line, at most
	lineTTL  = 5                // seconds after which one that was killed is in nobody's way
)

// Wait implements kv.Lines, by a lock of etcd's client. Partitions have no capital letters, but that of
// the schema.
func (e *engine) Wait(ctx context.Context, part string) (leave func()) {
	ctx, cancel := context.WithTimeout(ctx, lineTime)
	client, err := kv.Look(ctx, e.cluster, func(ctx context.Context, c *clientv3.Client) (
		*clientv3.Client, error,
	) {
		_, err := c.Get(ctx, e.schemaKey()) // this node answers
		return c, err
	})
	if err != nil {
		return cancel
	}
	session, err := concurrency.NewSession(client, concurrency.WithTTL(lineTTL),
		concurrency.WithContext(ctx))
	if err != nil {
		return cancel
	}
	_ = concurrency.NewMutex(session, e.key("Line", part)).Lock(ctx)
	return func() {
		_ = session.Close() // where it fails, the lease ends by itself
		cancel()
	}
}
