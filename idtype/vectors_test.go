package idtype_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/idmint/idmint/idtype"
)

// vector is a line of the files that were made from the formula of docs/design/formats.md, not by
// this package.
type vector struct {
	Kind, Op, Raw, Reason, ID string

	Counter   int `json:"counter"`
	Generator int `json:"generator_id"`
	Launch    int `json:"launch_id"`
}

func (v vector) parts() idtype.DecimalParts {
	return idtype.DecimalParts{Counter: v.Counter, Generator: v.Generator, Launch: v.Launch}
}

func TestVectors(t *testing.T) {
	kinds := map[string]int{}
	for _, v := range readVectors[vector](t, "decimalid.jsonl", 120) {
		kinds[v.Kind]++
		t.Run(v.ID, func(t *testing.T) {
			id, err := v.parts().ID()
			if err != nil {
				t.Fatal(err)
			}
			if got := id.String(); got != v.ID {
				t.Errorf("%+v as text = %s, want %s", v.parts(), got, v.ID)
			}
			if got := strconv.FormatInt(int64(id), 10); got != v.ID {
				t.Errorf("%+v as a number = %s, want %s", v.parts(), got, v.ID)
			}

			parsed, err := idtype.ParseDecimalID(v.ID)
			if err != nil {
				t.Fatal(err)
			}
			if got := parsed.Parts(); got != v.parts() {
				t.Errorf("Parts = %+v, want %+v", got, v.parts())
			}
			if err := parsed.Validate(); err != nil {
				t.Errorf("Validate: %v", err)
			}
			if got, want := parsed.IsTest(), v.Launch == 0; got != want {
				t.Errorf("IsTest = %v, want %v", got, want)
			}
		})
	}
	if kinds["published"] == 0 || kinds["boundary"] == 0 {
		t.Errorf("kinds of vectors: %v, want published and boundary among them", kinds)
	}
}

func TestVectorsInvalid(t *testing.T) {
	for _, v := range readVectors[vector](t, "decimalid_invalid.jsonl", 29) {
		switch v.Op {
		case "parse":
			t.Run("parse/"+v.Raw, func(t *testing.T) { testInvalidParse(t, v) })
		case "build":
			t.Run(fmt.Sprintf("build/%d,%d,%d", v.Counter, v.Generator, v.Launch), func(t *testing.T) { testInvalidBuild(t, v) })
		default:
			t.Errorf("unknown op %q", v.Op)
		}
	}
}

func testInvalidParse(t *testing.T, v vector) {
	id, err := idtype.ParseDecimalID(v.Raw)
	if v.Reason == "zero" || v.Reason == "negative" || strings.Contains(v.Reason, "above int64") {
		var reason error
		if v.Reason == "zero" {
			reason = idtype.ErrZero
		}
		wantInputError(t, err, "DecimalID", v.Raw, reason)
		if id != 0 {
			t.Errorf("Parse returns %d beside its error", id)
		}
		return
	}
	// The rest may be rows that are older than the scheme: they are read, and Validate tells.
	if err != nil {
		t.Fatalf("Parse: %v, want only Validate to refuse (%s)", err, v.Reason)
	}
	if id.String() != v.Raw {
		t.Errorf("read %s, wrote %s", v.Raw, id)
	}
	wantRangeError(t, id.Validate(), "DecimalID", "counter")
}

func testInvalidBuild(t *testing.T, v vector) {
	id, err := v.parts().ID()
	if id != 0 {
		t.Errorf("ID returns %d beside its error", id)
	}
	part, _, _ := strings.Cut(v.Reason, " ")
	e := wantRangeError(t, err, "DecimalID", part)
	want := map[string]int{"counter": v.Counter, "generator_id": v.Generator, "launch_id": v.Launch}[part]
	if e.Value != int64(want) {
		t.Errorf("error is about the value %d, want %d", e.Value, want)
	}
}
