package importer

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/idmint/idmint/clickhouse"
	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/idtype/formats"
	"github.com/idmint/idmint/sqlid"
)

// Database stores the rows and the record of imports. Create it with [Open]. Its calls are
// idempotent: a call that is repeated because its answer was lost finds the work done.
type Database interface {
	// prepare creates the missing tables, and checks existing ones.
	prepare(ctx context.Context, im Import, columns []string) error
	// last finds the last import of this file into this table, or nil if there is none whose rows
	// stay.
	last(ctx context.Context, im Import) (*state, error)
	// record begins a new import, unless another run has meanwhile begun the same one.
	record(ctx context.Context, im Import) (*state, error)
	// takeOver makes this run the one that continues s, with another launch if one is given. A
	// previous run that is still alive notices at its next batch, which it does not store.
	takeOver(ctx context.Context, s *state, launch int) (*state, error)
	// setLaunch records the launch of an import that had none.
	setLaunch(ctx context.Context, s *state, launch int) error
	// store stores a batch together with how far the file has come, and at the end of the file that
	// the import is finished. It updates s.
	store(ctx context.Context, im Import, columns []string, s *state, ids []idtype.DecimalID,
		b batch) error
	// abandon removes the rows of an unfinished import, which it finds by their IDs.
	abandon(ctx context.Context, im Import, s *state) (removed int64, err error)
	// Close closes the connections.
	Close() error
}

// Open returns the database d, which connects when it is first used. The pool records of the
// database log keeps the record of imports, and is closed by Close. The rows are stored by that
// pool too, unless d is ClickHouse, which has no transactions. Each step waits up to budget for a
// database that is busy or away.
func Open(d, log dsn.DSN, records *sql.DB, budget time.Duration) (Database, error) {
	dialects := map[dsn.Kind]*dialect{
		dsn.SQLite: sqliteDialect, dsn.Postgres: postgresDialect, dsn.MySQL: mysqlDialect,
	}
	j := &journal{db: records, dialect: dialects[log.Kind], budget: budget}
	switch {
	case j.dialect == nil:
		return nil, errors.Join(
			fmt.Errorf("%s databases have no transactions, and cannot keep the record of an import",
				cmp.Or(log.Kind, "unnamed")), records.Close())
	case d.Kind == dsn.ClickHouse:
		j.about = log
		return openClickHouse(d, j)
	}
	return &table{j}, nil
}

// An idRange holds the first and the last of the IDs that rows got from one generator without a
// gap. Nobody else mints with its generator number. Only rows within the range were stored by the
// import, because an older row with a key of another scheme may end in the same digits.
type idRange [2]int64

// with returns a copy of ranges to which it adds IDs in ascending order.
func with(ranges []idRange, ids []idtype.DecimalID) []idRange {
	ranges = append([]idRange{}, ranges...)
	for _, id := range ids {
		if n := len(ranges); n > 0 && ranges[n-1][1]+formats.DecimalStep == int64(id) {
			ranges[n-1][1] = int64(id)
		} else {
			ranges = append(ranges, idRange{int64(id), int64(id)})
		}
	}
	return ranges
}

// idsIn returns the IDs in ranges.
func idsIn(ranges []idRange) (ids []idtype.DecimalID) {
	for _, r := range ranges {
		for id := r[0]; id <= r[1]; id += formats.DecimalStep {
			ids = append(ids, idtype.DecimalID(id))
		}
	}
	return ids
}

// where returns the SQL condition for the IDs of a range.
func (r idRange) where(column string) string {
	const step = formats.DecimalStep
	return fmt.Sprintf("%s BETWEEN %d AND %d", column, r[0], r[1]) +
		fmt.Sprintf(" AND %s %% %d = %d", column, step, r[0]%step)
}

// A state is the row of an import in the journal.
type state struct {
	id        int64
	key       string // names the import; the idempotency key of its launch
	holder    string // the run that may change the row
	step      int64  // counts the changes by that run
	launch    int    // 0 until it has one
	ownLaunch bool   // the launch was started for this import
	ranges    []idRange
	doubt     *doubt // was begun outside a transaction, and may not have ended
	finished  bool
	restarted bool // its rows are removed
	startedAt string
	changedAt string
	position
	unanswered int64 // rows that follow, whose COMMIT got no answer
	unfinished sql.NullString
}

