package bench

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/idmint/idmint/scramble"
)

// TestHottestRange splits a table of 10 million rows into 64 ranges of as many rows, and looks which
// of them gets most of the last 100,000. docs/explain/distributed.md has its table. Four writers mint 10,000 keys a
// second. Of UUIDs the first 8 bytes are taken.
func TestHottestRange(t *testing.T) {
	const rows, last, ranges, writers = 10_000_000, 100_000, 64, 4
	secret := must(scramble.ParseKey(strings.Repeat("5a", 16)))
	network := must(scramble.NewNetwork(scramble.Int63, secret))
	random := rand.NewChaCha8([32]byte{1})
	ms := func(i int) uint64 { return uint64(1_790_000_000_000 + i/10) }
	decimal := func(i int) int64 { return int64((i/writers+1)*1e10 + i%writers*1e5 + 1) }
	table := "| keys | the hottest of 64 ranges gets |\n|---|---|\n"
	for _, scheme := range []struct {
		name string
		key  func(i int) uint64
	}{
		{"decimal", func(i int) uint64 { return uint64(decimal(i)) }},
		{"snowflake", func(i int) uint64 { return ms(i)<<22 | uint64(i%writers<<12|i%10/writers) }},
		{"UUIDv7", func(i int) uint64 { return ms(i)<<16 | 7<<12 | random.Uint64()>>52 }},
		{"UUIDv4", func(int) uint64 { return random.Uint64()&^(15<<12) | 4<<12 }},
		{"decimal, scrambled", func(i int) uint64 { return uint64(must(network.Scramble(decimal(i)))) }},
	} {
		keys := make([]uint64, rows)
		for i := range keys {
			keys[i] = scheme.key(i)
		}
		before := keys[:rows-last]
		slices.Sort(before)
		var got [ranges]int
		for _, key := range keys[rows-last:] {
			at, _ := slices.BinarySearch(before, key)
			got[min(at*ranges/len(before), ranges-1)]++
		}
		table += fmt.Sprintf("| %s | %.1f %% |\n", scheme.name, 100*float64(slices.Max(got[:]))/last)
	}
	page := string(must(os.ReadFile("../docs/explain/distributed.md")))
	if !strings.Contains(page, "<!-- figures: ranges -->\n"+table+"<!-- end -->") {
		t.Errorf("docs/explain/distributed.md does not have\n%s", table)
	}
}
