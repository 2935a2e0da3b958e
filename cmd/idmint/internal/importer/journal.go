package importer

import (
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/cmd/idmint/internal/pool"
)

// A journal is the record of imports, in the table idmint_import of a database with transactions.
type journal struct {
	db *sql.DB
	*dialect
	budget time.Duration
	about  dsn.DSN // that its errors name, where there is another database beside it
	// rows go by INSERT: the faster way was refused, or would have changed what is stored
	inserts bool
}

// A dialect is what databases with transactions differ in.
type dialect struct {
	kind    dsn.Kind
	title   string                  // the name that people know
	begin   []string                // statements that begin a transaction
	whole   bool                    // a statement that was begun is not interrupted
	refused func(commit error) bool // a COMMIT that ended with this error has stored nothing
	dollars bool                    // parameters are written $1, $2 …
	// statements that make idmint_import where it is absent, with its columns
	create []string
	now    string // the time as it is stored
	asText string // such a time in the column %s, as text
	ignore string // ends an INSERT that does nothing where such a row is there

	// place, which may be nil, sees that names in the transaction mean the right tables.
	place func(ctx context.Context, tx *session) error

	quote       func(string) string
	taken       []string // prefixes of names that are the database's
	longestName int      // in bytes, where the database would cut it off by itself
	mostColumns int      // of a table
	text        string   // the type of columns
	tail        string   // ends a CREATE TABLE
	// query for a table's columns: name, type, part of the primary key, columns of the primary key
	columns    string
	tableName  func(string) string
	noted      string // a parameter, which is a table's name, as idmint_import has it
	foldNames  bool   // columns' names are the same in lower and upper case
	isInteger  func(typ string) bool
	integer    string                // the type that keys have
	changing   func(typ string) bool // of columns that make another value of any text
	engine     string                // query for what keeps a table's rows, where it need not be wantEngine
	wantEngine string
	insert     func(ctx context.Context, s *session, r rows) error
}

// rows are those of a batch, for a table.
type rows struct {
	Import
	columns []string
	ids     []int64
	fields  *block
	before  int64 // rows of the file that precede them
}

// at is the error that the database has about the row with index i of those.
func (r rows) at(i int, column string, err error) error {
	return &RowError{r.before + int64(i) + 1, column, err}
}

// allStored checks how many of n rows a statement has stored. First is the index of its first one.
func (r rows) allStored(first, n int, stored int64) error {
	if stored == int64(n) {
		return nil
	}
	from := r.before + int64(first)
	return &LeftOutError{from + 1, from + int64(n), stored}
}

// into begins an INSERT, or whatever is written so.
func (r rows) into(verb string, quote func(string) string) string {
	return verb + " " + quote(r.Table) + " " + r.names(quote)
}

// names are the columns, in parentheses.
func (r rows) names(quote func(string) string) string {
	names := []string{quote(r.IDColumn)}
	for _, c := range r.columns {
		names = append(names, quote(c))
	}
	return "(" + strings.Join(names, ", ") + ")"
}

// values is an INSERT of n rows, with a parameter for each value.
func (r rows) values(quote func(string) string, n int) string {
	row := "(?" + strings.Repeat(", ?", len(r.columns)) + ")"
	return r.into("INSERT INTO", quote) + " VALUES " + row + strings.Repeat(", "+row, n-1)
}

// A session is a connection with a transaction.
type session struct {
	*sql.Conn
	*journal
	progress func() // tells that the database is at work
	doubt    func() // is told where a COMMIT was sent, and what came of it is not known
}

func (s *session) exec(ctx context.Context, query string, args ...any) (sql.Result, error) {
	defer s.progress()
	return s.ExecContext(ctx, s.bound(query), args...)
}

func (s *session) queryRow(ctx context.Context, query string, args ...any) *sql.Row {
	defer s.progress()
	return s.QueryRowContext(ctx, s.bound(query), args...)
}

// fold is a column's name as the database compares it.
func (d *dialect) fold(name string) string {
	if d.foldNames {
		return strings.ToLower(name)
	}
	return name
}

// bound writes the parameters as the database does. No other question marks are in the queries.
func (d *dialect) bound(query string) string {
	if !d.dollars {
		return query
	}
	var b strings.Builder
	n := 0
	for _, c := range query {
		if c == '?' {
			n++
			b.WriteString("$" + strconv.Itoa(n))
		} else {
			b.WriteRune(c)
		}
	}
	return b.String()
}

func (d *dialect) timeIn(column string) string { return strings.ReplaceAll(d.asText, "%s", column) }

