package publicid_test

import (
	"crypto/aes"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"flag"
	"math/big"
	"os"
	"strconv"
	"strings"
	"testing"
)

// The reference follows docs/public-ids.md, one digit at a time. It shares nothing with the package
// but AES and SHA.

const crockford = "0123456789abcdefghjkmnpqrstvwxyz"

func derive(secretHex, label string) []byte {
	secret, err := hex.DecodeString(secretHex)
	if err != nil {
		panic(err)
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(label))
	return mac.Sum(nil)
}

// network63 is the network of package scramble over 63 bits, by its documentation.
func network63(key []byte, x *big.Int) *big.Int {
	sum := sha512.Sum512(append([]byte("idmint/scramble/network/63"), key...))
	two := func(n uint) *big.Int { return new(big.Int).Lsh(big.NewInt(1), n) }
	times := func(z *big.Int, factor string) *big.Int {
		f, _ := new(big.Int).SetString(factor, 16)
		return new(big.Int).Mod(new(big.Int).Mul(z, f), two(64))
	}
	hash := func(half *big.Int, round int, bits uint) *big.Int {
		w := new(big.Int).SetBytes(sum[8*round : 8*round+8])
		z := new(big.Int).Mod(new(big.Int).Add(half, w), two(64))
		z = times(z, "9e3779b97f4a7c15")
		z = new(big.Int).Xor(z, new(big.Int).Rsh(z, 32))
		z = times(z, "bf58476d1ce4e5b9")
		return z.Rsh(z, 64-bits)
	}
	permute := func(x *big.Int) *big.Int {
		l, r := new(big.Int).DivMod(x, two(32), new(big.Int))
		for round := range 6 {
			if round%2 == 0 {
				l = new(big.Int).Xor(l, hash(r, round, 31))
			} else {
				r = new(big.Int).Xor(r, hash(l, round, 32))
			}
		}
		return new(big.Int).Add(new(big.Int).Mul(l, two(32)), r)
	}
	if y := permute(x); y.Sign() != 0 {
		return y
	}
	return permute(new(big.Int))
}

// times32 multiplies two elements of the field, as polynomials.
func times32(a, b int) int {
	product := 0
	for i := range 5 {
		if b>>i&1 == 1 {
			product ^= a << i
		}
	}
	for i := 8; i >= 5; i-- {
		if product>>i&1 == 1 {
			product ^= 0b100101 << (i - 5)
		}
	}
	return product
}

func power32(n int) int {
	p := 1
	for range n {
		p = times32(p, 2)
	}
	return p
}

// referenceText makes the text of an ID of the bytes given, and looks for the check among all pairs
// of characters.
func referenceText(form, prefix string, number int, secret string, id []byte) string {
	var n *big.Int
	chars := 13
	if form == "scrambled" {
		key := derive(secret, "idmint/publicid/scrambled/"+prefix)[:16]
		n = network63(key, new(big.Int).SetBytes(id))
	} else {
		block, err := aes.NewCipher(derive(secret, "idmint/publicid/encrypted/"+prefix))
		if err != nil {
			panic(err)
		}
		shown := make([]byte, 16)
		block.Encrypt(shown, append(make([]byte, 16-len(id)), id...))
		n, chars = new(big.Int).SetBytes(shown), 26
	}
	body := ""
	for range chars {
		digit := new(big.Int)
		n, digit = new(big.Int).DivMod(n, big.NewInt(32), digit)
		body = crockford[digit.Int64():digit.Int64()+1] + body
	}
	body = crockford[number:number+1] + body
	for i := range 32 * 32 {
		text := body + crockford[i/32:i/32+1] + crockford[i%32:i%32+1]
		if sum, power := referenceCheck(prefix, text); sum == 0 && power == 0 {
			return prefix + "_" + text
		}
	}
	panic("no check fits")
}

func referenceCheck(prefix, text string) (sum, power int) {
	var symbols []int
	for _, b := range []byte(prefix) {
		symbols = append(symbols, int(b)/32, int(b)%32)
	}
	for _, c := range text {
		symbols = append(symbols, strings.IndexRune(crockford, c))
	}
	for i, x := range symbols {
		sum ^= x
		power ^= times32(power32(len(symbols)-1-i), x)
	}
	return sum, power
}

// A vector is a line of testdata/vectors.json. ID is the ID's own text.
type vector struct {
	Form   string `json:"form"`
	Prefix string `json:"prefix"`
	Key    string `json:"key"`
	Scheme string `json:"scheme"`
	Bytes  string `json:"bytes"`
	ID     string `json:"id"`
	Text   string `json:"text"`
}

func (v vector) reference(t *testing.T) string {
	t.Helper()
	number, secret, _ := strings.Cut(v.Key, "-")
	n, err := strconv.Atoi(number)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := hex.DecodeString(v.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return referenceText(v.Form, v.Prefix, n, secret, raw)
}

func vectors(t testing.TB) (all []vector) {
	t.Helper()
	text, err := os.ReadFile("testdata/vectors.json")
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil || len(all) < 40 {
		t.Fatalf("%d vectors: %v", len(all), err)
	}
	return all
}

var write = flag.Bool("write-vectors", false, "write testdata/vectors.json by the reference")

// The vectors were made once, by the reference. It still makes them.
func TestVectorsAreTheReferences(t *testing.T) {
	if *write {
		writeVectors(t)
	}
	for _, v := range vectors(t) {
		if got := v.reference(t); got != v.Text {
			t.Errorf("%+v: the reference makes %s", v, got)
		}
	}
}

func writeVectors(t *testing.T) {
	integers := []int64{1, 2, 57, 14150009200065, 14160009200065, 1<<62 + 1, 1<<63 - 1}
	keys := []string{
		"0-" + strings.Repeat("00", 32),
		"1-9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"31-" + strings.Repeat("ff", 32),
	}
	var lines []string
	add := func(v vector) {
		v.Text = v.reference(t)
		line, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, "  "+string(line))
	}
	for i, key := range keys {
		prefix := []string{"user", "order", "a_2"}[i]
		for _, form := range []string{"scrambled", "encrypted"} {
			for _, id := range integers {
				raw := hex.EncodeToString(binary.BigEndian.AppendUint64(nil, uint64(id)))
				add(vector{form, prefix, key, "sequence", raw, strconv.FormatInt(id, 10), ""})
			}
		}
		add(vector{
			"encrypted", prefix, key, "eightbyte", "cb54ecf284000000", "cb54ecf284000000", "",
		})
		add(vector{
			"encrypted", prefix, key, "sno", "335f48168d9e8808dc82", "8fhmi7mfls62jp64", "",
		})
	}
	text := "[\n" + strings.Join(lines, ",\n") + "\n]\n"
	if err := os.WriteFile("testdata/vectors.json", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
