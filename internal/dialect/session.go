package dialect

import (
	"net/url"
	"path/filepath"
	"strconv"
	"time"
)

// SQLiteDSN returns the data source name of a file for go-sqlite3, with the settings that all files
// of this module need: IMMEDIATE transactions, synchronous=EXTRA, and foreign keys. The file keeps
// its journal mode, and a new file has SQLite's default, a rollback journal. EXTRA syncs the folder
// when that journal is deleted, because otherwise the journal could reappear after a power failure,
// and SQLite would undo the commit. Mode is SQLite's: "rw", or "rwc" to create the file. SQLite
// itself waits up to busy for a lock, regardless of a context, and by default 5 s.
func SQLiteDSN(path, mode string, busy time.Duration) string {
	return sqliteDSN(path, busy, url.Values{
		"mode":          {mode},
		"_txlock":       {"immediate"},
		"_synchronous":  {"EXTRA"},
		"_foreign_keys": {"on"},
	})
}

// SQLiteReaderDSN is like [SQLiteDSN], for a file that is only read, but not in mode "ro", in which
// SQLite could not undo what a crash left incomplete.
func SQLiteReaderDSN(path string, busy time.Duration) string {
	return sqliteDSN(path, busy, url.Values{"mode": {"rw"}, "_query_only": {"on"}})
}

func sqliteDSN(path string, busy time.Duration, settings url.Values) string {
	if busy > 0 {
		settings.Set("_busy_timeout", strconv.FormatInt(busy.Milliseconds(), 10))
	}
	return "file:" + (&url.URL{Path: filepath.Clean(path)}).EscapedPath() + "?" + settings.Encode()
}

// A Setting is a session variable of MySQL and MariaDB, whose default differs between servers.
type Setting struct {
	Name, Value string
	// Fit is a condition for sessions that others have set up, or "" if another value can only make
	// statements fail, without changing results.
	Fit string
}

// MySQLSession lists the session variables that this module's statements rely on.
func MySQLSession() []Setting {
	return []Setting{
		// Values are rejected rather than changed, and an empty text is not NULL.
		{
			"sql_mode", "'" + MySQLMode + "'",
			"@@sql_mode LIKE '%STRICT_%_TABLES%' AND @@sql_mode NOT LIKE '%EMPTY_STRING_IS_NULL%'",
		},
		{"autocommit", "1", "@@autocommit = 1"},
		// A COMMIT begins no transaction, and closes no connection.
		{"completion_type", "'NO_CHAIN'", "@@completion_type = 'NO_CHAIN'"},
		// Without this InnoDB may store duplicate keys.
		{"unique_checks", "1", "@@unique_checks = 1"},
		{"foreign_key_checks", "1", ""},
		// Lists are complete.
		{"sql_select_limit", "18446744073709551615", "@@sql_select_limit = 18446744073709551615"},
		{"sql_safe_updates", "0", ""},
		{"sql_big_selects", "1", ""},
		{"lc_messages", "'en_US'", ""}, // two errors can be identified only by their text
		{"character_set_client", "utf8mb4", "@@character_set_client = 'utf8mb4'"},
		{"character_set_connection", "utf8mb4", "@@character_set_connection = 'utf8mb4'"},
		{"character_set_results", "utf8mb4", "@@character_set_results = 'utf8mb4'"},
	}
}

// MySQLMode is the sql_mode in which the launch log's tables are created and used.
const MySQLMode = "STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION"
