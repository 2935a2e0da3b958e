package idtype_test

import (
	"bytes"
	"database/sql"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"github.com/idmint/idmint/idtype"
)

func TestTypedKeys(t *testing.T) {
	samples := map[idtype.Scheme]string{
		idtype.SchemeDecimal: "14150009200065", idtype.SchemeTrace: "4646428214845635103",
		idtype.SchemeShort: "xinaS8QBh", idtype.SchemeSequence: "57",
		idtype.SchemeEightByte: eightText, idtype.SchemeSno: snoText,
	}
	eachKind(t, func(t *testing.T, k kind) { k.allWays(t, samples[k.scheme]) })
	t.Run("of another entity", func(t *testing.T) { testWays[OrderID](t, samples[idtype.SchemeDecimal]) })
}

// testWays takes one ID through every way out and back in.
func testWays[T idtype.ID, P writable[T]](t *testing.T, text string) {
	id, err := idtype.Parse[T, P](text)
	if err != nil || id.String() != text || fmt.Sprint(id) != text {
		t.Fatalf("Parse = %v, %v, want %s", id, err, text)
	}
	var zero T
	if err := id.Validate(); err != nil || id.IsZero() || !zero.IsZero() {
		t.Errorf("Validate %v, IsZero %v, of zero %v", err, id.IsZero(), zero.IsZero())
	}
	// With "int" in front GORM makes it a serial.
	if got := id.GormDataType(); strings.HasPrefix(got, "int") ||
		(got == "bigint") != (id.Storage() == asBigint) {
		t.Errorf("GormDataType = %s", got)
	}

	ways := map[string]func(dst P) error{
		"text": func(dst P) error {
			b, err := id.MarshalText()
			return first(err, dst.UnmarshalText(b))
		},
		"appended text": func(dst P) error {
			b, err := id.AppendText([]byte(">"))
			return first(err, dst.UnmarshalText(b[1:]))
		},
		"binary": func(dst P) error {
			b, err := id.MarshalBinary()
			return first(err, dst.UnmarshalBinary(b))
		},
		"appended binary": func(dst P) error {
			b, err := id.AppendBinary([]byte(">"))
			return first(err, dst.UnmarshalBinary(b[1:]))
		},
		"JSON": func(dst P) error {
			b, err := json.Marshal(id)
			return first(err, json.Unmarshal(b, dst))
		},
		"gob": func(dst P) error {
			var buf bytes.Buffer
			err := gob.NewEncoder(&buf).Encode(id)
			return first(err, gob.NewDecoder(&buf).Decode(dst))
		},
		"database": func(dst P) error {
			v, err := id.Value()
			return first(err, dst.Scan(v))
		},
		"sql.Null": func(dst P) error {
			v, err := sql.Null[T]{V: id, Valid: true}.Value()
			var n sql.Null[T]
			err = first(err, n.Scan(v))
			*dst = n.V
			return err
		},
		"OrZero": func(dst P) error {
			v, err := idtype.OrZero[T]{ID: id}.Value()
			var o idtype.OrZero[T]
			err = first(err, o.Scan(v))
			*dst = o.ID
			return err
		},
		"OrZero JSON": func(dst P) error {
			b, err := json.Marshal(idtype.OrZero[T]{ID: id})
			var o idtype.OrZero[T]
			err = first(err, json.Unmarshal(b, &o))
			*dst = o.ID
			return err
		},
		"Slice": func(dst P) error {
			v, err := idtype.Slice[T]{id}.Value()
			var s idtype.Slice[T]
			if err = first(err, s.Scan(v)); err == nil {
				*dst = s[0]
			}
			return err
		},
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			var got T
			if err := way(&got); err != nil || got != id {
				t.Errorf("came back as %v, %v, want %v", got, err, id)
			}
		})
	}
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestTypedKeyMethods: methods that are not in the interface ID, and the conversions, with the
// types themselves.
func TestTypedKeyMethods(t *testing.T) {
	user, order := UserID(published), OrderID(published)
	if user.Parts() != order.Parts() || user.Counter() != 1415 || user.Generator() != 92 ||
		user.Launch() != 65 {
		t.Errorf("parts are %+v, %+v", user.Parts(), order.Parts())
	}
	if user.IsTest() || user.Compare(user+1) >= 0 {
		t.Errorf("IsTest %v, Compare %d", user.IsTest(), user.Compare(user+1))
	}
	minted, _ := user.Parts().ID() // what a generator returns: a key of anything
	if UserID(minted) != user || OrderID(user) != order {
		t.Error("conversion changes the ID")
	}
	// The type parameter says whose key it is, and costs nothing.
	if keys := map[any]string{user: "user", order: "order"}; len(keys) != 2 {
		t.Errorf("a user's and an order's key are the same key: %v", keys)
	}
}

