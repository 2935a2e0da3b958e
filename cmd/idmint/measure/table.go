package measure

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"fmt"
	"iter"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/dialect"
)

// Column is the type of the key's column.
func (d *Database) Column(k Key) string {
	form := k.Storage
	if d.bytesForUUID(k) {
		form = idtype.StorageBytes
	}
	kind := d.Kind
	if kind == dsn.MySQL { // it is MariaDB, which has UUIDs
		kind = dialect.MariaDB
	}
	column := dialect.Column(kind, string(form), k.size)
	if column == "INTEGER" { // as a primary key that would be the number of the row
		return "INT"
	}
	return column
}

// bytesForUUID: SQLite has no UUIDs, and those who care keep the 16 bytes.
func (d *Database) bytesForUUID(k Key) bool {
	return d.Kind == dsn.SQLite && k.Peer && k.Storage == idtype.StorageUUID
}

// create makes a table of a column id, the primary key, and a column n of numbers. Its name is new:
// drivers remember what they know of a table.
func (d *Database) create(ctx context.Context, column string) (table string, err error) {
	form := map[dsn.Kind]string{
		dsn.SQLite:     "CREATE TABLE %s (id %s NOT NULL PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID",
		dsn.Postgres:   "CREATE TABLE %s (id %s PRIMARY KEY, n integer NOT NULL)",
		dsn.MySQL:      "CREATE TABLE %s (id %s PRIMARY KEY, n INTEGER NOT NULL) ENGINE=InnoDB",
		dsn.ClickHouse: "CREATE TABLE %s (id %s, n Int32) ENGINE = MergeTree ORDER BY id",
	}[d.Kind]
	table = d.newTable()
	return table, d.exec(ctx, fmt.Sprintf(form, table, column))
}

func (d *Database) newTable() string {
	d.tables++
	return fmt.Sprintf("ids_%d", d.tables)
}

// parameter is an ID as the database's driver takes it. Our types go as they are, except to drivers
// that mistake them.
func (d *Database) parameter(id any) (any, error) {
	switch typed := id.(type) {
	case snowflakeID:
		return int64(typed), nil
	case ulidID:
		return string(typed), nil
	case uuid.UUID:
		switch d.Kind {
		case dsn.SQLite:
			return typed[:], nil
		case dsn.Postgres:
			return [16]byte(typed), nil // which pgx writes as binary
		}
	case interface{ Storage() idtype.Storage }:
		// clickhouse-go takes the binary form of an ID for what it looks like in a column of bytes
		// or UUIDs.
		form := typed.Storage()
		if d.Kind == dsn.ClickHouse && (form == idtype.StorageText || form == idtype.StorageUUID) {
			return id.(sqldriver.Valuer).Value()
		}
	}
	return id, nil
}

// A row is an ID and a number.
type row struct {
	id any
	n  int32
}

// rows are the IDs of the indexes, with them as their numbers.
func (ids *IDs) rows(indexes iter.Seq[int]) iter.Seq[row] {
	return func(yield func(row) bool) {
		for i := range indexes {
			if !yield(row{ids.At(i), int32(i)}) {
				return
			}
		}
	}
}

// upTo are the numbers from ..< to.
func upTo(from, to int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := from; i < to && yield(i); i++ {
		}
	}
}

// A path is a way to insert many rows.
type path string

const (
	pathCopy      path = "COPY"
	pathMultiRow  path = "multi-row INSERT"
	pathPrepared  path = "prepared INSERT"
	pathNative    path = "native batch"
	rowsPerInsert      = 1_000 // of a multi-row INSERT; PostgreSQL takes 65,535 parameters
)

// paths are the ways that a database has, the fastest first.
var paths = map[dsn.Kind][]path{
	dsn.SQLite:     {pathPrepared},
	dsn.Postgres:   {pathCopy, pathMultiRow},
	dsn.MySQL:      {pathMultiRow},
	dsn.ClickHouse: {pathNative},
}

