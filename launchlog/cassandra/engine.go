package cassandra

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
)

const (
	// eachAtOnce is how many partitions Each reads concurrently.
	eachAtOnce = 32
	// pageRows is how many rows a node sends List at a time: 50 MiB with the largest values.
	pageRows = 200
	// lastName sorts after all names, whose last character is ~.
	lastName = "\x7f"
)

// An engine keeps the rows of one log in a table that belongs to it.
//
// All processes send their requests to the same node, as long as it answers, because one node
// queues the requests for a partition, whereas several nodes would outbid each other in Paxos.
type engine struct {
	config  Config
	cluster *kv.Cluster[*Session]
	serial  gocql.Consistency // orders commits and reads
	quorum  gocql.Consistency // sees what was acknowledged

	// bind sets the following fields.
	rows  string // the table
	texts texts
	whole bool // the log must have its schema row, and was truncated if it has not
}

var _ kv.Engine = (*engine)(nil)

// newEngine returns an engine that still must be bound, and gives a node as long as patience for a
// request.
func newEngine(config Config, patience, callTime time.Duration) *engine {
	e := &engine{config: config, serial: gocql.Serial, quorum: gocql.Quorum}
	if config.LocalSerial {
		e.serial, e.quorum = gocql.LocalSerial, gocql.LocalQuorum
	}
	e.cluster = kv.NewCluster(kv.Driver[*Session]{
		Connect: func(ctx context.Context, node string) (*Session, error) {
			return config.session(ctx, node, patience)
		},
		Usable: func(s *Session) bool { return !s.Closed() },
		Close:  (*Session).Close,
		Judge:  judge, Home: stays, Patience: patience, CallTime: callTime,
	}, config.Hosts)
	return e
}

// Close ends all calls, and closes the connections.
func (e *engine) Close() { e.cluster.Close() }

// texts are the statements.
type texts struct{ insert, update, remove, rows, row, list string }

// newTexts returns the statements for a table, none of which sets a timestamp or a TTL.
func newTexts(table string) texts {
	const named = ` WHERE part = ? AND name = ?`
	return texts{
		insert: `INSERT INTO ` + table + ` (part, name, version, value)
			VALUES (?, ?, 1, ?) IF NOT EXISTS`,
		update: `UPDATE ` + table + ` SET version = ?, value = ?` + named + ` IF version = ?`,
		remove: `DELETE FROM ` + table + named + ` IF version = ?`,
		rows:   `SELECT name, version, value FROM ` + table + ` WHERE part = ? AND name IN ?`,
		row:    `SELECT version, value FROM ` + table + named,
		list: `SELECT name, version, value FROM ` + table + `
			WHERE part = ? AND name > ? AND name < ? LIMIT ?`,
	}
}

// Read implements kv.Engine. If all rows are absent, it also checks whether the log was truncated.
// An existing row needs no such check, because after a TRUNCATE no row of an old partition exists.
func (e *engine) Read(ctx context.Context, part string, names ...string) ([]kv.Row, error) {
	all, err := e.snapshot(ctx, part, names)
	if err == nil && none(all) {
		err = e.still(ctx)
	}
	return all, err
}

// none reports whether no row exists.
func none(rows []kv.Row) bool {
	return !slices.ContainsFunc(rows, func(r kv.Row) bool { return r.Version != 0 })
}

// still returns launchlog.ErrOtherLog if the log's schema row is gone, which means that the table
// was truncated, because nothing deletes the row. Migrate writes it once, before any process knows
// the table's name.
//
// The read is serial, and a serial read by Paxos v2 repairs nothing. In the middle of a TRUNCATE it
// therefore does not bring the row back to nodes that have dropped it.
func (e *engine) still(ctx context.Context) error {
	if !e.whole {
		return nil
	}
	rows, err := e.snapshot(ctx, kv.SchemaPart, []string{kv.SchemaRow})
	if err == nil && none(rows) {
		err = fmt.Errorf("%w: the table %s was truncated", launchlog.ErrOtherLog, e.rows)
	}
	return err
}

// snapshot reads rows of a partition. One SELECT of one partition at the serial level is one
// snapshot, and first completes what nodes have accepted. The result is a single page, because the
// next page would be another snapshot.
func (e *engine) snapshot(ctx context.Context, part string, names []string) ([]kv.Row, error) {
	there, err := e.query(ctx, e.serial, len(names)+1, e.texts.rows, part, names)
	all := make([]kv.Row, len(names))
	for i, name := range names {
		all[i].Name = name
		for _, row := range there {
			if row.Name == name {
				all[i] = row
			}
		}
	}
	return all, err
}

// query reads rows.
func (e *engine) query(
	ctx context.Context, level gocql.Consistency, page int, text string, args ...any,
) ([]kv.Row, error) {
	all, err := kv.Look(ctx, e.cluster, func(ctx context.Context, s *Session) (
		all []kv.Row, err error,
	) {
		rows := s.Query(text, args...).Consistency(level).PageSize(page).IterContext(ctx)
		for r := (kv.Row{}); rows.Scan(&r.Name, &r.Version, &r.Value); r = (kv.Row{}) {
			all = append(all, r)
		}
		return all, rows.Close()
	})
	return all, e.gone(ctx, err)
}

