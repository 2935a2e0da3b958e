package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
)

// An engine keeps rows as znodes, with the znode's data as value, and dataVersion plus one as
// version.
type engine struct {
	config  Config
	cluster *kv.Cluster[*link]
	// root is the znode that contains all partitions, and exists only in the log that was opened:
	// see layout.go. Until the log is known, root is the path.
	root string
	acl  []zk.ACL // of the znodes that it creates
}

var _ kv.Engine = engine{}

// newEngine returns an engine that reads and writes nothing but the schema row.
func newEngine(config Config) engine {
	e := engine{config: config, root: config.Path, acl: zk.WorldACL(zk.PermAll)}
	if config.User != "" {
		e.acl = zk.DigestACL(zk.PermAll, config.User, config.Password)
	}
	e.cluster = kv.NewCluster(kv.Driver[*link]{
		Connect: config.connect, Usable: (*link).usable, Close: (*link).close, Judge: judge,
		// Package zk detects a silent server on its own timer.
		Patience: callTime, CallTime: callTime,
	}, config.Servers)
	return e
}

// Close ends all calls, and closes the connections.
func (e engine) Close() { e.cluster.Close() }

// bound returns the engine of the log that has the schema row.
func (e engine) bound(schema kv.Row) (engine, error) {
	word, err := kv.Word(schema)
	e.root = e.rootPath(word)
	return e, err
}

// errAbsent returns the error for a missing root.
func (e engine) errAbsent() error {
	if e.root == e.config.Path {
		return &launchlog.SchemaError{Want: kv.SchemaVersion}
	}
	return launchlog.ErrOtherLog
}

// maxVersion is the last version of a row. After it a znode's dataVersion, which has 32 bits, would
// become negative, although −1 stands for any version.
const maxVersion = math.MaxInt32

// Read implements kv.Engine. It reads several rows once while the barrier is under way, and again
// after it.
func (e engine) Read(ctx context.Context, part string, names ...string) ([]kv.Row, error) {
	if len(names) == 1 {
		return e.Each(ctx, []string{part}, names[0])
	}
	return kv.Look(ctx, e.cluster, func(ctx context.Context, l *link) (rows []kv.Row, err error) {
		err = kv.Parallel(ctx, 2, 2, func(ctx context.Context, i int) (err error) {
			if i == 0 {
				return e.barrier(ctx, l)
			}
			rows, err = e.collect(ctx, l, part, names)
			return err
		})
		if err != nil {
			return nil, err
		}
		return e.snapshot(ctx, l, part, names, rows)
	})
}

// read runs f on a link whose server has caught up with everything that was acknowledged before the
// call. That holds for all reads of f on the link.
func read[T any](
	ctx context.Context, e engine, f func(context.Context, *link) (T, error),
) (T, error) {
	return kv.Look(ctx, e.cluster, func(ctx context.Context, l *link) (v T, err error) {
		if err := e.barrier(ctx, l); err != nil {
			return v, err
		}
		return f(ctx, l)
	})
}

// barrier waits until the link's server has caught up with the ensemble's state at the time of the
// call.
//
// Sync is not enough for that, because a leader answers it alone. A leader that was stopped or cut
// off does not know yet that another one was elected, or what the others have acknowledged since.
// The barrier is therefore a transaction. It writes nothing, but is logged by a majority like any
// other, and is ordered after all transactions that were acknowledged before. The server answers it
// once it has executed all of them, and answers later requests of the link after that.
//
// The transaction also checks that the root exists, and therefore the log.
func (e engine) barrier(ctx context.Context, l *link) error {
	_, err := multi(ctx, l, []any{&zk.CheckVersionRequest{Path: e.root, Version: -1}})
	switch {
	case !errors.Is(err, zk.ErrNoNode):
		return err
	case e.root == e.config.Path: // nothing was prepared: the schema row is absent
		return nil
	}
	return e.errAbsent()
}

// snapshot reads rows as a partition had them at one moment after the barrier. Before is an earlier
// read of them. The rows are read one by one, and all of them again until two passes agree. Because
// a version only rises, all rows then had these versions when the second pass began.
func (e engine) snapshot(
	ctx context.Context, l *link, part string, names []string, before []kv.Row,
) ([]kv.Row, error) {
	for {
		rows, err := e.collect(ctx, l, part, names)
		same := slices.EqualFunc(rows, before, func(a, b kv.Row) bool {
			return a.Version == b.Version
		})
		if err != nil || same {
			return rows, err
		}
		before = rows
	}
}