// load inserts rows in one transaction, or one batch, by the fastest way.
func (d *Database) load(ctx context.Context, table string, rows iter.Seq[row]) error {
	return d.insert(ctx, paths[d.Kind][0], table, rows)
}

func (d *Database) insert(ctx context.Context, by path, table string, rows iter.Seq[row]) error {
	var err error
	switch by {
	case pathCopy:
		err = d.insertCopy(ctx, table, rows)
	case pathNative:
		err = d.insertNative(ctx, table, rows)
	case pathPrepared:
		err = d.transact(ctx, func(tx *sql.Tx) error {
			statement, err := tx.PrepareContext(ctx, "INSERT INTO "+table+" VALUES (?, ?)")
			if err != nil {
				return err
			}
			defer statement.Close()
			for r := range rows {
				id, err := d.parameter(r.id)
				if err != nil {
					return err
				}
				if _, err := statement.ExecContext(ctx, id, r.n); err != nil {
					return err
				}
			}
			return nil
		})
	case pathMultiRow:
		err = d.transact(ctx,
			func(tx *sql.Tx) error { return d.insertMultiRow(ctx, tx, table, rows) })
	}
	if err != nil {
		return fmt.Errorf("%s: %s: %w", d.Name, by, err)
	}
	return nil
}

func (d *Database) transact(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing after a commit
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

func (d *Database) insertMultiRow(
	ctx context.Context, tx *sql.Tx, table string, rows iter.Seq[row],
) error {
	var statement *sql.Stmt
	args := make([]any, 0, 2*rowsPerInsert)
	flush := func() (err error) {
		if len(args) == 2*rowsPerInsert && statement != nil {
			_, err = statement.ExecContext(ctx, args...)
		} else {
			_, err = tx.ExecContext(ctx, d.multiRow(table, len(args)/2), args...)
		}
		args = args[:0]
		return err
	}
	for r := range rows {
		id, err := d.parameter(r.id)
		if err != nil {
			return err
		}
		if statement == nil {
			if statement, err = tx.PrepareContext(ctx,
				d.multiRow(table, rowsPerInsert)); err != nil {
				return err
			}
			defer statement.Close()
		}
		if args = append(args, id, r.n); len(args) == 2*rowsPerInsert {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if len(args) == 0 {
		return nil
	}
	return flush()
}

func (d *Database) multiRow(table string, rows int) string {
	var b strings.Builder
	b.WriteString("INSERT INTO " + table + " VALUES ")
	for i := range rows {
		switch {
		case d.Kind == dsn.Postgres:
			fmt.Fprintf(&b, "($%d, $%d), ", 2*i+1, 2*i+2)
		default:
			b.WriteString("(?, ?), ")
		}
	}
	return strings.TrimSuffix(b.String(), ", ")
}

func (d *Database) insertCopy(ctx context.Context, table string, rows iter.Seq[row]) error {
	conn, err := d.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	next, stop := iter.Pull(rows)
	defer stop()
	return conn.Raw(func(c any) error {
		_, err := c.(*stdlib.Conn).Conn().CopyFrom(ctx, pgx.Identifier{table}, []string{"id", "n"},
			pgx.CopyFromFunc(func() ([]any, error) {
				r, ok := next()
				if !ok {
					return nil, nil
				}
				id, err := d.parameter(r.id)
				return []any{id, r.n}, err
			}))
		return err
	})
}

func (d *Database) insertNative(ctx context.Context, table string, rows iter.Seq[row]) error {
	batch, err := d.native.PrepareBatch(ctx, "INSERT INTO "+table+" (id, n)")
	if err != nil {
		return err
	}
	defer batch.Close()
	for r := range rows {
		id, err := d.parameter(r.id)
		if err != nil {
			return err
		}
		if err := batch.Append(id, r.n); err != nil {
			return err
		}
	}
	return batch.Send()
}
