package idtype

import "math"

// AsNumber keeps the JSON of [Decimal], [Trace] and [Sequence] IDs as it is of an int64, while
// clients move from numbers to strings:
//
//	type UserID = idtype.Decimal[idtype.AsNumber[User]]
//
// An ID is written as a number, and zero as 0. UnmarshalJSON accepts numbers, strings, null, and 0,
// which is zero. No number above 2^53−1 is written, because JavaScript rounds it: a greater ID is a
// string, as without the tag. Decimal IDs come to that at counter 900,719.
//
// Columns, text and binary forms do not follow the tag.
type AsNumber[E any] struct{}

// AsInt64 is [AsNumber] without the limit, for clients that all read integers exactly, as Go's do. An
// ID is a number in JSON however great it is. UnmarshalJSON accepts numbers above 2^53−1, which it
// refuses otherwise: a client that keeps numbers as floats has most likely rounded them.
//
//	type UserID = idtype.Decimal[idtype.AsInt64[User]]
type AsInt64[E any] struct{}

const maxNumber = 1<<53 - 1 // JavaScript's Number.MAX_SAFE_INTEGER

func (*AsNumber[E]) numbers() int64 { return maxNumber }
func (*AsInt64[E]) numbers() int64  { return math.MaxInt64 }

// numbersOf is the largest ID that is written as a number in JSON. It is negative if E has no tag
// that says so.
func numbersOf[E any]() int64 {
	if tag, ok := any((*E)(nil)).(interface{ numbers() int64 }); ok {
		return tag.numbers()
	}
	return -1
}

// checkNumber refuses a number of JSON that has most likely been rounded on its way.
func checkNumber[E any](v int64) error {
	if v > maxNumber && numbersOf[E]() < v {
		return errRounded
	}
	return nil
}
