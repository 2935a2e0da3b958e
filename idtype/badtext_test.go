package idtype_test

import (
	"strings"

	"github.com/idmint/idmint/idtype"
)

// A badText is no ID for the decoders of some kinds.
type badText struct {
	name, text string
	shows      string // part of the reason
	reason     error  // nil for any
}

// badNumbers are no decimal digits of an ID. Each is one that some number parser accepts.
var badNumbers = []badText{
	{"empty", "", "digits only", nil},
	{"word", "garbage", "digits only", nil},
	{"zero", "0", "", idtype.ErrZero},
	{"zeros", "00", "leading zeros", nil},
	{"plus", "+1", "sign", nil},
	{"minus", "-1", "sign", nil},
	{"minus zero", "-0", "sign", nil},
	{"sign alone", "-", "sign", nil},
	{"space before", " 1", "spaces", nil},
	{"space after", "1 ", "spaces", nil},
	{"space within", "14150009 200065", "spaces", nil},
	{"newline after", "14150009200065\n", "spaces", nil},
	{"leading zero", "01", "leading zeros", nil},
	{"leading zeros to 19 digits", "0000014150009200065", "leading zeros", nil},
	{"leading zeros to 20 digits", "00000014150009200065", "leading zeros", nil},
	{"2^63", "9223372036854775808", "9223372036854775807", nil}, // how large it may be
	{"19 nines", "9999999999999999999", "9223372036854775807", nil},
	// also where it is longer than any ID
	{"2^64", "18446744073709551616", "9223372036854775807", nil},
	{"2^64 and a valid ID", "18446758223718751681", "9223372036854775807", nil},
	{"24 digits", "141500092000651415000920", "9223372036854775807", nil},
	{"not too large, but no number", "9999999999999999999x", "digits only", nil},
	{"smallest negative", "-9223372036854775808", "sign", nil},
	{"fraction", "1.0", "digits only", nil},
	{"exponent", "1e3", "digits only", nil},
	{"underscore", "1_000", "digits only", nil},
	{"comma", "1,000", "digits only", nil},
	{"hexadecimal", "0x1f", "digits only", nil},
	{"hexadecimal digits", "1415000920006f", "digits only", nil},
	{"NUL", "\x00", "digits only", nil},
	{"NUL after", "14150009200065\x00", "digits only", nil},
	{"NUL within", "1415000\x009200065", "digits only", nil},
	{"full-width digits", "１４１５", "digits only", nil},
	{"Arabic digits", "١٤١٥", "digits only", nil},
	{"not UTF-8", "1\xff5", "digits only", nil},
	{"megabyte of digits", strings.Repeat("1", 1<<20), "9223372036854775807", nil},
	{"megabyte of NULs", strings.Repeat("\x00", 1<<20), "digits only", nil},
	{"true", "true", "digits only", nil},
	{"null", "null", "digits only", nil},
	{"quoted", `"1"`, "in double quotes", nil},
}

var badShortTexts = []badText{
	{"empty", "", "1 to 11 characters", nil},
	{"zero as it is shown", "(0)", "", idtype.ErrZero},
	{"the digit of zero", "A", "", idtype.ErrZero},
	{"zero in two digits", "AA", "highest digit", nil},
	{"zero in ten digits", "AAAAAAAAAA", "highest digit", nil},
	{"negative as it is shown", "(-5)", "A-Z", nil},
	{"leading A of two", "AB", "highest digit", nil},
	{"leading A of three", "BBA", "highest digit", nil},
	{"published with a leading A before rotation", "xiAnaS8QBh", "highest digit", nil},
	{"leading A to 11 characters", "xiAAnaS8QBh", "highest digit", nil},
	{"leading A to 12 characters", "xiAAAnaS8QBh", "11 characters", nil},
	{"2^63", "AAIAAAAAAAA", "__H________", nil},
	{"2^66-1", "___________", "__H________", nil},
	{"2^64: the value wraps to zero", "AAQAAAAAAAA", "__H________", nil},
	{"2^64 and a valid ID", "xiQnaS8QBhA", "__H________", nil},
	{"too long", strings.Repeat("B", 12), "11 characters", nil},
	{"megabyte", strings.Repeat("B", 1<<20), "11 characters", nil},
	{"padded", "xinaS8QBh=", "A-Z", nil},
	{"standard alphabet, plus", "x+naS8QBh", "A-Z", nil},
	{"standard alphabet, slash", "xi/aS8QBh", "A-Z", nil},
	{"space before", " xinaS8QBh", "A-Z", nil},
	{"space after", "xinaS8QBh ", "A-Z", nil},
	{"newline after", "xinaS8QBh\n", "A-Z", nil},
	{"NUL within", "xina\x008QBh", "A-Z", nil},
	{"dot", "xi.aS8QBh", "A-Z", nil},
	{"not ASCII", "xinaS8QBé", "A-Z", nil},
	{"full width", "ｘi", "A-Z", nil},
	{"bad in front", "!inaS8QBh", "A-Z", nil},
	{"bad alone", "!", "A-Z", nil},
	{"digits of the number", "11093174944930914", "11 characters", nil},
	{"quoted", `"B"`, "in double quotes", nil},
	{"quoted, but no text either", `"A"`, "A-Z", nil},
}

// badByteTexts are no text of an ID of either alphabet. Most are what some other parser accepts.
var badByteTexts = []badText{
	{"empty", "", "0 bytes", nil},
	{"word", "garbage", "7 bytes", nil},
	{"15 characters", "233333333333333", "15 bytes", nil},
	{"17 characters", "23333333333333333", "17 bytes", nil},
	{"32 characters", "23333333333333332333333333333333", "32 bytes", nil},
	{"0x before", "0x23333333333333", `at index`, nil},
	{"upper case", "2333A33333333333", `"A" at index 4 is upper case`, nil},
	{"upper case, all", "ABCDEFABCDEFABCD", `"A" at index 0 is upper case`, nil},
	{"space before", " 233333333333333", `" " at index 0`, nil},
	{"space after", "233333333333333 ", `" " at index 15`, nil},
	{"newline", "233333333333333\n", `"\n" at index 15`, nil},
	{"before 0", "233333/333333333", `"/" at index 6`, nil},
	{"after 9", "23333333:3333333", `":" at index 8`, nil},
	{"before a", "23333333`3333333", "\"`\" at index 8", nil},
	{"after x", "233333333333333y", `"y" at index 15`, nil},
	{"minus", "-233333333333333", `"-" at index 0`, nil},
	{"NUL", "2333333\x0033333333", `"\x00" at index 7`, nil},
	{"not UTF-8", "23333333333333\xff3", `"\xff" at index 14`, nil},
	{"high bits of valid characters", strings.Repeat("\xb2", 16), `"\xb2" at index 0`, nil},
	{"16 bytes, fewer characters", "２3333333333３", `"２" at index 0`, nil},
	// the Kelvin sign
	{"a letter that is lower case here", "23333333333\u212a33", "at index 11", nil},
	{"a UUID", "32333333-3333-3333-3333-333333333333", "36 bytes", nil},
	{"null", "null", "4 bytes", nil},
	{"quoted", `"23333333333333"`, `"\"" at index 0`, nil},
	{"megabyte", strings.Repeat("2", 1<<20), "1048576 bytes", nil},
}
