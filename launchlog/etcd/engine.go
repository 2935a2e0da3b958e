package etcd

import (
	"bytes"
	"context"
	"errors"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
)

// engine is a kv.Engine. The key of a row is PREFIX:PARTITION/NAME, and its version is etcd's own:
// how often the key was written since it was made. A prefix has no colon. So the keys of two
// prefixes are apart, even where one prefix begins with the other.
type engine struct {
	*nodes
	// schema is the log's schema row, as it was when the log was opened. Each step compares it. So
	// a cluster that has lost the log, or has another one, hands out nothing. It is nil until then.
	schema []byte
}

var _ kv.Engine = (*engine)(nil)

func newEngine(config Config) *engine { return &engine{nodes: newNodes(config)} }

func (e *engine) close() { e.end() }

func (e *engine) key(part, name string) string { return e.config.Prefix + ":" + part + "/" + name }

// read asks for something that changes nothing.
func read[T any](
	ctx context.Context, e *engine, call func(context.Context, *clientv3.Client) (T, error),
) (v T, err error) {
	if err := ctx.Err(); err != nil {
		return v, err
	}
	a := ask(ctx, e.nodes, call)
	switch {
	case a.err == nil:
		return a.value, nil
	case isFinal(a.err):
		return v, a.err
	default:
		return v, &launchlog.AttemptError{Err: a.err}
	}
}

func isFinal(err error) bool { return judge(err) == final }

// rowOf is what a read of one key found.
func rowOf(name string, found []*mvccpb.KeyValue) kv.Row {
	if len(found) == 0 {
		return kv.Row{Name: name}
	}
	return kv.Row{Name: name, Value: found[0].Value, Version: found[0].Version}
}

// gets reads keys as of one moment.
func gets(ctx context.Context, c *clientv3.Client, keys []string) (*clientv3.TxnResponse, error) {
	ops := make([]clientv3.Op, len(keys))
	for i, key := range keys {
		ops[i] = clientv3.OpGet(key)
	}
	return c.Txn(ctx).Then(ops...).Commit()
}

// schemaKey is the key of the schema's row.
func (e *engine) schemaKey() string { return e.key(kv.SchemaPart, kv.SchemaRow) }

// isHome returns ErrOtherLog where the schema's row is not that of the log that was opened.
func (e *engine) isHome(schema *etcdserverpb.RangeResponse) error {
	if row := rowOf("", schema.Kvs); e.schema != nil && !bytes.Equal(row.Value, e.schema) {
		return launchlog.ErrOtherLog
	}
	return nil
}

// Read implements kv.Engine.
func (e *engine) Read(ctx context.Context, part string, names ...string) ([]kv.Row, error) {
	keys := make([]string, len(names), len(names)+1)
	for i, name := range names {
		keys[i] = e.key(part, name)
	}
	keys = append(keys, e.schemaKey())
	found, err := read(ctx, e, func(ctx context.Context, c *clientv3.Client) (
		*clientv3.TxnResponse, error,
	) {
		return gets(ctx, c, keys)
	})
	if err != nil {
		return nil, err
	}
	return rowsOf(names, found), e.isHome(found.Responses[len(names)].GetResponseRange())
}

// rowsOf is the rows of a transaction that read them, and maybe more behind them.
func rowsOf(names []string, found *clientv3.TxnResponse) []kv.Row {
	rows := make([]kv.Row, len(names))
	for i, name := range names {
		rows[i] = rowOf(name, found.Responses[i].GetResponseRange().Kvs)
	}
	return rows
}

var errUnsettled = errors.New("the transaction was sent to several nodes, " +
	"and what others wrote since hides what came of it")

