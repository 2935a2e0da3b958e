package importer

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/cmd/idmint/internal/pool"
	"github.com/idmint/idmint/idtype"
)

// A clickHouseTable has its journal in another database. A batch is one block, which ClickHouse
// stores as a whole or, in a table with partitions, as one part per partition. A batch is in doubt
// until the journal records it as stored. A run that resumes an import looks for the rows of a
// batch in doubt by their IDs, and sends them again with the same IDs under the same token.
// ClickHouse stores only the first block with a token, so a block of a run that was killed or
// delayed does no harm if it arrives late.
type clickHouseTable struct {
	*journal
	conn  driver.Conn
	name  dsn.DSN // names the database
	table string  // names the table in the journal, independently of the server's address
	kinds []string
}

// deduplicates makes a table remember this many of the newest tokens.
const deduplicates = "non_replicated_deduplication_window = 10000"

// mostColumnsClickHouse keeps a statement that names all columns, with names of up to 100 bytes,
// below the 256 KiB that ClickHouse parses (max_query_size). ClickHouse itself has no limit on
// columns, but needs more memory for an INSERT with each of them.
const mostColumnsClickHouse = 2000

func openClickHouse(d dsn.DSN, j *journal) (Database, error) {
	options, err := clickhouse.ParseDSN(d.Source())
	if err == nil {
		// also limits the wait for the server's first answer; 0 means 30 s
		if options.DialTimeout == 0 || options.DialTimeout > j.budget {
			options.DialTimeout = j.budget
		}
		var conn driver.Conn
		if conn, err = clickhouse.Open(options); err == nil {
			return &clickHouseTable{journal: j, conn: conn, name: d}, nil
		}
	}
	return nil, errors.Join(err, j.Close())
}

// Close closes the connections.
func (t *clickHouseTable) Close() error { return errors.Join(t.conn.Close(), t.journal.Close()) }

// ask runs f, and repeats it while ClickHouse is away. Each attempt ends within the budget.
func (t *clickHouseTable) ask(ctx context.Context, f func(context.Context) error) error {
	err := pool.Retry(ctx, t.budget, func() error {
		attempt, cancel := context.WithTimeoutCause(ctx, t.budget, pool.ErrSilent)
		defer cancel()
		err := f(attempt)
		if err != nil && attempt.Err() != nil {
			err = context.Cause(attempt)
		}
		return err
	})
	return named(ctx, t.name, err)
}

// named adds to an error which of the two databases it is about, unless it is about the file or the
// context.
func named(ctx context.Context, name dsn.DSN, err error) error {
	if err == nil || ctx.Err() != nil || errors.As(err, new(*RowError)) {
		return err
	}
	return fmt.Errorf("%v: %w", name, err)
}

func quoteClickHouse(name string) string {
	return "`" + strings.NewReplacer(`\`, `\\`, "`", "\\`").Replace(name) + "`"
}

func (t *clickHouseTable) prepare(ctx context.Context, im Import, columns []string) error {
	if err := im.check(columns, mostColumnsClickHouse, "ClickHouse"); err != nil {
		return err
	}
	text := "String"
	if im.Format == JSONLines { // which has NULL
		text = "Nullable(String)"
	}
	create, err := im.create(columns, dsn.ClickHouse, quoteClickHouse, text,
		" ENGINE = MergeTree ORDER BY "+quoteClickHouse(im.IDColumn)+" SETTINGS "+deduplicates)
	if err != nil {
		return err
	}
	err = t.ask(ctx, func(ctx context.Context) error { return t.conn.Exec(ctx, create) })
	if errors.Is(err, io.EOF) || err != nil && strings.Contains(err.Error(), "unexpected packet") {
		err = fmt.Errorf("%w; the server may not speak ClickHouse's native protocol", err)
	}
	if err == nil {
		err = t.ask(ctx, func(ctx context.Context) error { return t.check(ctx, im, columns) })
	}
	if err != nil {
		return err
	}
	return t.transact(ctx, t.create)
}

func (t *clickHouseTable) check(ctx context.Context, im Import, columns []string) error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("table %q exists, but "+format, append([]any{im.Table}, args...)...)
	}
	var engine, settings, identity string
	err := t.conn.QueryRow(ctx,
		`SELECT engine, engine_full, concat(database, '.', name, ' ', toString(uuid))
		FROM system.tables WHERE database = currentDatabase() AND name = ?`, im.Table).
		Scan(&engine, &settings, &identity)
	switch {
	case err != nil:
		return err
	case engine != "MergeTree": // other engines may change rows, or count them elsewhere
		return wrong("its engine is %s: want MergeTree with SETTINGS %s", engine, deduplicates)
	case !strings.Contains(settings, "non_replicated_deduplication_window = ") ||
		strings.Contains(settings, "non_replicated_deduplication_window = 0"):
		return wrong("it stores a batch twice that is sent twice: first run ALTER TABLE %s MODIFY "+
			"SETTING %s", quoteClickHouse(im.Table), deduplicates)
	}
	t.table = "clickhouse " + identity
	var names, types []string
	err = t.conn.QueryRow(ctx, `SELECT groupArray(name), groupArray(type) FROM system.columns
		WHERE database = currentDatabase() AND table = ?`, im.Table).Scan(&names, &types)
	if err != nil {
		return err
	}
	t.kinds = t.kinds[:0]
	want := []string{"Int64", "UInt64"}
	for _, name := range append([]string{im.IDColumn}, columns...) {
		at := slices.Index(names, name)
		switch {
		case at < 0:
			return wrong("has no column %s: want %s", quoted(name), strings.Join(want, " or "))
		case !slices.Contains(want, types[at]):
			return wrong("its column %s is %s: want %s", quoted(name), types[at],
				strings.Join(want, " or "))
		}
		t.kinds, want = append(t.kinds, types[at]), []string{"String", "Nullable(String)"}
	}
	return nil
}

