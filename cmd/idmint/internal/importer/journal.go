package importer

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/mattn/go-sqlite3"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/cmd/idmint/internal/pool"
	sqldialect "github.com/idmint/idmint/internal/dialect"
)

// A journal is the record of imports, in the table idmint_import of a database with transactions.
type journal struct {
	db *sql.DB
	*dialect
	budget time.Duration
	about  dsn.DSN // named in errors, if the rows are in another database
	// store rows by INSERT, because the faster way was rejected, or would have changed values
	inserts bool
}

// A dialect holds what differs among databases with transactions.
type dialect struct {
	kind    dsn.Kind
	title   string   // for people
	begin   []string // statements that begin a transaction
	whole   bool     // a running statement is not interrupted
	dollars bool     // parameters are $1, $2 …
	// place makes sure that names in the transaction refer to the right tables. It may be nil.
	place func(ctx context.Context, tx *session) error

	// idmint_import: a statement before it is created, its key, and what ends its table_name, and
	// the CREATE TABLE
	creating, key, foldTable, end string
	ignore                        string // ends an INSERT that does nothing if the row exists
	noted                         string // a parameter for a table's name, as idmint_import has it

	quote       func(string) string
	longestName int    // in bytes, if the database would truncate it
	mostColumns int    // of a table
	text        string // the type of columns
	tail        string // at the end of a CREATE TABLE
	// query for a table's columns: name, type, part of the primary key, columns of the primary key
	columns    string
	foldNames  bool // names of columns are not case-sensitive
	isInteger  func(typ string) bool
	integer    string                // the type that keys have
	changing   func(typ string) bool // of columns that change the value of any text
	engine     string                // query for a table's engine, if it may not be wantEngine
	wantEngine string
	insert     func(ctx context.Context, s *session, r rows) error
}

// create creates idmint_import if it does not exist.
func (j *journal) create(ctx context.Context, tx *session) error {
	table := fmt.Sprintf(`CREATE TABLE IF NOT EXISTS idmint_import (
    import_id   %s PRIMARY KEY,
    import_key  VARCHAR(64)  NOT NULL UNIQUE,
    holder      VARCHAR(64)  NOT NULL, -- the run that stores batches; another run that resumes the import replaces it
    step        BIGINT       NOT NULL, -- counts the changes of this row by its holder
    source      %[2]s        NOT NULL,
    table_name  VARCHAR(512) NOT NULL%[3]s,
    unfinished  VARCHAR(64)  UNIQUE, -- of source and table_name; NULL when it is finished or restarted
    launch_id   INTEGER,
    own_launch  BOOLEAN      NOT NULL,
    id_ranges   %[2]s        NOT NULL, -- JSON: the first and the last ID of each range
    in_doubt    %[2]s        NOT NULL, -- JSON: what was begun in a database without transactions
    stored_rows BIGINT       NOT NULL DEFAULT 0,
    file_bytes  BIGINT       NOT NULL DEFAULT 0,
    file_sha256 VARCHAR(64)  NOT NULL, -- of these bytes
    state       VARCHAR(16)  NOT NULL DEFAULT 'unfinished' CHECK (state IN ('unfinished', 'finished', 'restarted')),
    started_at  VARCHAR(32)  NOT NULL,
    changed_at  VARCHAR(32)  NOT NULL
)%[4]s`, j.key, j.text, j.foldTable, j.end)
	for _, text := range []string{j.creating, table} {
		if text == "" {
			continue
		}
		if _, err := tx.ExecContext(ctx, text); err != nil {
			return err
		}
		tx.progress()
	}
	return nil
}

// A session is a connection with a transaction.
type session struct {
	*sql.Conn
	*journal
	progress func() // reports that the database is working
	doubt    func() // is called if the result of a COMMIT is unknown
}

func (s *session) exec(ctx context.Context, query string, args ...any) (sql.Result, error) {
	defer s.progress()
	return s.ExecContext(ctx, s.bound(query), args...)
}

func (s *session) queryRow(ctx context.Context, query string, args ...any) *sql.Row {
	defer s.progress()
	return s.QueryRowContext(ctx, s.bound(query), args...)
}

// fold returns a column's name as the database compares it.
func (d *dialect) fold(name string) string {
	if d.foldNames {
		return strings.ToLower(name)
	}
	return name
}

// bound writes the parameters of a query in the form of the database. The queries have no other
// question marks.
func (d *dialect) bound(query string) string {
	if !d.dollars {
		return query
	}
	parts := strings.Split(query, "?")
	for i := range parts[1:] {
		parts[i] += "$" + strconv.Itoa(i+1)
	}
	return strings.Join(parts, "")
}

// Close closes the connections.
func (j *journal) Close() error { return j.db.Close() }

// transact runs f in a transaction, and repeats that while the database is busy or away, up to the
// budget. F may run again after a commit whose answer was lost.
func (j *journal) transact(ctx context.Context, f func(context.Context, *session) error) error {
	err := pool.Retry(ctx, j.budget, func() error { return j.once(ctx, f) })
	if j.about == (dsn.DSN{}) {
		return err
	}
	return named(ctx, j.about, err)
}

// once runs f in a transaction. The context can interrupt it until COMMIT is sent, and then once
// waits for the answer up to the budget.
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
	if err != nil && work.Err() != nil {
		return context.Cause(work)
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
			if _, err = s.exec(ending, "COMMIT"); err != nil && !refused(err) {
				s.doubt()
			}
		}
	}
	if err != nil {
		if _, failed := s.exec(ending, "ROLLBACK"); failed != nil {
			// its transaction may be open, so it is not reused
			_ = conn.Raw(func(any) error { return driver.ErrBadConn })
		}
	}
	return err
}

