package functions

import "strings"

// What reports call for each row is a single expression, and not STRICT: the planner puts such
// functions into the query. Bounds are STRICT, because least and greatest pass over NULL.
var postgresFragments = strings.NewReplacer(
	"{decimal}", "id BETWEEN 10000000000 AND 9223372029999999999",
	"{trace}", "id > 0 AND id & 4194303 <> 0",
	"{short}", "id BETWEEN 1 AND 1152921504606846975",
	"{eightbyte}", "octet_length(id) = 8 AND id <> decode(repeat('00', 8), 'hex')",
	"{sno}", "octet_length(id) = 10 AND id <> decode(repeat('00', 10), 'hex')",
	"{time}", "AT TIME ZONE 'UTC'",
	"{1970}", "timestamp '1970-01-01' + interval '1 millisecond' *",
	"{second of}", "floor(extract(epoch FROM date_trunc('second', {t}))::numeric)::bigint",
	"{ms}", "round(extract(epoch FROM date_trunc('milliseconds', {t}))::numeric * 1000)",
	"{t}", "t AT TIME ZONE 'UTC'",
	"{short unit}", "(least(greatest({ms}, 1519862400000), 5917908911103)::bigint - 1519862400000)",
	"{eightbyte unit}", "least(greatest({ms}, 0), 4398046511103)::bigint",
	"{sno unit}", "((least(greatest({ms}, 1262304000000), 3461327255551)::bigint - 1262304000000)"+
		" / 4)",
	"{bits}", "('x' || encode(id, 'hex'))::bit",
	// the i-th character of a text, from 0 on, and ten bytes of such characters
	"{character}", "substr({base 32}, substring({bits}(80) FROM 5 * i + 1 FOR 5)::bit(5)::integer"+
		" + 1, 1)",
	"{bytes of}", "(SELECT decode(string_agg(lpad(to_hex(v), 10, '0'), '' ORDER BY half), 'hex')"+
		" FROM (SELECT i / 8 AS half, sum((strpos({base 32}, ",
	"{end of bytes}", ") - 1)::bigint << (35 - 5 * (i % 8)))::bigint AS v"+
		" FROM generate_series(0, 15) i GROUP BY i / 8) halves)",
	"{base 32}", base32,
	"{digits}", "encode(decode(lpad(to_hex(id), 18, '0'), 'hex'), 'base64')",
)

