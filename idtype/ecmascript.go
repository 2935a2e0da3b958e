package idtype

// MaxSafeInteger is Number.MAX_SAFE_INTEGER of ECMAScript, 2^53−1. A float64 holds every integer up
// to it.
const MaxSafeInteger = 1<<53 - 1

// IsSafeInteger reports whether the ID is in the domain of ECMAScript readers, 1 ..= 2^53−1. Such
// an ID may go to them as a number: Number.isSafeInteger is true of it there. Of a larger ID such a
// reader loses digits without noticing, and finds another row. JSON made by this package is safe
// for all IDs, because it writes strings.
func IsSafeInteger[T ~int64](id T) bool { return 0 < id && id <= MaxSafeInteger }
