package functions

import "strings"

// A function calls others of its own database, whichever the caller's is.
var mysqlFragments = strings.NewReplacer(
	"{decimal}", "id BETWEEN 10000000000 AND 9223372029999999999",
	"{trace}", "id > 0 AND id & 4194303 <> 0",
	"{short}", "id BETWEEN 1 AND 1152921504606846975",
	"{eightbyte}", "LENGTH(id) = 8 AND id <> X'0000000000000000'",
	"{sno}", "LENGTH(id) = 10 AND id <> X'00000000000000000000'",
	"{text}", "TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
	"{ascii}", "CHARACTER SET ascii COLLATE ascii_bin",
	"{1970}", "TIMESTAMP '1970-01-01 00:00:00' + INTERVAL 1000 *",
	"{us}", "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', t)",
	// seconds from 2^36 before 1970 on, a multiple of the period
	"{second}", "(({us} + 68719476736000000) DIV 1000000)",
	"{short unit}", "(LEAST(GREATEST({us}, 1519862400000000) DIV 1000, 5917908911103)"+
		" - 1519862400000)",
	"{eightbyte unit}", "LEAST(GREATEST({us}, 0) DIV 1000, 4398046511103)",
	"{sno unit}", "((LEAST(GREATEST({us}, 1262304000000000) DIV 1000, 3461327255551)"+
		" - 1262304000000) DIV 4)",
	"{number of}", "CAST(CONV(HEX(",
	"{end}", "), 16, 10) AS UNSIGNED)",
	"{digits}", "TO_BASE64(UNHEX(LPAD(HEX(id), 18, '0')))",
	"{characters}", eachCharacter(0, 16, ", ", "SUBSTR({base 32},"+
		" ({number of}SUBSTR(id, %[2]d, 5){end} >> %[3]d & 31) + 1, 1)"),
	"{halves}", eachHalf(", ", "LPAD(HEX(", " | ",
		"(INSTR({base 32}, SUBSTR(id, %[1]d, 1)) - 1) << %[3]d", "), 10, '0')"),
	"{base 32}", base32,
)

