package idtype

// AsNumber keeps the JSON of [Decimal], [Trace] and [Sequence] IDs as it is of an int64, while
// clients move from numbers to strings:
//
//	type UserID = idtype.Decimal[idtype.AsNumber[User]]
//
// An ID is written as a number, and zero as 0. UnmarshalJSON accepts 0 as zero, numbers, strings,
// and null. A number is never above 2^53−1, because JavaScript rounds those: a greater ID is written
// as a string, as without the tag. Of decimal IDs these are the ones with a counter from 900,719 on.
//
// Columns, text and binary forms do not follow the tag. Without it, clients must take strings.
type AsNumber[E any] struct{}

const maxNumber = 1<<53 - 1 // JavaScript's Number.MAX_SAFE_INTEGER

func (*AsNumber[E]) isNumber() {}

// isNumber reports whether E is tagged with AsNumber.
func isNumber[E any]() bool {
	_, ok := any((*E)(nil)).(interface{ isNumber() })
	return ok
}
