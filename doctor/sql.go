package doctor

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/checks"
	"github.com/idmint/idmint/migrations"
)

// used are the tables that a running app reads and writes.
var used = []string{
	"idmint_namespace", "idmint_launch", "idmint_generator", "idmint_launch_event",
	"idmint_counter", "idmint_order",
}

// A database is what the checks of SQL ask, over one connection.
type database struct {
	*sql.Conn
	dialect migrations.Dialect
	schema  string // of the tables, found once; empty in SQLite
	have    int    // version of the tables, 0 if there are none
}

// An engine is what differs between dialects.
type engine struct {
	// place finds the tables' schema, and is nil for a database without schemas.
	place func(ctx context.Context, db *database) (schema string, err error)
	// server holds the checks of the server, and content the checks of the tables, which must
	// exist.
	server, content []checks.Probe[*database]
	identity        func(ctx context.Context, db *database) (map[string]string, error)
}

var engines = map[migrations.Dialect]engine{
	migrations.Postgres: postgres, migrations.MySQL: mysql, migrations.SQLite: sqlite,
}

// SQL checks the database that keeps a launch log: the server's settings, the role's rights, and
// the tables. It uses the role and the database of the pool, and in PostgreSQL the given schema, or
// public. SQL writes nothing. In SQLite it acquires the lock for writing for a moment, to check
// that it can.
//
// If the tables have another version than this release's, SQL does not check them. It returns an
// error if the dialect cannot keep a launch log, or if the database stops answering.
func SQL(ctx context.Context, db *sql.DB, d migrations.Dialect, schema ...string) (
	[]checks.Result, error,
) {
	of, e, err := open(ctx, db, d, schema)
	if err != nil {
		return nil, err
	}
	defer of.Close()
	probes := append([]checks.Probe[*database]{{Code: "schema", Look: schemaVersion}}, e.server...)
	if of.have == migrations.Latest(of.dialect) {
		probes = append(probes, e.content...)
	}
	results, err := checks.Examine(ctx, of, probes, of.PingContext)
	if err != nil {
		return results, fmt.Errorf("doctor: %w", err)
	}
	return results, nil
}

// Identity returns how a database identifies itself, by name: the server, and the tables if they
// can be identified. The identity changes with a failover and with most restores. In SQLite it is
// the file's inode number, which does not change when the file is overwritten. Identity returns the
// same errors as [SQL].
func Identity(ctx context.Context, db *sql.DB, d migrations.Dialect, schema ...string) (
	map[string]string, error,
) {
	of, e, err := open(ctx, db, d, schema)
	if err != nil {
		return nil, err
	}
	defer of.Close()
	identity, err := e.identity(ctx, of)
	return identity, failed("identity", err)
}

// open acquires a connection, and finds the tables.
func open(ctx context.Context, db *sql.DB, d migrations.Dialect, schema []string) (
	*database, engine, error,
) {
	e := engines[dialect.Family(d)]
	have, err := migrations.Version(ctx, db, d, schema...)
	if err != nil {
		return nil, e, failed("schema", err)
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, e, failed("open", err)
	}
	of := &database{Conn: conn, dialect: dialect.Family(d), schema: cmp.Or(schema...), have: have}
	if e.place != nil {
		if of.schema, err = e.place(ctx, of); err != nil {
			conn.Close()
			return nil, e, failed("schema", err)
		}
	}
	return of, e, nil
}

// one runs a query that returns one row.
func (db *database) one(ctx context.Context, query string, args []any, columns ...any) error {
	return db.QueryRowContext(ctx, query, args...).Scan(columns...)
}

// list runs a query that returns one column of text.
func (db *database) list(ctx context.Context, query string, args ...any) ([]string, error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	return all, rows.Err()
}

// table returns the name of a table, qualified by its schema.
func (db *database) table(name string) string {
	if db.schema == "" {
		return name
	}
	return db.dialect.Quote(db.schema) + "." + db.dialect.Quote(name)
}

