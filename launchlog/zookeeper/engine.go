package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
)

// An engine keeps rows as znodes: the value is the znode's data, the version its dataVersion and
// one.
type engine struct {
	*links
	// root is the znode that all partitions are below. Only the log that was opened has it: see
	// layout.go. Until the log is known it is the path.
	root string
}

var _ kv.Engine = engine{}

// newEngine makes an engine that reads and writes nothing but the schema row.
func newEngine(l *links) engine { return engine{l, l.path} }

// bound is the engine of the log whose schema row this is.
func (e engine) bound(schema kv.Row) (engine, error) {
	word, err := kv.Word(schema)
	e.root = e.rootPath(word)
	return e, err
}

// errAbsent is what it means that the root is not there.
func (e engine) errAbsent() error {
	if e.root == e.path {
		return &launchlog.SchemaError{Want: kv.SchemaVersion}
	}
	return launchlog.ErrOtherLog
}

// maxVersion is the last version of a row. A znode's dataVersion has 32 bits. It would go on below
// zero, where −1 stands for any version.
const maxVersion = math.MaxInt32

// maxCommit is less than jute.maxbuffer, 1 MB, by what a request has beside its data. A server
// closes the connection of whoever sends more.
const maxCommit = 1000 << 10

// Read implements kv.Engine.
func (e engine) Read(
	ctx context.Context, part string, names ...string,
) (rows []kv.Row, err error) {
	if len(names) == 1 {
		return e.Each(ctx, []string{part}, names[0])
	}
	err = e.with(ctx, func(ctx context.Context, l *link) error {
		var before []kv.Row // read while the barrier is under way
		err := each(ctx, 2, func(ctx context.Context, i int) (err error) {
			if i == 0 {
				return e.barrier(ctx, l)
			}
			before, err = e.collect(ctx, l, part, names)
			return err
		})
		if err == nil {
			rows, err = e.snapshot(ctx, l, part, names, before)
		}
		return err
	})
	return rows, passing(err, false)
}

// read runs f on a link whose server has come as far as all that was acknowledged before the call.
// That holds for all that f reads on the link.
func (e engine) read(ctx context.Context, f func(context.Context, *link) error) error {
	err := e.with(ctx, func(ctx context.Context, l *link) error {
		if err := e.barrier(ctx, l); err != nil {
			return err
		}
		return f(ctx, l)
	})
	return passing(err, false)
}

// barrier waits until the link's server has come as far as the ensemble had when it was called.
//
// Sync is not enough for that, because a leader answers it alone. A leader that was stopped or cut
// off does not know yet that another one was elected. The others have acknowledged what it never
// saw. So the barrier is a transaction. It writes nothing, but is logged by a majority like any
// other. Its place among all transactions is behind those that were acknowledged before. The server
// answers it when it has carried out all of them, and later requests of the link after that.
//
// The transaction checks that the root is there, and so that the log is.
func (e engine) barrier(ctx context.Context, l *link) error {
	_, err := multi(ctx, l, []any{&zk.CheckVersionRequest{Path: e.root, Version: -1}})
	switch {
	case !errors.Is(err, zk.ErrNoNode):
		return err
	case e.root == e.path: // nothing was prepared: the schema row is absent
		return nil
	}
	return e.errAbsent()
}

// snapshot reads rows that a partition had together at one moment, after the barrier. Before is
// what was read of them until the barrier was passed, or nil.
//
// Each row is read by itself, and others write between two reads. So all are read again, until two
// times agree. A version names a state of a row for ever, and 0 is that of a row that was never
// there. A row that had the same version both times had it at all times between. So at the moment
// between the two all rows had these versions. That moment is behind the barrier, even where the
// first of the two times was not.
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

// collect reads rows of a partition, all at once and each by itself.
func (e engine) collect(
	ctx context.Context, l *link, part string, names []string,
) ([]kv.Row, error) {
	paths := make([]string, len(names))
	for i, name := range names {
		paths[i] = e.rowPath(part, name)
	}
	return collect(ctx, l, paths, names)
}

// collect reads rows, all at once and each by itself.
func collect(ctx context.Context, l *link, paths, names []string) ([]kv.Row, error) {
	rows := make([]kv.Row, len(paths))
	err := each(ctx, len(paths), func(ctx context.Context, i int) error {
		row, err := get(ctx, l, paths[i])
		row.Name = names[i]
		rows[i] = row
		return err
	})
	return rows, err
}

// get reads a row.
func get(ctx context.Context, l *link, path string) (kv.Row, error) {
	row, err := ask(ctx, l, func(conn *zk.Conn) (kv.Row, error) {
		data, stat, err := conn.Get(path)
		if err != nil {
			return kv.Row{}, err
		}
		return kv.Row{Value: data, Version: int64(stat.Version) + 1}, nil
	})
	if errors.Is(err, zk.ErrNoNode) {
		return kv.Row{}, nil
	}
	return row, err
}

