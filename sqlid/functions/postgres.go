package functions

import "strings"

// Functions that reports call for each row are a single expression and not STRICT, so that the
// planner can inline them into the query. Bounds are STRICT, because least and greatest ignore
// NULL.
var postgresFragments = strings.NewReplacer(
	"{time}", "AT TIME ZONE 'UTC'",
	"{1970}", "timestamp '1970-01-01' + interval '1 millisecond' *",
	"{second of}", "floor(extract(epoch FROM date_trunc('second', {t}))::numeric)::bigint",
	"{ms}", "round(extract(epoch FROM date_trunc('milliseconds', {t}))::numeric * 1000)",
	"{t}", "t AT TIME ZONE 'UTC'",
	"{bits}", "('x' || encode(id, 'hex'))::bit",
	// The i-th character of a text, counted from 0, and ten bytes from such characters.
	"{character}", "substr({base 32}, substring({bits}(80) FROM 5 * i + 1 FOR 5)::bit(5)::integer"+
		" + 1, 1)",
	"{bytes of}", "(SELECT decode(string_agg(lpad(to_hex(v), 10, '0'), '' ORDER BY half), 'hex')"+
		" FROM (SELECT i / 8 AS half, sum((strpos({base 32}, ",
	"{end of bytes}", ") - 1)::bigint << (35 - 5 * (i % 8)))::bigint AS v"+
		" FROM generate_series(0, 15) i GROUP BY i / 8) halves)",
	"{base 32}", base32,
	"{digits}", "encode(decode(lpad(to_hex(id), 18, '0'), 'hex'), 'base64')",
)

var postgres = words{
	part: "(id bigint) RETURNS integer", time: "(id bigint) RETURNS timestamptz",
	end: "(t timestamptz) RETURNS bigint STRICT",

	id: "id", div: "%s / %d", mod: "%s %% %d", shift: "%s >> %d",
	mask: "%s & %d", cast: "(%s)::integer",
	stamp: "({1970} ((%s) + %d)) {time}",

	clamp: "least(greatest({ms}, %[1]d), %[2]d)::bigint", scaled: "((%s - %d) / %d)",
	least: "greatest({unit} << %d, 1)", most: "{unit} << %d | %d",
	layout:  "octet_length(id) = %[1]d AND id <> decode(repeat('00', %[1]d), 'hex')",
	nonzero: "%s & %d <> 0",
	guard:   "CASE WHEN {layout} THEN %s END",
}
