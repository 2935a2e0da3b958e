package idtype_test

import (
	"database/sql"
	"encoding"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/idmint/idmint/idtype"
)

// The typed keys of these tests, in the one line each that the package doc promises.
type (
	User  struct{ ID UserID }
	Order struct{ ID OrderID }

	UserID  = idtype.Decimal[User]
	OrderID = idtype.Decimal[Order]
)

const (
	// published is the example of document 002: counter 1415, generator 92, launch 65.
	published = 14150009200065

	// before is what a receiver holds when a decoder is about to fail: not zero, so that a decoder that clears is seen.
	before idtype.DecimalID = 77700088800099
)

// decoder is the set of methods that write an ID.
type decoder interface {
	encoding.TextUnmarshaler
	encoding.BinaryUnmarshaler
	json.Unmarshaler
	sql.Scanner
}

var _ decoder = (*UserID)(nil)

// domain are the values at which a codec could change its mind: every number of digits, the words of eight digits that
// the codec works in, the limits of floats and of int64.
func domain() []int64 {
	values := []int64{
		published, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1<<53 - 1, 1 << 53, 1<<53 + 1,
		math.MaxInt64 - 1, math.MaxInt64,
	}
	for p := int64(1); ; p *= 10 {
		values = append(values, p, p+1)
		if p > 1 {
			values = append(values, p-1)
		}
		if p > math.MaxInt64/10 {
			return values
		}
	}
}

// wantInputError fails unless err is an *InputError of the type typ that shows the input, quoted, and wraps reason, if
// there is one. An empty input is not looked for.
func wantInputError(t *testing.T, err error, typ, input string, reason error) {
	t.Helper()
	var e *idtype.InputError
	if !errors.As(err, &e) {
		t.Fatalf("error is %#v, want an *InputError", err)
	}
	if e.Type != typ {
		t.Errorf("error names the type %q, want %q", e.Type, typ)
	}
	if e.Err == nil {
		t.Errorf("error has no reason: %v", err)
	}
	if reason != nil && !errors.Is(err, reason) {
		t.Errorf("error is %q, want one that wraps %q", err, reason)
	}
	msg := err.Error()
	wants := []string{"idtype: ", typ, e.Err.Error()}
	if input != "" {
		wants = append(wants, shown(input))
	}
	for _, part := range wants {
		if !strings.Contains(msg, part) {
			t.Errorf("error is %q, want %q in it", msg, part)
		}
	}
	// An error is logged: a megabyte of input must not be.
	if len(msg) > 1000 {
		t.Errorf("error has %d bytes: %.100s", len(msg), msg)
	}
}

// shown is how an input is to appear in an error: quoted, so that spaces and control characters are seen, or only its
// size where it is long.
func shown(input string) string {
	if len(input) > 64 {
		return "(" + strconv.Itoa(len(input)) + " bytes)"
	}
	return strconv.Quote(input)
}
