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

// sqliteWritable takes the lock of the one writer, and lets go of it. While another process has it
// that process writes. A file that can only be read refuses the statement, and not the lock.
func sqliteWritable(ctx context.Context, db *database, r *checks.Reporter) error {
	_, err := db.ExecContext(ctx, "BEGIN IMMEDIATE")
	if err == nil && db.have > 0 {
		_, err = db.ExecContext(ctx, "UPDATE idmint_schema SET version = version WHERE false")
	}
	// Where ctx has ended the driver may say so of a BEGIN that was carried out. The lock must go
	// all the same. Without a transaction ROLLBACK fails, and nothing is lost by that.
	_, rollback := db.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	if err == nil {
		err = rollback
	}
	switch _, cause := dialect.CauseOf(err); cause {
	case dialect.ReadOnly:
		r.Finding("the file can be read only: %v", err)
		return nil
	case dialect.Contended:
		r.Pass("another process writes to the file")
		return nil
	}
	r.Pass("the file can be written")
	return err
}

func sqliteTables(ctx context.Context, db *database, r *checks.Reporter) error {
	err := db.all(ctx, r, "table", `SELECT name FROM sqlite_schema WHERE type = 'table'`)
	r.Pass("all tables are there")
	return err
}

func sqliteTriggers(ctx context.Context, db *database, r *checks.Reporter) error {
	err := db.all(ctx, r, "trigger", `SELECT name FROM sqlite_schema WHERE type = 'trigger'`)
	r.Pass("all triggers are there")
	return err
}

// sqliteIntegrity looks at the log's tables alone. The app's, beside them, may take minutes.
func sqliteIntegrity(ctx context.Context, db *database, r *checks.Reporter) error {
	tables, err := db.list(ctx, `SELECT name FROM sqlite_schema
		WHERE type = 'table' AND name LIKE 'idmint\_%' ESCAPE '\'`)
	if err != nil {
		return err
	}
	for _, table := range tables {
		said, err := db.list(ctx, "PRAGMA integrity_check("+db.dialect.Quote(table)+")")
		// What every driver says for SQLITE_CORRUPT.
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

// sqliteIdentity is the number of the file. Its device may have another number after a restart of
// the machine.
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
