package measure_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/idmint/idmint/cmd/idmint/measure"
)

// Ours stand in the codec that users get in that order, though another may take less. Rivals stand
// in the best of all.
func TestSmallest(t *testing.T) {
	const integers = "T64('bit'), ZSTD(1)"
	one := func(scheme, form, codec, sort string, n int, bytes float64) measure.Compression {
		return measure.Compression{
			Scheme: scheme, Storage: form, Codec: codec, Sort: sort, Generators: n,
			Peer: scheme == "snowflake" || scheme == "UUIDv7", BytesPerID: bytes,
		}
	}
	r := measure.Results{Compression: []measure.Compression{
		one("decimal", "bigint", "Delta, ZSTD(6)", measure.SortedByID, 4, 0.1),
		one("decimal", "bigint", "Delta, ZSTD(1)", measure.SortedByID, 4, 0.2),
		one("decimal", "bigint", "Delta, ZSTD(1)", measure.Arrival, 4, 3),
		one("decimal", "bigint", integers, measure.Arrival, 4, 4),
		one("decimal", "bigint", integers, measure.Arrival, 64, 5),
		one("eightbyte, SPREAD", "bytes", "ZSTD(1)", measure.SortedByID, 4, 1),
		one("eightbyte, SPREAD", "bytes", "Delta, ZSTD(1)", measure.SortedByID, 4, 2),
		one("sno", "bytes", "ZSTD(1)", measure.SortedByID, 4, 3),
		one("sno", "uuid", "ZSTD(1)", measure.SortedByBytes, 4, 2.5),
		one("snowflake", "bigint", "Delta, ZSTD(1)", measure.Arrival, 4, 1.5),
		one("snowflake", "bigint", "Delta, ZSTD(6)", measure.Arrival, 4, 1.2),
		one("snowflake", "bigint", "Delta, ZSTD(6)", measure.Arrival, 64, 1.3),
		one("UUIDv7", "uuid", "ZSTD(6)", measure.SortedByBytes, 4, 10),
		one("UUIDv7", "uuid", "ZSTD(1)", measure.SortedByBytes, 4, 11),
		one("UUIDv7", "uuid", "ZSTD(1)", measure.SortedByID, 4, 14),
		one("UUIDv7", "uuid", "ZSTD(1)", measure.Arrival, 4, 12),
	}}
	for _, c := range []struct {
		sorted     bool
		generators int
		want       []string
	}{
		{true, 4, []string{
			"decimal 0.2", "eightbyte, SPREAD 2", "sno 2.5", "UUIDv7 10", "UUIDv7 14",
		}},
		{false, 4, []string{"decimal 4", "snowflake 1.2", "UUIDv7 12"}},
		{false, 64, []string{"decimal 5", "snowflake 1.3", "UUIDv7 12"}},
	} {
		var got []string
		for _, s := range r.Smallest(c.sorted, c.generators) {
			got = append(got, fmt.Sprint(s.Scheme, " ", s.BytesPerID))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("sorted %v, %d generators: %q, want %q", c.sorted, c.generators, got, c.want)
		}
	}
}

// What users get is among what is measured, for every key of ours in every order.
func TestShippedIsMeasured(t *testing.T) {
	for _, k := range measure.Keys() {
		for _, sort := range []string{measure.Arrival, measure.SortedByID} {
			c := measure.Compression{
				Scheme: k.Scheme, Storage: string(k.Storage), Peer: k.Peer, Sort: sort,
			}
			if got := c.Shipped(); (got == "") != k.Peer ||
				got != "" && !slices.Contains(k.Codecs(), got) {
				t.Errorf("%s, %s: %q is not among %q", k.Name(), sort, got, k.Codecs())
			}
		}
		if k.Peer && (!slices.Contains(k.Codecs(), "ZSTD(1)") ||
			!slices.ContainsFunc(k.Codecs(), func(codec string) bool {
				return codec == "ZSTD(6)" || codec == "Delta, ZSTD(6)"
			})) {
			t.Errorf("%s: %q: a rival lacks what ours have", k.Name(), k.Codecs())
		}
	}
}
