package etcd

import (
	"context"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/idmint/idmint/launchlog/internal/kv"
)

const (
	lineTime = 20 * time.Second // that a process waits in line, at most
	lineTTL  = 5                // seconds until a killed process no longer blocks others
)

// Wait implements kv.Lines with a lock of etcd's client. The name of its key, Line, does not
// collide with a partition, because no partition but the schema's has a capital letter.
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
		_ = session.Close() // if this fails, the lease expires
		cancel()
	}
}
