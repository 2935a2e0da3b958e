package generator

import (
	"context"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/formats"
)

// Owned makes a generator for one goroutine, which takes counters from g in blocks and then
// counts without any atomic step. What is left of a block when the generator is dropped stays
// unused. A larger block costs less per ID and mixes the order of the goroutines' IDs more; 1,000
// is plenty. A block does not move up when g does. Its IDs sort as those of the time at which it
// was taken.
func (g *Decimal) Owned(block int) *OwnedDecimal {
	return &OwnedDecimal{shared: g, block: max(block, 1)}
}

// OwnedDecimal mints decimal IDs for the one goroutine that uses it. Its IDs ascend as those of
// [Decimal] do.
type OwnedDecimal struct {
	id, end idtype.DecimalID // the last ID minted, and the last one reserved
	shared  *Decimal
	block   int
	_       [32]byte // owned generators of several goroutines are not to share a cache line
}

// Next mints one ID. See [Decimal.Next] for its errors.
func (o *OwnedDecimal) Next(ctx context.Context) (idtype.DecimalID, error) {
	if o.id == o.end {
		return o.refill(ctx)
	}
	o.id += formats.DecimalStep
	return o.id, nil
}

func (o *OwnedDecimal) refill(ctx context.Context) (idtype.DecimalID, error) {
	if o.shared == nil {
		return 0, errNotMade
	}
	first, count, err := o.shared.reserve(ctx, o.block)
	if err != nil {
		return 0, err
	}
	o.id = idtype.DecimalID(first)
	o.end = o.id + idtype.DecimalID(count-1)*formats.DecimalStep
	return o.id, nil
}