// one reads columns of one row, and reports whether the row exists.
func (e *engine) one(
	ctx context.Context, level gocql.Consistency, columns []any, text string, args ...any,
) (bool, error) {
	return kv.Look(ctx, e.cluster, func(ctx context.Context, s *Session) (bool, error) {
		err := s.Query(text, args...).Consistency(level).ScanContext(ctx, columns...)
		if errors.Is(err, gocql.ErrNotFound) {
			return false, nil
		}
		return err == nil, err
	})
}

// Commit implements kv.Engine. A commit that compares an existing row fails once the log was
// truncated. A commit that only inserts does not, so Commit checks afterwards that the log still
// exists, which detects a TRUNCATE before the commit. A later TRUNCATE deletes this commit like all
// others.
func (e *engine) Commit(ctx context.Context, part string, changes ...kv.Change) (bool, error) {
	applied, doubt, err := kv.Ask(ctx, e.cluster, func(ctx context.Context, s *Session) (bool, error) {
		return e.apply(ctx, s, part, changes)
	})
	if err == nil && !applied && doubt {
		// The same statements were sent before, which may be why they were not applied this time.
		applied, err = kv.Settled(ctx, e, part, changes)
	}
	if err != nil || !applied || slices.ContainsFunc(changes, func(c kv.Change) bool {
		return c.Version != 0
	}) {
		return applied, e.gone(ctx, err)
	}
	err = e.still(ctx)
	if err != nil && !errors.Is(err, launchlog.ErrOtherLog) {
		err = &launchlog.AttemptError{Ambiguous: true, Err: err}
	}
	return err == nil, err
}

// apply sends a batch of conditional statements. All rows are in one partition, so that the batch
// is one decision of Paxos. It compares the version of each row, and raises it or deletes the row,
// so that the batch is executed at most once, however often and late it arrives.
func (e *engine) apply(
	ctx context.Context, s *Session, part string, changes []kv.Change,
) (bool, error) {
	batch := s.Batch(gocql.LoggedBatch).Consistency(e.quorum).SerialConsistency(e.serial)
	for _, c := range changes {
		if c.Version == 0 {
			batch.Query(e.texts.insert, part, c.Name, c.Value)
			continue
		}
		if c.Value == nil {
			batch.Query(e.texts.remove, part, c.Name, c.Version)
			continue
		}
		batch.Query(e.texts.update, c.Version+1, c.Value, part, c.Name, c.Version)
	}
	applied, rows, err := batch.MapExecCASContext(ctx, map[string]any{})
	if rows != nil {
		err = errors.Join(err, rows.Close())
	}
	return applied && err == nil, err
}

// isInvalid reports whether a node does not know the table, among other reasons.
func isInvalid(err error) bool {
	code, _ := said(err)
	return code == gocql.ErrCodeInvalid
}

// gone wraps an error in ErrOtherLog if its reason is that the log's table no longer exists.
func (e *engine) gone(ctx context.Context, err error) error {
	if !isInvalid(err) || errors.Is(err, launchlog.ErrOtherLog) {
		return err
	}
	if there, look := e.hasTable(ctx, e.rows); there || look != nil {
		return err
	}
	return fmt.Errorf("%w: %w", launchlog.ErrOtherLog, err)
}

// List implements kv.Engine, and reads its pages one after another. Like Each, it always checks
// whether the log was truncated, because both serve people and advances rather than an app's steps.
func (e *engine) List(
	ctx context.Context, part, after, before string, limit int,
) ([]kv.Row, error) {
	if before == "" {
		before = lastName
	}
	all, err := e.query(ctx, e.quorum, pageRows, e.texts.list, part, after, before, limit)
	if err == nil {
		err = e.still(ctx)
	}
	return all, err
}

// Each implements kv.Engine by separate reads, because one SELECT of many partitions would put the
// whole load on one node.
func (e *engine) Each(ctx context.Context, parts []string, name string) ([]kv.Row, error) {
	all := make([]kv.Row, len(parts))
	err := kv.Parallel(ctx, len(parts), eachAtOnce, func(ctx context.Context, i int) error {
		all[i].Name = name
		_, err := e.one(ctx, e.quorum, []any{&all[i].Version, &all[i].Value}, e.texts.row,
			parts[i], name)
		return e.gone(ctx, err)
	})
	if err == nil {
		err = e.still(ctx)
	}
	return all, err
}

// Now implements kv.Engine, with the clock of the node that answers, in milliseconds.
func (e *engine) Now(ctx context.Context) (now time.Time, err error) {
	_, err = e.one(ctx, gocql.One, []any{&now},
		`SELECT toTimestamp(now()) FROM system.local WHERE key = 'local'`)
	return now, err
}
