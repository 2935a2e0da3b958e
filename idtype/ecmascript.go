package idtype

// MaxSafeInteger is the largest integer up to which a float64, the number of ECMAScript, holds every integer:
// Number.MAX_SAFE_INTEGER, 2^53−1.
const MaxSafeInteger = 1<<53 - 1

// IsSafeInteger reports whether the ID is in the domain for ECMAScript readers, 1 ..= 2^53−1: whether it may be handed over
// as a number, as Number.isSafeInteger says of it there. Of larger IDs such a reader loses digits without noticing, and finds
// another row. JSON made by this package is safe for all IDs, because it writes strings.
func IsSafeInteger[T ~int64](id T) bool { return 0 < id && id <= MaxSafeInteger }
