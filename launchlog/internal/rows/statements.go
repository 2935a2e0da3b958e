package rows

import (
	"strings"
)

// Words are the parts of the steps' statements that differ between the dialects of SQL.
type Words struct {
	Tables   string // precedes the names of tables: their database and a dot, or ""
	Time     string // converts a column $ of times to text of RFC 3339 in UTC
	Now      string // the time by the database's clock
	Lock     string // makes a SELECT lock its rows; "" if the transaction is lock enough
	Is       string // compares, and treats two NULLs as equal
	Greatest string // the function that returns the greater of two numbers
	Look     string // counts a look at the order register ?, ?, and raises it to ?
	// Follow changes a row unconditionally. A step that has changed nothing runs it if the database
	// shows rows before their commit is on disk. It is "" for other databases. See [Steps.write].
	Follow string
}

// statements use the full names of tables, so that they find the same tables regardless of the
// connection's settings.
type statements struct {
	word, now, makeNamespace, lastLaunch, lockLast, passing, setLast               string
	digits, lockDigits, setDigits                                                  string
	launchByKey, oneLaunch, lockLaunch, launches, running, insertLaunch, endLaunch string
	nextNumber, insertClaim, claimByToken, claims, trim, events, insertEvent       string
	value, lockValue, makeCounter, takeNumbers, advanceCounter, raiseCounter       string
	look, order, follow                                                            string
	oneCounter, counters                                                           string
}

// NewSteps returns the steps of the log with the word. The function inTransaction runs a step in a
// separate transaction, reading runs a step that only reads, and looking runs one that writes only in
// its first statement.
//
// After an UPDATE a step reads the row again, which is locked. RETURNING and last_insert_id(…) are not
// alternatives: MySQL lacks the former, and the latter keeps an older number if no row was updated.
func NewSteps(w Words, word string, inTransaction, reading, looking Runner) Steps {
	const (
		thisNamespace = ` WHERE namespace = ?`
		thisLaunch    = ` WHERE namespace = ? AND launch_id = ?`
		thisCounter   = ` WHERE namespace = ? AND name = ?`
		lastLaunch    = `SELECT last_launch_id FROM idmint_namespace` + thisNamespace
		digits        = `SELECT last_launch_id, first_digits, last_digits FROM idmint_namespace` +
			thisNamespace
		value = `SELECT coalesce(max(value), 0) FROM idmint_counter` + thisCounter
	)
	launch := `SELECT ` + Times(Launch, w.Time) + ` FROM idmint_launch`
	claim := `SELECT ` + Times(Claim, w.Time) + ` FROM idmint_generator`
	counter := `SELECT ` + Times(Counter, w.Time) + ` FROM idmint_counter`
	in := func(text string) string { return Named(text, w.Tables) }
	return Steps{inTransaction, reading, looking, statements{
		word: in(Word),
		now:  `SELECT ` + strings.ReplaceAll(w.Time, "$", w.Now),

		makeNamespace: in(`INSERT INTO idmint_namespace (namespace) VALUES (?)`),
		lastLaunch:    in(lastLaunch),
		lockLast:      in(lastLaunch + w.Lock),
		digits:        in(digits),
		lockDigits:    in(digits + w.Lock),
		setDigits: in(`UPDATE idmint_namespace SET first_digits = ?, last_digits = ?` +
			thisNamespace),
		// passing finds the launch from which the next one takes over the digits.
		passing: in(launch + thisNamespace + ` AND launch_id > ? AND next_generator_id < ?
			AND (outcome IS NULL OR outcome <> ?) ORDER BY launch_id LIMIT 1` + w.Lock),
		setLast: in(`UPDATE idmint_namespace SET last_launch_id = ?` + thisNamespace),

		launchByKey: in(launch + ` WHERE namespace = ? AND idempotency_key = ?`),
		oneLaunch:   in(launch + thisLaunch),
		lockLaunch:  in(launch + thisLaunch + w.Lock),
		launches: in(launch + thisNamespace + ` AND (? = '' OR service = ?)
			AND (? = '' OR environment = ?) AND (NOT ? OR ended_at IS NULL)
			AND (? <= 0 OR launch_id < ?) ORDER BY launch_id DESC LIMIT ?`),
		running: in(`SELECT launch_id FROM idmint_launch` + thisNamespace +
			` AND ended_at IS NULL ORDER BY launch_id` + w.Lock),
		insertLaunch: in(`INSERT INTO idmint_launch (` + Started + `, launch_id,
				first_generator_id, next_generator_id)
			VALUES (` + strings.Repeat("?, ", strings.Count(Started, ",")+1) + `?, ?, ?)`),
		endLaunch: in(`UPDATE idmint_launch SET ended_at = ` + w.Now + `, outcome = ?` +
			thisLaunch),

		nextNumber: in(`UPDATE idmint_launch SET next_generator_id = next_generator_id + 1` +
			thisLaunch + ` AND ended_at IS NULL AND next_generator_id < ?`),
		insertClaim: in(`INSERT INTO idmint_generator
			(namespace, launch_id, generator_id, token, host, pid)
			SELECT namespace, launch_id, next_generator_id - 1, ?, ?, ? FROM idmint_launch` +
			thisLaunch),
		claimByToken: in(claim + ` WHERE token = ?`),
		claims: in(claim + thisLaunch +
			` AND generator_id >= ? ORDER BY generator_id LIMIT ?`),
		trim: in(`DELETE FROM idmint_generator` + thisLaunch + ` AND generator_id < ?`),

		events: in(`SELECT ` + Times(Event, w.Time) + ` FROM idmint_launch_event` + thisNamespace +
			` AND launch_id ` + w.Is + ` nullif(?, 0) ORDER BY event_id`),
		insertEvent: in(`INSERT INTO idmint_launch_event
			(namespace, launch_id, kind, actor, detail) VALUES (?, ?, ?, ?, ?)`),

		value:       in(value),
		lockValue:   in(value + w.Lock),
		makeCounter: in(`INSERT INTO idmint_counter (namespace, name, value) VALUES (?, ?, 0)`),
		// takeNumbers finds no row if the log counter does not exist or has too few numbers left. Sums
		// that are too large are an error in MySQL, and floating point in SQLite.
		takeNumbers: in(`UPDATE idmint_counter
			SET value = ` + w.Greatest + `(value, ? - 1) + ?, updated_at = ` + w.Now + `,
				note = '', holder = ''` + thisCounter + `
				AND ` + w.Greatest + `(value, ? - 1) <= 9223372036854775807 - ?`),
		advanceCounter: in(`UPDATE idmint_counter
			SET value = ?, updated_at = ` + w.Now + `, note = '', holder = ''` + thisCounter),
		raiseCounter: in(`UPDATE idmint_counter
			SET value = ?, note = ?, holder = ?, updated_at = ` + w.Now + thisCounter + `
			AND (value = ? OR value = ? AND note = ?)`),
		look: in(w.Look), follow: in(w.Follow),
		order: in(`SELECT value, looks, (` + Word + `),
				coalesce((SELECT token FROM idmint_generator` + thisLaunch + ` AND generator_id = ?), ''),
				coalesce((SELECT next_generator_id FROM idmint_launch` + thisLaunch + `), 0)
			FROM idmint_order WHERE namespace = ? AND service = ?`),
		oneCounter: in(counter + thisCounter),
		counters:   in(counter + thisNamespace + ` AND name > ? ORDER BY name LIMIT ?`),
	}, w.Tables, word}
}

// Named inserts tables before the names of a statement's tables, which begin with idmint_.
func Named(text, tables string) string {
	return strings.ReplaceAll(text, "idmint_", tables+"idmint_")
}