// refused reports whether a COMMIT that ended with this error has certainly stored nothing. For
// MySQL that is never certain.
func refused(err error) bool {
	var postgres *pgconn.PgError
	if errors.As(err, &postgres) {
		return postgres.SeverityUnlocalized == "ERROR" &&
			// Away may come from a pooler, which may not know.
			sqldialect.CauseOfCode(sqldialect.Postgres, postgres.Code) != sqldialect.Away
	}
	var sqlite sqlite3.Error // after an I/O error it may be written, but not synced
	return errors.As(err, &sqlite) && sqlite.Code != sqlite3.ErrIoErr
}

// now returns the time in the form that is stored.
func now() string { return time.Now().UTC().Format("2006-01-02T15:04:05.000Z07:00") }

func (j *journal) last(ctx context.Context, im Import) (*state, error) {
	var s state
	var launch sql.NullInt64
	var ranges, doubts, progress string
	err := j.transact(ctx, func(ctx context.Context, tx *session) error {
		return tx.queryRow(ctx,
			`SELECT import_id, import_key, unfinished, holder, step, launch_id, own_launch, id_ranges,
			in_doubt, stored_rows, file_bytes, file_sha256, state, started_at, changed_at
			FROM idmint_import WHERE source = ? AND table_name = `+j.noted+`
			ORDER BY import_id DESC LIMIT 1`, im.Source, im.Table).
			Scan(&s.id, &s.key, &s.unfinished, &s.holder, &s.step, &launch, &s.ownLaunch, &ranges,
				&doubts, &s.rows, &s.bytes, &s.sha256, &progress, &s.startedAt, &s.changedAt)
	})
	if errors.Is(err, sql.ErrNoRows) || err == nil && progress == "restarted" {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s.launch, s.finished = int(launch.Int64), progress == "finished"
	return &s, errors.Join(json.Unmarshal([]byte(doubts), &s.doubt),
		json.Unmarshal([]byte(ranges), &s.ranges))
}

func (j *journal) record(ctx context.Context, im Import) (*state, error) {
	same := sha256.Sum256([]byte(im.Source + "\n" + im.Table))
	s := &state{
		key: "import-" + rand.Text(), holder: rand.Text(), launch: im.Launch,
		ownLaunch:  im.Launch == 0,
		unfinished: sql.NullString{String: hex.EncodeToString(same[:]), Valid: true},
	}
	return s, j.transact(ctx, func(ctx context.Context, tx *session) error {
		_, err := tx.exec(ctx,
			`INSERT INTO idmint_import (import_key, unfinished, holder, step, source, table_name,
			launch_id, own_launch, id_ranges, in_doubt, file_sha256, started_at, changed_at)
			VALUES (?, ?, ?, 0, ?, `+j.noted+`, nullif(?, 0), ?, '[]', 'null', '', ?, ?) `+j.ignore,
			s.key, s.unfinished, s.holder, im.Source, im.Table, int64(s.launch), s.ownLaunch, now(),
			now())
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
	taken := *s
	return &taken, j.change(ctx, &taken, func(next *state) {
		next.holder = rand.Text()
		if launch != 0 && launch != s.launch {
			next.launch, next.ownLaunch = launch, false
		}
	})
}

func (j *journal) setLaunch(ctx context.Context, s *state, launch int) error {
	return j.change(ctx, s, func(next *state) { next.launch = launch })
}

// change changes the row of an import in a separate transaction, and s with it.
func (j *journal) change(ctx context.Context, s *state, f func(next *state)) error {
	next := s.next()
	f(&next)
	err := j.transact(ctx, func(ctx context.Context, tx *session) error {
		_, err := tx.save(ctx, s, next)
		return err
	})
	if err == nil {
		*s = next
	}
	return err
}

// save changes the row of an import from s to next. It returns errTakenOver if another run has
// changed the row meanwhile. If it is repeated because its answer was lost, it reports that the row
// was saved before, which it knows because no two runs have the same holder, and a holder counts
// its steps.
func (tx *session) save(ctx context.Context, s *state, next state) (before bool, err error) {
	ranges, err := json.Marshal(next.ranges)
	if err != nil {
		return false, err
	}
	doubts, err := json.Marshal(next.doubt)
	if err != nil {
		return false, err
	}
	progress := "unfinished"
	switch {
	case next.restarted:
		progress = "restarted"
	case next.finished:
		progress = "finished"
	}
	next.unfinished.Valid = progress == "unfinished"
	saved, err := tx.exec(ctx,
		`UPDATE idmint_import SET holder = ?, step = ?, unfinished = ?, launch_id = nullif(?, 0),
			own_launch = ?, id_ranges = ?, in_doubt = ?, stored_rows = ?, file_bytes = ?,
			file_sha256 = ?, state = ?, changed_at = ?
		WHERE import_id = ? AND holder = ? AND step = ?`,
		next.holder, next.step, next.unfinished, int64(next.launch), next.ownLaunch, string(ranges),
		string(doubts), next.rows, next.bytes, next.sha256, progress, now(), s.id, s.holder, s.step)
	if err != nil {
		return false, err
	}
	if n, err := saved.RowsAffected(); err != nil || n == 1 {
		return false, err
	}
	var same int
	err = tx.queryRow(ctx,
		`SELECT count(*) FROM idmint_import WHERE import_id = ? AND holder = ? AND step = ? AND
			stored_rows = ? AND in_doubt = ? AND state = ?`,
		s.id, next.holder, next.step, next.rows, string(doubts), progress).Scan(&same)
	if err == nil && same == 0 {
		err = errTakenOver
	}
	return true, err
}