// Commit implements kv.Engine. It is one transaction of the ensemble. A row that is to be there is
// set by its version. A row that is not to be there is created. Both take the root to be there, and
// no transaction makes it again.
//
// Where the answer is lost the same transaction is sent again, on another link. That is safe
// however late the first one is carried out. It compares the versions that it changes, so only one
// of the two can be. If the second is refused, a snapshot of the rows tells whether that was
// because of the first.
func (e engine) Commit(ctx context.Context, part string, changes ...kv.Change) (bool, error) {
	if slices.ContainsFunc(changes, func(c kv.Change) bool { return c.Version > maxVersion }) {
		return false, ctx.Err() // no row has such a version
	}
	ops, err := e.operations(part, changes)
	if err != nil {
		return false, err
	}
	done, doubt := false, false
	err = e.with(ctx, func(ctx context.Context, l *link) error {
		var err error
		done, err = e.commit(ctx, l, part, changes, ops, &doubt)
		return err
	})
	return done && err == nil, passing(err, doubt)
}

// commit commits on one link. Doubt says that the transaction was sent before, and may have been
// carried out. A transaction that makes rows may lack the znodes above them. It then makes these as
// well, and compares and writes the same as before.
func (e engine) commit(
	ctx context.Context, l *link, part string, changes []kv.Change, ops []any, doubt *bool,
) (bool, error) {
	var parents []any
	for {
		results, err := multi(ctx, l, slices.Concat(parents, ops))
		var sent *sentError
		switch {
		case errors.As(err, &sent):
			*doubt = true
			return false, err
		case outcomeOf(err) != refused:
			return err == nil, err
		}
		failed := slices.IndexFunc(results, func(r zk.MultiResponse) bool { return r.Error != nil })
		if failed < 0 { // which no server does
			return false, err
		}
		row := failed - len(parents)
		if row < 0 || row < len(changes) && changes[row].Version == 0 &&
			results[failed].Error == zk.ErrNoNode {
			if parents, err = e.missing(ctx, l, part, changes); err != nil {
				return false, err
			}
			continue
		}
		if !*doubt {
			return false, nil
		}
		return e.settle(ctx, l, part, changes, doubt)
	}
}

// missing returns what makes the znodes between the path and rows that are to be made, from the top
// down. It asks the link's server, which has come as far as the transaction that was refused.
func (e engine) missing(
	ctx context.Context, l *link, part string, changes []kv.Change,
) (creates []any, err error) {
	there := map[string]bool{}
	for _, c := range changes {
		var lacks []any
		path := above(e.rowPath(part, c.Name))
		for ; c.Version == 0 && !there[path]; path = above(path) {
			there[path], err = ask(ctx, l, func(conn *zk.Conn) (bool, error) {
				is, _, err := conn.Exists(path)
				return is, err
			})
			if err != nil {
				return nil, err
			}
			if there[path] {
				break
			}
			if path == e.root {
				return nil, e.errAbsent()
			}
			there[path] = true // from now on
			lacks = append(lacks, &zk.CreateRequest{Path: path, Acl: e.acl})
		}
		slices.Reverse(lacks)
		creates = append(creates, lacks...)
	}
	return creates, nil
}

// errOvertaken is where others have overwritten what would tell.
var errOvertaken = errors.New("the answer was lost, and others have overwritten the rows since")

// settle tells from a snapshot what became of a commit in doubt, which was refused when it was sent
// again. The refusal was a transaction, so the link's server has come as far as that.
func (e engine) settle(
	ctx context.Context, l *link, part string, changes []kv.Change, doubt *bool,
) (bool, error) {
	names := make([]string, len(changes))
	for i, c := range changes {
		names[i] = c.Name
	}
	rows, err := e.snapshot(ctx, l, part, names, nil)
	if err != nil {
		return false, err
	}
	if done, known := kv.Settle(changes, rows); known {
		*doubt = false
		return done, nil
	}
	return false, &launchlog.AttemptError{Err: errOvertaken}
}

