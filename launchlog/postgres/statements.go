package postgres

import (
	"strings"

	"github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/launchlog/internal/rows"
)

// statements name their tables in full, so that they find the same tables regardless of the
// search_path that another client of a pooler has SET.
type statements struct {
	version, word, now, makeNamespace, lastLaunch, lockLast, raiseLast string
	lockStart, digits, setDigits                                       string
	launchByKey, oneLaunch, lockLaunch, launches                       string
	startLaunch, endLaunch, endRunning                                 string
	takeNumber, claimByToken, claims, trim, events                     string
	value, lockValue, makeCounter, takeNumbers, advanceCounter         string
	raiseCounter, oneCounter, counters, order                          string
}

const (
	rfc3339     = `to_char($ AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
	thisLaunch  = ` WHERE namespace = $1 AND launch_id = $2::int`
	thisCounter = ` WHERE namespace = $1 AND name = $2`
)

// newStatements returns the statements for the log in a schema.
//
// Steps lock existing rows with FOR KEY SHARE, which does not block other steps, but makes the
// commit wait for the disk and the standby. What an earlier attempt has written is therefore as
// durable when it is returned as what this attempt writes.
func newStatements(schema string) statements {
	const (
		lastLaunch = `SELECT last_launch_id FROM idmint_namespace WHERE namespace = $1`
		value      = `SELECT value FROM idmint_counter` + thisCounter
	)
	launchColumns := rows.Times(rows.Launch, rfc3339)
	launch := `SELECT ` + launchColumns + ` FROM idmint_launch`
	claim := `SELECT ` + rows.Times(rows.Claim, rfc3339) + ` FROM idmint_generator`
	counter := `SELECT ` + rows.Times(rows.Counter, rfc3339) + ` FROM idmint_counter`
	in := func(text string) string { return rows.Named(text, tables(schema)) }
	return statements{
		// The role may see the tables while row-level security hides their rows. Older logs do not
		// have the column word.
		version: in(`SELECT coalesce(max(version), 0), coalesce(max(to_jsonb(s)->>'word')
				FILTER (WHERE version = 4), ''), (SELECT coalesce(string_agg(t.relname, ', '), '')
				FROM pg_class t JOIN pg_namespace n ON n.oid = t.relnamespace
				WHERE n.nspname = $1::text AND t.relkind = 'r' AND t.relname LIKE 'idmint\_%'
					AND row_security_active(t.oid))
			FROM idmint_schema s`),
		// word divides by zero if the log is not the one that was opened. This ends the transaction
		// before its other statements, which have all been sent by then.
		word: in(`SELECT 1 / count(*) FROM idmint_schema WHERE version = 4 AND word = $1`),
		now:  `SELECT ` + strings.ReplaceAll(rfc3339, "$", "clock_timestamp()"),

		makeNamespace: in(`INSERT INTO idmint_namespace (namespace) VALUES ($1)
			ON CONFLICT DO NOTHING`),
		lastLaunch: in(lastLaunch),
		lockLast:   in(lastLaunch + ` FOR NO KEY UPDATE`),
		raiseLast: in(`WITH raised AS (
				UPDATE idmint_namespace n SET last_launch_id = $2::int FROM idmint_namespace old
				WHERE n.namespace = $1 AND old.namespace = $1 AND n.last_launch_id < $2::int
				RETURNING old.last_launch_id AS was)
			INSERT INTO idmint_launch_event (namespace, kind, actor, detail)
			SELECT $1, 'advanced', $3, ('{"from":' || was || ',"to":' || $2::int || '}')::json
			FROM raised`),

		digits: in(`SELECT first_digits, last_digits FROM idmint_namespace WHERE namespace = $1`),
		// setDigits implements the rule of launchlog.Digits.Allow.
		setDigits: in(`UPDATE idmint_namespace SET first_digits = $2::int, last_digits = $3::int
			WHERE namespace = $1 AND (last_launch_id = 0 OR first_digits = $2::int
				AND last_launch_id <= $3::int AND last_digits >= $3::int)`),

		launchByKey: in(launch + ` WHERE namespace = $1 AND idempotency_key = $2 FOR KEY SHARE`),
		oneLaunch:   in(launch + thisLaunch),
		lockLaunch:  in(launch + thisLaunch + ` FOR NO KEY UPDATE`),
		launches: in(launch + ` WHERE namespace = $1
			AND ($2 = '' OR service = $2) AND ($3 = '' OR environment = $3)
			AND (NOT $4::bool OR ended_at IS NULL) AND ($5::int <= 0 OR launch_id < $5::int)
			ORDER BY launch_id DESC LIMIT $6::bigint`),
		// lockStart locks the namespace for a start that creates a launch, so that startLaunch sees
		// the rows of other starts.
		lockStart: in(`SELECT FROM idmint_namespace WHERE namespace = $1 AND NOT EXISTS (SELECT
				FROM idmint_launch WHERE namespace = $1 AND idempotency_key = $2)
			FOR NO KEY UPDATE`),
		// startLaunch implements the rules of launchlog.Store.StartLaunch. Passing is the launch
		// whose digits the next one takes over.
		startLaunch: in(`WITH space AS (
				SELECT last_launch_id AS last, greatest(last_launch_id + 1, first_digits) AS fresh,
					last_digits FROM idmint_namespace
				WHERE namespace = $1 AND last_launch_id >= $18::int AND NOT EXISTS (SELECT
					FROM idmint_launch WHERE namespace = $1 AND idempotency_key = $2)),
			passing AS (
				SELECT launch_id, next_generator_id, ended_at FROM idmint_launch
				WHERE namespace = $1 AND next_generator_id < $19::int
					AND outcome IS DISTINCT FROM $23
					AND launch_id > (SELECT last - $20::int FROM space WHERE fresh > last_digits)
				ORDER BY launch_id LIMIT 1 FOR NO KEY UPDATE),
			next AS (
				SELECT fresh AS id, 0 AS number FROM space WHERE fresh <= last_digits UNION ALL
				SELECT launch_id + $20::int, next_generator_id FROM passing),
			ended AS (
				UPDATE idmint_launch l SET ended_at = clock_timestamp(), outcome = $21
				FROM passing p WHERE l.namespace = $1 AND l.launch_id = p.launch_id
					AND l.ended_at IS NULL
				RETURNING l.launch_id),
			raised AS (
				UPDATE idmint_namespace SET last_launch_id = id FROM next WHERE namespace = $1
				RETURNING id, number),
			started AS (
				INSERT INTO idmint_launch
					(launch_id, first_generator_id, next_generator_id, ` + rows.Started + `)
				SELECT id, number, number, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13,
					$14, $15, $16::int, $17::text::json, $22 FROM raised
				RETURNING namespace, launch_id, initiator)
			INSERT INTO idmint_launch_event (namespace, launch_id, kind, actor, detail)
			SELECT $1, launch_id, 'ended', $6, ('{"outcome":"' || $21 || '","reason":"launch '
				|| launch_id + $20::int || ' goes on with its digits"}')::json FROM ended UNION ALL
			SELECT namespace, launch_id, 'started', initiator, NULL FROM started`),
		endLaunch: in(`WITH ended AS (
				UPDATE idmint_launch
				SET ended_at = clock_timestamp(), outcome = $3` + thisLaunch + `
					AND ended_at IS NULL
				RETURNING ` + rows.Launch + `),
			noted AS (
				INSERT INTO idmint_launch_event (namespace, launch_id, kind, actor, detail)
				SELECT namespace, launch_id, 'ended', $4, $5::text::json FROM ended)
			SELECT ` + launchColumns + ` FROM ended`),
		endRunning: in(`WITH ended AS (
				UPDATE idmint_launch SET ended_at = clock_timestamp(), outcome = $3
				WHERE namespace = $1 AND ended_at IS NULL
					AND $2::int >= (SELECT last_launch_id FROM idmint_namespace
						WHERE namespace = $1)
				RETURNING launch_id)
			INSERT INTO idmint_launch_event (namespace, launch_id, kind, actor, detail)
			SELECT $1, launch_id, 'ended', $4, $5::text::json FROM ended ORDER BY launch_id`),

		takeNumber: in(`WITH next AS (
				UPDATE idmint_launch SET next_generator_id = next_generator_id + 1` + thisLaunch + `
					AND ended_at IS NULL AND next_generator_id < $3::int
					AND NOT EXISTS (SELECT FROM idmint_generator WHERE token = $4)
				RETURNING next_generator_id - 1 AS number)
			INSERT INTO idmint_generator (namespace, launch_id, generator_id, token, host, pid)
			SELECT $1, $2::int, number, $4, $5, $6::bigint FROM next`),
		claimByToken: in(claim + ` WHERE token = $1 FOR KEY SHARE`),
		claims: in(claim + thisLaunch + `
			AND generator_id >= $3::int ORDER BY generator_id LIMIT $4::bigint`),
		trim: in(`DELETE FROM idmint_generator` + thisLaunch + ` AND generator_id < $3::int`),

		// PostgreSQL does not use an index for IS NOT DISTINCT FROM.
		events: in(`SELECT ` + rows.Times(rows.Event, rfc3339) + ` FROM idmint_launch_event
			WHERE namespace = $1 AND (launch_id = $2::int OR $2::int = 0 AND launch_id IS NULL)
			ORDER BY event_id`),

		value:     in(value),
		lockValue: in(value + ` FOR NO KEY UPDATE`),
		makeCounter: in(`INSERT INTO idmint_counter (namespace, name, value) VALUES ($1, $2, 0)
			ON CONFLICT DO NOTHING`),
		// takeNumbers creates the counter, or finds no row with enough numbers left.
		takeNumbers: in(`INSERT INTO idmint_counter AS c (namespace, name, value)
			VALUES ($1, $2, greatest(0, $3::bigint - 1) + $4::bigint)
			ON CONFLICT (namespace, name) DO UPDATE
			SET value = greatest(c.value, $3::bigint - 1) + $4::bigint,
				updated_at = clock_timestamp(), note = '', holder = ''
			WHERE greatest(c.value, $3::bigint - 1) <= 9223372036854775807 - $4::bigint
			RETURNING value - $4::bigint + 1`),
		advanceCounter: in(`WITH raised AS (
				UPDATE idmint_counter c
				SET value = $3::bigint, updated_at = clock_timestamp(), note = '', holder = ''
				FROM idmint_counter old
				WHERE c.namespace = $1 AND c.name = $2 AND c.value < $3::bigint
					AND old.namespace = $1 AND old.name = $2
				RETURNING old.value AS was)
			INSERT INTO idmint_launch_event (namespace, kind, actor, detail)
			SELECT $1, 'counter-advanced', $4, ('{"counter":' || to_json($2::text)
				|| ',"from":"' || was || '","to":"' || $3::bigint || '"}')::json FROM raised`),
		raiseCounter: in(`UPDATE idmint_counter
			SET value = $3::bigint, note = $4, holder = $5, updated_at = clock_timestamp()` +
			thisCounter + ` AND (value = $6::bigint OR value = $3::bigint AND note = $4)`),
		// order is a separate transaction, whose commit waits neither for the disk nor for a
		// standby. It divides by zero as word does.
		order: in(`INSERT INTO idmint_order AS o (namespace, service, value, looks)
			VALUES ($1, $2, $3::bigint, 1)
			ON CONFLICT (namespace, service) DO UPDATE
			SET value = greatest(o.value, excluded.value), looks = o.looks + 1,
				updated_at = clock_timestamp()
			RETURNING value, looks,
				coalesce((SELECT token FROM idmint_generator WHERE namespace = $1
					AND launch_id = $5::int AND generator_id = $6::int), ''),
				coalesce((SELECT next_generator_id FROM idmint_launch WHERE namespace = $1
					AND launch_id = $5::int), 0),
				(SELECT 1 / count(*) FROM idmint_schema WHERE version = 4 AND word = $4),
				set_config('synchronous_commit', 'off', true)`),
		oneCounter: in(counter + thisCounter),
		counters: in(counter + ` WHERE namespace = $1 AND name > $2
			ORDER BY name LIMIT $3::bigint`),
	}
}

// tables returns the prefix for the names of a schema's tables.
func tables(schema string) string { return dialect.Postgres.Quote(schema) + "." }