// Commit implements kv.Engine. The same transaction may be sent to several nodes. It is carried out
// once at most. Where it was not this time, it may have been the time before: the rows tell, which
// it reads then.
func (e *engine) Commit(ctx context.Context, part string, changes ...kv.Change) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	var same []clientv3.Cmp
	var puts, gets []clientv3.Op
	var names []string
	for _, c := range changes {
		key := e.key(part, c.Name)
		names = append(names, c.Name)
		same = append(same, clientv3.Compare(clientv3.Version(key), "=", c.Version))
		puts = append(puts, clientv3.OpPut(key, string(c.Value)))
		gets = append(gets, clientv3.OpGet(key))
	}
	if e.schema != nil {
		same = append(same, clientv3.Compare(clientv3.Value(e.schemaKey()), "=", string(e.schema)))
	}
	gets = append(gets, clientv3.OpGet(e.schemaKey()))
	a := ask(ctx, e.nodes, func(ctx context.Context, c *clientv3.Client) (
		*clientv3.TxnResponse, error,
	) {
		return c.Txn(ctx).If(same...).Then(puts...).Else(gets...).Commit()
	})
	switch {
	case errors.Is(a.err, ErrNoSpace):
		return e.atQuota(ctx, part, names, changes, a)
	case a.err != nil && isFinal(a.err) && !a.doubt:
		return false, a.err
	case a.err != nil:
		return false, &launchlog.AttemptError{Ambiguous: a.doubt, Err: a.err}
	case a.value.Succeeded:
		return true, nil
	}
	if err := e.isHome(a.value.Responses[len(changes)].GetResponseRange()); err != nil {
		if a.doubt {
			err = &launchlog.AttemptError{Ambiguous: true, Err: err}
		}
		return false, err
	}
	if !a.doubt {
		return false, nil
	}
	if done, known := kv.Settle(changes, rowsOf(names, a.value)); known {
		return done, nil
	}
	return false, &launchlog.AttemptError{Ambiguous: true, Err: errUnsettled}
}

// atQuota finds out what became of a commit that a node refused for want of space. It may be done
// nevertheless, if it was on its way when the quota was reached. Reads go on then, and tell.
func (e *engine) atQuota(
	ctx context.Context, part string, names []string, changes []kv.Change,
	a answer[*clientv3.TxnResponse],
) (bool, error) {
	inDoubt := &launchlog.AttemptError{Ambiguous: true, Err: a.err}
	rows, err := e.Read(ctx, part, names...)
	if err != nil {
		return false, inDoubt
	}
	if done, known := kv.Settle(changes, rows); known {
		return done, nil
	}
	for i, row := range rows {
		if a.doubt || row.Version != changes[i].Version {
			return false, inDoubt
		}
	}
	return false, a.err // nothing was written
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
	found, err := read(ctx, e, func(ctx context.Context, c *clientv3.Client) (
		*clientv3.TxnResponse, error,
	) {
		return c.Txn(ctx).Then(
			clientv3.OpGet(first, clientv3.WithRange(end), clientv3.WithLimit(int64(limit))),
			clientv3.OpGet(e.schemaKey()),
		).Commit()
	})
	if err != nil {
		return nil, err
	}
	listed := found.Responses[0].GetResponseRange().Kvs
	rows := make([]kv.Row, len(listed))
	for i, r := range listed {
		rows[i] = kv.Row{Name: string(r.Key[len(partition):]), Value: r.Value, Version: r.Version}
	}
	return rows, e.isHome(found.Responses[1].GetResponseRange())
}

// mostOps is how many operations a transaction may have, by etcd's default.
const mostOps = 128

// Each implements kv.Engine.
func (e *engine) Each(ctx context.Context, parts []string, name string) ([]kv.Row, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	rows := make([]kv.Row, 0, len(parts))
	for len(parts) > 0 {
		keys := make([]string, min(mostOps-1, len(parts)), mostOps)
		for i, part := range parts[:len(keys)] {
			keys[i] = e.key(part, name)
		}
		parts = parts[len(keys):]
		keys = append(keys, e.schemaKey())
		found, err := read(ctx, e, func(ctx context.Context, c *clientv3.Client) (
			*clientv3.TxnResponse, error,
		) {
			return gets(ctx, c, keys)
		})
		if err != nil {
			return nil, err
		}
		last := len(keys) - 1
		for _, r := range found.Responses[:last] {
			rows = append(rows, rowOf(name, r.GetResponseRange().Kvs))
		}
		if err := e.isHome(found.Responses[last].GetResponseRange()); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// Now implements kv.Engine: etcd has no clock that can be asked.
func (e *engine) Now(ctx context.Context) (time.Time, error) { return time.Time{}, ctx.Err() }