// Close closes the connections.
func (j *journal) Close() error { return j.db.Close() }

// transact runs f in a transaction, again and again while the database is busy or away, up to the
// budget. F may be run after it was committed, where the answer to that was lost.
func (j *journal) transact(ctx context.Context, f func(context.Context, *session) error) error {
	err := pool.Retry(ctx, j.budget, func() error { return j.once(ctx, f) })
	if j.about == (dsn.DSN{}) {
		return err
	}
	return named(ctx, j.about, err)
}

// once runs f in a transaction. It is interrupted until COMMIT is sent, whose answer is waited for
// as long as the budget.
func (j *journal) once(ctx context.Context, f func(context.Context, *session) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	ending, silent := context.WithCancelCause(context.WithoutCancel(ctx))
	defer silent(nil)
	work, progress := ending, func() {}
	if !j.whole {
		interrupted, interrupt := context.WithCancelCause(ending)
		defer context.AfterFunc(ctx, func() { interrupt(context.Cause(ctx)) })()
		patience := time.AfterFunc(j.budget, func() { silent(pool.ErrSilent) })
		defer patience.Stop()
		work, progress = interrupted, func() { patience.Reset(j.budget) }
	}
	err := j.inTransaction(work, ending, progress, f)
	if err != nil && work.Err() != nil && ending.Err() == nil {
		return context.Cause(ctx)
	}
	if err != nil && ending.Err() != nil {
		return context.Cause(ending)
	}
	return err
}

func (j *journal) inTransaction(
	work, ending context.Context, progress func(), f func(context.Context, *session) error,
) (err error) {
	conn, err := j.db.Conn(work)
	if err != nil {
		return err
	}
	defer conn.Close()
	s := &session{conn, j, progress, func() {}}
	for _, text := range j.begin {
		if err == nil {
			_, err = s.exec(work, text)
		}
	}
	if err == nil && j.place != nil {
		err = j.place(work, s)
	}
	if err == nil {
		err = f(work, s)
	}
	if err == nil {
		if err = work.Err(); err == nil {
			if _, err = s.exec(ending, "COMMIT"); err != nil && !j.refused(err) {
				s.doubt()
			}
		}
	}
	if err != nil {
		if _, failed := s.exec(ending, "ROLLBACK"); failed != nil {
			// its transaction may be open: it is not used again
			_ = conn.Raw(func(any) error { return driver.ErrBadConn })
		}
	}
	return err
}

