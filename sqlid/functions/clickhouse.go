package functions

import "strings"

// Arguments take the place of their names wherever these stand. What they are is not declared. If
// and tryBase64Decode run for values that are no ID as well, and must not fail.
var clickhouseFragments = strings.NewReplacer(
	"{decimal}", "id BETWEEN 10000000000 AND 9223372029999999999",
	"{trace}", "id > 0 AND bitAnd({n}, 4194303) != 0",
	"{short}", "id BETWEEN 1 AND 1152921504606846975",
	"{eightbyte}", "length(id) = 8 AND {number} != 0",
	// Of a FixedString the length is a constant. Expressions are compiled after three uses, and then
	// ClickHouse 26.5 takes "length(id) = 10 AND" with a text behind it for false.
	"{sno}", "length(hex(id)) = 20 AND hex(id) != repeat('00', 10)",
	"{number}", "reinterpretAsUInt64(reverse(id))",
	"{ms}", "toUnixTimestamp64Milli(toDateTime64(t, 3, 'UTC'))",
	"{n}", "toInt64(id)", // narrower integers lose bits that are shifted
	// seconds from 2^36 before 1970 on, a multiple of the period
	"{second}", "intDiv(toUnixTimestamp64Micro(toDateTime64(t, 6, 'UTC')) + 68719476736000000,"+
		" 1000000)",
	"{time}", "fromUnixTimestamp64Milli(toInt64(",
	"{end of time}", "), 'UTC')",
	"{short unit}", "(if({ms} < 1519862400000, 1519862400000, if({ms} > 5917908911103,"+
		" 5917908911103, {ms})) - 1519862400000)",
	"{eightbyte unit}", "if({ms} < 0, 0, if({ms} > 4398046511103, 4398046511103, {ms}))",
	"{sno unit}", "intDiv(if({ms} < 1262304000000, 1262304000000, if({ms} > 3461327255551,"+
		" 3461327255551, {ms})) - 1262304000000, 4)",
	"{bytes}", "toFixedString(unhex(",
	"{digits}", "translate(base64Encode(unhex(substring(concat(repeat('0', 18), hex({n})), -18)))"+
		", '+/', '-_')",
	"{characters}", eachCharacter(0, 16, ", ", "substring({base 32}, bitAnd(bitShiftRight("+
		"reinterpretAsUInt64(reverse(substring(id, %[2]d, 5))), %[3]d), 31) + 1, 1)"),
	"{halves}", eachHalf(", ", "substring(concat('00000000', hex(", " + ",
		"bitShiftLeft(toUInt64(bitAnd(position({base 32}, substring(id, %[1]d, 1)) + 31, 31)), %[3]d)", ")), -10)"),
	"{base 32}", base32,
)

