package report

import (
	"fmt"
	"slices"

	"github.com/idmint/idmint/cmd/idmint/measure"
)

// tiles are the figures that say most, of the databases that were there.
func (n named) tiles() []tile {
	var tiles []tile
	for _, t := range []*tile{
		n.compressionTile(), n.sizeTile(), n.pagesTile(), n.insertTile(),
		n.orderTile(), n.skippingTile(),
	} {
		if t != nil && len(tiles) < 4 {
			tiles = append(tiles, *t)
		}
	}
	return tiles
}

func (n named) compressionTile() *tile {
	ours, ok := n.bytesPerID("decimal", measure.SortedByID)
	sorted, sortedOK := n.bytesPerID("UUIDv7", measure.SortedByID)
	arrival, arrivalOK := n.bytesPerID("UUIDv7", measure.Arrival)
	if !ok || !sortedOK || !arrivalOK {
		return nil
	}
	return &tile{
		small(ours), "bytes per ID",
		fmt.Sprintf("a decimal ID in ClickHouse, in a table ordered by it. A UUIDv7 takes %s "+
			"there, and %s in order of arrival",
			small(sorted), small(arrival)),
	}
}

func (n named) bytesPerID(scheme, sort string) (float64, bool) {
	best := n.best(sort, heroGenerators)
	i := slices.IndexFunc(best, func(c measure.Compression) bool { return c.Scheme == scheme })
	if i < 0 {
		return 0, false
	}
	return best[i].BytesPerID, true
}

// footprintsOf are those of a scheme of ours and a peer in the first database that has them.
func (n named) footprintsOf(scheme, peer string) (ours, theirs *measure.Footprint) {
	for _, d := range n.Databases[min(1, len(n.Databases)-1):] { // a server rather than SQLite
		for i, f := range n.Footprints {
			switch {
			case f.Database != d.Name:
			case f.Scheme == scheme:
				ours = &n.Footprints[i]
			case f.Scheme == peer:
				theirs = &n.Footprints[i]
			}
		}
		if ours != nil && theirs != nil {
			return ours, theirs
		}
	}
	return nil, nil
}

// sizeTile stands in where ClickHouse was not measured.
func (n named) sizeTile() *tile {
	ours, theirs := n.footprintsOf("decimal", "UUIDv7")
	if ours == nil || len(n.Compression) != 0 {
		return nil
	}
	a, b := float64(ours.KeyBytes)/float64(ours.Rows), float64(theirs.KeyBytes)/float64(theirs.Rows)
	return &tile{
		small(a), "bytes per row",
		fmt.Sprintf("of the primary key's index in %s, with a decimal ID. With a UUIDv7 it takes %s", ours.Database, small(b)),
	}
}

func (n named) pagesTile() *tile {
	ours, theirs := n.footprintsOf("decimal", "UUIDv4")
	if ours == nil || ours.Unknown != "" || ours.Pages == 0 {
		return nil
	}
	return &tile{
		fmt.Sprintf("%.1f ×", float64(theirs.Pages)/float64(ours.Pages)), "fewer pages written",
		fmt.Sprintf("in %s with decimal IDs than with UUIDv4, for the same rows", ours.Database),
	}
}

// insertTile is of a server rather than SQLite. A figure that the machine's noise may have made is
// no headline.
func (n named) insertTile() *tile {
	const certain = 0.1
	var best *measure.Insert
	for i, m := range n.Inserts {
		if m.Scheme == "decimal" && m.Spread > 0 && m.Spread <= certain &&
			(best == nil || best.Database == "SQLite") {
			best = &n.Inserts[i]
		}
	}
	if best == nil {
		return nil
	}
	return &tile{
		fmt.Sprintf("%.2f ×", best.Relative), "the speed of plain int64",
		fmt.Sprintf("a decimal ID inserted by %s into %s: %s rows a second", best.Path,
			best.Database, grouped(best.RowsPerSec)),
	}
}

func (n named) orderTile() *tile {
	agree := 0
	for _, o := range n.Order {
		if o.Agrees() {
			agree++
		}
	}
	return &tile{
		fmt.Sprintf("%d of %d", agree, len(n.Order)), "columns sort as documented",
		"by ORDER BY and along the index, with IDs of several generators at once",
	}
}

func (n named) skippingTile() *tile {
	i := slices.IndexFunc(n.Skipping, func(s measure.Skipping) bool { return s.All != 0 })
	if i < 0 {
		return nil
	}
	s := n.Skipping[i]
	return &tile{
		fmt.Sprintf("%d of %d", s.Granules, s.All), "granules are read",
		fmt.Sprintf("by ClickHouse for the %s IDs of a second, of %s", grouped(float64(s.Found)),
			grouped(float64(s.Rows))),
	}
}
