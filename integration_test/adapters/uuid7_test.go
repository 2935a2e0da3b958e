package adapters_test

import (
	"testing"

	"github.com/google/uuid"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

// Keys are those of google/uuid, of its version 7, and a plain conversion makes its type of one.
func TestUUID7Converts(t *testing.T) {
	g := must(generator.NewUUID7(uuid.NewV7))
	ours := idtype.UUID7[User](must(g.Next(t.Context())))
	theirs := uuid.UUID(ours)
	if ours.Validate() != nil || ours.String() != theirs.String() || theirs.Version() != 7 {
		t.Errorf("%v became %v", ours, theirs)
	}
	sec, nsec := theirs.Time().UnixTime()
	if got := ours.Time(); got.Unix() != sec || got.Nanosecond()/1e6 != int(nsec/1e6) {
		t.Errorf("%v is of %v, want %d.%09d", ours, got, sec, nsec)
	}
}