// collect reads rows of a partition, concurrently and one by one.
func (e engine) collect(
	ctx context.Context, l *link, part string, names []string,
) ([]kv.Row, error) {
	paths := make([]string, len(names))
	for i, name := range names {
		paths[i] = e.rowPath(part, name)
	}
	return collect(ctx, l, paths, names)
}

// width is how many requests of one call are under way at a time.
const width = 64

// collect reads rows, concurrently and one by one.
func collect(ctx context.Context, l *link, paths, names []string) ([]kv.Row, error) {
	rows := make([]kv.Row, len(paths))
	err := kv.Parallel(ctx, len(paths), width, func(ctx context.Context, i int) error {
		row, err := ask(ctx, l, func(conn *zk.Conn) (kv.Row, error) {
			data, stat, err := conn.Get(paths[i])
			if err != nil {
				return kv.Row{}, err
			}
			return kv.Row{Value: data, Version: int64(stat.Version) + 1}, nil
		})
		row.Name = names[i]
		rows[i] = row
		return orNone(err)
	})
	return rows, err
}

// orNone returns the error of a request for which a missing znode is not an error.
func orNone(err error) error {
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}

// Commit implements kv.Engine by one transaction of the ensemble. A row that must exist is set with
// its version, and a row that must not exist is created. Both require the root, which no
// transaction creates again.
//
// If the answer is lost, the same transaction is sent again on another link. However late the first
// one is executed, this is safe, because both compare the versions that they change, so that only
// one can succeed. If the second one is refused, a snapshot of the rows shows whether that was
// because of the first.
func (e engine) Commit(ctx context.Context, part string, changes ...kv.Change) (bool, error) {
	if slices.ContainsFunc(changes, func(c kv.Change) bool { return c.Version > maxVersion }) {
		return false, ctx.Err() // no row has such a version
	}
	ops, err := e.operations(part, changes)
	if err != nil {
		return false, err
	}
	done, doubt, err := kv.Ask(ctx, e.cluster, func(ctx context.Context, l *link) (bool, error) {
		return e.commit(ctx, l, part, changes, ops)
	})
	if err == nil && !done && doubt {
		return kv.Settled(ctx, e, part, changes)
	}
	if done && changes[0].Value == nil {
		err = e.clear(ctx, part, changes)
	}
	return done, err
}

// clear deletes the blocks and buckets of deleted rows, if they are empty. A concurrent commit that
// needs one for a new row creates it again.
func (e engine) clear(ctx context.Context, part string, changes []kv.Change) error {
	parents := map[string]bool{}
	for _, c := range changes {
		parents[above(e.rowPath(part, c.Name))] = true
	}
	_, err := kv.Look(ctx, e.cluster, func(ctx context.Context, l *link) (any, error) {
		for path := range parents {
			_, err := ask(ctx, l, func(conn *zk.Conn) (any, error) { return nil, conn.Delete(path, -1) })
			if !errors.Is(err, zk.ErrNotEmpty) && orNone(err) != nil {
				return nil, err
			}
		}
		return nil, nil
	})
	return err
}

// commit commits on one link, after creating missing znodes above new rows if necessary.
func (e engine) commit(
	ctx context.Context, l *link, part string, changes []kv.Change, ops []any,
) (bool, error) {
	for {
		results, err := multi(ctx, l, ops)
		if !unmet(err) {
			return err == nil, err
		}
		row := slices.IndexFunc(results, func(r zk.MultiResponse) bool { return r.Error != nil })
		if row < 0 || row >= len(changes) || changes[row].Version != 0 ||
			results[row].Error != zk.ErrNoNode {
			return false, nil
		}
		if err := e.makePath(ctx, l, above(e.rowPath(part, changes[row].Name))); err != nil {
			return false, err
		}
	}
}

// operations returns the operations of the transaction that commits changes.
func (e engine) operations(part string, changes []kv.Change) ([]any, error) {
	ops := make([]any, len(changes))
	for i, c := range changes {
		path := e.rowPath(part, c.Name)
		switch {
		case c.Version == maxVersion:
			return nil, fmt.Errorf("row %q of %q was written %d times: ZooKeeper cannot count "+
				"further", c.Name, part, c.Version)
		case c.Value == nil:
			ops[i] = &zk.DeleteRequest{Path: path, Version: int32(c.Version - 1)}
		case c.Version == 0:
			ops[i] = &zk.CreateRequest{Path: path, Data: c.Value, Acl: e.acl}
		default:
			ops[i] = &zk.SetDataRequest{Path: path, Data: c.Value, Version: int32(c.Version - 1)}
		}
	}
	if part == kv.SchemaPart && changes[0].Version == 0 {
		word, err := kv.Word(kv.Row{Version: 1, Value: changes[0].Value})
		if err != nil {
			return nil, err
		}
		ops = append(ops, &zk.CreateRequest{Path: e.rootPath(word), Acl: e.acl})
	}
	return ops, nil
}

