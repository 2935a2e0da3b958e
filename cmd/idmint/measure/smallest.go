package measure

import (
	"slices"
	"strings"

	"github.com/idmint/idmint/clickhouse"
	"github.com/idmint/idmint/idtype"
)

// Sorted reports whether the table was in an order by its IDs. Otherwise it was in that of arrival.
func (c Compression) Sorted() bool { return c.Sort != Arrival }

// Shipped is the codec that package clickhouse writes for a key of ours. In a table ordered by the
// ID it is that of PrimaryKey, in any other that of Indexed. It is "" for peers.
func (c Compression) Shipped() string {
	if c.Peer {
		return ""
	}
	scheme, spread := strings.CutSuffix(c.Scheme, ", SPREAD")
	column := clickhouse.AnyColumn{
		Scheme: idtype.Scheme(scheme), Storage: idtype.Storage(c.Storage), Spread: spread,
	}
	definition := column.Indexed()
	if c.Sorted() {
		definition = column.PrimaryKey()
	}
	return strings.ReplaceAll(definition.Codec, "Delta(8)", "Delta") // of columns of 8 bytes
}

// Smallest are the columns that are compared with each other, in a table ordered by the ID or in
// order of arrival. Ours have the codec that users get, and each scheme its smallest form. Peers
// have the best codec that was measured, for each form and each order that sorts it. Keys that were
// measured for one number of generators are alike for all.
func (r *Results) Smallest(sorted bool, generators int) []Compression {
	var all []Compression
	for _, c := range r.Compression {
		if c.Sorted() != sorted || c.Generators != generators && !r.Alike(c) ||
			!c.Peer && c.Codec != c.Shipped() {
			continue
		}
		i := slices.IndexFunc(all, func(o Compression) bool {
			return o.Scheme == c.Scheme && (!c.Peer || o.Storage == c.Storage && o.Sort == c.Sort)
		})
		switch {
		case i < 0:
			all = append(all, c)
		case c.BytesPerID < all[i].BytesPerID:
			all[i] = c
		}
	}
	return all
}

// Alike reports whether a column was measured for one number of generators only, as it is the same
// for all.
func (r *Results) Alike(c Compression) bool {
	return !slices.ContainsFunc(r.Compression, func(o Compression) bool {
		return o.Scheme == c.Scheme && o.Storage == c.Storage && o.Generators != c.Generators
	})
}
