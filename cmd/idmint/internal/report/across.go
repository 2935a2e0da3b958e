package report

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/idmint/idmint/cmd/idmint/measure"
)

// order is a table of schemes and databases.
func (n named) order() *table {
	t := table{Caption: "Order of columns", Head: []string{"scheme and column"}}
	for _, d := range n.Databases {
		t.Head = append(t.Head, d.Name)
	}
	at := map[string]int{}
	for _, o := range n.Order {
		name := n.name(o.Scheme, o.Storage)
		if o.What != "" {
			name += ", " + o.What
		}
		i, known := at[name]
		if !known {
			i = len(t.Rows)
			at[name] = i
			t.add(name, make([]cell, len(n.Databases))...)
		}
		c := cell{Text: "✗ not as documented", Class: "no"}
		switch {
		case o.Agrees() && o.AsIDs:
			c = cell{Text: "✓ as the IDs", Class: "yes"}
		case o.Agrees():
			c = cell{Text: "≠ IDs; " + o.Documented, Class: "other"}
		}
		t.Rows[i][1+slices.IndexFunc(n.Databases,
			func(d measure.Server) bool { return d.Name == o.Database })] = c
	}
	return optional(t)
}

// access is how each database walked the index.
func (n named) access() *table {
	t := table{
		Caption: "How the order was read",
		Head: []string{
			"scheme", "database", "column", "IDs", "generators",
			"along the index, as the database explains it",
		},
	}
	for _, o := range n.Order {
		t.add(n.name(o.Scheme, o.Storage), words(o.Database), words(o.Column),
			num(grouped(float64(o.IDs))), num(strconv.Itoa(o.Generators)),
			cell{Text: o.Access, Class: "code"})
	}
	return optional(t)
}

func (n named) skipping() *table {
	t := table{
		Caption: "What a query for a second reads",
		Head: []string{
			"scheme", "database", "by", "rows found", "of rows", "granules read",
			"as the database explains it",
		},
	}
	for _, s := range n.Skipping {
		granules := ""
		if s.All != 0 {
			granules = fmt.Sprintf("%d of %d", s.Granules, s.All)
		}
		t.add(n.name(s.Scheme, s.Storage), words(s.Database), words(s.By),
			num(grouped(float64(s.Found))), num(grouped(float64(s.Rows))), num(granules),
			cell{Text: s.Access, Class: "code"})
	}
	return optional(t)
}

// orderLead counts the columns that sort as their documentation says.
func (n named) orderLead() string {
	agree := 0
	for _, o := range n.Order {
		if o.Agrees() {
			agree++
		}
	}
	return fmt.Sprintf("%d of %d columns sort as documented.", agree, len(n.Order))
}