func (j *journal) last(ctx context.Context, im Import) (*state, error) {
	var s state
	var launch sql.NullInt64
	var ranges, doubts, progress string
	err := j.transact(ctx, func(ctx context.Context, tx *session) error {
		return tx.queryRow(ctx,
			`SELECT import_id, import_key, holder, launch_id, own_launch, id_ranges, in_doubt,
			stored_rows, file_bytes, file_sha256, state, `+
				j.timeIn("started_at")+`, `+j.timeIn("changed_at")+`
			FROM idmint_import WHERE source = ? AND table_name = `+j.noted+`
			ORDER BY import_id DESC LIMIT 1`, im.Source, im.Table).
			Scan(&s.id, &s.key, &s.holder, &launch, &s.ownLaunch, &ranges, &doubts, &s.rows,
				&s.bytes, &s.sha256, &progress, &s.startedAt, &s.changedAt)
	})
	if errors.Is(err, sql.ErrNoRows) || err == nil && progress == "restarted" {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s.launch, s.finished = int(launch.Int64), progress == "finished"
	if doubts != "" {
		s.doubt = new(doubt)
		if err := json.Unmarshal([]byte(doubts), s.doubt); err != nil {
			return nil, err
		}
	}
	return &s, json.Unmarshal([]byte(ranges), &s.ranges)
}

func (j *journal) record(ctx context.Context, im Import) (*state, error) {
	s := &state{
		key: "import-" + rand.Text(), holder: rand.Text(), launch: im.Launch,
		ownLaunch: im.Launch == 0,
	}
	return s, j.transact(ctx, func(ctx context.Context, tx *session) error {
		_, err := tx.exec(ctx,
			`INSERT INTO idmint_import (import_key, holder, source, table_name, launch_id, own_launch,
			id_ranges, in_doubt, file_sha256, started_at, changed_at)
			VALUES (?, ?, ?, `+j.noted+`, nullif(?, 0), ?, '[]', '', '', `+j.now+`, `+j.now+`) `+
				j.ignore,
			s.key, s.holder, im.Source, im.Table, int64(s.launch), s.ownLaunch)
		if err != nil {
			return err
		}
		err = tx.queryRow(ctx, `SELECT import_id FROM idmint_import WHERE import_key = ?`,
			s.key).Scan(&s.id)
		if errors.Is(err, sql.ErrNoRows) {
			err = errTakenOver
		}
		return err
	})
}

func (j *journal) takeOver(ctx context.Context, s *state, launch int) (*state, error) {
	next := *s
	next.holder = rand.Text()
	if launch != 0 && launch != s.launch {
		next.launch, next.ownLaunch = launch, false
	}
	return &next, j.change(ctx, s, next.holder, s.doubt,
		", launch_id = nullif(?, 0), own_launch = ?", int64(next.launch), next.ownLaunch)
}

func (j *journal) setLaunch(ctx context.Context, s *state, launch int) error {
	s.launch = launch
	return j.change(ctx, s, s.holder, s.doubt, ", launch_id = ?", int64(launch))
}

// change changes the row of an unfinished import, for the run that holds it and for no other. It
// writes who holds the import from now on, what is in doubt, and what set sets besides.
func (j *journal) change(
	ctx context.Context, s *state, holder string, next *doubt, set string, args ...any,
) error {
	return j.transact(ctx,
		func(ctx context.Context, tx *session) error {
			return tx.change(ctx, s, holder, next, set, args...)
		})
}

func (tx *session) change(
	ctx context.Context, s *state, holder string, next *doubt, set string, args ...any,
) error {
	before, err := s.doubt.text()
	if err != nil {
		return err
	}
	after, err := next.text()
	if err != nil {
		return err
	}
	args = append(append([]any{holder, after}, args...), s.id, s.rows, s.holder, before, holder,
		after)
	// Again after an answer that was lost, it finds what it wrote: no two runs have the same
	// holder.
	return one(tx.exec(ctx,
		`UPDATE idmint_import SET holder = ?, in_doubt = ?, changed_at = `+tx.now+set+`
		WHERE import_id = ? AND state = 'unfinished' AND stored_rows = ? AND (holder = ? AND in_doubt = ? OR holder = ? AND in_doubt = ?)`, args...))
}

// note notes that a batch is stored, with which the IDs are in ranges. It reports whether that was
// noted before.
func (tx *session) note(
	ctx context.Context, s *state, ranges []idRange, b batch,
) (before bool, err error) {
	list, err := json.Marshal(ranges)
	if err != nil {
		return false, err
	}
	next := "unfinished"
	if b.err != nil {
		next = "finished"
	}
	doubts, err := s.doubt.text()
	if err != nil {
		return false, err
	}
	err = one(tx.exec(ctx,
		`UPDATE idmint_import SET id_ranges = ?, in_doubt = '', stored_rows = ?, file_bytes = ?, `+
			`file_sha256 = ?, state = ?, changed_at = `+tx.now+`
		WHERE import_id = ? AND holder = ? AND state = 'unfinished' AND stored_rows = ? AND in_doubt = ?`,
		string(list), b.end.rows, b.end.bytes, b.end.sha256, next, s.id, s.holder, s.rows, doubts))
	if !errors.Is(err, errTakenOver) {
		return false, err
	}
	var same int
	if failed := tx.queryRow(ctx,
		`SELECT count(*) FROM idmint_import WHERE import_id = ? AND holder = ? AND state = ? AND `+
			`stored_rows = ? AND file_bytes = ?`,
		s.id, s.holder, next, b.end.rows, b.end.bytes).Scan(&same); failed != nil {
		return false, failed
	}
	if same == 1 {
		return true, nil
	}
	return false, err
}

// restarted notes that the rows of an import are removed. Holder is the run that removes them.
func (tx *session) restarted(ctx context.Context, s *state, holder string) error {
	doubts, err := s.doubt.text()
	if err != nil {
		return err
	}
	return one(tx.exec(ctx,
		`UPDATE idmint_import SET state = 'restarted', holder = ?, in_doubt = '', changed_at = `+
			tx.now+`
		WHERE import_id = ? AND (state = 'unfinished' AND stored_rows = ? AND holder = ? AND in_doubt = ? OR state = 'restarted' AND holder = ?)`,
		holder, s.id, s.rows, s.holder, doubts, holder))
}

// one checks that a statement changed the one row that it names.
func one(r sql.Result, err error) error {
	if err != nil {
		return err
	}
	if n, err := r.RowsAffected(); err != nil || n != 1 {
		return errors.Join(errTakenOver, err)
	}
	return nil
}