// journaled returns the import as the journal names it.
func (t *clickHouseTable) journaled(im Import) Import {
	im.Table = t.table
	return im
}

func (t *clickHouseTable) last(ctx context.Context, im Import) (*state, error) {
	return t.journal.last(ctx, t.journaled(im))
}

func (t *clickHouseTable) record(ctx context.Context, im Import) (*state, error) {
	return t.journal.record(ctx, t.journaled(im))
}

func (t *clickHouseTable) store(
	ctx context.Context, im Import, columns []string, s *state, ids []idtype.DecimalID, b batch,
) error {
	if len(ids) > 0 {
		fresh := s.doubt == nil
		if fresh {
			err := t.change(ctx, s, func(next *state) {
				next.doubt = &doubt{
					Ranges: with(nil, ids), Rows: b.end.rows, Bytes: b.end.bytes,
					SHA256: b.end.sha256, Token: rand.Text(),
				}
			})
			if err != nil {
				return err
			}
		}
		if err := t.deliver(ctx, rows{im, columns, ids, b.fields, s.rows}, s, fresh); err != nil {
			return err
		}
	}
	ctx = context.WithoutCancel(ctx) // a stored batch must be recorded
	err := t.change(ctx, s, func(next *state) { *next = s.after(ids, b) })
	if errors.Is(err, errTakenOver) {
		err = errors.Join(err, t.withdraw(ctx, im, s))
	}
	return err
}

// deliver sends the batch that is in doubt. Fresh means that it was never sent before.
func (t *clickHouseTable) deliver(ctx context.Context, r rows, s *state, fresh bool) error {
	begun, sent := false, s.doubt.Sendings > 0
	err := t.ask(ctx, func(ctx context.Context) error {
		if !fresh || begun {
			stored, err := t.arrived(ctx, r.Import, s.doubt.Ranges)
			switch {
			case err != nil || stored == len(r.ids):
				return err
			case stored > 0 || sent:
				// a part arrived, or ClickHouse remembers the token of rows that are gone
				sent = true
				if err := t.clear(ctx, r.Import, s); err != nil {
					return err
				}
			}
		}
		begun = true
		if err := t.send(ctx, r, s.doubt); err != nil || fresh && !sent {
			return err
		}
		sent = true
		stored, err := t.arrived(ctx, r.Import, s.doubt.Ranges)
		if err == nil && stored < len(r.ids) {
			err = lostError{}
		}
		return err
	})
	var answer *clickhouse.Exception
	var refused *RowError
	if err == nil || !errors.As(err, &refused) && !errors.As(err, &answer) || !fresh {
		return err
	}
	// ClickHouse has answered, so nothing of the batch is being sent any more. What arrived of it
	// is removed, and it is no longer in doubt.
	ctx = context.WithoutCancel(ctx)
	failed := t.ask(ctx, func(ctx context.Context) error { return t.clear(ctx, r.Import, s) })
	if failed == nil {
		failed = t.change(ctx, s, func(next *state) { next.doubt = nil })
	}
	return errors.Join(err, failed)
}

// clear removes what arrived of the batch that is in doubt. It first records that the next sending
// is a new one. Therefore a run whose import another run has taken over removes nothing, and a run
// that resumes does not assume that ClickHouse would recognize the next sending.
func (t *clickHouseTable) clear(ctx context.Context, im Import, s *state) error {
	err := t.change(ctx, s, func(next *state) {
		again := *s.doubt
		again.Sendings++
		next.doubt = &again
	})
	if err != nil {
		return err
	}
	return t.remove(ctx, im, s.doubt)
}

// lostError is returned for a batch that was acknowledged and is missing. It is sent once more.
type lostError struct{}

func (lostError) Error() string { return "ClickHouse has lost a batch that it acknowledged" }
func (lostError) Passes() bool  { return true }

