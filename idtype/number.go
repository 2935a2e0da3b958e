package idtype

import "math"

// AsNumber keeps [Decimal], [Trace], and [Sequence] IDs as numbers in JSON, like an int64, while
// clients move from numbers to strings:
//
//	type UserID = idtype.Decimal[idtype.AsNumber[User]]
//
// IDs are written as numbers, and zero is written as 0. UnmarshalJSON accepts numbers, strings,
// null, and 0, of which the last two mean zero. IDs above 2^53−1 are written as strings, as they
// are without the tag, because JavaScript would round such numbers. Decimal IDs reach that limit at
// counter 900,719.
//
// The tag does not affect columns, text, or binary forms.
type AsNumber[E any] struct{}

// AsInt64 is [AsNumber] without the limit, for clients that all read integers exactly, as Go's do.
// Every ID is written as a number in JSON, however large it is. UnmarshalJSON accepts numbers above
// 2^53−1, which it rejects otherwise because a client that keeps numbers as floats has most likely
// rounded them.
//
//	type UserID = idtype.Decimal[idtype.AsInt64[User]]
type AsInt64[E any] struct{}

const maxNumber = 1<<53 - 1 // JavaScript's Number.MAX_SAFE_INTEGER

func (*AsNumber[E]) numbers() int64 { return maxNumber }
func (*AsInt64[E]) numbers() int64  { return math.MaxInt64 }

// numbersOf returns the largest ID that is written as a number in JSON, or a negative number if E
// has neither tag.
func numbersOf[E any]() int64 {
	if tag, ok := any((*E)(nil)).(interface{ numbers() int64 }); ok {
		return tag.numbers()
	}
	return -1
}

// checkNumber rejects a JSON number that has most likely been rounded on its way.
func checkNumber[E any](v int64) error {
	if v > maxNumber && numbersOf[E]() < v {
		return errRounded
	}
	return nil
}
