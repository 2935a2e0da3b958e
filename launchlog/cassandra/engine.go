package cassandra

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
)

const (
	// callTime bounds a call of the engine. A request takes requestTime at most, so a call that met
	// a stopped node has time for others.
	callTime    = 5500 * time.Millisecond
	requestTime = 2 * time.Second

	// eachAtOnce is how many partitions Each reads at once.
	eachAtOnce = 32
	// pageRows is how many rows List has a node send at once: of the largest values, 50 MiB.
	pageRows = 200
	// lastName lies behind all names, whose last sign is ~.
	lastName = "\x7f"
	// readTries is how often a read is sent, each time to another node where there is one.
	readTries = 4
)

// An engine keeps the rows of one log in a table of its own.
type engine struct {
	session *Session
	hosts   *hosts
	levels  levels

	// What follows is set by bind.
	keyspace, rows string // the table
	texts          texts
	whole          bool // the log has its schema row: without it, it was truncated
}

var _ kv.Engine = (*engine)(nil)

// levels are the consistency levels of a store.
type levels struct {
	serial gocql.Consistency // orders commits and reads
	quorum gocql.Consistency // sees what was acknowledged
}

// texts are the statements.
type texts struct {
	insert, update, rows, tokens, row, list string
}

// newTexts writes the statements for a table. No statement sets a timestamp, a TTL or deletes.
func newTexts(table string) texts {
	const named = ` WHERE part = ? AND name = ?`
	return texts{
		insert: `INSERT INTO ` + table + ` (part, name, version, value, made)
			VALUES (?, ?, 1, ?, ?) IF NOT EXISTS`,
		update: `UPDATE ` + table + ` SET version = ?, value = ?, tokens[?] = ?` + named +
			` IF version = ?`,
		rows: `SELECT name, version, value FROM ` + table + ` WHERE part = ? AND name IN ?`,
		tokens: `SELECT name, version, made, tokens FROM ` + table + `
			WHERE part = ? AND name IN ?`,
		row: `SELECT version, value FROM ` + table + named,
		list: `SELECT name, version, value FROM ` + table + `
			WHERE part = ? AND name > ? AND name < ? LIMIT ?`,
	}
}

// Read implements kv.Engine. Rows that are all absent may be those of a log that was truncated.
// After TRUNCATE no row of an old partition is there, so one that is there needs no other look.
func (e *engine) Read(ctx context.Context, part string, names ...string) ([]kv.Row, error) {
	all, err := e.snapshot(ctx, part, names...)
	if err == nil && none(all) {
		err = e.still(ctx)
	}
	if err != nil {
		return nil, err
	}
	return all, nil
}

// none reports whether no row is there.
func none(rows []kv.Row) bool {
	return !slices.ContainsFunc(rows, func(r kv.Row) bool { return r.Version != 0 })
}

// still returns launchlog.ErrOtherLog where the log's schema row is gone. Nobody deletes rows, so
// the table was truncated. Migrate writes that row once, before anybody learns the table's name.
//
// The read is a serial one, by which Paxos v2 repairs nothing. So a read in the middle of a TRUNCATE
// does not bring the row back to nodes that have dropped it.
func (e *engine) still(ctx context.Context) error {
	if !e.whole {
		return nil
	}
	if ctx.Err() != nil {
		return attempt(false, ctx.Err())
	}
	rows, err := e.snapshot(ctx, kv.SchemaPart, kv.SchemaRow)
	if err == nil && none(rows) {
		err = fmt.Errorf("%w: the table %s was truncated", launchlog.ErrOtherLog, e.rows)
	}
	return err
}

// snapshot reads rows of a partition. One SELECT of one partition at the serial level is one
// snapshot.
func (e *engine) snapshot(ctx context.Context, part string, names ...string) ([]kv.Row, error) {
	found := map[string]kv.Row{}
	err := e.read(ctx, part, func(ctx context.Context) error {
		clear(found)
		if len(names) == 0 {
			return nil
		}
		// One page: the next one would be another snapshot.
		rows := e.session.Query(e.texts.rows, part, names).
			Consistency(e.levels.serial).PageSize(len(names) + 1).IterContext(ctx)
		for row := (kv.Row{}); rows.Scan(&row.Name, &row.Version, &row.Value); row = (kv.Row{}) {
			found[row.Name] = row
		}
		return rows.Close()
	})
	if err != nil {
		return nil, e.gone(ctx, err)
	}
	all := make([]kv.Row, len(names))
	for i, name := range names {
		all[i] = found[name]
		all[i].Name = name
	}
	return all, nil
}

// Commit implements kv.Engine. A commit that compares a row that is there fails once the log was
// truncated. One that only inserts does not, so Commit looks afterwards whether the log is there. A
// TRUNCATE before the commit shows. One behind it has deleted this commit like all others.
func (e *engine) Commit(ctx context.Context, part string, changes ...kv.Change) (bool, error) {
	c := commit{part: part, changes: changes}
	_, _ = rand.Read(c.token[:]) // never fails
	done, err := c.settle(e.hosts.begin(ctx, part), (*nodes)(e))
	if err != nil || !done || !c.inserts() {
		return done, e.gone(ctx, err)
	}
	switch err := e.still(ctx); {
	case errors.Is(err, launchlog.ErrOtherLog):
		return false, err
	case err != nil:
		return false, attempt(true, err)
	}
	return true, nil
}

