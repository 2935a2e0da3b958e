package generator

import (
	"context"
	"fmt"

	"github.com/idmint/idmint/idtype"
)

// UUID7 mints UUIDs with a function of another package. It coordinates nothing, so calls never
// wait, and it makes no promise: version 7 UUIDs are unique only by the random bits, at least 62,
// that the function puts into them. It is safe for use by many goroutines if the function is.
type UUID7 struct {
	mint func() (idtype.UUID7ID, error)
}

// NewUUID7 returns a generator that calls a function that mints version 7 UUIDs, such as NewV7 of
// google/uuid:
//
//	ids, err := generator.NewUUID7(uuid.NewV7)
//
// Wrap a function that returns no error, such as the one of Go's package uuid, in a function that
// does. The error is an [*OptionError] if mint is nil.
func NewUUID7[U ~[16]byte](mint func() (U, error)) (*UUID7, error) {
	if mint == nil {
		return nil, noSource("mint")
	}
	return &UUID7{func() (idtype.UUID7ID, error) {
		id, err := mint()
		return idtype.UUID7ID(id), err
	}}, nil
}

// Next mints one ID. The error is the one that the function returned, or an [*idtype.RangeError] if
// the function mints another version.
func (g *UUID7) Next(context.Context) (idtype.UUID7ID, error) {
	if g == nil || g.mint == nil {
		return idtype.UUID7ID{}, errNotMade
	}
	id, err := g.mint()
	if err == nil {
		err = id.Validate()
	}
	if err != nil {
		return idtype.UUID7ID{}, fmt.Errorf("generator: uuid7: %w", err)
	}
	return id, nil
}

// Fill mints len(dst) IDs, one by one: see [Source].
func (g *UUID7) Fill(ctx context.Context, dst []idtype.UUID7ID) (int, error) {
	for i := range dst {
		var err error
		if dst[i], err = g.Next(ctx); err != nil {
			return i, err
		}
	}
	return len(dst), nil
}