var postgres = []function{
	{"decimal_counter(id bigint) RETURNS integer", "decimal", "(id / 10000000000)::integer"},
	{"decimal_generator(id bigint) RETURNS integer", "decimal", "(id / 100000 % 100000)::integer"},
	{"decimal_launch(id bigint) RETURNS integer", "decimal", "(id % 100000)::integer"},

	{"trace_timestamp(id bigint) RETURNS integer", "trace", "(id >> 38)::integer"},
	{"trace_node(id bigint) RETURNS integer", "trace", "(id >> 22 & 65535)::integer"},
	{"trace_bottom(id bigint) RETURNS integer", "trace", "(id & 4194303)::integer"},
	{ // t is around
		"trace_time(id bigint, t timestamptz) RETURNS timestamptz", "",
		"CASE WHEN {trace} AND isfinite(t) THEN" +
			" (timestamp '1970-01-01' + interval '1 second' * ({second of}" +
			" - (({second of} - (id >> 38)) & 33554431))) {time} END",
	},
	{
		"trace_min(t timestamptz) RETURNS bigint", "",
		"CASE WHEN isfinite(t) THEN ({second of} & 33554431) << 38 | 1 END",
	},
	{
		"trace_max(t timestamptz) RETURNS bigint", "",
		"CASE WHEN isfinite(t) THEN ({second of} & 33554431) << 38 | 274877906943 END",
	},

	{
		"short_time(id bigint) RETURNS timestamptz", "short",
		"({1970} ((id >> 18) + 1519862400000)) {time}",
	},
	{"short_sequence(id bigint) RETURNS integer", "short", "(id >> 9 & 511)::integer"},
	{"short_random(id bigint) RETURNS integer", "short", "(id & 511)::integer"},
	{"short_min(t timestamptz) RETURNS bigint STRICT", "", "greatest({short unit} << 18, 1)"},
	{"short_max(t timestamptz) RETURNS bigint STRICT", "", "{short unit} << 18 | 262143"},
	{
		"short_text(id bigint) RETURNS text", "",
		"CASE WHEN id > 0 THEN translate(substr({digits}, CASE WHEN id < 64 THEN 12 ELSE 11 END)" +
			" || ltrim(left({digits}, 10), 'A'), '+/', '-_') END",
	},
	{
		"short_from_text(id text) RETURNS bigint", "",
		"CASE WHEN id ~ '" + shortPattern + "' THEN ('x' || substr(encode(decode(lpad(" +
			"translate(substr(id, 3) || left(id, 2), '-_', '+/'), 12, 'A'), 'base64'), 'hex'), 3))" +
			"::bit(64)::bigint END",
	},

	{
		"eightbyte_mode(id bytea) RETURNS text", "eightbyte",
		"CASE get_byte(id, 6) & 16 WHEN 0 THEN 'SPREAD' ELSE 'TIME_SEQUENTIAL' END",
	},
	{ // the bits of a SPREAD time are reversed
		"eightbyte_time(id bytea) RETURNS timestamptz", "eightbyte",
		"({1970} CASE get_byte(id, 6) & 16" +
			" WHEN 0 THEN reverse({bits}(42)::text)::bit(42)::bigint" +
			" ELSE {bits}(42)::bigint END) {time}",
	},
	{"eightbyte_sequence(id bytea) RETURNS integer", "eightbyte", "get_byte(id, 5) & 63"},
	{
		"eightbyte_generator(id bytea) RETURNS integer", "eightbyte",
		"(get_byte(id, 6) >> 5 << 8) | ((get_byte(id, 6) & 15) << 4) | (get_byte(id, 7) >> 4)",
	},
	{"eightbyte_cluster(id bytea) RETURNS integer", "eightbyte", "get_byte(id, 7) & 15"},
	{
		"eightbyte_min(t timestamptz) RETURNS bytea STRICT", "",
		"decode(lpad(to_hex({eightbyte unit} << 22 | 4096), 16, '0'), 'hex')",
	},
	{
		"eightbyte_max(t timestamptz) RETURNS bytea STRICT", "",
		"decode(lpad(to_hex({eightbyte unit} << 22 | 4194303), 16, '0'), 'hex')",
	},
	{"eightbyte_text(id bytea) RETURNS text", "eightbyte", "encode(id, 'hex')"},
	{
		"eightbyte_from_text(id text) RETURNS bytea", "",
		"CASE WHEN id ~ '^[0-9a-f]{16}$' AND id <> repeat('0', 16) THEN decode(id, 'hex') END",
	},
	{"eightbyte_number(id bytea) RETURNS bigint", "eightbyte", "{bits}(64)::bigint"},
	{
		"eightbyte_from_number(id bigint) RETURNS bytea", "",
		"CASE WHEN id <> 0 THEN decode(lpad(to_hex(id), 16, '0'), 'hex') END",
	},

	{
		"sno_time(id bytea) RETURNS timestamptz", "sno",
		"({1970} ({bits}(39)::bigint * 4 + 1262304000000)) {time}",
	},
	{"sno_tick_tock(id bytea) RETURNS integer", "sno", "get_byte(id, 4) & 1"},
	{"sno_meta(id bytea) RETURNS integer", "sno", "get_byte(id, 5)"},
	{"sno_partition(id bytea) RETURNS integer", "sno", "(get_byte(id, 6) << 8) | get_byte(id, 7)"},
	{"sno_sequence(id bytea) RETURNS integer", "sno", "(get_byte(id, 8) << 8) | get_byte(id, 9)"},
	{
		"sno_min(t timestamptz) RETURNS bytea STRICT", "",
		"greatest(decode(lpad(to_hex({sno unit} << 1), 10, '0') || repeat('0', 10), 'hex')," +
			" decode(lpad('1', 20, '0'), 'hex'))",
	},
	{
		"sno_max(t timestamptz) RETURNS bytea STRICT", "",
		"decode(lpad(to_hex({sno unit} << 1 | 1), 10, '0') || repeat('f', 10), 'hex')",
	},
	{
		"sno_text(id bytea) RETURNS text", "sno",
		"(SELECT string_agg({character}, '' ORDER BY i) FROM generate_series(0, 15) i)",
	},
	{
		"sno_from_text(id text) RETURNS bytea", "",
		"CASE WHEN id ~ '^[2-9a-x]{16}$' AND id <> repeat('2', 16) THEN" +
			" {bytes of}substr(id, i + 1, 1){end of bytes} END",
	},
	{ // the characters of the text, as bytes
		"sno_uuid(id bytea) RETURNS uuid", "sno",
		"(SELECT string_agg(to_hex(ascii({character})), '' ORDER BY i)" +
			" FROM generate_series(0, 15) i)::uuid",
	},
	{
		"sno_from_uuid(id uuid) RETURNS bytea", "",
		"CASE WHEN replace(id::text, '-', '') ~ '^(3[2-9]|6[1-9a-f]|7[0-8]){16}$'" +
			" AND id <> repeat('32', 16)::uuid THEN {bytes of}chr(get_byte(decode(" +
			"replace(id::text, '-', ''), 'hex'), i)){end of bytes} END",
	},
}
