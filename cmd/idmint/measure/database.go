package measure

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	_ "github.com/mattn/go-sqlite3" // the driver

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/internal/dialect"
)

// A Database is a place for tables that are measured: a file of its own in SQLite, a schema in
// PostgreSQL, a database in MariaDB and ClickHouse. It has one connection, so it is for one
// goroutine.
type Database struct {
	Kind    dsn.Kind
	Name    string // "PostgreSQL 18.4", "MariaDB 11.8.9", with what the server adds
	db      *sql.DB
	native  driver.Conn // ClickHouse's batches
	drop    func() error
	created int // tables so far
}

// dropTime bounds how long it may take to remove what was made, also after an interrupt.
const dropTime = 30 * time.Second

// Open makes a place in the database that name names, which must let its user do so. A SQLite file
// is left alone: the place is then a file in a temporary folder.
func Open(ctx context.Context, name dsn.DSN) (*Database, error) {
	if name.Kind == dsn.SQLite {
		return openSQLite(ctx)
	}
	db, err := sql.Open(name.Driver(), name.Source())
	if err != nil {
		return nil, err
	}
	place := "idmint_report_" + strings.ToLower(rand.Text()[:12])
	create, drop := "CREATE DATABASE "+place, "DROP DATABASE "+place
	if name.Kind == dsn.Postgres {
		create, drop = "CREATE SCHEMA "+place, "DROP SCHEMA "+place+" CASCADE"
	}
	if _, err := db.ExecContext(ctx, create); err != nil {
		return nil, errors.Join(fmt.Errorf("%v: %w", name, err), db.Close())
	}
	d := &Database{Kind: name.Kind, drop: func() error {
		ctx, cancel := context.WithTimeout(context.Background(), dropTime)
		defer cancel()
		_, err := db.ExecContext(ctx, drop)
		return errors.Join(err, db.Close())
	}}
	if err = d.connect(name, place); err == nil {
		err = d.ask(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%v: %w", name, err), d.Close())
	}
	return d, nil
}

func openSQLite(ctx context.Context) (*Database, error) {
	dir, err := os.MkdirTemp("", "idmint-report-")
	if err != nil {
		return nil, err
	}
	d := &Database{Kind: dsn.SQLite, drop: func() error { return os.RemoveAll(dir) }}
	if d.db, err = sql.Open(dialect.Driver(dsn.SQLite),
		dialect.SQLiteDSN(filepath.Join(dir, "report.db"), "rwc", 0)+"&_journal_mode=WAL"); err == nil {
		err = d.ask(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// connect opens the place.
func (d *Database) connect(name dsn.DSN, place string) (err error) {
	switch d.Kind {
	case dsn.Postgres:
		config, err := pgx.ParseConfig(name.Source())
		if err != nil {
			return err
		}
		config.RuntimeParams["search_path"] = place
		d.db = stdlib.OpenDB(*config)
	case dsn.ClickHouse:
		options, err := clickhouse.ParseDSN(name.WithDatabase(place).Source())
		if err != nil {
			return err
		}
		d.db = clickhouse.OpenDB(options)
		d.native, err = clickhouse.Open(options)
		return err
	default:
		d.db, err = sql.Open(name.Driver(), name.WithDatabase(place).Source())
	}
	return err
}

// ask asks the server what it is.
func (d *Database) ask(ctx context.Context) error {
	d.db.SetMaxOpenConns(1) // what is set on a session stays
	query := "SELECT version()"
	if d.Kind == dsn.SQLite {
		query = "SELECT 'SQLite ' || sqlite_version()"
	}
	if err := d.db.QueryRowContext(ctx, query).Scan(&d.Name); err != nil {
		return err
	}
	switch d.Kind {
	case dsn.MySQL: // "11.8.9-MariaDB-0+deb13u1 from Debian"
		if !strings.Contains(d.Name, "MariaDB") {
			return fmt.Errorf("version %q: only MariaDB is measured, because MySQL has no UUIDs",
				d.Name)
		}
		d.Name = "MariaDB " + d.Name
	case dsn.Postgres: // "PostgreSQL 17.12 (Debian 17.12-0+deb13u1) on x86_64, compiled by gcc, 64-bit"
		d.Name, _, _ = strings.Cut(d.Name, " on ")
	case dsn.ClickHouse:
		d.Name = "ClickHouse " + d.Name
	}
	return nil
}

// Close removes the place with all that is in it.
func (d *Database) Close() error {
	var errs []error
	if d.native != nil {
		errs = append(errs, d.native.Close())
	}
	if d.db != nil {
		errs = append(errs, d.db.Close())
	}
	return errors.Join(append(errs, d.drop())...)
}

// exec runs statements in turn.
func (d *Database) exec(ctx context.Context, statements ...string) error {
	for _, s := range statements {
		if _, err := d.db.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%s: %s: %w", d.Name, s, err)
		}
	}
	return nil
}

// number runs a query for a number.
func (d *Database) number(ctx context.Context, query string, args ...any) (n int64, err error) {
	if err := d.db.QueryRowContext(ctx, query, args...).Scan(&n); err != nil {
		return 0, fmt.Errorf("%s: %s: %w", d.Name, query, err)
	}
	return n, nil
}

// column runs a query for one column of numbers.
func (d *Database) column(ctx context.Context, query string) ([]int, error) {
	rows, err := d.db.QueryContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", d.Name, query, err)
	}
	defer rows.Close()
	var all []int
	for rows.Next() {
		var n int32
		if err := rows.Scan(&n); err != nil {
			return nil, err
		}
		all = append(all, int(n))
	}
	return all, rows.Err()
}

// explain returns what the database says of how it runs a query. A field of several has its
// column's name before it.
func (d *Database) explain(ctx context.Context, explain, query string) (string, error) {
	rows, err := d.db.QueryContext(ctx, explain+" "+query)
	if err != nil {
		return "", fmt.Errorf("%s: %s %s: %w", d.Name, explain, query, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for rows.Next() {
		fields, to := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range fields {
			to[i] = &fields[i]
		}
		if err := rows.Scan(to...); err != nil {
			return "", err
		}
		for i, f := range fields {
			if len(columns) > 1 { // MariaDB and SQLite
				text.WriteString(columns[i] + "=")
			}
			text.WriteString(f.String + " ")
		}
		text.WriteString("\n")
	}
	return text.String(), rows.Err()
}
