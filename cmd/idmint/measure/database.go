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
	_ "github.com/go-sql-driver/mysql" // the drivers
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/mattn/go-sqlite3"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/internal/dialect"
)

// A Database is a place for tables that are measured: a new file in SQLite, a schema in PostgreSQL,
// and a database in MariaDB and ClickHouse. It has one connection, so only one goroutine may use
// it.
type Database struct {
	Kind    dsn.Kind
	Name    string // such as "PostgreSQL 18.4" or "MariaDB 11.8.9", with what the server adds
	db      *sql.DB
	native  driver.Conn // for ClickHouse's batches
	drop    func() error
	created int // tables so far
}

// dropTime limits how long removing the place may take, even after an interrupt.
const dropTime = 30 * time.Second

// Open creates a place in the database that name names, whose user must be allowed to do so. For
// SQLite, the place is a file in a temporary folder, and the named file is not touched.
func Open(ctx context.Context, name dsn.DSN) (d *Database, err error) {
	place := "idmint_report_" + strings.ToLower(rand.Text()[:12])
	create, use, drop := "CREATE DATABASE "+place, "USE "+place, "DROP DATABASE "+place
	d = &Database{Kind: name.Kind, Name: name.String()}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.Close())
		}
	}()
	source := name.Source()
	switch name.Kind {
	case dsn.Postgres:
		create, use = "CREATE SCHEMA "+place, "SET search_path = "+place
		drop = "DROP SCHEMA " + place + " CASCADE"
	case dsn.SQLite:
		dir, err := os.MkdirTemp("", "idmint-report-")
		if err != nil {
			return d, err
		}
		d.drop = func() error { return os.RemoveAll(dir) }
		name.Path = filepath.Join(dir, "report.db")
		source = dialect.SQLiteDSN(name.Path, "rwc", 0) + "&_journal_mode=WAL"
	}
	if d.db, err = sql.Open(name.Driver(), source); err != nil {
		return d, err
	}
	d.db.SetMaxOpenConns(1) // so that settings of the session persist
	if name.Kind != dsn.SQLite {
		if err := d.exec(ctx, create); err != nil {
			return d, err
		}
		d.drop = func() error {
			ctx, cancel := context.WithTimeout(context.Background(), dropTime)
			defer cancel()
			return d.exec(ctx, drop)
		}
		if err := d.exec(ctx, use); err != nil {
			return d, err
		}
	}
	if name.Kind == dsn.ClickHouse {
		options, err := clickhouse.ParseDSN(name.WithDatabase(place).Source())
		if err != nil {
			return d, err
		}
		if d.native, err = clickhouse.Open(options); err != nil {
			return d, err
		}
	}
	return d, d.ask(ctx)
}

// ask asks the server for its version.
func (d *Database) ask(ctx context.Context) error {
	query := "SELECT version()"
	if d.Kind == dsn.SQLite {
		query = "SELECT 'SQLite ' || sqlite_version()"
	}
	if err := d.db.QueryRowContext(ctx, query).Scan(&d.Name); err != nil {
		return fmt.Errorf("%s: %w", d.Name, err)
	}
	switch d.Kind {
	case dsn.MySQL: // "11.8.9-MariaDB-0+deb13u1 from Debian"
		if !strings.Contains(d.Name, "MariaDB") {
			return fmt.Errorf("version %q: only MariaDB is measured, because MySQL has no UUIDs",
				d.Name)
		}
		d.Name = "MariaDB " + d.Name
	case dsn.Postgres: // "PostgreSQL 17.12 (Debian 17.12-0+deb13u1) on x86_64, compiled by gcc"
		d.Name, _, _ = strings.Cut(d.Name, " on ")
	case dsn.ClickHouse:
		d.Name = "ClickHouse " + d.Name
	}
	return nil
}

// Close removes the place with everything in it.
func (d *Database) Close() error {
	var errs []error
	if d.native != nil {
		errs = append(errs, d.native.Close())
	}
	if d.drop != nil {
		errs = append(errs, d.drop())
	}
	if d.db != nil {
		errs = append(errs, d.db.Close())
	}
	return errors.Join(errs...)
}

// exec runs statements one after another.
func (d *Database) exec(ctx context.Context, statements ...string) error {
	for _, s := range statements {
		if _, err := d.db.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%s: %s: %w", d.Name, s, err)
		}
	}
	return nil
}

// number runs a query that returns a number.
func (d *Database) number(ctx context.Context, query string, args ...any) (n int64, err error) {
	if err := d.db.QueryRowContext(ctx, query, args...).Scan(&n); err != nil {
		return 0, fmt.Errorf("%s: %s: %w", d.Name, query, err)
	}
	return n, nil
}

// query returns the rows of a query, each as a map from column names to texts.
func (d *Database) query(ctx context.Context, query string) (all []map[string]string, err error) {
	rows, err := d.db.QueryContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", d.Name, query, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	fields, to := make([]sql.NullString, len(columns)), make([]any, len(columns))
	for i := range fields {
		to[i] = &fields[i]
	}
	for rows.Next() {
		if err := rows.Scan(to...); err != nil {
			return nil, err
		}
		row := map[string]string{}
		for i, f := range fields {
			row[columns[i]] = f.String
		}
		all = append(all, row)
	}
	return all, rows.Err()
}
