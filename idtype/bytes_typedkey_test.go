package idtype_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"reflect"
	"strings"
	"testing"

	"github.com/idmint/idmint/idtype"
)

// TestByteMixedKeysDoNotCompile type-checks programs against the package's source. Each line with a comment ERROR must be one,
// no other line may.
func TestByteMixedKeysDoNotCompile(t *testing.T) {
	const program = `package p

import "github.com/idmint/idmint/idtype"

type Event struct{ ID EventID; Cause CauseID }
type Cause struct{ ID CauseID }
type EventID = idtype.Sno[idtype.AsUUID[Event]]
type CauseID = idtype.Sno[idtype.AsUUID[Cause]]
type PlainID = idtype.Sno[Event]
type TextID = idtype.Sno[idtype.AsText[Event]]
type ShardID = idtype.EightByte[Event]
type NumberID = idtype.EightByte[idtype.AsBigint[Event]]

func find(EventID) {}

func mixed(e EventID, c CauseID, p PlainID, x TextID, s ShardID, n NumberID, sno idtype.SnoID, m map[EventID]int) {
	e = c                                     // ERROR
	e = p                                     // ERROR
	e = x                                     // ERROR
	e = sno                                   // ERROR
	s = n                                     // ERROR
	e = EventID(s)                            // ERROR
	n = NumberID(e)                           // ERROR
	find(c)                                   // ERROR
	find(sno)                                 // ERROR
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

func converted(e EventID, c CauseID, p PlainID, x TextID, s ShardID, n NumberID, sno idtype.SnoID, m map[EventID]int) {
	e = EventID(c)
	e = EventID(p)
	e = EventID(x)
	e = EventID(sno)
	s = ShardID(n)
	find(EventID(c))
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

// TestByteTypedKeys takes keys through JSON documents, as map keys too, and through gob.
func TestByteTypedKeys(t *testing.T) {
	type row struct {
		ID      EventUUIDID                  `json:"id"`
		Parent  *EventEightID                `json:"parent"`
		Omitted EventTextID                  `json:"omitted,omitzero"`
		None    idtype.OrZero[EventSnoID]    `json:"none"`
		Some    idtype.OrZero[EventBigintID] `json:"some,omitzero"`
		List    []EventBigintID              `json:"list"`
		Names   map[EventSnoID]string        `json:"names"`
	}
	eight, sno := idtype.MustParseEightByteID(eightText), idtype.MustParseSnoID(snoText)
	parent := EventEightID(eight)
	want := row{
		ID: EventUUIDID(sno), Parent: &parent, Some: idtype.OrZero[EventBigintID]{ID: EventBigintID(eight)},
		List: []EventBigintID{EventBigintID(eight)}, Names: map[EventSnoID]string{EventSnoID(sno): "sno"},
	}
	b, err := json.Marshal(want)
	const text = `{"id":"8fhmi7mfls62jp64","parent":"5b9bda2989e1989b","none":null,"some":"5b9bda2989e1989b",` +
		`"list":["5b9bda2989e1989b"],"names":{"8fhmi7mfls62jp64":"sno"}}`
	if err != nil || string(b) != text {
		t.Errorf("as JSON %s, %v\n   want %s", b, err, text)
	}
	var got row
	if err := json.Unmarshal(b, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("came back as %+v, %v, want %+v", got, err, want)
	}
	for name, data := range map[string]string{
		"value": `{"id":5}`, "pointer": `{"parent":"x"}`, "element": `{"list":["5b9bda2989e1989b",true]}`,
		"map key": `{"names":{"1":"one"}}`, "zero as key": `{"names":{"2222222222222222":"none"}}`, "OrZero": `{"some":{}}`,
	} {
		var got row
		err := json.Unmarshal([]byte(data), &got)
		if e := new(idtype.InputError); !errors.As(err, &e) {
			t.Errorf("%s: error for %s is %v, want an *InputError", name, data, err)
		}
	}

	want.None, got = idtype.OrZero[EventSnoID]{ID: EventSnoID(sno)}, row{}
	want.Omitted = EventTextID(sno)
	var buf bytes.Buffer
	if err := gob.NewEncoder(&buf).Encode(want); err != nil {
		t.Fatal(err)
	}
	if err := gob.NewDecoder(&buf).Decode(&got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("came back from gob as %+v, %v, want %+v", got, err, want)
	}
	// The type parameter says whose key it is, and how it is stored, and costs nothing.
	if keys := map[any]bool{EventSnoID(sno): true, EventTextID(sno): true, sno: true}; len(keys) != 3 {
		t.Errorf("keys of three types are %d", len(keys))
	}
	if fmt.Sprint(sno, eight, want.None) != "8fhmi7mfls62jp64 5b9bda2989e1989b 8fhmi7mfls62jp64" {
		t.Errorf("printed as %v %v %v", sno, eight, want.None)
	}
}
