package etcd

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
)

// engine is a kv.Engine. A row has the key PREFIX:PARTITION/NAME, and its version is etcd's own:
// the number of writes since the key was created. A prefix contains no colon, so keys of different
// prefixes never overlap, even if one prefix begins with the other.
type engine struct {
	config  Config
	cluster *kv.Cluster[*clientv3.Client]
	// schema is the log's schema row as it was when the log was opened, and nil until then. Each
	// step compares it, so that a cluster that has lost the log, or has another one, hands out
	// nothing.
	schema []byte
}

var _ kv.Engine = (*engine)(nil)

func newEngine(config Config) *engine {
	return &engine{config: config, cluster: kv.NewCluster(kv.Driver[*clientv3.Client]{
		Connect: config.connect, Usable: func(*clientv3.Client) bool { return true },
		Close: func(c *clientv3.Client) { _ = c.Close() }, // nothing is under way
		Judge: judge, Patience: patience, CallTime: callTime,
	}, config.Endpoints)}
}

// Close ends all calls, and closes the connections.
func (e *engine) Close() { e.cluster.Close() }

func (e *engine) key(part, name string) string { return e.config.Prefix + ":" + part + "/" + name }

// schemaKey returns the key of the schema row.
func (e *engine) schemaKey() string { return e.key(kv.SchemaPart, kv.SchemaRow) }

// isHome returns ErrOtherLog if the schema row differs from what it was when the log was opened.
func (e *engine) isHome(schema *etcdserverpb.ResponseOp) error {
	if row := rowOf("", schema); e.schema != nil && !bytes.Equal(row.Value, e.schema) {
		return launchlog.ErrOtherLog
	}
	return nil
}

// rowOf returns what a read of one key found.
func rowOf(name string, read *etcdserverpb.ResponseOp) kv.Row {
	row := kv.Row{Name: name}
	if found := read.GetResponseRange().Kvs; len(found) != 0 {
		row.Value, row.Version = found[0].Value, found[0].Version
	}
	return row
}

var errAnswer = errors.New("the server's answer does not match the request: it may not be etcd")

// check returns an error unless a transaction's answer has one response for each get, with only
// keys that the get asks for. This protects against anything that listens at an endpoint but is not
// etcd.
func check(answer *clientv3.TxnResponse, gets ...clientv3.Op) error {
	if len(answer.Responses) != len(gets) {
		return errAnswer
	}
	for i, get := range gets {
		found := answer.Responses[i].GetResponseRange()
		if found == nil {
			return errAnswer
		}
		first, end := get.KeyBytes(), get.RangeBytes()
		if end == nil {
			end = append(slices.Clone(first), 0)
		}
		for _, row := range found.Kvs {
			if bytes.Compare(row.Key, first) < 0 || bytes.Compare(row.Key, end) >= 0 {
				return errAnswer
			}
		}
	}
	return nil
}

// read reads all gets at one revision, at which the log exists.
func (e *engine) read(
	ctx context.Context, gets ...clientv3.Op,
) ([]*etcdserverpb.ResponseOp, error) {
	gets = append(gets, clientv3.OpGet(e.schemaKey()))
	found, err := kv.Look(ctx, e.cluster, func(ctx context.Context, c *clientv3.Client) (
		*clientv3.TxnResponse, error,
	) {
		answer, err := c.Txn(ctx).Then(gets...).Commit()
		if err == nil {
			err = check(answer, gets...)
		}
		return answer, err
	})
	if err != nil {
		return nil, err
	}
	last := len(gets) - 1
	return found.Responses[:last], e.isHome(found.Responses[last])
}

// Read implements kv.Engine.
func (e *engine) Read(ctx context.Context, part string, names ...string) ([]kv.Row, error) {
	gets := make([]clientv3.Op, len(names))
	for i, name := range names {
		gets[i] = clientv3.OpGet(e.key(part, name))
	}
	found, err := e.read(ctx, gets...)
	if err != nil {
		return nil, err
	}
	rows := make([]kv.Row, len(names))
	for i, name := range names {
		rows[i] = rowOf(name, found[i])
	}
	return rows, nil
}

