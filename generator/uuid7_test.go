package generator_test

import (
	"errors"
	"testing"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

// theirUUID is a type as google/uuid has it.
type theirUUID [16]byte

// TestUUID7: IDs are those of the function, by Next and Fill, and typed. Its errors come through, and
// what it mints of another version is refused.
func TestUUID7(t *testing.T) {
	next := theirUUID(idtype.MustParse[idtype.UUID7ID]("01932c07-209d-7c3a-8f5e-2b1a90d4e600"))
	var failing error
	mint := func() (theirUUID, error) {
		next[15]++
		return next, failing
	}
	g := made(generator.NewUUID7(mint))
	wantKeys[idtype.UUID7[account]](t, g)
	wantKeys[idtype.UUID7[idtype.AsBytes[account]]](t, g)
	id, err := g.Next(ctx)
	if err != nil || theirUUID(id) != next {
		t.Errorf("minted %v, %v, want %x", id, err, next)
	}
	dst := make([]idtype.UUID7ID, 3)
	failing = errAway
	if n, err := g.Fill(ctx, dst); n != 0 || !errors.Is(err, errAway) || !dst[0].IsZero() {
		t.Errorf("Fill of a function that fails: %d, %v, %v", n, dst, err)
	}
	failing, next[6] = nil, 0x4c
	var other *idtype.RangeError
	if id, err := g.Next(ctx); !errors.As(err, &other) || other.Part != "version" || !id.IsZero() {
		t.Errorf("a function of version 4: %v, %v", id, err)
	}
	next = theirUUID{15: 255}
	if id, err := g.Next(ctx); !errors.Is(err, idtype.ErrZero) || !id.IsZero() {
		t.Errorf("a function of nil: %v, %v", id, err)
	}
	if g, err := generator.NewUUID7[theirUUID](nil); g != nil || !errors.As(err, new(*generator.OptionError)) {
		t.Errorf("without a function: %v", err)
	}
	if _, err := new(generator.UUID7).Next(ctx); err == nil {
		t.Error("a generator that no constructor made mints")
	}
}
