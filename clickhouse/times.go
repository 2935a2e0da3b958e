package clickhouse

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/schemes"
)

// A span is the IDs from least to greatest, both included, as literals.
type span struct{ least, greatest string }

// Between returns a condition for WHERE that holds for the IDs of all units of time from the unit
// of from to the unit of to, both included. The unit is a second for trace IDs, 4 ms for sno IDs,
// the layout's unit for snowflake IDs, and a millisecond for short and eightbyte IDs. A query with
// the condition reads no more granules than necessary.
//
//	`id` BETWEEN 11093174944925696 AND 11093174945187839
//
// For trace IDs the condition also holds for the same seconds of other periods.
//
// The error is a [*TimeError] if the IDs carry no time or are not ordered by it, or if this package
// does not know their scheme. It is an [*idtype.InputError] if to is before from, or if timestamps
// repeat within the span, and an [*idtype.RangeError] for a time that the IDs cannot represent.
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
	if l, ok := schemes.LayoutOf(f.scheme); ok && !isSpread {
		r, err := l.Bounds(from, to)
		if err != nil {
			return nil, err
		}
		return []span{{fmt.Sprint(r.Min), fmt.Sprint(r.Max)}}, nil
	}
	i := slices.IndexFunc(schemes.All(), func(s schemes.Scheme) bool {
		return s.Name() == f.scheme
	})
	switch {
	case i < 0:
		return fail(errUnknownScheme)
	case schemes.Of(f.scheme).Unit == 0:
		return fail(errNoTime)
	case isSpread:
		return fail(errSpread)
	case f.storage == idtype.StorageUUID:
		return fail(errUUIDOrder)
	}
	written, literal := schemes.Hex, fmt.Sprintf("toFixedString(unhex('%%s'), %d)", f.size)
	switch f.storage {
	case idtype.StorageBigint:
		written, literal = schemes.Number, "%s"
	case idtype.StorageText:
		written, literal = schemes.Text, "'%s'"
	}
	bounds, err := schemes.All()[i].Bounds(written, from, to)
	var spans []span
	for _, b := range bounds {
		spans = append(spans, span{fmt.Sprintf(literal, b.Min), fmt.Sprintf(literal, b.Max)})
	}
	return spans, err
}
