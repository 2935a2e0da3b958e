package functions

import "strings"

// A function calls functions in its own database, regardless of the caller's current database.
var mysqlFragments = strings.NewReplacer(
	"{text}", "TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
	"{ascii}", "CHARACTER SET ascii COLLATE ascii_bin",
	"{1970}", "TIMESTAMP '1970-01-01 00:00:00' + INTERVAL 1000 *",
	"{us}", "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', t)",
	// Seconds since 2^36 seconds before 1970, which is a multiple of the period.
	"{second}", "(({us} + 68719476736000000) DIV 1000000)",
	"{number of}", "CAST(CONV(HEX(",
	"{end}", "), 16, 10) AS UNSIGNED)",
	"{digits}", "TO_BASE64(UNHEX(LPAD(HEX(id), 18, '0')))",
	"{characters}", eachCharacter(0, 16, ", ", "SUBSTR({base 32},"+
		" ({number of}SUBSTR(id, %[2]d, 5){end} >> %[3]d & 31) + 1, 1)"),
	"{halves}", eachHalf(", ", "LPAD(HEX(", " | ",
		"(INSTR({base 32}, SUBSTR(id, %[1]d, 1)) - 1) << %[3]d", "), 10, '0')"),
	"{base 32}", base32,
)

var mysql = words{
	part: "(id BIGINT) RETURNS INT", time: "(id BIGINT) RETURNS DATETIME(3)",
	end: "(t DATETIME(6)) RETURNS BIGINT",

	id: "id", div: "%s DIV %d", mod: "%s MOD %d", shift: "%s >> %d",
	mask: "%s & %d", cast: "%s",
	stamp: "{1970} ((%s) + %d) MICROSECOND",

	clamp: "LEAST(GREATEST({us}, %[3]d) DIV 1000, %[2]d)", scaled: "((%s - %d) DIV %d)",
	least: "GREATEST({unit} << %d, 1)", most: "{unit} << %d | %d",
	layout: "LENGTH(id) = %[1]d AND id <> X'%[2]s'", nonzero: "%s & %d <> 0",
	guard: "CASE WHEN {layout} THEN %s END",
}