var clickhouse = []function{
	{"decimal_counter AS (id)", "decimal", "toInt32(intDiv({n}, 10000000000))"},
	{"decimal_generator AS (id)", "decimal", "toInt32(intDiv({n}, 100000) % 100000)"},
	{"decimal_launch AS (id)", "decimal", "toInt32(id % 100000)"},

	{"trace_timestamp AS (id)", "trace", "toInt32(bitShiftRight({n}, 38))"},
	{"trace_node AS (id)", "trace", "toInt32(bitAnd(bitShiftRight({n}, 22), 65535))"},
	{"trace_bottom AS (id)", "trace", "toInt32(bitAnd({n}, 4194303))"},
	{ // t is around
		"trace_time AS (id, t)", "trace",
		"{time}({second} - 68719476736 -" +
			" bitAnd({second} - bitShiftRight({n}, 38), 33554431)) * 1000{end of time}",
	},
	{"trace_min AS (t)", "", "bitShiftLeft(bitAnd({second}, 33554431), 38) + 1"},
	{"trace_max AS (t)", "", "bitShiftLeft(bitAnd({second}, 33554431), 38) + 274877906943"},

	{"short_time AS (id)", "short", "{time}bitShiftRight({n}, 18) + 1519862400000{end of time}"},
	{"short_sequence AS (id)", "short", "toInt32(bitAnd(bitShiftRight({n}, 9), 511))"},
	{"short_random AS (id)", "short", "toInt32(bitAnd({n}, 511))"},
	{"short_min AS (t)", "", "bitShiftLeft({short unit}, 18) + ({short unit} = 0)"},
	{"short_max AS (t)", "", "bitShiftLeft({short unit}, 18) + 262143"},
	{
		"short_text AS (id)", "",
		"if(id > 0, concat(substring({digits}, if(id < 64, 12, 11))," +
			" trim(LEADING 'A' FROM substring({digits}, 1, 10))), NULL)",
	},
	{
		"short_from_text AS (id)", "",
		"if(match(id, '" + shortPattern + "'), reinterpretAsInt64(reverse(substring(" +
			"tryBase64Decode(translate(substring(concat(repeat('A', 11), substring(id, 3)," +
			" substring(id, 1, 2)), -12), '-_', '+/')), 2, 8))), NULL)",
	},

	{
		"eightbyte_mode AS (id)", "eightbyte",
		"if(bitTest({number}, 12), 'TIME_SEQUENTIAL', 'SPREAD')",
	},
	{ // the bits of a SPREAD time are reversed
		"eightbyte_time AS (id)", "eightbyte",
		"{time}if(bitTest({number}, 12), bitShiftRight({number}, 22)," +
			" reinterpretAsUInt64(reverse(unbin(concat('000000', reverse(substring(bin(id), 1, 42)))" +
			")))){end of time}",
	},
	{"eightbyte_sequence AS (id)", "eightbyte", "toInt32(bitAnd(bitShiftRight({number}, 16), 63))"},
	{
		"eightbyte_generator AS (id)", "eightbyte",
		"toInt32(bitAnd(bitShiftRight({number}, 13), 7) * 256" +
			" + bitAnd(bitShiftRight({number}, 4), 255))",
	},
	{"eightbyte_cluster AS (id)", "eightbyte", "toInt32(bitAnd({number}, 15))"},
	{
		"eightbyte_min AS (t)", "",
		"{bytes}substring(concat(repeat('0', 16), " +
			"hex(bitShiftLeft(toUInt64({eightbyte unit}), 22) + 4096)), -16)), 8)",
	},
	{
		"eightbyte_max AS (t)", "",
		"{bytes}substring(concat(repeat('0', 16), " +
			"hex(bitShiftLeft(toUInt64({eightbyte unit}), 22) + 4194303)), -16)), 8)",
	},
	{"eightbyte_text AS (id)", "eightbyte", "lower(hex(id))"},
	{
		"eightbyte_from_text AS (id)", "",
		"if(match(id, '^[0-9a-f]{16}$') AND id != repeat('0', 16)," +
			" {bytes}substring(concat(id, repeat('0', 16)), 1, 16)), 8), NULL)",
	},
	{"eightbyte_number AS (id)", "eightbyte", "reinterpretAsInt64(reverse(id))"},
	{
		"eightbyte_from_number AS (id)", "",
		"if(id != 0, {bytes}substring(concat(repeat('0', 16), hex({n})), -16)), 8), NULL)",
	},

	{
		"sno_time AS (id)", "sno",
		"{time}bitShiftRight(reinterpretAsUInt64(reverse(substring(id, 1, 5))), 1) * 4" +
			" + 1262304000000{end of time}",
	},
	{"sno_tick_tock AS (id)", "sno", "toInt32(bitAnd(reinterpretAsUInt8(substring(id, 5, 1)), 1))"},
	{"sno_meta AS (id)", "sno", "toInt32(reinterpretAsUInt8(substring(id, 6, 1)))"},
	{"sno_partition AS (id)", "sno", "toInt32(reinterpretAsUInt16(reverse(substring(id, 7, 2))))"},
	{"sno_sequence AS (id)", "sno", "toInt32(reinterpretAsUInt16(reverse(substring(id, 9, 2))))"},
	{
		"sno_min AS (t)", "",
		"{bytes}concat(substring(concat(repeat('0', 10), hex(toUInt64({sno unit} * 2))), -10)," +
			" if({sno unit} = 0, '0000000001', '0000000000'))), 10)",
	},
	{
		"sno_max AS (t)", "",
		"{bytes}concat(substring(concat(repeat('0', 10), hex(toUInt64({sno unit} * 2 + 1))), -10)," +
			" 'ffffffffff')), 10)",
	},
	{"sno_text AS (id)", "sno", "toFixedString(concat({characters}), 16)"},
	{
		"sno_from_text AS (id)", "",
		"if(match(id, '^[2-9a-x]{16}$') AND id != repeat('2', 16)," +
			" {bytes}concat({halves})), 10), NULL)",
	},
	// the characters of the text, as bytes
	{"sno_uuid AS (id)", "", "toUUID(UUIDNumToString(idmint_sno_text(id)))"},
	{"sno_from_uuid AS (id)", "", "idmint_sno_from_text(UUIDStringToNum(toString(id)))"},
}
