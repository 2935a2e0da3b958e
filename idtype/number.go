package idtype

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

const maxNumber = 1<<53 - 1 // JavaScript's Number.MAX_SAFE_INTEGER

func (*AsNumber[E]) isNumber() {}

// isNumber reports whether E is tagged with AsNumber.
func isNumber[E any]() bool {
	_, ok := any((*E)(nil)).(interface{ isNumber() })
	return ok
}
