package functions

import "strings"

// Arguments are substituted for their names wherever these occur, and their types are not declared.
// The functions if and tryBase64Decode are evaluated even for values that are not IDs, and must not
// fail.
var clickhouseFragments = strings.NewReplacer(
	"{number}", "reinterpretAsUInt64(reverse(id))",
	"{ms}", "toUnixTimestamp64Milli(toDateTime64(t, 3, 'UTC'))",
	"{n}", "toInt64(id)", // shifting a narrower integer would lose bits
	// Seconds since 2^36 seconds before 1970, which is a multiple of the period.
	"{second}", "intDiv(toUnixTimestamp64Micro(toDateTime64(t, 6, 'UTC')) + 68719476736000000,"+
		" 1000000)",
	"{time}", "fromUnixTimestamp64Milli(toInt64(",
	"{end of time}", "), 'UTC')",
	"{bytes}", "toFixedString(unhex(",
	"{digits}", "translate(base64Encode(unhex(substring(concat(repeat('0', 18), hex({n})), -18)))"+
		", '+/', '-_')",
	"{characters}", eachCharacter(0, 16, ", ", "substring({base 32}, bitAnd(bitShiftRight("+
		"reinterpretAsUInt64(reverse(substring(id, %[2]d, 5))), %[3]d), 31) + 1, 1)"),
	"{halves}", eachHalf(", ", "substring(concat('00000000', hex(", " + ",
		"bitShiftLeft(toUInt64(bitAnd(position({base 32}, substring(id, %[1]d, 1)) + 31, 31)),"+
			" %[3]d)",
		")), -10)"),
	"{base 32}", base32,
)

var clickhouse = words{
	part: " AS (id)", time: " AS (id)",
	end: " AS (t)",

	id: "{n}", div: "intDiv({n}, %[2]d)", mod: "%s %% %d", shift: "bitShiftRight(%s, %d)",
	mask: "bitAnd(%s, %d)", cast: "toInt32(%s)",
	stamp: "{time}%s + %d{end of time}",

	clamp: "if({ms} < %d, %[1]d, if({ms} > %d, %[2]d, {ms}))", scaled: "intDiv(%s - %d, %d)",
	least: "bitShiftLeft({unit}, %d) + ({unit} = 0)", most: "bitShiftLeft({unit}, %d) + %d",
	// The length of a FixedString is a constant. Expressions are compiled after three uses, and
	// from then on ClickHouse 26.5 treats "length(id) = 10 AND" followed by a text as false.
	layout:     "length(hex(id)) = %[3]d AND hex(id) != repeat('00', %[1]d)",
	wordLayout: "length(id) = 8 AND {number} != 0",
	nonzero:    "bitAnd({n}, %[2]d) != 0",
	guard:      "if({layout}, %s, NULL)",
}
