package scramble_test

import (
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/idmint/idmint/scramble"
)

// The mapping once more, slowly, in whole numbers as the package doc states it, and sharing nothing
// with the package.

// big2 is 2^n, by which "modulo" is meant.
func big2(n int) *big.Int { return new(big.Int).Lsh(big.NewInt(1), uint(n)) }

func number64(digits string) *big.Int {
	n, ok := new(big.Int).SetString(digits, 0)
	if !ok {
		panic(digits)
	}
	return n
}

func referenceWords(label string, n int, k scramble.Key) (w []*big.Int) {
	sum := sha512.Sum512([]byte(label + strconv.Itoa(n) + string(k.Bytes())))
	for i := 0; i < len(sum); i += 8 {
		w = append(w, new(big.Int).SetBytes(sum[i:i+8]))
	}
	return w
}

// divide is x / 2^n, rounded down.
func divide(x *big.Int, n int) *big.Int { return new(big.Int).Quo(x, big2(n)) }

func referenceMultiplicative(n int, k scramble.Key, id *big.Int) *big.Int {
	w := referenceWords("idmint/scramble/multiplicative/", n, k)
	x := new(big.Int).Add(id, w[0])
	x.Mod(x, big2(n))
	shift := func() { x.Xor(x, divide(x, (n+1)/2)) }
	multiply := func(by *big.Int) { x.Mod(x.Mul(x, new(big.Int).SetBit(by, 0, 1)), big2(n)) }
	shift()
	multiply(w[1])
	shift()
	multiply(w[2])
	shift()
	return x
}

func referenceNetwork(n int, k scramble.Key, id *big.Int) *big.Int {
	w := referenceWords("idmint/scramble/network/", n, k)
	widths := [2]int{n / 2, n - n/2}
	halves := [2]*big.Int{divide(id, widths[1]), new(big.Int).Mod(id, big2(widths[1]))}
	for round := range 6 {
		changed := round % 2
		z := new(big.Int).Add(halves[1-changed], w[round])
		z.Mod(z.Mul(z.Mod(z, big2(64)), number64("0x9e3779b97f4a7c15")), big2(64))
		z.Xor(z, divide(z, 32))
		z.Mod(z.Mul(z, number64("0xbf58476d1ce4e5b9")), big2(64))
		halves[changed] = new(big.Int).Xor(halves[changed], divide(z, 64-widths[changed]))
	}
	return new(big.Int).Add(new(big.Int).Mul(halves[0], big2(widths[1])), halves[1])
}

// reference is what the kind makes of the ID.
func reference(kind string, n int, k scramble.Key, id int64) int64 {
	of := referenceNetwork
	if kind == "Multiplicative" {
		of = referenceMultiplicative
	}
	x := of(n, k, big.NewInt(id))
	if x.Sign() == 0 {
		x = of(n, k, new(big.Int))
	}
	return x.Int64()
}

func TestReference(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind.name, rapid.MakeCheck(func(t *rapid.T) {
			widths := rapid.OneOf( // the ID that would become zero is met where there are few
				rapid.SampledFrom([]int{53, 63}), rapid.IntRange(2, 63), rapid.IntRange(2, 6))
			bits := widths.Draw(t, "bits")
			k := scramble.NewKey([16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "key")))
			id := rapid.Int64Range(1, scramble.Domain(bits).Max()).Draw(t, "id")
			p := kind.of(bits, k)
			inverse(t, p, scramble.Domain(bits), id)
			got, err := p.Scramble(id)
			if want := reference(kind.name, bits, k, id); err != nil || got != want {
				t.Fatalf("%d is %d, %v, want %d", id, got, err, want)
			}
		}))
	}
}

const vectorFile = "../docs/design/vectors/scramble.json"

type vector struct {
	Source    string
	Kind, Key string
	Bits      int
	ID        int64 `json:",string"`
	Scrambled int64 `json:",string"`
}

// workedValue is a row of the table in docs/design/formats.md.
var workedValue = regexp.MustCompile(
	"(?m)^\\| `(\\w+)` \\| (\\d+) \\| `(\\w+)` \\| `(\\d+)` \\| `(\\d+)` \\|$",
)

// The mapping stays as it is for ever. The package does what the vectors say, and so does the
// reference. A program in another language computed those of source "program", from the package doc:
// for each key the last one is the ID that would become zero. The values of docs/design/formats.md
// are among them.
func TestVectors(t *testing.T) {
	var f struct {
		Format     int
		Cases      []vector
		InvalidIDs []struct {
			Bits int
			ID   int64 `json:",string"`
		} `json:"invalid_ids"`
		InvalidKeys []string `json:"invalid_keys"`
	}
	text, err := os.ReadFile(vectorFile)
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	if err != nil || f.Format != 1 || len(f.Cases) != 340 || len(f.InvalidIDs) != 8 ||
		len(f.InvalidKeys) != 7 { // a file that was cut short would pass
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
		if got := reference(v.Kind, v.Bits, k, v.ID); got != v.Scrambled {
			t.Errorf("%+v: the reference makes %d", v, got)
		}
	}
	page, err := os.ReadFile("../docs/design/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := workedValue.FindAllStringSubmatch(string(page), -1)
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
		for _, construct := range constructors {
			p, _ := construct(scramble.Domain(v.Bits), number(1))
			_, err := p.Scramble(v.ID)
			wantRange(t, err, v.ID, scramble.Domain(v.Bits))
		}
	}
	for _, text := range f.InvalidKeys {
		if _, err := scramble.ParseKey(text); err == nil {
			t.Errorf("%q is a key", text)
		}
	}
}
