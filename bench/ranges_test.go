package bench

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/idmint/idmint/scramble"
)

// TestHottestRange splits a table of 10 million rows into 64 ranges of as many rows, and looks where
// the last 100,000 rows went. docs/distributed.md has its table. Four writers mint 10,000 keys a
// second. UUIDs are compared by their first 8 bytes.
func TestHottestRange(t *testing.T) {
	const rows, last, ranges, perMs, writers = 10_000_000, 100_000, 64, 10, 4
	secret := must(scramble.ParseKey("9f86d081884c7d659a2feaa0c55ad015"))
	network := must(scramble.NewNetwork(scramble.Int63, secret))
	random := rand.NewChaCha8([32]byte{1})
	decimal := func(i int) uint64 { return uint64((i/writers+1)*1e10 + i%writers*1e5 + 1) }
	time := func(i int) uint64 { return 1_790_000_000_000 + uint64(i/perMs) }
	table := fmt.Sprintf("| keys | hottest of %d ranges | ranges that get none |\n|---|---|---|\n", ranges)
	for _, scheme := range []struct {
		name string
		key  func(i int) uint64
	}{
		{"decimal", decimal},
		{"snowflake", func(i int) uint64 {
			return (time(i)-1_288_834_974_657)<<22 | uint64(i%writers)<<12 | uint64(i%perMs/writers)
		}},
		{"UUIDv7", func(i int) uint64 { return time(i)<<16 | 7<<12 | random.Uint64()>>52 }},
		{"UUIDv4", func(int) uint64 {
			id := must(uuid.NewRandomFromReader(random))
			return binary.BigEndian.Uint64(id[:])
		}},
		{"decimal, scrambled", func(i int) uint64 {
			return uint64(must(network.Scramble(int64(decimal(i)))))
		}},
	} {
		keys := make([]uint64, rows)
		for i := range keys {
			keys[i] = scheme.key(i)
		}
		newest := slices.Clone(keys[rows-last:])
		before := keys[:rows-last]
		slices.Sort(before)
		var got [ranges]int
		for _, key := range newest {
			at, _ := slices.BinarySearch(before, key)
			got[min(at*ranges/len(before), ranges-1)]++
		}
		none := 0
		for _, n := range got {
			if n == 0 {
				none++
			}
		}
		table += fmt.Sprintf("| %s | %.1f %% | %d |\n", scheme.name,
			100*float64(slices.Max(got[:]))/last, none)
	}
	page := string(must(os.ReadFile("../docs/distributed.md")))
	if !strings.Contains(page, "<!-- figures: ranges -->\n"+table+"<!-- end -->") {
		t.Errorf("docs/distributed.md does not have\n%s", table)
	}
}