// send sends a batch as one block, without being interrupted when the context ends. The error is a
// [*RowError], or one of ClickHouse or the network.
func (t *clickHouseTable) send(ctx context.Context, r rows, d *doubt) error {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), t.budget, pool.ErrSilent)
	defer cancel()
	ctx = clickhouse.Context(ctx, clickhouse.WithQueryID(d.Token+"-"+rand.Text()),
		clickhouse.WithSettings(clickhouse.Settings{
			"insert_deduplicate":         1,
			"insert_deduplication_token": fmt.Sprint(d.Token, "/", d.Sendings), "async_insert": 0,
		}))
	columns, field := []any{numbers[int64](r.ids)}, r.fields.texts(0, len(r.ids)*len(r.columns))
	if t.kinds[0] == "UInt64" {
		columns[0] = numbers[uint64](r.ids)
	}
	for c, name := range r.columns {
		texts := make([]*string, len(r.ids)) // nil is NULL
		for i := range r.ids {
			if text, ok := field(i*len(r.columns) + c); ok {
				texts[i] = &text
			} else if t.kinds[c+1] == "String" {
				return r.at(i, name,
					errors.New("NULL, which a column of type String cannot hold"))
			}
		}
		columns = append(columns, texts)
	}
	b, err := t.conn.PrepareBatch(ctx, r.into("INSERT INTO", quoteClickHouse))
	if err != nil {
		return err
	}
	defer b.Close()
	for i, values := range columns {
		if err := b.Column(i).Append(values); err != nil {
			return err
		}
	}
	return b.Send()
}

func numbers[T int64 | uint64](ids []idtype.DecimalID) []T {
	all := make([]T, len(ids))
	for i, id := range ids {
		all[i] = T(id)
	}
	return all
}

// among returns the SQL condition for the IDs of ranges.
func among(column string, ranges []idRange) string {
	all := make([]string, len(ranges))
	for i, r := range ranges {
		all[i] = r.where(column)
	}
	return strings.Join(all, " OR ")
}

// arrived counts the rows that have the IDs of a batch.
func (t *clickHouseTable) arrived(ctx context.Context, im Import, ranges []idRange) (int, error) {
	var found uint64
	err := t.conn.QueryRow(ctx, fmt.Sprintf("SELECT count() FROM %s WHERE %s",
		quoteClickHouse(im.Table), among(quoteClickHouse(im.IDColumn), ranges))).Scan(&found)
	return int(found), err
}

// remove stops the sending of a batch, and removes what arrived of it.
func (t *clickHouseTable) remove(ctx context.Context, im Import, d *doubt) error {
	if d.Token != "" {
		err := t.conn.Exec(ctx, "KILL QUERY WHERE startsWith(query_id, ?) SYNC", d.Token+"-")
		if err != nil {
			return err
		}
	}
	if len(d.Ranges) == 0 {
		return nil
	}
	return t.conn.Exec(ctx,
		fmt.Sprintf("ALTER TABLE %s DELETE WHERE %s SETTINGS mutations_sync = 1",
			quoteClickHouse(im.Table), among(quoteClickHouse(im.IDColumn), d.Ranges)))
}

func (t *clickHouseTable) abandon(
	ctx context.Context, im Import, s *state,
) (removed int64, err error) {
	all := &doubt{Remove: true, Ranges: slices.Clone(s.ranges)}
	if s.doubt != nil {
		all.Token = s.doubt.Token
		if s.doubt.Remove { // by a run that ended before it had removed them
			all.Ranges = s.doubt.Ranges
		} else {
			all.Ranges = append(all.Ranges, s.doubt.Ranges...)
		}
	}
	restarting := *s
	err = t.change(ctx, &restarting,
		func(next *state) { next.holder, next.doubt = rand.Text(), all })
	if err != nil {
		return 0, err
	}
	if len(all.Ranges) > 0 {
		err := t.ask(ctx, func(ctx context.Context) error {
			found, err := t.arrived(ctx, im, all.Ranges)
			removed = max(removed, int64(found))
			return errors.Join(err, t.remove(ctx, im, all))
		})
		if err != nil {
			return 0, err
		}
	}
	return removed, t.change(ctx, &restarting, func(next *state) {
		next.restarted, next.doubt = true, nil
	})
}

// withdraw removes a batch that was sent for an import that another run has meanwhile begun to
// restart. If that run has resumed the import instead, the batch stays, because that run sends it
// with the same IDs.
func (t *clickHouseTable) withdraw(ctx context.Context, im Import, s *state) error {
	if s.doubt == nil {
		return nil
	}
	var gone int
	err := t.transact(ctx, func(ctx context.Context, tx *session) error {
		return tx.queryRow(ctx,
			`SELECT count(*) FROM idmint_import WHERE import_id = ? AND (state = 'restarted' OR `+
				`in_doubt LIKE '{"remove":true%')`, s.id).Scan(&gone)
	})
	if err != nil || gone == 0 {
		return err
	}
	return t.ask(ctx, func(ctx context.Context) error { return t.remove(ctx, im, s.doubt) })
}
