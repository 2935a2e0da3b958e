package idmint_test

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/rand"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/idmint/idmint/idtype"
)

// TestSpread: the places in which others put rows by their key, and how evenly they fill. Of the
// IDs of a generator only the counter differs, so they are 10^10 apart. The page has the table.
func TestSpread(t *testing.T) {
	const n = 10_000
	random := rand.New(rand.NewSource(1))
	var one, four, snowflakes []int64
	ms := int64(1_700_000_000_000 - 1_288_834_974_657)
	for i := range n {
		for generators, ids := range map[int]*[]int64{1: &one, 4: &four} {
			id, err := idtype.DecimalParts{
				Counter: 1415 + i/generators, Generator: 92 + i%generators, Launch: 65,
			}.ID()
			if err != nil {
				t.Fatal(err)
			}
			*ids = append(*ids, int64(id))
		}
		ms += int64(random.ExpFloat64() * 1000)       // one a second, by chance
		snowflakes = append(snowflakes, ms<<22|7<<12) // the step begins at 0 each millisecond
	}
	table := "| placed by | decimal, one process | decimal, four | snowflake, one a second |\n|---|---|---|---|\n"
	for _, by := range []struct {
		name    string
		of      uint64
		in      func(id int64) uint64
		decimal bool // spreads decimal IDs
	}{
		{"`id % 16`, `PARTITION BY HASH(id)`", 16, func(id int64) uint64 { return uint64(id) }, false},
		{"`id % 10`", 10, func(id int64) uint64 { return uint64(id) }, false},
		{"`id % 7`", 7, func(id int64) uint64 { return uint64(id) }, true},
		{"`id / 10000000000 % 16`, the counter", 16, func(id int64) uint64 { return uint64(id) / 1e10 }, true},
		{"Kafka's murmur2 of the text", 16, func(id int64) uint64 { return murmur2(text(id)) }, true},
		{"Kafka's murmur2 of 8 bytes", 16, func(id int64) uint64 { return murmur2(eight(id)) }, true},
		{"FNV-1a of the text, in sarama and kafka-go", 16, func(id int64) uint64 { return fnv1a(text(id)) }, true},
		{"FNV-1a of 8 bytes", 16, func(id int64) uint64 { return fnv1a(eight(id)) }, true},
		{"CRC-16 of the text, in Redis Cluster", 16, func(id int64) uint64 { return crc16(text(id)) / 1024 }, true},
		{"jump consistent hash of the number", 16, func(id int64) uint64 { return jump(uint64(id), 16) }, true},
		{"Java's HashMap of Long", 16, javaHash, true},
	} {
		table += "| " + by.name + " |"
		for i, ids := range [][]int64{one, four, snowflakes} {
			full := make([]int, by.of)
			used := map[uint64]bool{}
			for _, id := range ids {
				b := by.in(id) % by.of
				full[b]++
				used[b] = true
			}
			most := float64(slices.Max(full)) * float64(by.of) / n
			if i < 2 && (most < 1.2) != by.decimal {
				t.Errorf("%s: %d of %d, the fullest has %.1f times its share", by.name, len(used), by.of, most)
			}
			table += fmt.Sprintf(" %d of %d, %.1f |", len(used), by.of, most)
		}
		table += "\n"
	}
	const page, begin, end = "docs/explain/choosing.md", "<!-- spread -->\n", "<!-- end -->"
	content, err := os.ReadFile(page)
	head, rest, ok := strings.Cut(string(content), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if err != nil || !ok || !ok2 {
		t.Fatalf("%s has no place for the table, %v\n%s", page, err, table)
	}
	wantFile(t, page, []byte(head+begin+table+end+tail))
}

func text(id int64) []byte { return strconv.AppendInt(nil, id, 10) }

func eight(id int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(id)) }

// murmur2 is the hash of Kafka's default partitioner, without the sign.
func murmur2(data []byte) uint64 {
	const m, r = 0x5bd1e995, 24
	h := uint32(0x9747b28c) ^ uint32(len(data))
	for ; len(data) >= 4; data = data[4:] {
		k := binary.LittleEndian.Uint32(data) * m
		h = h*m ^ (k^k>>r)*m
	}
	switch len(data) {
	case 3:
		h ^= uint32(data[2]) << 16
		fallthrough
	case 2:
		h ^= uint32(data[1]) << 8
		fallthrough
	case 1:
		h = (h ^ uint32(data[0])) * m
	}
	h = (h ^ h>>13) * m
	return uint64((h ^ h>>15) & 0x7fffffff)
}

func fnv1a(data []byte) uint64 {
	h := fnv.New32a()
	h.Write(data)
	return uint64(h.Sum32() & 0x7fffffff)
}

// crc16 is the one of XMODEM, by which Redis Cluster finds the slot of a key.
func crc16(data []byte) uint64 {
	var crc uint16
	for _, b := range data {
		crc ^= uint16(b) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return uint64(crc % 16384)
}

// jump is the consistent hash of Lamping and Veach.
func jump(key uint64, buckets int64) uint64 {
	var b, j int64 = -1, 0
	for j < buckets {
		b = j
		key = key*2862933555777941757 + 1
		j = int64(float64(b+1) * (float64(int64(1)<<31) / float64(key>>33+1)))
	}
	return uint64(b)
}

func javaHash(id int64) uint64 {
	h := uint32(uint64(id) ^ uint64(id)>>32)
	return uint64(h ^ h>>16)
}
