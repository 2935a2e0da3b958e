package idtype_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/idmint/idmint/idtype"
)

// Requests have their status in the metabyte: three bits for the hundreds, five for the rest. All
// that HTTP has fit but 451.
func ExampleSnoBounds() {
	meta := func(status int) byte { return byte(status/100<<5 | status%100) }
	status := func(id idtype.SnoID) int { return id.Parts().Meta>>5*100 + id.Parts().Meta&31 }

	at := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	id, _ := idtype.SnoParts{UnixMs: at.UnixMilli(), Meta: int(meta(503)), Sequence: 7}.ID()
	fmt.Println(id, status(id))

	// The 5xx of four milliseconds: those of either tick-tock bit.
	failed, err := idtype.SnoBounds[any](at, at, meta(500), meta(531))
	for _, r := range failed {
		fmt.Println("id BETWEEN", r.Min, "AND", r.Max, idtype.Compare(r.Min, id) <= 0 &&
			idtype.Compare(id, r.Max) <= 0)
	}
	fmt.Println(err)
	// Output:
	// 9g3ab9q2me222229 503
	// id BETWEEN 9g3ab9q2m2222222 AND 9g3ab9q2pxxxxxxx true
	// id BETWEEN 9g3ab9q3m2222222 AND 9g3ab9q3pxxxxxxx false
	// <nil>
}

// The versions of a message are the IDs that differ in the metabyte alone. The first version is
// minted with metabyte 0, and nobody mints those after it: a sequence number is used once, whatever
// the metabyte.
func ExampleSnoParts() {
	next := func(id idtype.SnoID) (idtype.SnoID, error) {
		version := id.Parts()
		version.Meta++
		return version.ID()
	}
	first := idtype.MustParse[idtype.SnoID]("8fhmi7mf22s62p64")
	second, err := next(first)
	fmt.Println(first, second, second.Parts().Meta, err)
	last := idtype.SnoID(first)
	for err == nil {
		last, err = next(last)
	}
	fmt.Println(err)
	// Output:
	// 8fhmi7mf22s62p64 8fhmi7mf26s62p64 1 <nil>
	// idtype: SnoID: meta 256 is outside 0..255
}

type (
	Circle struct {
		ID     idtype.SnoID `json:"id"`
		Radius int          `json:"radius"`
	}
	Square struct {
		ID   idtype.SnoID `json:"id"`
		Side int          `json:"side"`
	}
)

// Shape is a Circle or a Square, whose JSON has no field for the type: its ID tells.
type Shape struct{ Of any }

func (s *Shape) UnmarshalJSON(data []byte) error {
	var key struct {
		ID idtype.SnoID `json:"id"`
	}
	if err := json.Unmarshal(data, &key); err != nil {
		return err
	}
	switch meta := key.ID.Parts().Meta; meta {
	case 1:
		s.Of = new(Circle)
	case 2:
		s.Of = new(Square)
	default:
		return fmt.Errorf("no shape has metabyte %d, as %v", meta, key.ID)
	}
	return json.Unmarshal(data, s.Of)
}

// The metabyte is the type of what the ID belongs to.
func ExampleSno() {
	var shapes []Shape
	err := json.Unmarshal([]byte(`[
		{"id": "8fhmi7mf26s62p64", "radius": 3},
		{"id": "8fhmi7mf2as62p64", "side": 4}
	]`), &shapes)
	for _, s := range shapes {
		fmt.Printf("%+v\n", s.Of)
	}
	fmt.Println(err)
	// Output:
	// &{ID:8fhmi7mf26s62p64 Radius:3}
	// &{ID:8fhmi7mf2as62p64 Side:4}
	// <nil>
}
