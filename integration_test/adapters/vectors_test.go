package adapters_test

import (
	"encoding/json"
	"os"
	"testing"
)

// A vector is a case of docs/design/vectors, whose README says what the fields mean.
type vector struct {
	Source, Text, Number, Hex, UUID string
	Parts                           map[string]any // json.Number or string
}

// A vectorFile has the cases of a scheme that tests of this folder ask for.
type vectorFile struct {
	Valid, Older, Invalid []vector
	Bounds                []struct {
		From, To int64 // Unix milliseconds
		Ranges   []struct{ Min, Max string }
	}
	Times []struct {
		Text   string
		Around int64
		Times  []string
	}
}

func readVectors(t *testing.T, scheme string) (file vectorFile) {
	t.Helper()
	f, err := os.Open("../../docs/design/vectors/" + scheme + ".json")
	try(t, err)
	defer f.Close()
	d := json.NewDecoder(f)
	d.UseNumber()
	try(t, d.Decode(&file))
	return file
}