func schemaVersion(_ context.Context, db *database, r *checks.Reporter) error {
	want := migrations.Latest(db.dialect)
	switch {
	case db.have == 0:
		r.Finding("there is no launch log, or the role cannot see it")
	case db.have < want:
		r.Finding("the tables have version %d, older than %d", db.have, want)
	case db.have == want+1:
		r.Note("the tables have version %d, the next one after %d: apps of this release work on "+
			"them, until they are upgraded again", db.have, want)
	case db.have > want:
		r.Finding("the tables have version %d, newer than %d: a newer idmint created them", db.have,
			want)
	}
	r.Pass("the tables have version %d", db.have)
	return nil
}

// fittingRows looks for rows with numbers that were not handed out yet, and reads only the ends of
// indexes for that.
func fittingRows(ctx context.Context, db *database, r *checks.Reporter) error {
	for _, query := range []string{
		`SELECT namespace, 0, last_launch_id + 1, (SELECT coalesce(max(launch_id), 0)
			FROM ` + db.table("idmint_launch") + ` l WHERE l.namespace = n.namespace)
			FROM ` + db.table("idmint_namespace") + ` n`,
		`SELECT namespace, launch_id, next_generator_id, (SELECT coalesce(max(generator_id), -1)
			FROM ` + db.table("idmint_generator") + ` g
			WHERE g.namespace = l.namespace AND g.launch_id = l.launch_id)
			FROM ` + db.table("idmint_launch") + ` l WHERE ended_at IS NULL`,
	} {
		rows, err := db.QueryContext(ctx, query)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var e launchlog.AheadError
			if err := rows.Scan(&e.Namespace, &e.Launch, &e.Next, &e.Number); err != nil {
				return err
			}
			if e.Number >= e.Next {
				r.Finding("%s", strings.TrimPrefix(e.Error(), "launchlog: "))
			}
		}
		if err := rows.Err(); err != nil {
			return err
		}
	}
	r.Pass("no row is ahead of the numbers that were handed out")
	return nil
}

// setting returns a check of one value, which passes if good contains the value. The text shows the
// value in place of %s.
func setting(
	code string, level checks.Level, query, text string, good ...string,
) checks.Probe[*database] {
	look := func(ctx context.Context, db *database, r *checks.Reporter) error {
		var value string
		if err := db.one(ctx, query, nil, &value); err != nil {
			return err
		}
		if !slices.Contains(good, strings.ToLower(value)) {
			r.Add(level, text, value)
		}
		r.Pass(text, value)
		return nil
	}
	return checks.Probe[*database]{Code: code, Look: look}
}

// made matches the objects that the files of package migrations create and drop.
var made = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`(?m)^(CREATE|DROP) (TABLE|TRIGGER) (?:IF (?:NOT )?EXISTS )?(idmint_\w+)`)
})

// expected returns the names of all tables or triggers that the migrations of a dialect create, and
// the file that creates each.
func expected(d migrations.Dialect, kind string) (names []string, in map[string]string) {
	in = map[string]string{}
	files, err := fs.Glob(migrations.FS(d), "*.up.sql")
	if err != nil {
		panic(err) // the pattern is valid
	}
	for _, file := range files {
		text, err := fs.ReadFile(migrations.FS(d), file)
		if err != nil {
			panic(err) // it is embedded
		}
		for _, m := range made().FindAllSubmatch(text, -1) {
			switch name := string(m[3]); {
			case string(m[2]) != kind:
			case string(m[1]) == "CREATE":
				names = append(names, name)
				in[name] = file
			default:
				names = slices.DeleteFunc(names, func(n string) bool { return n == name })
			}
		}
	}
	return names, in
}

// without returns the names that are missing in there.
func without(names, there []string) (missing []string) {
	for _, name := range names {
		if !slices.Contains(there, name) {
			missing = append(missing, name)
		}
	}
	return missing
}

// all reports missing tables or triggers. The query there lists those that exist.
func (db *database) all(
	ctx context.Context, r *checks.Reporter, kind, there string, args ...any,
) error {
	have, err := db.list(ctx, there, args...)
	if err != nil {
		return err
	}
	names, in := expected(db.dialect, strings.ToUpper(kind))
	if missing := without(names, have); len(missing) > 0 {
		for i, name := range missing {
			if kind == "trigger" { // a table cannot be restored without its rows
				missing[i] += " of " + in[name]
			}
		}
		r.Finding("%d of %d %ss are missing: %s", len(missing), len(names), kind, first(missing))
	}
	return nil
}
