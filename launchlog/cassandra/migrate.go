package cassandra

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
)

const (
	// The table of the log has one row, which says how to open the log, and which table has its
	// rows.
	logTable   = "idmint_log"
	logColumns = " (name text PRIMARY KEY, serial text, rows text)"
	logRow     = "log"

	// The table of the rows is named after the log's random word. A recreated log has another
	// table, which no request of a running app can reach, however late it arrives. Anything
	// proposed to the old table stays there.
	rowTable   = "idmint_row_"
	rowColumns = ` (part text, name text, version bigint, value blob, PRIMARY KEY (part, name))`

	ddlTime     = 20 * time.Second // for a request that changes the schema
	migrateTime = 2 * time.Minute  // that Migrate keeps trying
)

// A logged is the row of a log.
type logged struct {
	serial string // how to open it: see Config.serialLevel
	rows   string // the table of its rows; empty: there is no log
}

// Migrate prepares a keyspace for a launch log. It creates the keyspace as config.Replication says,
// the tables, and the row that says how to open the log. It does not change what exists. It can be
// run at any time, also concurrently, and tries for two minutes, or until ctx ends. The role needs
// CREATE on the keyspace, or on all keyspaces. Migrate returns the schema's versions before and
// after, and 0 as the version before a new log.
//
// Migrate asks all data centers, even with LocalSerial. It returns the same errors as [Open],
// except for a missing log. If the table of the log's rows was dropped or truncated, the error is
// [launchlog.ErrOtherLog], because that log cannot be created again. Drop the keyspace to create
// another one.
func Migrate(ctx context.Context, config Config) (from, to int, err error) {
	config, err = config.Checked()
	if err != nil {
		return 0, 0, err
	}
	e := newEngine(config, ddlTime, migrateTime)
	defer e.Close()
	err = kv.Await(ctx, migrateTime, func(ctx context.Context) (err error) {
		from, to, err = e.migrate(ctx)
		if isInvalid(err) && !errors.Is(err, launchlog.ErrOtherLog) {
			err = &launchlog.AttemptError{Err: err} // the node does not know the table yet
		}
		return err
	})
	return from, to, failed(err)
}

// migrate is one attempt, each of whose requests may be repeated.
func (e *engine) migrate(ctx context.Context) (from, to int, err error) {
	err = e.makeKeyspace(ctx)
	if err == nil {
		err = e.makeTable(ctx)
	}
	if err != nil {
		return 0, 0, err
	}
	// All data centers decide which log it is, even if one of them decides the rest alone.
	have, err := e.log(ctx, gocql.Serial)
	if err == nil && have.rows == "" {
		have, err = e.makeLog(ctx)
	}
	made := have.rows == e.rows // by this attempt, or by one whose answer was lost
	if err == nil {
		err = e.open(have)
	}
	if err != nil {
		return 0, 0, err
	}
	from, to, err = kv.Migrate(ctx, e)
	if err == nil && made {
		from = 0
	}
	return from, to, err
}

// makeLog creates a table for the rows of a new log, its schema row, and then the row that names
// the table. If another process was faster, makeLog drops its table again, and returns the other
// log.
//
// Only the process that chose the random name creates a table and its schema row, before any other
// process can read the name. Therefore nothing recreates them if the table is dropped or truncated
// under running apps, and all nodes know a table before the row names it.
func (e *engine) makeLog(ctx context.Context) (logged, error) {
	own := logged{e.config.serialLevel(), rowTable + strings.ToLower(rand.Text()[:13])}
	if err := e.create(ctx, own.rows, rowColumns, 0); err != nil {
		return own, err
	}
	e.bind(own)
	e.whole = false
	if _, _, err := kv.Migrate(ctx, e); err != nil {
		return own, err
	}
	// After an error the row may still be written, and it names the table, so the table stays.
	made, _, err := kv.Ask(ctx, e.cluster, func(ctx context.Context, s *Session) (bool, error) {
		return s.Query(`INSERT INTO `+e.config.table(logTable)+` (name, serial, rows)
			VALUES (?, ?, ?) IF NOT EXISTS`, logRow, own.serial, own.rows).
			Consistency(gocql.Quorum).SerialConsistency(gocql.Serial).
			MapScanCASContext(ctx, map[string]any{})
	})
	if made || err != nil {
		return own, err
	}
	have, err := e.log(ctx, gocql.Serial)
	if err == nil && have.rows != own.rows {
		err = e.define(ctx, `DROP TABLE IF EXISTS `+e.config.table(own.rows))
	}
	return have, err
}