// operations are those of the transaction that commits changes.
func (e engine) operations(part string, changes []kv.Change) ([]any, error) {
	ops := make([]any, len(changes))
	size := 0
	for i, c := range changes {
		path := e.rowPath(part, c.Name)
		size += len(path) + len(c.Value)
		switch {
		case c.Version == maxVersion:
			return nil, fmt.Errorf("row %q of %q was written %d times: ZooKeeper counts no further",
				c.Name, part, c.Version)
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
	if size > maxCommit {
		return nil, fmt.Errorf("a commit of %d bytes is more than the %d that a server takes",
			size, maxCommit)
	}
	return ops, nil
}

// multi sends a transaction. Where the server refuses it, the results tell which operation was why.
func multi(ctx context.Context, l *link, ops []any) ([]zk.MultiResponse, error) {
	type answer struct {
		results []zk.MultiResponse
		err     error // that is an answer
	}
	a, err := ask(ctx, l, func(conn *zk.Conn) (answer, error) {
		results, err := conn.Multi(ops...)
		if outcomeOf(err) == refused {
			return answer{results, err}, nil
		}
		return answer{results, nil}, err
	})
	if err != nil {
		return nil, err
	}
	return a.results, a.err
}

// above is the path of a znode's parent, or empty for the topmost.
func above(path string) string { return path[:strings.LastIndex(path, "/")] }

// makePath makes a znode, and those above it where they are missing.
func (e engine) makePath(ctx context.Context, l *link, path string) error {
	for {
		err := e.create(ctx, l, path)
		if !errors.Is(err, zk.ErrNoNode) || above(path) == "" {
			return err
		}
		if err := e.makePath(ctx, l, above(path)); err != nil {
			return err
		}
	}
}

// create makes a znode without data that may be there already.
func (e engine) create(ctx context.Context, l *link, path string) error {
	_, err := ask(ctx, l, func(conn *zk.Conn) (string, error) {
		return conn.Create(path, nil, zk.FlagPersistent, e.acl)
	})
	if errors.Is(err, zk.ErrNodeExists) {
		return nil
	}
	return err
}

// List implements kv.Engine.
func (e engine) List(
	ctx context.Context, part, after, before string, limit int,
) (rows []kv.Row, err error) {
	path := e.partPath(part)
	err = e.read(ctx, func(ctx context.Context, l *link) error {
		names, err := list(ctx, l, path, span{after, before}, limit)
		if err != nil {
			return err
		}
		rows, err = e.collect(ctx, l, part, names)
		return err
	})
	return rows, err
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
	err = each(ctx, len(buckets), func(ctx context.Context, i int) (err error) {
		found[i], err = children(ctx, l, path+"/"+buckets[i])
		return err
	})
	numbered := 0
	// Names of a block come before those of the next.
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
	for _, in := range found {
		for _, name := range in {
			if s.has(name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names[:min(limit, len(names))], err
}

// children returns the names of a znode's children, none where there is no such znode.
func children(ctx context.Context, l *link, path string) ([]string, error) {
	names, err := ask(ctx, l, func(conn *zk.Conn) ([]string, error) {
		names, _, err := conn.Children(path)
		return names, err
	})
	if errors.Is(err, zk.ErrNoNode) {
		return nil, nil
	}
	return names, err
}

// Each implements kv.Engine.
func (e engine) Each(
	ctx context.Context, parts []string, name string,
) (rows []kv.Row, err error) {
	paths, names := make([]string, len(parts)), make([]string, len(parts))
	for i, part := range parts {
		paths[i], names[i] = e.rowPath(part, name), name
	}
	err = e.read(ctx, func(ctx context.Context, l *link) error {
		rows, err = collect(ctx, l, paths, names)
		return err
	})
	return rows, err
}

// Now implements kv.Engine: it is the leader's time, by a write to the root.
func (e engine) Now(ctx context.Context) (now time.Time, err error) {
	err = e.with(ctx, func(ctx context.Context, l *link) error {
		now, err = ask(ctx, l, func(conn *zk.Conn) (time.Time, error) {
			stat, err := conn.Set(e.root, nil, -1)
			if err != nil {
				return time.Time{}, err
			}
			return time.UnixMilli(stat.Mtime), nil
		})
		if errors.Is(err, zk.ErrNoNode) {
			return e.errAbsent()
		}
		return err
	})
	return now, passing(err, false)
}

// passing puts errors into an AttemptError after which a launchlog.Log may try again, and says
// there whether the step is in doubt.
func passing(err error, doubt bool) error {
	var attempt *launchlog.AttemptError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &attempt):
		return &launchlog.AttemptError{Ambiguous: doubt, Err: attempt.Err}
	case doubt || outcomeOf(err) == busy:
		return &launchlog.AttemptError{Ambiguous: doubt, Err: explained(err)}
	}
	return explained(err)
}

// width is how many requests of one call are under way at a time.
const width = 64

// each runs f for 0 to n − 1, several at a time, until one fails.
func each(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	if n == 1 {
		return f(ctx, 0)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var running sync.WaitGroup
	var mu sync.Mutex // guards what follows
	next := 0
	var first error
	for range min(n, width) {
		running.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				mu.Unlock()
				if i >= n || ctx.Err() != nil {
					return
				}
				if err := f(ctx, i); err != nil {
					mu.Lock()
					if first == nil {
						first = err
						cancel(err)
					}
					mu.Unlock()
				}
			}
		})
	}
	running.Wait()
	if first == nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return first
}
