package clickhouse

import (
	"fmt"
	"strings"
	"time"

	"github.com/idmint/idmint/idtype"
)

// A span is the IDs from least to greatest, both included, as literals.
type span struct{ least, greatest string }

// Between returns a condition for WHERE. It holds for the IDs of all units of time from from's to
// to's, both included. The unit is a second for trace IDs, a millisecond for short and eightbyte
// IDs, and 4 ms for sno IDs. A query with it reads no more granules than it must.
//
//	`id` BETWEEN 11093174944925696 AND 11093174945187839
//
// For trace IDs it also holds for the same seconds of other periods.
//
// The error is a [*TimeError] for IDs that carry no time or are not ordered by it. It is one too
// for IDs of a scheme that this package does not know. It is an [*idtype.InputError] if to is
// before from, or if timestamps repeat within the span. It is an [*idtype.RangeError] for a time
// that IDs cannot have.
func (c Column[T]) Between(from, to time.Time) (string, error) {
	spans, err := spansOf(formOf[T](), c.Spread, from, to)
	if err != nil {
		return "", err
	}
	conditions := make([]string, len(spans))
	for i, s := range spans {
		conditions[i] = fmt.Sprintf("%s BETWEEN %s AND %s", quote(c.Name), s.least, s.greatest)
	}
	if len(spans) == 1 {
		return conditions[0], nil
	}
	return "(" + strings.Join(conditions, " OR ") + ")", nil
}

func spansOf(f form, isSpread bool, from, to time.Time) ([]span, error) {
	fail := func(err error) ([]span, error) { return nil, &TimeError{f.scheme, f.storage, err} }
	switch {
	case f.scheme == idtype.SchemeDecimal || f.scheme == idtype.SchemeSequence:
		return fail(errNoTime)
	case isSpread:
		return fail(errSpread)
	case f.storage == idtype.StorageUUID:
		return fail(errUUIDOrder)
	}
	switch f.scheme {
	case idtype.SchemeTrace:
		return literals(idtype.Bounds[idtype.TraceID], from, to, number)
	case idtype.SchemeShort:
		return literals(idtype.Bounds[idtype.ShortID], from, to, number)
	case idtype.SchemeEightByte:
		if f.storage == idtype.StorageBigint {
			return literals(idtype.Bounds[eightByteNumber], from, to, func(id eightByteNumber) string {
				return fmt.Sprint(int64(id.Uint64()))
			})
		}
		return literals(idtype.Bounds[idtype.EightByteID], from, to,
			func(id idtype.EightByteID) string { return hexLiteral(id[:]) })
	case idtype.SchemeSno:
		return literals(idtype.Bounds[idtype.SnoID], from, to, func(id idtype.SnoID) string {
			if f.storage == idtype.StorageText {
				return "'" + id.String() + "'"
			}
			return hexLiteral(id[:])
		})
	}
	return fail(errUnknownScheme)
}

// literals are the bounds of a span as SQL has them.
func literals[T any](
	bounds func(from, to time.Time) ([]idtype.Range[T], error), from, to time.Time,
	literal func(T) string,
) ([]span, error) {
	ranges, err := bounds(from, to)
	var spans []span
	for _, r := range ranges {
		spans = append(spans, span{literal(r.Min), literal(r.Max)})
	}
	return spans, err
}

// eightByteNumber is an eightbyte ID in a column of integers.
type eightByteNumber = idtype.EightByte[idtype.AsBigint[any]]

// number is an integer's literal.
func number[T ~int64](id T) string { return fmt.Sprint(int64(id)) }

// hexLiteral is a FixedString of the bytes.
func hexLiteral(b []byte) string { return fmt.Sprintf("toFixedString(unhex('%x'), %d)", b, len(b)) }
