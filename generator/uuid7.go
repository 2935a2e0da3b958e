package generator

import (
	"context"
	"fmt"

	"github.com/idmint/idmint/idtype"
)

// UUID7 mints UUIDs by a function of another package. It coordinates nothing, so there is nothing to
// wait for, and it promises nothing: UUIDs of version 7 are unique by the random bits that the
// function gives them, 62 at least. It is safe for use by many goroutines if the function is.
type UUID7 struct {
	mint func() (idtype.UUID7ID, error)
}

// NewUUID7 makes a generator of a function that mints UUIDs of version 7, such as NewV7 of google/uuid:
//
//	ids, err := generator.NewUUID7(uuid.NewV7)
//
// A function that returns no error, as that of Go's package uuid, goes into one that does. The error
// is an [*OptionError] without a function.
func NewUUID7[U ~[16]byte](mint func() (U, error)) (*UUID7, error) {
	if mint == nil {
		return nil, noSource("function that mints")
	}
	return &UUID7{func() (idtype.UUID7ID, error) {
		id, err := mint()
		return idtype.UUID7ID(id), err
	}}, nil
}

// Next mints one ID. The error is the function's. Of a function that mints another version it is an
// [*idtype.RangeError].
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

// Fill mints len(dst) IDs, one after the other: see [Source].
func (g *UUID7) Fill(ctx context.Context, dst []idtype.UUID7ID) (int, error) {
	for i := range dst {
		var err error
		if dst[i], err = g.Next(ctx); err != nil {
			return i, err
		}
	}
	return len(dst), nil
}