// TestMixedKeysDoNotCompile type-checks programs against the package's source. Each line with a
// comment ERROR must be one, no other line may.
func TestMixedKeysDoNotCompile(t *testing.T) {
	t.Parallel()
	const program = `package p

import "github.com/idmint/idmint/idtype"

type User struct{ ID UserID }
type Order struct{ ID OrderID; By UserID }
type UserID = idtype.Decimal[User]
type OrderID = idtype.Decimal[Order]
type UserTraceID = idtype.Trace[User]
type OrderTraceID = idtype.Trace[Order]
type UserShortID = idtype.Short[User]
type UserSequenceID = idtype.Sequence[User]

type Int int64

type Event struct{ ID EventID; Cause CauseID }
type Cause struct{ ID CauseID }
type EventID = idtype.Sno[idtype.AsUUID[Event]]
type CauseID = idtype.Sno[idtype.AsUUID[Cause]]
type PlainID = idtype.Sno[Event]
type TextID = idtype.Sno[idtype.AsText[Event]]
type ShardID = idtype.EightByte[Event]
type NumberID = idtype.EightByte[idtype.AsBigint[Event]]

func findEvent(EventID) {}

func find(UserID) {}

func mixed(u UserID, o OrderID, d idtype.DecimalID, m map[UserID]Order) {
	u = o                                       // ERROR
	u = d                                       // ERROR
	d = u                                       // ERROR
	find(o)                                     // ERROR
	find(d)                                     // ERROR
	_ = u == o                                  // ERROR
	_ = u.Compare(o)                            // ERROR
	_ = m[o]                                    // ERROR
	_ = Order{ID: u}                            // ERROR
	_ = append(idtype.Slice[UserID]{}, o)       // ERROR
	_ = idtype.OrZero[UserID]{ID: o}            // ERROR
	_ = idtype.OrZero[UserID](idtype.OrZero[OrderID]{}) // ERROR
	u = idtype.MustParse[OrderID]("1")          // ERROR
	u = idtype.MustParseDecimalID("1")          // ERROR
	_ = idtype.OrZero[int64]{}                  // ERROR
	_ = idtype.Slice[string]{}                  // ERROR
	_ = idtype.OrZero[Int]{}                    // ERROR
	_ = idtype.IsSafeInteger("1")               // ERROR
	u = UserTraceID(1)                          // ERROR
	_ = UserTraceID(1) == UserShortID(1)        // ERROR
	_ = UserTraceID(1) == OrderTraceID(1)       // ERROR
	_ = UserShortID(1).Compare(UserSequenceID(1)) // ERROR
	_ = UserSequenceID(1).Parts()               // ERROR
}

func converted(u UserID, o OrderID, d idtype.DecimalID, m map[UserID]Order) {
	u = UserID(o)
	u = UserID(d)
	d = idtype.DecimalID(u)
	find(UserID(o))
	find(UserID(d))
	_ = u == UserID(o)
	_ = u.Compare(UserID(o))
	_ = m[UserID(o)]
	_ = Order{ID: OrderID(u), By: u}
	_ = append(idtype.Slice[UserID]{}, UserID(o))
	_ = idtype.OrZero[UserID]{ID: UserID(o)}
	u = idtype.MustParse[UserID]("1")
	u = UserID(idtype.MustParseDecimalID("1"))
	_ = UserTraceID(1) == UserTraceID(OrderTraceID(1))
	_ = UserTraceID(idtype.MustParse[UserShortID]("B"))
	_ = idtype.IsSafeInteger(u) == idtype.IsSafeInteger(UserSequenceID(1))
}

func mixedBytes(e EventID, c CauseID, p PlainID, x TextID, s ShardID, n NumberID, sno idtype.SnoID, m map[EventID]int) {
	e = c                                     // ERROR
	e = p                                     // ERROR
	e = x                                     // ERROR
	e = sno                                   // ERROR
	s = n                                     // ERROR
	e = EventID(s)                            // ERROR
	n = NumberID(e)                           // ERROR
	findEvent(c)                                   // ERROR
	findEvent(sno)                                 // ERROR
	_ = e == c                                // ERROR
	_ = e.Compare(c)                          // ERROR
	_ = m[c]                                  // ERROR
	_ = Event{ID: c}                          // ERROR
	_ = append(idtype.Slice[EventID]{}, c)    // ERROR
	_ = idtype.OrZero[EventID]{ID: p}         // ERROR
	e = idtype.MustParse[CauseID]("")         // ERROR
	e = idtype.MustParseSnoID("")             // ERROR
	_ = idtype.OrZero[[10]byte]{}             // ERROR
	_ = uint64(s)                             // ERROR
}

func convertedBytes(e EventID, c CauseID, p PlainID, x TextID, s ShardID, n NumberID, sno idtype.SnoID, m map[EventID]int) {
	e = EventID(c)
	e = EventID(p)
	e = EventID(x)
	e = EventID(sno)
	s = ShardID(n)
	findEvent(EventID(c))
	_ = e == EventID(c)
	_ = e.Compare(EventID(c))
	_ = m[EventID(c)]
	_ = Event{ID: EventID(c), Cause: c}
	_ = append(idtype.Slice[EventID]{}, EventID(c))
	_ = idtype.OrZero[EventID]{ID: EventID(p)}
	e = idtype.MustParse[EventID]("")
	e = EventID(idtype.MustParseSnoID(""))
	_ = [10]byte(e)
	_ = s.Uint64()
}
`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", program, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	wrong := map[int]string{} // lines with an error
	conf := types.Config{
		Importer: importer.ForCompiler(fset, "source", nil),
		Error: func(err error) {
			e := err.(types.Error)
			wrong[e.Fset.Position(e.Pos).Line] = e.Msg
		},
	}
	_, _ = conf.Check("p", fset, []*ast.File{file}, nil) // its error is the first of those that Error gets

	for i, line := range strings.Split(program, "\n") {
		msg, isWrong := wrong[i+1]
		switch wantWrong := strings.Contains(line, "// ERROR"); {
		case wantWrong && !isWrong:
			t.Errorf("compiles: %s", line)
		case !wantWrong && isWrong:
			t.Errorf("does not compile: %s: %s", line, msg)
		}
	}
}
