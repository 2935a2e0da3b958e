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

	"github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
)

const (
	// The table of the log has one row. It says how the log is to be opened, and which table has
	// the log's rows.
	logTable   = "idmint_log"
	logColumns = " (name text PRIMARY KEY, serial text, rows text)"
	logRow     = "log"

	// The table of the rows is named by the log's random word. A log that is made anew has another
	// table. So no request of an app that runs finds its way into it, however late it comes. What
	// was proposed to the old table stays there.
	rowTable = "idmint_row_"
	// A row keeps the tokens of the commits that wrote it last, see commit.
	rowColumns = ` (part text, name text, version bigint, value blob, made blob,
		tokens map<tinyint, blob>, PRIMARY KEY (part, name))`

	migrateTime = 2 * time.Minute // that Migrate tries for
)

// A logged is the row of a log.
type logged struct {
	serial string // how it is to be opened: see Config.serial
	rows   string // the table of its rows; empty: there is no log
}

// Migrate prepares a keyspace for a launch log. It makes the keyspace by config.Replication, the
// tables, and the row that says how the log is to be opened. What is there stays as it is. It may
// be run at any time, and by many at once. It tries for two minutes, or until ctx ends. The role
// needs CREATE on the keyspace, or on all keyspaces. It returns the schema's versions before and
// after. Before a new log it is 0.
//
// It asks all data centres, even where config has LocalSerial. Errors are those of [Open], except
// for a missing log. Where the table of the log's rows was dropped or truncated, it is
// [launchlog.ErrOtherLog]: nobody makes that log again. Drop the keyspace to make another.
func Migrate(ctx context.Context, config Config) (from, to int, err error) {
	e, err := dial(ctx, config, ddlTime)
	if err != nil {
		return 0, 0, failed(err)
	}
	defer e.close()
	from, to, err = e.prepare(ctx, config)
	return from, to, failed(err)
}

// prepare is Migrate with connections that are there.
func (e *engine) prepare(ctx context.Context, config Config) (from, to int, err error) {
	waiting, cancel := context.WithTimeout(ctx, migrateTime)
	defer cancel()
	for range dialect.Attempts(waiting, time.Second) {
		var failure error
		from, to, failure = e.migrate(waiting, config)
		if failure == nil || isFinal(failure) {
			return from, to, failure
		}
		if err == nil || waiting.Err() == nil { // else it says no more than that the time is over
			err = failure
		}
	}
	if err == nil {
		return 0, 0, ctx.Err()
	}
	return 0, 0, ended(ctx, err)
}

// isFinal reports whether another attempt at Migrate would meet the same. A node that has not heard
// of the table yet says Invalid.
func isFinal(err error) bool {
	var config *ConfigError
	var serial *SerialError
	var version *launchlog.SchemaError
	return errors.As(err, &config) || errors.As(err, &serial) || errors.As(err, &version) ||
		errors.Is(err, launchlog.ErrOtherLog) || !passes(err) && !isInvalid(err)
}

// migrate is one attempt. Each of its requests may be run again.
func (e *engine) migrate(ctx context.Context, config Config) (from, to int, err error) {
	for _, make := range []func(context.Context, Config) error{e.makeKeyspace, e.makeTable} {
		if err := make(ctx, config); err != nil {
			return 0, 0, err
		}
		if err := e.session.AwaitSchemaAgreement(ctx); err != nil {
			return 0, 0, err
		}
	}
	// All data centres decide which log it is, even if one alone decides the rest.
	have, err := e.log(ctx, config, gocql.Serial)
	if err == nil && have.rows == "" {
		have, err = e.makeLog(ctx, config)
	}
	switch {
	case err != nil:
		return 0, 0, err
	case have.serial != config.serial():
		return 0, 0, &SerialError{have.serial, config.serial()}
	}
	made := have.rows == e.rows // by this attempt, or by one whose answer was lost
	e.bind(config, have)
	from, to, err = e.schema(ctx)
	if err == nil && made {
		from = 0
	}
	return from, to, err
}

// schema writes the schema row of a new log, or reads that of another one.
func (e *engine) schema(ctx context.Context) (from, to int, err error) {
	from, to, err = kv.Migrate(ctx, e)
	if errors.Is(err, launchlog.ErrOtherLog) { // or that node has not heard of the table yet
		if err := e.session.AwaitSchemaAgreement(ctx); err != nil {
			return 0, 0, err
		}
		from, to, err = kv.Migrate(ctx, e)
	}
	return from, to, err
}