// find reads which log the keyspace has, and binds the engine to it.
func (e *engine) find(ctx context.Context) error {
	have, err := e.log(ctx, e.quorum)
	if err == nil && have.rows == "" && e.config.LocalSerial {
		// The row, which is never changed, may not have reached this data center yet.
		have, err = e.log(ctx, gocql.Quorum)
	}
	if isInvalid(err) {
		there, look := e.hasTable(ctx, logTable)
		if there { // the node does not know it yet
			look = &launchlog.AttemptError{Err: err}
		}
		err = look
	}
	switch {
	case err != nil:
		return err
	case have.rows == "":
		return &launchlog.SchemaError{Want: kv.SchemaVersion}
	}
	return e.open(have)
}

// open binds the engine to a log of the kind that the config asks for.
func (e *engine) open(have logged) error {
	if want := e.config.serialLevel(); have.serial != want {
		return &SerialError{have.serial, want}
	}
	e.bind(have)
	return nil
}

// bind binds the engine to a log, so that its statements use only that log's table.
func (e *engine) bind(have logged) {
	e.rows, e.texts, e.whole = have.rows, newTexts(e.config.table(have.rows)), true
}

// define changes the schema, and waits until all nodes know it.
func (e *engine) define(ctx context.Context, text string) error {
	_, err := kv.Look(ctx, e.cluster, func(ctx context.Context, s *Session) (int, error) {
		if err := s.Query(text).ExecContext(ctx); err != nil {
			return 0, err
		}
		return 0, s.AwaitSchemaAgreement(ctx)
	})
	return err
}

// create creates a table with an identifier that is derived from its name and its keyspace. Nodes
// that create it concurrently therefore create the same table, whereas by default each would choose
// a random identifier.
func (e *engine) create(ctx context.Context, table, columns string, keyspace int64) error {
	name := e.config.table(table)
	sum := sha256.Sum256(fmt.Appendf(nil, "github.com/idmint/idmint %s %d", name, keyspace))
	sum[6] = sum[6]&0x0f | 0x80 // version 8 of RFC 9562, for custom contents
	sum[8] = sum[8]&0x3f | 0x80
	return e.define(ctx, fmt.Sprintf(`CREATE TABLE IF NOT EXISTS %s%s WITH id = %v
		AND comment = 'the launch log of idmint: never deleted'`,
		name, columns, gocql.UUID(sum[:16])))
}

// makeKeyspace creates the keyspace unless it exists.
func (e *engine) makeKeyspace(ctx context.Context) error {
	there, err := e.one(ctx, gocql.One, []any{new(string)}, `SELECT keyspace_name
		FROM system_schema.keyspaces WHERE keyspace_name = ?`, e.config.Keyspace)
	if there || err != nil {
		return err
	}
	if len(e.config.Replication) == 0 {
		return &launchlog.RequestError{
			Field: "Keyspace", Value: e.config.Keyspace,
			Reason: "does not exist: set Config.Replication to create it, or add ?replication=3 " +
				"on the command line",
		}
	}
	return e.define(ctx, `CREATE KEYSPACE IF NOT EXISTS "`+e.config.Keyspace+
		`" WITH replication = `+literal(e.config.Replication))
}

// makeTable creates the table of the log. A recreated keyspace has another such table, because
// Paxos remembers its decisions by a table's identifier.
func (e *engine) makeTable(ctx context.Context) error {
	if there, err := e.hasTable(ctx, logTable); there || err != nil {
		return err
	}
	var made int64
	_, err := e.one(ctx, gocql.One, []any{&made}, `SELECT WRITETIME(durable_writes)
		FROM system_schema.keyspaces WHERE keyspace_name = ?`, e.config.Keyspace)
	if err != nil {
		return err
	}
	return e.create(ctx, logTable, logColumns, made)
}

func (e *engine) hasTable(ctx context.Context, table string) (bool, error) {
	return e.one(ctx, gocql.One, []any{new(string)}, `SELECT table_name FROM system_schema.tables
		WHERE keyspace_name = ? AND table_name = ?`, e.config.Keyspace, table)
}

// log reads the row of the log, which is zero if it does not exist.
func (e *engine) log(ctx context.Context, level gocql.Consistency) (l logged, err error) {
	_, err = e.one(ctx, level, []any{&l.serial, &l.rows}, `SELECT serial, rows
		FROM `+e.config.table(logTable)+` WHERE name = ?`, logRow)
	return l, err
}

// literal writes a map in CQL's notation.
func literal(m map[string]string) string {
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, quote(key)+": "+quote(m[key]))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