// Commit implements kv.Engine. The same transaction may be sent to several nodes, but is executed
// at most once. If it was not executed this time, an earlier attempt may have executed it, and
// Commit then reads the rows to find out.
func (e *engine) Commit(ctx context.Context, part string, changes ...kv.Change) (bool, error) {
	var same []clientv3.Cmp
	var puts []clientv3.Op
	for _, c := range changes {
		key := e.key(part, c.Name)
		same = append(same, clientv3.Compare(clientv3.Version(key), "=", c.Version))
		if c.Value == nil {
			puts = append(puts, clientv3.OpDelete(key))
			continue
		}
		puts = append(puts, clientv3.OpPut(key, string(c.Value)))
	}
	if e.schema != nil {
		same = append(same, clientv3.Compare(clientv3.Value(e.schemaKey()), "=", string(e.schema)))
	}
	home := clientv3.OpGet(e.schemaKey())
	answer, doubt, err := kv.Ask(ctx, e.cluster, func(ctx context.Context, c *clientv3.Client) (
		*clientv3.TxnResponse, error,
	) {
		answer, err := c.Txn(ctx).If(same...).Then(puts...).Else(home).Commit()
		if err == nil && !answer.Succeeded {
			err = check(answer, home)
		}
		return answer, explain(err)
	})
	switch {
	case errors.Is(err, ErrNoSpace):
		return e.atQuota(ctx, part, changes, doubt, err)
	case err != nil:
		return false, err
	case answer.Succeeded:
		return true, nil
	}
	if err := e.isHome(answer.Responses[0]); err != nil {
		if doubt {
			err = &launchlog.AttemptError{Ambiguous: true, Err: err}
		}
		return false, err
	}
	if !doubt {
		return false, nil
	}
	return kv.Settled(ctx, e, part, changes)
}

// atQuota finds out whether a commit was executed although a node refused it for lack of space,
// which is possible if it was under way when the quota was reached. Reads still work then, and
// decide.
func (e *engine) atQuota(
	ctx context.Context, part string, changes []kv.Change, doubt bool, refusal error,
) (bool, error) {
	rows, err := kv.Reread(ctx, e, part, changes)
	for i, row := range rows {
		doubt = doubt || row.Version != changes[i].Version
	}
	if err == nil {
		if done, known := kv.Settle(changes, rows); known {
			return done, nil
		}
		if !doubt {
			return false, refusal // nothing was written
		}
	}
	return false, &launchlog.AttemptError{Ambiguous: true, Err: refusal}
}

// List implements kv.Engine.
func (e *engine) List(
	ctx context.Context, part, after, before string, limit int,
) ([]kv.Row, error) {
	partition := e.key(part, "")
	first, end := partition, clientv3.GetPrefixRangeEnd(partition)
	if after != "" {
		first = partition + after + "\x00"
	}
	if before != "" {
		end = partition + before
	}
	if first >= end {
		return nil, ctx.Err()
	}
	found, err := e.read(ctx,
		clientv3.OpGet(first, clientv3.WithRange(end), clientv3.WithLimit(int64(limit))))
	if err != nil {
		return nil, err
	}
	listed := found[0].GetResponseRange().Kvs
	rows := make([]kv.Row, len(listed))
	for i, r := range listed {
		rows[i] = kv.Row{Name: string(r.Key[len(partition):]), Value: r.Value, Version: r.Version}
	}
	return rows, nil
}

// mostOps is how many operations a transaction may have by etcd's default.
const mostOps = 128

// Each implements kv.Engine.
func (e *engine) Each(ctx context.Context, parts []string, name string) ([]kv.Row, error) {
	rows := make([]kv.Row, 0, len(parts))
	for some := range slices.Chunk(parts, mostOps-1) {
		gets := make([]clientv3.Op, len(some))
		for i, part := range some {
			gets[i] = clientv3.OpGet(e.key(part, name))
		}
		found, err := e.read(ctx, gets...)
		if err != nil {
			return nil, err
		}
		for _, r := range found {
			rows = append(rows, rowOf(name, r))
		}
	}
	return rows, ctx.Err()
}

// Now implements kv.Engine, and returns zero because etcd has no clock that clients can read.
func (e *engine) Now(ctx context.Context) (time.Time, error) { return time.Time{}, ctx.Err() }
