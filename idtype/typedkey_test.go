package idtype_test

import (
	"database/sql"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"github.com/idmint/idmint/idtype"
)

// TestMixedKeysDoNotCompile type-checks programs against the package's source. Each line with a
// comment ERROR must be one, no other line may.
func TestMixedKeysDoNotCompile(t *testing.T) {
	t.Parallel()
	const program = `package p

import "github.com/idmint/idmint/idtype"
import "time"

type User struct{ ID UserID }
type Order struct{ ID OrderID; By UserID }
type UserID = idtype.Decimal[User]
type OrderID = idtype.Decimal[Order]
type UserTraceID = idtype.Trace[User]
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

func find(UserID) {}

func mixed(u UserID, o OrderID, d idtype.DecimalID) {
	u = o                                       // ERROR
	u = d                                       // ERROR
	d = u                                       // ERROR
	find(o)                                     // ERROR
	find(d)                                     // ERROR
	_ = u == o                                  // ERROR
	_ = idtype.Compare(u, o)                    // ERROR
	_ = append(idtype.Slice[UserID]{}, o)       // ERROR
	_ = idtype.OrZero[UserID]{ID: o}            // ERROR
	u = idtype.MustParse[OrderID]("1")          // ERROR
	u = idtype.MustParse[idtype.DecimalID]("1") // ERROR
	_ = idtype.OrZero[int64]{}                  // ERROR
	_ = idtype.OrZero[Int]{}                    // ERROR
	u = UserTraceID(1)                          // ERROR
	_ = UserTraceID(1) == UserShortID(1)        // ERROR
	_ = idtype.Compare(UserShortID(1), UserSequenceID(1)) // ERROR
	_, _ = idtype.Bounds[UserID](time.Time{}, time.Time{}) // ERROR
	_ = UserSequenceID(1).Parts()               // ERROR
}

func converted(u UserID, o OrderID, d idtype.DecimalID) {
	u = UserID(o)
	d = idtype.DecimalID(u)
	find(UserID(d))
	_ = idtype.Compare(u, UserID(o))
	_ = append(idtype.Slice[UserID]{}, UserID(o))
	_ = idtype.OrZero[UserID]{ID: UserID(o)}
	u = idtype.MustParse[UserID]("1")
	u = UserID(idtype.MustParse[idtype.DecimalID]("1"))
	_ = UserTraceID(idtype.MustParse[UserShortID]("B"))
}

func mixedBytes(
	e EventID, c CauseID, p PlainID, x TextID, s ShardID, n NumberID, sno idtype.SnoID,
) {
	e = c                             // ERROR
	e = x                             // ERROR
	e = sno                           // ERROR
	s = n                             // ERROR
	e = EventID(s)                    // ERROR
	n = NumberID(e)                   // ERROR
	_ = idtype.Compare(e, c)          // ERROR
	e = idtype.MustParse[CauseID]("") // ERROR
	e = idtype.MustParse[idtype.SnoID]("")     // ERROR
	_ = idtype.OrZero[[10]byte]{}     // ERROR
}

func convertedBytes(
	e EventID, c CauseID, p PlainID, x TextID, s ShardID, n NumberID, sno idtype.SnoID,
) {
	e = EventID(c)
	e = EventID(p)
	e = EventID(sno)
	s = ShardID(n)
	_ = idtype.Compare(e, EventID(c))
	e = idtype.MustParse[EventID]("")
	e = EventID(idtype.MustParse[idtype.SnoID](""))
	_ = s.Uint64()
}
`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(
		fset, "p.go", program, parser.SkipObjectResolution|parser.ParseComments,
	)
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
	// its error is the first of those that Error gets
	_, _ = conf.Check("p", fset, []*ast.File{file}, nil)

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

// A compiler of Go crashes on a struct that points to its own key by its alias, where the alias is
// used before. docs/reference/versions.md has the way round: this compiles, as lint shows with the oldest Go.
type (
	recursiveOrder struct {
		BuyerID buyerID
		Buyer   buyer
	}

	buyerID = idtype.Decimal[buyer]

	buyer struct {
		ID      buyerID
		BossID  *idtype.Decimal[buyer]
		Former  sql.Null[idtype.Decimal[buyer]]
		Friends idtype.Slice[idtype.Decimal[buyer]]
		Orders  []*recursiveOrder
	}
)

var _ = recursiveOrder{Buyer: buyer{BossID: new(buyerID)}}