// makeLog makes a table for the rows of a new log, its schema row, and then the row that names the
// table. Where somebody else was faster, it drops the table again, and returns the other log.
//
// A table and its schema row are made once, by whoever drew the name, before anybody can read that
// name. So nobody makes them again after somebody dropped or truncated the table, under the apps
// that used it.
func (e *engine) makeLog(ctx context.Context, config Config) (logged, error) {
	own := logged{config.serial(), rowTable + strings.ToLower(rand.Text()[:13])}
	err := e.session.Query(`CREATE TABLE ` + config.table(own.rows) + rowColumns +
		` WITH comment = 'rows of idmint launch logs: never deleted'`).ExecContext(ctx)
	if err != nil {
		return own, err
	}
	if err := e.session.AwaitSchemaAgreement(ctx); err != nil {
		return own, err
	}
	e.bind(config, own)
	e.whole = false
	if _, _, err := e.schema(ctx); err != nil {
		return own, errors.Join(err, e.drop(ctx, config, own))
	}
	// After an error the row may be made yet, and names the table. So the table stays.
	made, err := e.session.Query(`INSERT INTO `+config.table(logTable)+` (name, serial, rows)
		VALUES (?, ?, ?) IF NOT EXISTS`, logRow, own.serial, own.rows).
		Consistency(gocql.Quorum).SerialConsistency(gocql.Serial).
		MapScanCASContext(ctx, map[string]any{})
	if made || err != nil {
		return own, err
	}
	have, err := e.log(ctx, config, gocql.Serial)
	if err != nil || have.rows == own.rows {
		return have, err
	}
	return have, e.drop(ctx, config, own)
}

// drop drops the table of a log that nobody knows.
func (e *engine) drop(ctx context.Context, config Config, l logged) error {
	return e.session.Query(`DROP TABLE IF EXISTS ` + config.table(l.rows)).ExecContext(ctx)
}

// bind binds the engine to a log: its statements are for the table of that log alone.
func (e *engine) bind(config Config, have logged) {
	e.keyspace, e.rows = config.Keyspace, have.rows
	e.texts, e.whole = newTexts(config.table(have.rows)), true
}

func (e *engine) makeKeyspace(ctx context.Context, config Config) error {
	var name string
	err := e.session.Query(`SELECT keyspace_name FROM system_schema.keyspaces
		WHERE keyspace_name = ?`, config.Keyspace).
		Consistency(gocql.One).ScanContext(ctx, &name)
	if !errors.Is(err, gocql.ErrNotFound) {
		return err
	}
	if len(config.Replication) == 0 {
		return &ConfigError{
			"Keyspace", config.Keyspace,
			"is not there: say how to make it, by Config.Replication or by " +
				"?replication=3 on the command line",
		}
	}
	return e.session.Query(`CREATE KEYSPACE IF NOT EXISTS "` + config.Keyspace +
		`" WITH replication = ` + literal(config.Replication)).ExecContext(ctx)
}

// makeTable makes the table of the log, with an identifier that follows from the keyspace. So nodes
// that make it at once make the same table, whereas by default each would draw an identifier. A
// keyspace that is made anew has another one, because Paxos knows what it has decided by a table's
// identifier.
func (e *engine) makeTable(ctx context.Context, config Config) error {
	if there, err := e.hasTable(ctx, config.Keyspace, logTable); there || err != nil {
		return err
	}
	var made int64
	err := e.session.Query(`SELECT WRITETIME(durable_writes) FROM system_schema.keyspaces
		WHERE keyspace_name = ?`, config.Keyspace).Consistency(gocql.One).ScanContext(ctx, &made)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "github.com/idmint/idmint %s %d",
		config.table(logTable), made))
	sum[6] = sum[6]&0x0f | 0x80 // version 8 of RFC 9562: of one's own making
	sum[8] = sum[8]&0x3f | 0x80
	id := gocql.UUID(sum[:16])
	return e.session.Query(fmt.Sprintf(`CREATE TABLE IF NOT EXISTS %s%s WITH id = %v
		AND comment = 'the launch log of idmint'`,
		config.table(logTable), logColumns, id)).ExecContext(ctx)
}

func (e *engine) hasTable(ctx context.Context, keyspace, table string) (bool, error) {
	var name string
	err := e.session.Query(`SELECT table_name FROM system_schema.tables
		WHERE keyspace_name = ? AND table_name = ?`, keyspace, table).
		Consistency(gocql.One).ScanContext(ctx, &name)
	if errors.Is(err, gocql.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// log reads the row of the log, which is zero where there is none.
func (e *engine) log(
	ctx context.Context, config Config, level gocql.Consistency,
) (l logged, err error) {
	err = e.read(ctx, logTable, func(ctx context.Context) error {
		return found(e.session.Query(`SELECT serial, rows FROM `+config.table(logTable)+`
			WHERE name = ?`, logRow).Consistency(level).ScanContext(ctx, &l.serial, &l.rows))
	})
	return l, err
}

// literal writes a map as CQL does.
func literal(m map[string]string) string {
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, quote(key)+": "+quote(m[key]))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
