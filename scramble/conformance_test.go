package scramble_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/idmint/idmint/scramble"
)

// The vectors for implementers of other languages. This package makes none of them.
const vectorFile = "../docs/design/vectors/scramble.json"

var writeVectors = flag.Bool("vectors.write", false, "write "+vectorFile)

type vector struct {
	Source    string `json:"source"`
	Kind      string `json:"kind"`
	Bits      int    `json:"bits"`
	Key       string `json:"key"`
	ID        int64  `json:"id,string"`
	Scrambled int64  `json:"scrambled,string"`
}

var invalidKeys = []string{
	"", "000102030405060708090a0b0c0d0e0", "000102030405060708090a0b0c0d0e0f0", "0x" +
		"000102030405060708090a0b0c0d0e", "000102030405060708090A0B0C0D0E0F",
	" 00102030405060708090a0b0c0d0e0f", "000102030405060708090a0b0c0d0e0g",
}

// invalidIDs are in no domain of so many bits.
var invalidIDs = map[int][]int64{
	53: {0, -1, 1 << 53, math.MaxInt64, math.MinInt64}, 63: {0, -1, math.MinInt64},
}

// encodeVectors writes a line for each case: those of testdata, which a program in another language
// made, and those of the slow reference.
func encodeVectors(t *testing.T) []byte {
	t.Helper()
	golden, err := os.Open("testdata/golden.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer golden.Close()
	var cases []string
	line := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return "  " + string(b)
	}
	for lines := bufio.NewScanner(golden); lines.Scan(); {
		v := vector{Source: "program"}
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, line(v))
	}
	for _, kind := range kinds {
		for _, d := range domains {
			for _, k := range keys(8) {
				for _, id := range []int64{1, 3, 14150009200065, d.Max() - 1, d.Max()} {
					cases = append(cases, line(vector{
						"formats", kind.name, int(d), fmt.Sprintf("%x", k), id,
						reference(kind.name, int(d), k, id),
					}))
				}
			}
		}
	}
	var bad []string
	for _, bits := range []int{53, 63} {
		for _, id := range invalidIDs[bits] {
			bad = append(bad, line(map[string]any{"bits": bits, "id": fmt.Sprint(id)}))
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\n\"format\": 1,\n\"scheme\": \"scramble\",\n\"cases\": [\n%s\n],\n",
		strings.Join(cases, ",\n"))
	fmt.Fprintf(&b, "\"invalid_ids\": [\n%s\n],\n", strings.Join(bad, ",\n"))
	fmt.Fprintf(&b, "\"invalid_keys\": %s,\n\"sources\": %s\n}\n", line(invalidKeys)[2:],
		line(map[string]string{
			"program": "a program in another language, written from the mapping's description",
			"formats": "computed from docs/design/formats.md in whole numbers of package math/big; " +
				"no code of idmint's packages",
		})[2:])
	return b.Bytes()
}

func TestVectorFile(t *testing.T) {
	want := encodeVectors(t)
	if *writeVectors {
		if err := os.WriteFile(vectorFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(vectorFile); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not what its sources make, %v: "+
			"go test ./scramble -run TestVectorFile -vectors.write", vectorFile, err)
	}
}

// workedValue is a row of the table in docs/design/formats.md.
var workedValue = regexp.MustCompile(
	"(?m)^\\| `(\\w+)` \\| (\\d+) \\| `(\\w+)` \\| `(\\d+)` \\| `(\\d+)` \\|$",
)

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The package does what the vectors say, and the page's values are among them.
func TestConformance(t *testing.T) {
	var f struct {
		Format     int
		Cases      []vector
		InvalidIDs []struct {
			Bits int
			ID   int64 `json:",string"`
		} `json:"invalid_ids"`
		InvalidKeys []string `json:"invalid_keys"`
	}
	if err := json.Unmarshal([]byte(readFile(t, vectorFile)), &f); err != nil || f.Format != 1 || len(f.Cases) < 300 ||
		len(f.InvalidIDs) != 8 || len(f.InvalidKeys) < 5 {
		t.Fatalf("format %d, %d cases, %v", f.Format, len(f.Cases), err)
	}
	for _, v := range f.Cases {
		k, err := scramble.ParseKey(v.Key)
		if err != nil {
			t.Fatal(err)
		}
		p, err := constructors[v.Kind](scramble.Domain(v.Bits), k)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := p.Scramble(v.ID); err != nil || got != v.Scrambled {
			t.Errorf("%+v: %d, %v", v, got, err)
		}
		if got, err := p.Unscramble(v.Scrambled); err != nil || got != v.ID {
			t.Errorf("%+v: back %d, %v", v, got, err)
		}
	}
	rows := workedValue.FindAllStringSubmatch(readFile(t, "../docs/design/formats.md"), -1)
	for _, row := range rows {
		if !slices.ContainsFunc(f.Cases, func(v vector) bool {
			return slices.Equal(row[1:], []string{
				v.Kind, fmt.Sprint(v.Bits), v.Key, fmt.Sprint(v.ID), fmt.Sprint(v.Scrambled),
			})
		}) {
			t.Errorf("no case is the page's %s", row[0])
		}
	}
	if len(rows) < 3 {
		t.Errorf("the page has %d values", len(rows))
	}
	for _, v := range f.InvalidIDs {
		for name, construct := range constructors {
			p, err := construct(scramble.Domain(v.Bits), number(1))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := p.Scramble(v.ID); err == nil {
				t.Errorf("%s of %d in %d bits is %d", name, v.ID, v.Bits, got)
			}
			if got, err := p.Unscramble(v.ID); err == nil {
				t.Errorf("%s of %d in %d bits is from %d", name, v.ID, v.Bits, got)
			}
		}
	}
	for _, text := range f.InvalidKeys {
		if _, err := scramble.ParseKey(text); err == nil {
			t.Errorf("%q is a key", text)
		}
	}
}
