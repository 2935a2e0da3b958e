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

// Database is where rows go, and where the record of imports is kept. Make it with [Open]. Its
// calls are keyed: what a call did before its answer was lost, the same call finds done.
type Database interface {
	// prepare makes the tables that are absent, and checks those that are there.
	prepare(ctx context.Context, im Import, columns []string) error
	// last finds the last import of this file into this table, or nil if there is none whose rows
	// stay.
	last(ctx context.Context, im Import) (*state, error)
	// record begins a new import, unless another run has begun the same meanwhile.
	record(ctx context.Context, im Import) (*state, error)
	// takeOver makes this run the one that goes on with s, with another launch if one is given. A
	// run that may still be alive finds out at its next batch, which it does not store.
	takeOver(ctx context.Context, s *state, launch int) (*state, error)
	// setLaunch notes the launch of an import that had none.
	setLaunch(ctx context.Context, s *state, launch int) error
	// store stores a batch and how far the file has come, and at the end of the file that it is
	// finished. It changes s accordingly.
	store(ctx context.Context, im Import, columns []string, s *state, ids []idtype.DecimalID,
		b batch) error
	// abandon removes the rows of an unfinished import, which its IDs tell.
	abandon(ctx context.Context, im Import, s *state) (removed int64, err error)
	// Close closes the connections.
	Close() error
}

// Open names the database d, to which it connects when it is first used. The record of imports is
// kept in the database log, by the pool records, which Close closes. The rows go there as well,
// unless d is ClickHouse, which has no transactions. Each step waits up to budget for a database
// that is busy or away.
func Open(d, log dsn.DSN, records *sql.DB, budget time.Duration) (Database, error) {
	dialects := map[dsn.Kind]*dialect{
		dsn.SQLite: sqliteDialect, dsn.Postgres: postgresDialect, dsn.MySQL: mysqlDialect,
	}
	j := &journal{db: records, dialect: dialects[log.Kind], budget: budget}
	switch {
	case j.dialect == nil:
		return nil, errors.Join(
			fmt.Errorf("%s databases have no transactions to keep the record of an import in",
				cmp.Or(log.Kind, "unnamed")), records.Close())
	case d.Kind == dsn.ClickHouse:
		j.about = log
		return openClickHouse(d, j)
	}
	return &table{j}, nil
}

// An idRange holds the first and the last of the IDs that rows got from one generator without a
// gap. Nobody else mints with its generator number. Only what is within the range was stored by the
// import. An older row, with a key of another scheme, may end in the same digits.
type idRange [2]int64

// with adds IDs in ascending order to ranges, of which it makes a copy.
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

// ids are those in ranges.
func idsIn(ranges []idRange) (ids []idtype.DecimalID) {
	for _, r := range ranges {
		for id := r[0]; id <= r[1]; id += formats.DecimalStep {
			ids = append(ids, idtype.DecimalID(id))
		}
	}
	return ids
}

// where is the condition for the IDs of a range.
func (r idRange) where(column string) string {
	const step = formats.DecimalStep
	return fmt.Sprintf("%s BETWEEN %d AND %d", column, r[0], r[1]) +
		fmt.Sprintf(" AND %s %% %d = %d", column, step, r[0]%step)
}

// state is an import's row.
type state struct {
	id        int64
	key       string // names the import; the idempotency key of its launch
	holder    string // the run that may change it
	step      int64  // counts the changes by that run
	launch    int    // 0 before it has one
	ownLaunch bool   // it was started for this import
	ranges    []idRange
	doubt     *doubt // what was begun outside a transaction, and has not ended as far as is known
	finished  bool
	restarted bool // its rows are removed
	startedAt string
	changedAt string
	position
	unanswered int64 // rows that follow, whose COMMIT was sent: it may have stored them
	unfinished sql.NullString
}

// next is the state after the next step.
func (s *state) next() state {
	next := *s
	next.step++
	next.unanswered = 0
	return next
}

// after is the state when a batch is stored.
func (s *state) after(ids []idtype.DecimalID, b batch) state {
	next := s.next()
	next.ranges, next.position, next.doubt = with(s.ranges, ids), b.end, nil
	next.finished = b.err != nil
	return next
}

// A doubt is what a run writes down before it changes rows without a transaction. It names the
// batch that the run is about to send, or says that it is about to remove all rows.
type doubt struct {
	Remove bool      `json:"remove,omitempty"`
	Ranges []idRange `json:"ranges,omitempty"` // of the batch
	Rows   int64     `json:"rows,omitempty"`   // that are stored when the batch is
	Bytes  int64     `json:"bytes,omitempty"`  // of the file, at its end
	SHA256 string    `json:"sha256,omitempty"` // of these bytes
	Token  string    `json:"token,omitempty"`  // names the batch to the database

	Sendings int `json:"sendings,omitempty"` // that were ended before the one under way
}

var (
	errTakenOver  = errors.New("another run goes on with this import")
	errRestarting = errors.New(
		"a run with --restart ended before all rows of the import were removed: run it again with --restart")
)

// A RowError says which row of the file a database refused.
type RowError struct {
	Row    int64  // from 1, without the header
	Column string // "" where the database does not say
	Err    error
}

func (e *RowError) Error() string {
	if e.Column == "" {
		return fmt.Sprintf("row %d: %v", e.Row, e.Err)
	}
	return fmt.Sprintf("row %d, column %q: %v", e.Row, e.Column, e.Err)
}

func (e *RowError) Unwrap() error { return e.Err }

// A LeftOutError is returned where a table did not take all rows, and did not refuse them either.
// A trigger may do so, or ON CONFLICT IGNORE. Nothing of the batch is stored.
type LeftOutError struct {
	From, To int64 // the rows of the file that a statement had
	Stored   int64 // by that statement
}

func (e *LeftOutError) Error() string {
	return fmt.Sprintf("of the rows %d to %d the table left out %d, as its triggers or its "+
		"constraints tell it", e.From, e.To, e.To-e.From+1-e.Stored)
}

// check checks the names that an import uses, and how many columns its table has.
func (im Import) check(columns []string, most int, database string) error {
	if n := len(columns) + 1; n > most {
		return &ColumnsError{n, most, database}
	}
	if strings.HasPrefix(strings.ToLower(im.Table), "idmint_") {
		return fmt.Errorf("table %q: names that begin with idmint_ are taken", im.Table)
	}
	for kind, name := range map[string]string{"table": im.Table, "column": im.IDColumn} {
		if name == "" || badText(name) != "" {
			return fmt.Errorf("%q is no name for a %s", name, kind)
		}
	}
	for _, c := range columns {
		if strings.EqualFold(c, im.IDColumn) {
			return fmt.Errorf("the file has a column %s, which is to hold the new IDs: name "+
				"another with --id-column", quoted(c))
		}
	}
	return nil
}

// create is the statement that makes the table where it is absent. The column of its IDs takes no
// others but those of production.
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