// next returns the state after the next step.
func (s *state) next() state {
	next := *s
	next.step++
	next.unanswered = 0
	return next
}

// after returns the state once a batch is stored.
func (s *state) after(ids []idtype.DecimalID, b batch) state {
	next := s.next()
	next.ranges, next.position, next.doubt = with(s.ranges, ids), b.end, nil
	next.finished = b.err != nil
	return next
}

// A doubt is what a run records before it changes rows without a transaction: the batch that it is
// about to send, or that it is about to remove all rows.
type doubt struct {
	Remove bool      `json:"remove,omitempty"`
	Ranges []idRange `json:"ranges,omitempty"` // of the batch
	Rows   int64     `json:"rows,omitempty"`   // stored in all once the batch is
	Bytes  int64     `json:"bytes,omitempty"`  // of the file, at its end
	SHA256 string    `json:"sha256,omitempty"` // of these bytes
	Token  string    `json:"token,omitempty"`  // names the batch to the database

	Sendings int `json:"sendings,omitempty"` // that were stopped before the current one
}

var (
	errTakenOver  = errors.New("another run has taken over this import")
	errRestarting = errors.New(
		"a run with --restart ended before it removed all rows of the import: use --restart again")
)

// A RowError reports which row of the file a database rejected.
type RowError struct {
	Row    int64  // from 1, without the header
	Column string // "" if the database does not say
	Err    error
}

func (e *RowError) Error() string {
	if e.Column == "" {
		return fmt.Sprintf("row %d: %v", e.Row, e.Err)
	}
	return fmt.Sprintf("row %d, column %q: %v", e.Row, e.Column, e.Err)
}

func (e *RowError) Unwrap() error { return e.Err }

// A LeftOutError is returned if a table neither stored all rows nor returned an error, because of a
// trigger or ON CONFLICT IGNORE for example. Nothing of the batch is stored.
type LeftOutError struct {
	From, To int64 // the rows of the file in the statement
	Stored   int64 // by that statement
}

func (e *LeftOutError) Error() string {
	return fmt.Sprintf("of the rows %d to %d the table left out %d, because of its triggers or "+
		"constraints", e.From, e.To, e.To-e.From+1-e.Stored)
}

// check checks the names that an import uses, and how many columns its table has.
func (im Import) check(columns []string, most int, database string) error {
	if n := len(columns) + 1; n > most {
		return &ColumnsError{n, most, database}
	}
	if strings.HasPrefix(strings.ToLower(im.Table), "idmint_") {
		return fmt.Errorf("table %q: names that begin with idmint_ are reserved", im.Table)
	}
	for kind, name := range map[string]string{"table": im.Table, "column": im.IDColumn} {
		if name == "" || badText(name) != "" {
			return fmt.Errorf("%q is not a valid name for a %s", name, kind)
		}
	}
	for _, c := range columns {
		if strings.EqualFold(c, im.IDColumn) {
			return fmt.Errorf("the file has a column %s, which must be free for the new IDs: name "+
				"another with --id-column", quoted(c))
		}
	}
	return nil
}

// create returns the statement that creates the table if it does not exist. Its ID column accepts
// only production IDs.
func (im Import) create(
	columns []string, kind dsn.Kind, quote func(string) string, text, tail string,
) (string, error) {
	var key string
	var err error
	const scheme, form = idtype.SchemeDecimal, idtype.StorageBigint
	if kind == dsn.ClickHouse {
		column := clickhouse.AnyColumn{Scheme: scheme, Storage: form, Name: im.IDColumn}
		key = column.PrimaryKey().String()
	} else {
		column := sqlid.AnyColumn{Scheme: scheme, Storage: form, Name: im.IDColumn}
		key, err = column.PrimaryKey(kind)
	}
	definitions := []string{key}
	for _, c := range columns {
		definitions = append(definitions, quote(c)+" "+text)
	}
	return "CREATE TABLE IF NOT EXISTS " + quote(im.Table) + " (\n    " +
		strings.Join(definitions, ",\n    ") + "\n)" + tail, err
}
