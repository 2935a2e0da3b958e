package pgxid

import (
	"reflect"
	"testing"

	"github.com/idmint/idmint/idtype"
)

type tiny struct{ idtype.SequenceID }

func (tiny) Scheme() idtype.Scheme { return "tiny" }

// Of a scheme that this package was not told of nobody knows what its texts may mean.
func TestUnknownScheme(t *testing.T) {
	if newKind(reflect.TypeFor[tiny]()).textIsDistinct {
		t.Error("its texts are taken for IDs")
	}
	if !newKind(reflect.TypeFor[idtype.SequenceID]()).textIsDistinct {
		t.Error("texts of a sequence can only mean the ID")
	}
}
