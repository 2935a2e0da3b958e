package clickhouse

import (
	"fmt"
	"math"
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
// for IDs of a scheme that this package does not know. It is an [*idtype.SpanError] if to is before
// from, or if timestamps repeat within the span. It is an [*idtype.RangeError] for a time that IDs
// cannot have.
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
	case f.scheme == idtype.SchemeTrace:
		ranges, err := idtype.TraceBounds(from, to)
		var spans []span
		for _, r := range ranges {
			spans = append(spans, span{r.Min.String(), r.Max.String()})
		}
		return spans, err
	}
	if err := checkSpan(f.scheme, from, to); err != nil {
		return nil, err
	}
	switch f.scheme {
	case idtype.SchemeEightByte:
		return eightByteSpans(f.storage, from, to)
	case idtype.SchemeShort:
		least, greatest, err := bounds(idtype.MinShortID, idtype.MaxShortID, from, to)
		return []span{{fmt.Sprint(int64(least)), fmt.Sprint(int64(greatest))}}, err
	case idtype.SchemeSno:
		least, greatest, err := bounds(idtype.MinSnoID, idtype.MaxSnoID, from, to)
		if f.storage == idtype.StorageText {
			return []span{{"'" + least.String() + "'", "'" + greatest.String() + "'"}}, err
		}
		return []span{{hexLiteral(least[:]), hexLiteral(greatest[:])}}, err
	}
	return fail(errUnknownScheme)
}

func eightByteSpans(storage idtype.Storage, from, to time.Time) ([]span, error) {
	least, greatest, err := bounds(idtype.MinEightByteID, idtype.MaxEightByteID, from, to)
	if storage != idtype.StorageBigint {
		return []span{{hexLiteral(least[:]), hexLiteral(greatest[:])}}, err
	}
	first, last := int64(least.Uint64()), int64(greatest.Uint64())
	if first <= last {
		return []span{{fmt.Sprint(first), fmt.Sprint(last)}}, err
	}
	return []span{
		{fmt.Sprint(first), fmt.Sprint(int64(math.MaxInt64))},
		{fmt.Sprint(int64(math.MinInt64)), fmt.Sprint(last)},
	}, err
}

func bounds[B any](
	least, greatest func(time.Time) (B, error), from, to time.Time,
) (first, last B, err error) {
	if first, err = least(from); err == nil {
		last, err = greatest(to)
	}
	return first, last, err
}

// hexLiteral is a FixedString of the bytes.
func hexLiteral(b []byte) string { return fmt.Sprintf("toFixedString(unhex('%x'), %d)", b, len(b)) }