// multi sends a transaction. If the server refuses it, the results show which operation failed.
func multi(ctx context.Context, l *link, ops []any) ([]zk.MultiResponse, error) {
	return ask(ctx, l, func(conn *zk.Conn) ([]zk.MultiResponse, error) { return conn.Multi(ops...) })
}

// above returns the path of a znode's parent, or "" for the topmost znode.
func above(path string) string { return path[:strings.LastIndex(path, "/")] }

// makePath creates a znode and its missing ancestors, but never the root of a log.
func (e engine) makePath(ctx context.Context, l *link, path string) error {
	for {
		_, err := ask(ctx, l, func(conn *zk.Conn) (string, error) {
			return conn.Create(path, nil, zk.FlagPersistent, e.acl)
		})
		switch {
		case errors.Is(err, zk.ErrNodeExists):
			return nil
		case !errors.Is(err, zk.ErrNoNode) || above(path) == "":
			return err
		case above(path) == e.root:
			return e.errAbsent()
		}
		if err := e.makePath(ctx, l, above(path)); err != nil {
			return err
		}
	}
}

// List implements kv.Engine.
func (e engine) List(
	ctx context.Context, part, after, before string, limit int,
) ([]kv.Row, error) {
	return read(ctx, e, func(ctx context.Context, l *link) ([]kv.Row, error) {
		names, err := list(ctx, l, e.partPath(part), span{after, before}, limit)
		if err != nil {
			return nil, err
		}
		return e.collect(ctx, l, part, names)
	})
}

// list returns the first names of a span in a partition, in the order of their bytes.
func list(
	ctx context.Context, l *link, path string, s span, limit int,
) (names []string, err error) {
	all, err := children(ctx, l, path)
	if err != nil {
		return nil, err
	}
	names, buckets, blocks := s.sort(all)
	found := make([][]string, len(buckets))
	err = kv.Parallel(ctx, len(buckets), width, func(ctx context.Context, i int) (err error) {
		found[i], err = children(ctx, l, path+"/"+buckets[i])
		return err
	})
	numbered := 0
	// All names of a block come before those in the next block.
	for _, block := range blocks {
		if err != nil || numbered >= limit {
			break
		}
		var in []string
		in, err = children(ctx, l, path+"/"+block)
		in = slices.DeleteFunc(in, func(name string) bool { return !s.has(name) })
		numbered += len(in)
		names = append(names, in...)
	}
	for _, name := range slices.Concat(found...) {
		if s.has(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names[:min(limit, len(names))], err
}

// children returns the names of a znode's children, or none if the znode does not exist.
func children(ctx context.Context, l *link, path string) ([]string, error) {
	names, err := ask(ctx, l, func(conn *zk.Conn) ([]string, error) {
		names, _, err := conn.Children(path)
		return names, err
	})
	return names, orNone(err)
}

// Each implements kv.Engine.
func (e engine) Each(ctx context.Context, parts []string, name string) ([]kv.Row, error) {
	paths, names := make([]string, len(parts)), make([]string, len(parts))
	for i, part := range parts {
		paths[i], names[i] = e.rowPath(part, name), name
	}
	return read(ctx, e, func(ctx context.Context, l *link) ([]kv.Row, error) {
		return collect(ctx, l, paths, names)
	})
}

// Now implements kv.Engine, and returns the leader's time, which it learns by a write to the root.
func (e engine) Now(ctx context.Context) (time.Time, error) {
	return kv.Look(ctx, e.cluster, func(ctx context.Context, l *link) (now time.Time, err error) {
		stat, err := ask(ctx, l, func(conn *zk.Conn) (*zk.Stat, error) {
			return conn.Set(e.root, nil, -1)
		})
		switch {
		case errors.Is(err, zk.ErrNoNode):
			return now, e.errAbsent()
		case err != nil:
			return now, err
		}
		return time.UnixMilli(stat.Mtime), nil
	})
}
