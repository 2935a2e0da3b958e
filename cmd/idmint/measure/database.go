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
	"github.com/mattn/go-sqlite3"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/internal/dialect"
)

// A Database is a place for tables that are measured. It is a file of its own in SQLite, a schema
// in PostgreSQL, a database in MariaDB and ClickHouse. It has one connection, so it is for one
// goroutine.
type Database struct {
	Kind    dsn.Kind
	Name    string // "PostgreSQL 18", "MariaDB"
	Version string // as the server says
	Build   string // who built it, as far as the server says
	StandIn string // what a server calls itself that is not the official one

	db      *sql.DB
	native  driver.Conn // ClickHouse's batches
	drop    func() error
	place   string          // the schema or database
	tables  int             // made so far
	uuidv7  bool            // there is a function uuidv7()
	pgx     *pgx.ConnConfig // PostgreSQL: of connections to the place
	inspect inspection
}

// dropTime bounds how long it may take to remove what was made, also after an interrupt.
const dropTime = 30 * time.Second

var names = map[dsn.Kind]string{
	dsn.SQLite: "SQLite", dsn.Postgres: "PostgreSQL", dsn.MySQL: "MariaDB",
	dsn.ClickHouse: "ClickHouse",
}

// OpenSQLite makes a file in a temporary folder.
func OpenSQLite(ctx context.Context) (*Database, error) {
	dir, err := os.MkdirTemp("", "idmint-report-")
	if err != nil {
		return nil, err
	}
	db, err := sql.Open(dialect.Driver(dsn.SQLite),
		dialect.SQLiteDSN(filepath.Join(dir, "report.db"), "rwc", 0))
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	version, _, _ := sqlite3.Version()
	d := &Database{
		Kind: dsn.SQLite, Version: "SQLite " + version, db: db,
		drop: func() error { return os.RemoveAll(dir) },
	}
	return d.opened(ctx)
}

// Open makes a place in the database that name names, which must let its user do so. A SQLite file
// is left alone: the place is then that of [OpenSQLite].
func Open(ctx context.Context, name dsn.DSN) (*Database, error) {
	if name.Kind == dsn.SQLite {
		return OpenSQLite(ctx)
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
	d := &Database{Kind: name.Kind, place: place, drop: func() error {
		ctx, cancel := context.WithTimeout(context.Background(), dropTime)
		defer cancel()
		_, err := db.ExecContext(ctx, drop)
		return errors.Join(err, db.Close())
	}}
	if err := d.connect(ctx, name, place); err != nil {
		return nil, errors.Join(fmt.Errorf("%v: %w", name, err), d.Close())
	}
	return d.opened(ctx)
}

// connect opens the place.
func (d *Database) connect(ctx context.Context, name dsn.DSN, place string) error {
	switch d.Kind {
	case dsn.Postgres:
		config, err := pgx.ParseConfig(name.Source())
		if err != nil {
			return err
		}
		config.RuntimeParams["search_path"] = place
		d.db, d.pgx = stdlib.OpenDB(*config), config
	case dsn.ClickHouse:
		options, err := clickhouse.ParseDSN(name.WithDatabase(place).Source())
		if err != nil {
			return err
		}
		d.db = clickhouse.OpenDB(options)
		if d.native, err = clickhouse.Open(options); err != nil {
			return err
		}
		server, err := d.native.ServerVersion()
		if err != nil {
			return err
		}
		d.Version = fmt.Sprintf("ClickHouse %v", server.Version)
		if server.Name != names[d.Kind] {
			d.StandIn = server.Name
			d.Version += " by " + server.Name
		}
	default:
		var err error
		d.db, err = sql.Open(name.Driver(), name.WithDatabase(place).Source())
		return err
	}
	return nil
}

func (d *Database) opened(ctx context.Context) (*Database, error) {
	d.Name = names[d.Kind]
	d.db.SetMaxOpenConns(1) // what is set on a session stays
	var err error
	if d.Kind == dsn.Postgres || d.Kind == dsn.MySQL {
		err = d.db.QueryRowContext(ctx, "SELECT version()").Scan(&d.Version)
	} else {
		err = d.db.PingContext(ctx)
	}
	switch {
	case err != nil:
	case d.Kind == dsn.MySQL && !strings.Contains(d.Version, "MariaDB"):
		err = fmt.Errorf("version %q: MariaDB is measured, not MySQL, which has no UUIDs",
			d.Version)
	case d.Kind == dsn.MySQL:
		d.Version, d.Build = splitMariaDB(d.Version)
		d.Version = d.Name + " " + d.Version
	case d.Kind == dsn.Postgres:
		d.Version, d.Build = splitPostgres(d.Version)
		major, _, _ := strings.Cut(strings.TrimPrefix(d.Version, d.Name+" "), ".")
		d.Name += " " + major // several may be measured
		// The images of integration_test say by such a setting that they stand in for others.
		err = d.db.QueryRowContext(ctx, `SELECT count(*) > 0,
			coalesce(current_setting('idmint.build', true), '') FROM pg_proc
			WHERE proname = 'uuidv7'`).Scan(&d.uuidv7, &d.StandIn)
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// splitMariaDB takes "11.8.9-MariaDB-0+deb13u1 from Debian" apart.
func splitMariaDB(text string) (version, build string) {
	version, build, _ = strings.Cut(text, "-")
	return version, strings.TrimPrefix(strings.TrimPrefix(build, "MariaDB"), "-")
}

// splitPostgres takes "PostgreSQL 17.12 (Debian 17.12-0+deb13u1) on x86_64, compiled by gcc, 64-bit"
// apart. The build is the package, and without one the compiler.
func splitPostgres(text string) (version, build string) {
	name, rest, _ := strings.Cut(text, " on ")
	if version, build, packaged := strings.Cut(name, " ("); packaged {
		return version, strings.TrimSuffix(build, ")")
	}
	if _, compiler, ok := strings.Cut(rest, ", "); ok {
		build, _, _ = strings.Cut(compiler, ", ")
	}
	return name, build
}

// Close removes the place with all that is in it.
func (d *Database) Close() error {
	var errs []error
	if d.native != nil {
		errs = append(errs, d.native.Close())
	}
	if d.db != nil {
		errs = append(errs, d.uninspect(), d.db.Close())
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
func (d *Database) column(ctx context.Context, query string, args ...any) ([]int32, error) {
	rows, err := d.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", d.Name, query, err)
	}
	defer rows.Close()
	var all []int32
	for rows.Next() {
		var n int32
		if err := rows.Scan(&n); err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, rows.Err()
}

// explain is what the database says of how it runs a query, in lines.
func (d *Database) explain(
	ctx context.Context, explain, query string, args ...any,
) (string, error) {
	rows, err := d.db.QueryContext(ctx, explain+" "+query, args...)
	if err != nil {
		return "", fmt.Errorf("%s: %s %s: %w", d.Name, explain, query, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return "", err
	}
	var lines []string
	for rows.Next() {
		fields := make([]sql.NullString, len(columns))
		to := make([]any, len(columns))
		for i := range fields {
			to[i] = &fields[i]
		}
		if err := rows.Scan(to...); err != nil {
			return "", err
		}
		var words []string
		for i, f := range fields {
			switch {
			case !f.Valid:
			case len(columns) == 1:
				words = append(words, f.String)
			default: // MariaDB and SQLite
				words = append(words, columns[i]+"="+f.String)
			}
		}
		lines = append(lines, strings.Join(words, " "))
	}
	return strings.Join(lines, "\n"), rows.Err()
}
