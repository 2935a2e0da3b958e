package doctor

import (
	"context"
	"os"
	"strings"

	"github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/launchlog/checks"
)

var sqlite = engine{
	server: []checks.Probe[*database]{
		{Code: "writable", Look: sqliteWritable},
		setting("sqlite.journal", checks.Finding, `PRAGMA journal_mode`,
			"the journal mode is %s", "delete", "truncate", "persist"),
	},
	content: []checks.Probe[*database]{
		{Code: "tables", Look: sqliteTables},
		{Code: "triggers", Look: sqliteTriggers},
		{Code: "sqlite.integrity", Look: sqliteIntegrity},
		{Code: "rows", Look: fittingRows},
	},
	identity: sqliteIdentity,
}

// sqliteWritable acquires the lock for writing, and releases it. If another process holds the lock,
// that process is writing. A read-only file allows the lock but not the statement.
func sqliteWritable(ctx context.Context, db *database, r *checks.Reporter) error {
	_, err := db.ExecContext(ctx, "BEGIN IMMEDIATE")
	if err == nil && db.have > 0 {
		_, err = db.ExecContext(ctx, "UPDATE idmint_schema SET version = version WHERE false")
	}
	// If ctx has ended, the driver may return an error for a BEGIN that was executed, and the lock
	// must still be released. Without a transaction ROLLBACK fails, which does no harm.
	_, rollback := db.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	if err == nil {
		err = rollback
	}
	switch _, cause := dialect.CauseOf(err); cause {
	case dialect.ReadOnly:
		r.Finding("the file is read-only: %v", err)
		return nil
	case dialect.Contended:
		r.Pass("another process is writing to the file")
		return nil
	}
	r.Pass("the file can be written")
	return err
}

func sqliteTables(ctx context.Context, db *database, r *checks.Reporter) error {
	err := db.all(ctx, r, "table", `SELECT name FROM sqlite_schema WHERE type = 'table'`)
	r.Pass("all tables exist")
	return err
}

func sqliteTriggers(ctx context.Context, db *database, r *checks.Reporter) error {
	err := db.all(ctx, r, "trigger", `SELECT name FROM sqlite_schema WHERE type = 'trigger'`)
	r.Pass("all triggers exist")
	return err
}

// sqliteIntegrity checks only the log's tables, because the app's tables may take minutes.
func sqliteIntegrity(ctx context.Context, db *database, r *checks.Reporter) error {
	tables, err := db.list(ctx, `SELECT name FROM sqlite_schema
		WHERE type = 'table' AND name LIKE 'idmint\_%' ESCAPE '\'`)
	if err != nil {
		return err
	}
	for _, table := range tables {
		said, err := db.list(ctx, "PRAGMA integrity_check("+db.dialect.Quote(table)+")")
		// Every driver has this word in its error for SQLITE_CORRUPT.
		if err != nil && strings.Contains(err.Error(), "malformed") {
			said, err = []string{err.Error()}, nil
		}
		if err != nil {
			return err
		}
		if len(said) != 1 || said[0] != "ok" {
			r.Finding("table %s is damaged: %s", table, first(said))
		}
	}
	r.Pass("SQLite finds no damage in the launch log's tables")
	return nil
}

// sqliteIdentity returns the file's inode number, but not its device's number, which may change
// when the machine restarts.
func sqliteIdentity(ctx context.Context, db *database) (map[string]string, error) {
	var path string
	err := db.one(ctx, `SELECT coalesce(file, '') FROM pragma_database_list WHERE name = 'main'`,
		nil, &path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	identity := map[string]string{}
	if number := fileNumber(info); number != "" {
		identity["file"] = number
	}
	return identity, nil
}
