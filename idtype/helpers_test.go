package idtype_test

import (
	"bufio"
	"database/sql"
	"encoding"
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/idmint/idmint/idtype"
)

// The typed keys of these tests, in the one line each that the package doc promises.
type (
	User  struct{ ID UserID }
	Order struct{ ID OrderID }
	Event struct {
		ID   EventUUIDID // a key that its own entity is a parameter of
		Blob [1 << 20]byte
	}

	UserID  = idtype.Decimal[User]
	OrderID = idtype.Decimal[Order]

	UserTraceID    = idtype.Trace[User]
	UserShortID    = idtype.Short[User]
	UserSequenceID = idtype.Sequence[User]

	EventEightID  = idtype.EightByte[Event]
	EventBigintID = idtype.EightByte[idtype.AsBigint[Event]]
	EventSnoID    = idtype.Sno[Event]
	EventTextID   = idtype.Sno[idtype.AsText[Event]]
	EventUUIDID   = idtype.Sno[idtype.AsUUID[Event]]
)

// published is the example of docs/design/formats.md: counter 1415, generator 92, launch 65.
const published = 14150009200065

// decoder is the set of methods that write an ID.
type decoder interface {
	encoding.TextUnmarshaler
	encoding.BinaryUnmarshaler
	json.Unmarshaler
	sql.Scanner
	UnmarshalParam(param string) error
}

var _ decoder = (*UserID)(nil)

// writable is a pointer to an ID, as a caller's own generic code would name it.
type writable[T any] interface {
	*T
	decoder
}

// readVectors reads a file of JSON lines that was not made by this package.
func readVectors[V any](t *testing.T, name string, count int) []V {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var vectors []V
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var v V
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatalf("%s:%d: %v", name, len(vectors)+1, err)
		}
		vectors = append(vectors, v)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if len(vectors) != count { // a file cut short would pass every test
		t.Fatalf("%s has %d vectors, want %d", name, len(vectors), count)
	}
	return vectors
}

// wantInputError fails unless err is an *InputError of the type typ that shows the input, quoted,
// and wraps reason, if there is one. An empty input is not looked for.
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
	if !strings.HasPrefix(msg, "idtype: ") || strings.Count(msg, "idtype: ") != 1 {
		t.Errorf("error is %q, want the package's name in front, once", msg)
	}
	wants := []string{typ, strings.TrimPrefix(e.Err.Error(), "idtype: ")}
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

// shown is how an input appears in an error. It is quoted, so that spaces and control characters
// are seen. Of a long input there is only its size.
func shown(input string) string {
	if len(input) > 64 {
		return "(" + strconv.Itoa(len(input)) + " bytes)"
	}
	return strconv.Quote(input)
}

// wantRangeError fails unless err is a *RangeError about the part, with a value that is outside the
// bounds it states.
func wantRangeError(t *testing.T, err error, typ, part string) *idtype.RangeError {
	t.Helper()
	var e *idtype.RangeError
	if !errors.As(err, &e) {
		t.Fatalf("error is %v, want a *RangeError", err)
	}
	if e.Part != part || e.Type != typ {
		t.Errorf("error is about %s of %s, want %s of %s", e.Part, e.Type, part, typ)
	}
	if e.Min <= e.Value && e.Value <= e.Max {
		t.Errorf("%d is not outside %d..%d: %v", e.Value, e.Min, e.Max, err)
	}
	for _, s := range []string{part, strconv.FormatInt(e.Value, 10), strconv.FormatInt(e.Max, 10)} {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("error is %q, want %s in it", err, s)
		}
	}
	return e
}
