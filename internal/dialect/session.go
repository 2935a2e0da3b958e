package dialect

import (
	"net/url"
	"path/filepath"
	"strconv"
	"time"
)

// SQLiteDSN is the data source name for go-sqlite3 of the file path with what every user of this
// module's files needs: IMMEDIATE transactions, synchronous=EXTRA, and foreign keys that are
// checked. The file keeps its journal mode, and a new one has SQLite's own, a rollback journal.
// EXTRA syncs the folder when that journal is deleted: if it came back with the power, SQLite would
// undo the commit. Mode is SQLite's: "rw", or "rwc" to make the file. SQLite itself waits for a
// lock for up to busy, which obeys no context; 0 is the driver's default, 5 s.
func SQLiteDSN(path, mode string, busy time.Duration) string {
	return sqliteDSN(path, busy, url.Values{
		"mode":          {mode},
		"_txlock":       {"immediate"},
		"_synchronous":  {"EXTRA"},
		"_foreign_keys": {"on"},
	})
}

// SQLiteReaderDSN is as [SQLiteDSN], for a file that is read alone. Mode "ro" could not undo what a
// crash has left half written.
func SQLiteReaderDSN(path string, busy time.Duration) string {
	return sqliteDSN(path, busy, url.Values{"mode": {"rw"}, "_query_only": {"on"}})
}

func sqliteDSN(path string, busy time.Duration, settings url.Values) string {
	if busy > 0 {
		settings.Set("_busy_timeout", strconv.FormatInt(busy.Milliseconds(), 10))
	}
	return "file:" + (&url.URL{Path: filepath.Clean(path)}).EscapedPath() + "?" + settings.Encode()
}

// A Setting is a session variable of MySQL and MariaDB, whose default may be any on a server.
type Setting struct {
	Name, Value string
	// Fit is the condition that a session meets which others have set up. It is "" where another
	// value only makes statements fail, and changes nothing.
	Fit string
}

// MySQLSession lists the session variables that this module's statements rely on.
func MySQLSession() []Setting {
	return []Setting{
		// Values are refused rather than changed, and a text without characters is not NULL.
		{
			"sql_mode", "'" + MySQLMode + "'",
			"@@sql_mode LIKE '%STRICT_%_TABLES%' AND @@sql_mode NOT LIKE '%EMPTY_STRING_IS_NULL%'",
		},
		{"autocommit", "1", "@@autocommit = 1"},
		// A COMMIT begins no transaction, and ends no connection.
		{"completion_type", "'NO_CHAIN'", "@@completion_type = 'NO_CHAIN'"},
		// Without them InnoDB may store a key twice.
		{"unique_checks", "1", "@@unique_checks = 1"},
		{"foreign_key_checks", "1", ""},
		// Lists are whole.
		{"sql_select_limit", "18446744073709551615", "@@sql_select_limit = 18446744073709551615"},
		{"sql_safe_updates", "0", ""},
		{"sql_big_selects", "1", ""},
		{"lc_messages", "'en_US'", ""}, // of two errors the text alone says what they are
		{"character_set_client", "utf8mb4", "@@character_set_client = 'utf8mb4'"},
		{"character_set_connection", "utf8mb4", "@@character_set_connection = 'utf8mb4'"},
		{"character_set_results", "utf8mb4", "@@character_set_results = 'utf8mb4'"},
	}
}

// MySQLMode is the sql_mode in which the launch log's tables are made and used.
const MySQLMode = "STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION"