// gone adds to an error that the log's table is not there any more, where that is why.
func (e *engine) gone(ctx context.Context, err error) error {
	if !isInvalid(err) {
		return err
	}
	if there, look := e.hasTable(ctx, e.keyspace, e.rows); there || look != nil {
		return err
	}
	return fmt.Errorf("%w: %w", launchlog.ErrOtherLog, err)
}

// List implements kv.Engine. Its pages are read one after another. It looks each time whether the
// log was truncated, as Each does: they are for people and for advances, not for an app's steps.
func (e *engine) List(
	ctx context.Context, part, after, before string, limit int,
) (all []kv.Row, err error) {
	if before == "" {
		before = lastName
	}
	err = e.read(ctx, part, func(ctx context.Context) error {
		all = nil
		rows := e.session.Query(e.texts.list, part, after, before, limit).
			Consistency(e.levels.quorum).PageSize(pageRows).IterContext(ctx)
		for row := (kv.Row{}); rows.Scan(&row.Name, &row.Version, &row.Value); row = (kv.Row{}) {
			all = append(all, row)
		}
		return rows.Close()
	})
	if err != nil {
		return nil, e.gone(ctx, err)
	}
	if err := e.still(ctx); err != nil {
		return nil, err
	}
	return all, nil
}

// Each implements kv.Engine. A single SELECT of many partitions would burden one node with all.
func (e *engine) Each(ctx context.Context, parts []string, name string) ([]kv.Row, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	reading, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	all := make([]kv.Row, len(parts))
	next := make(chan int)
	var readers sync.WaitGroup
	for range min(eachAtOnce, len(parts)) {
		readers.Go(func() {
			for i := range next {
				row, err := e.one(reading, parts[i], name)
				if err != nil {
					cancel(err)
				}
				all[i] = row
			}
		})
	}
	for i := 0; i < len(parts) && reading.Err() == nil; i++ {
		next <- i
	}
	close(next)
	readers.Wait()
	switch {
	case ctx.Err() != nil:
		return nil, attempt(false, ctx.Err())
	case reading.Err() != nil:
		return nil, e.gone(ctx, context.Cause(reading)) // the first reader's error
	}
	if err := e.still(ctx); err != nil {
		return nil, err
	}
	return all, nil
}

// one reads a row of a partition.
func (e *engine) one(ctx context.Context, part, name string) (kv.Row, error) {
	row := kv.Row{Name: name}
	err := e.read(ctx, part, func(ctx context.Context) error {
		return found(e.session.Query(e.texts.row, part, name).
			Consistency(e.levels.quorum).ScanContext(ctx, &row.Version, &row.Value))
	})
	return row, err
}

// found is what a query of one row says, for which none is no error.
func found(err error) error {
	if errors.Is(err, gocql.ErrNotFound) {
		return nil
	}
	return err
}

// Now implements kv.Engine, by the clock of the node that answers, in milliseconds.
func (e *engine) Now(ctx context.Context) (now time.Time, err error) {
	err = e.read(ctx, "", func(ctx context.Context) error {
		return e.session.Query(`SELECT toTimestamp(now()) FROM system.local WHERE key = 'local'`).
			Consistency(gocql.One).ScanContext(ctx, &now)
	})
	return now, err
}

// read asks for what changes nothing, one node after another. The partition chooses the first.
func (e *engine) read(
	ctx context.Context, part string, ask func(context.Context) error,
) (err error) {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	ctx = e.hosts.begin(ctx, part)
	within, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	for range readTries {
		err = e.hosts.send(within, ask)
		if !passes(err) {
			return err
		}
		if within.Err() != nil {
			break
		}
	}
	return attempt(false, ended(ctx, err))
}

// nodes executes commits on the nodes of a cluster.
type nodes engine

// apply implements executor. All rows are of one partition, so the batch is one decision of Paxos.
func (n *nodes) apply(ctx context.Context, c *commit) (applied bool, err error) {
	batch := n.session.Batch(gocql.LoggedBatch).
		Consistency(n.levels.quorum).SerialConsistency(n.levels.serial)
	for _, change := range c.changes {
		if change.Version == 0 {
			batch.Query(n.texts.insert, c.part, change.Name, change.Value, c.token[:])
			continue
		}
		batch.Query(n.texts.update, change.Version+1, change.Value, slot(change.Version+1),
			c.token[:], c.part, change.Name, change.Version)
	}
	err = n.hosts.send(ctx, func(context.Context) error {
		var rows *gocql.Iter
		applied, rows, err = batch.MapExecCASContext(ctx, map[string]any{})
		if rows != nil {
			err = errors.Join(err, rows.Close())
		}
		return err
	})
	return applied && err == nil, err
}

// find implements executor. It reads at the serial level, which first completes what nodes have
// accepted.
func (n *nodes) find(ctx context.Context, c *commit) ([]state, error) {
	names := make([]string, len(c.changes))
	for i, change := range c.changes {
		names[i] = change.Name
	}
	found := map[string]state{}
	err := n.hosts.send(ctx, func(context.Context) error {
		rows := n.session.Query(n.texts.tokens, c.part, names).
			Consistency(n.levels.serial).PageSize(len(names) + 1).IterContext(ctx)
		var name string
		for s := (state{}); rows.Scan(&name, &s.version, &s.made, &s.tokens); s = (state{}) {
			found[name] = s
		}
		return rows.Close()
	})
	states := make([]state, len(names))
	for i, name := range names {
		states[i] = found[name]
	}
	return states, err
}