var mysql = []function{
	{"decimal_counter(id BIGINT) RETURNS INT", "decimal", "id DIV 10000000000"},
	{"decimal_generator(id BIGINT) RETURNS INT", "decimal", "id DIV 100000 MOD 100000"},
	{"decimal_launch(id BIGINT) RETURNS INT", "decimal", "id MOD 100000"},

	{"trace_timestamp(id BIGINT) RETURNS INT", "trace", "id >> 38"},
	{"trace_node(id BIGINT) RETURNS INT", "trace", "id >> 22 & 65535"},
	{"trace_bottom(id BIGINT) RETURNS INT", "trace", "id & 4194303"},
	{ // t is around
		"trace_time(id BIGINT, t DATETIME(6)) RETURNS DATETIME", "trace",
		"TIMESTAMP '1970-01-01 00:00:00' + INTERVAL" +
			" CAST({second} AS SIGNED) - 68719476736" +
			" - CAST({second} + 33554432 - (id >> 38) & 33554431 AS SIGNED) SECOND",
	},
	{"trace_min(t DATETIME(6)) RETURNS BIGINT", "", "({second} & 33554431) << 38 | 1"},
	{"trace_max(t DATETIME(6)) RETURNS BIGINT", "", "({second} & 33554431) << 38 | 274877906943"},

	{
		"short_time(id BIGINT) RETURNS DATETIME(3)", "short",
		"{1970} ((id >> 18) + 1519862400000) MICROSECOND",
	},
	{"short_sequence(id BIGINT) RETURNS INT", "short", "id >> 9 & 511"},
	{"short_random(id BIGINT) RETURNS INT", "short", "id & 511"},
	{"short_min(t DATETIME(6)) RETURNS BIGINT", "", "GREATEST({short unit} << 18, 1)"},
	{"short_max(t DATETIME(6)) RETURNS BIGINT", "", "{short unit} << 18 | 262143"},
	{
		"short_text(id BIGINT) RETURNS VARCHAR(11) {ascii}", "",
		"CASE WHEN id > 0 THEN REPLACE(REPLACE(CONCAT(SUBSTR({digits}, IF(id < 64, 12, 11))," +
			" TRIM(LEADING 'A' FROM LEFT({digits}, 10))), '+', '-'), '/', '_') END",
	},
	{ // a dollar also stands before the line's end
		"short_from_text(id {text}) RETURNS BIGINT", "",
		"CASE WHEN CONCAT(id, '.') REGEXP '" + strings.TrimSuffix(shortPattern, "$") +
			"[.]$' THEN {number of}FROM_BASE64(REPLACE(REPLACE(LPAD(CONCAT(SUBSTR(id, 3)," +
			" LEFT(id, 2)), 12, 'A'), '-', '+'), '_', '/')){end} END",
	},

	{
		"eightbyte_mode(id BLOB) RETURNS VARCHAR(15) {ascii}", "eightbyte",
		"IF(ORD(SUBSTR(id, 7, 1)) & 16 = 0, 'SPREAD', 'TIME_SEQUENTIAL')",
	},
	{ // the bits of a SPREAD time are reversed
		"eightbyte_time(id BLOB) RETURNS DATETIME(3)", "eightbyte",
		"{1970} IF(ORD(SUBSTR(id, 7, 1)) & 16 = 0," +
			" CAST(CONV(REVERSE(LPAD(BIN({number of}id{end} >> 22), 42, '0')), 2, 10)" +
			" AS UNSIGNED), {number of}id{end} >> 22) MICROSECOND",
	},
	{"eightbyte_sequence(id BLOB) RETURNS INT", "eightbyte", "ORD(SUBSTR(id, 6, 1)) & 63"},
	{
		"eightbyte_generator(id BLOB) RETURNS INT", "eightbyte",
		"ORD(SUBSTR(id, 7, 1)) >> 5 << 8 |" +
			" (ORD(SUBSTR(id, 7, 1)) & 15) << 4 | ORD(SUBSTR(id, 8, 1)) >> 4",
	},
	{"eightbyte_cluster(id BLOB) RETURNS INT", "eightbyte", "ORD(SUBSTR(id, 8, 1)) & 15"},
	{
		"eightbyte_min(t DATETIME(6)) RETURNS BINARY(8)", "",
		"UNHEX(LPAD(HEX({eightbyte unit} << 22 | 4096), 16, '0'))",
	},
	{
		"eightbyte_max(t DATETIME(6)) RETURNS BINARY(8)", "",
		"UNHEX(LPAD(HEX({eightbyte unit} << 22 | 4194303), 16, '0'))",
	},
	{"eightbyte_text(id BLOB) RETURNS CHAR(16) {ascii}", "eightbyte", "LOWER(HEX(id))"},
	{
		"eightbyte_from_text(id {text}) RETURNS BINARY(8)", "",
		"CASE WHEN CONCAT(id, '.') REGEXP '^[0-9a-f]{16}[.]$' AND id <> REPEAT('0', 16)" +
			" THEN UNHEX(id) END",
	},
	{"eightbyte_number(id BLOB) RETURNS BIGINT", "eightbyte", "CAST({number of}id{end} AS SIGNED)"},
	{
		"eightbyte_from_number(id BIGINT) RETURNS BINARY(8)", "",
		"CASE WHEN id <> 0 THEN UNHEX(LPAD(HEX(id), 16, '0')) END",
	},

	{
		"sno_time(id BLOB) RETURNS DATETIME(3)", "sno",
		"{1970} (({number of}LEFT(id, 5){end} >> 1) * 4 + 1262304000000) MICROSECOND",
	},
	{"sno_tick_tock(id BLOB) RETURNS INT", "sno", "ORD(SUBSTR(id, 5, 1)) & 1"},
	{"sno_meta(id BLOB) RETURNS INT", "sno", "ORD(SUBSTR(id, 6, 1))"},
	{"sno_partition(id BLOB) RETURNS INT", "sno", "{number of}SUBSTR(id, 7, 2){end}"},
	{"sno_sequence(id BLOB) RETURNS INT", "sno", "{number of}SUBSTR(id, 9, 2){end}"},
	{
		"sno_min(t DATETIME(6)) RETURNS BINARY(10)", "",
		"GREATEST(UNHEX(CONCAT(LPAD(HEX({sno unit} << 1), 10, '0'), '0000000000'))," +
			" X'00000000000000000001')",
	},
	{
		"sno_max(t DATETIME(6)) RETURNS BINARY(10)", "",
		"UNHEX(CONCAT(LPAD(HEX({sno unit} << 1 | 1), 10, '0'), 'FFFFFFFFFF'))",
	},
	{"sno_text(id BLOB) RETURNS CHAR(16) {ascii}", "sno", "CONCAT({characters})"},
	{
		"sno_from_text(id {text}) RETURNS BINARY(10)", "",
		"CASE WHEN CONCAT(id, '.') REGEXP '^[2-9a-x]{16}[.]$' AND id <> REPEAT('2', 16)" +
			" THEN UNHEX(CONCAT({halves})) END",
	},
	{ // the characters of the text, as bytes
		"sno_uuid(id BLOB) RETURNS CHAR(36) {ascii}", "",
		"INSERT(INSERT(INSERT(INSERT(LOWER(HEX(idmint_sno_text(id)))," +
			" 21, 0, '-'), 17, 0, '-'), 13, 0, '-'), 9, 0, '-')",
	},
	{
		"sno_from_uuid(id {text}) RETURNS BINARY(10)", "",
		"CASE WHEN CONCAT(REPLACE(id, '-', ''), '.') REGEXP" +
			" '^(3[2-9]|6[1-9a-f]|7[0-8]){16}[.]$'" +
			" THEN idmint_sno_from_text(UNHEX(REPLACE(id, '-', ''))) END",
	},
}
