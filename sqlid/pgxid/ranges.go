package pgxid

import (
	"reflect"

	"github.com/jackc/pgx/v5/pgtype"
)

// An idRange is a range of IDs. The type only gives pgx's own type a new name.
type idRange struct{ pgtype.RangeValuer }

func wrapRange(value any) (pgtype.WrappedEncodePlanNextSetter, any, bool) {
	if !isRange(reflect.TypeOf(value)) {
		return nil, nil, false
	}
	return &rangePlan{}, idRange{value.(pgtype.RangeValuer)}, true
}

type rangePlan struct{ next pgtype.EncodePlan }

func (p *rangePlan) SetNext(next pgtype.EncodePlan) { p.next = next }

func (p *rangePlan) Encode(value any, buf []byte) ([]byte, error) {
	return p.next.Encode(idRange{value.(pgtype.RangeValuer)}, buf)
}

// An idMultirange is a multirange of IDs, in the same way.
type idMultirange struct{ pgtype.MultirangeGetter }

func wrapMultirange(value any) (pgtype.WrappedEncodePlanNextSetter, any, bool) {
	r, ok := value.(pgtype.MultirangeGetter)
	_, own := value.(idMultirange)
	if !ok || own || !isRange(reflect.TypeOf(r.IndexType())) {
		return nil, nil, false
	}
	return &multirangePlan{}, idMultirange{r}, true
}

type multirangePlan struct{ next pgtype.EncodePlan }

func (p *multirangePlan) SetNext(next pgtype.EncodePlan) { p.next = next }

func (p *multirangePlan) Encode(value any, buf []byte) ([]byte, error) {
	return p.next.Encode(idMultirange{value.(pgtype.MultirangeGetter)}, buf)
}
