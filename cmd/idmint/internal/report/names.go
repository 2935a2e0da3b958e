package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idmint/idmint/cmd/idmint/measure"
)

// named are results, with names for the forms of schemes and for who wrote them.
type named struct {
	*measure.Results
	forms    map[string]map[string]bool          // by scheme
	writings map[string]map[measure.Writing]bool // by scheme
}

func namesOf(r *measure.Results) named {
	n := named{r, map[string]map[string]bool{}, map[string]map[measure.Writing]bool{}}
	for _, o := range r.Order {
		note(n.forms, o.Scheme, o.Storage)
	}
	for _, c := range r.Compression {
		note(n.forms, c.Scheme, c.Storage)
	}
	for _, f := range r.Footprints {
		note(n.forms, f.Scheme, f.Storage)
		note(n.writings, f.Scheme, f.Writing)
	}
	for _, m := range r.Inserts {
		note(n.writings, m.Scheme, m.Writing)
	}
	return n
}

func note[V comparable](sets map[string]map[V]bool, scheme string, value V) {
	if sets[scheme] == nil {
		sets[scheme] = map[V]bool{}
	}
	sets[scheme][value] = true
}

// name is the scheme's, with the form where there is a choice.
func (n named) name(scheme, storage string) string {
	if len(n.forms[scheme]) > 1 {
		return scheme + " as " + storage
	}
	return scheme
}

// written is the name, with who wrote the keys where there is a choice.
func (n named) written(scheme, storage string, w measure.Writing) string {
	name := n.name(scheme, storage)
	if len(n.writings[scheme]) < 2 {
		return name
	}
	writers := "writers"
	switch {
	case w.Apart:
		writers = "apart"
	case w.Writers == 1:
		writers = "writer"
	}
	name = fmt.Sprintf("%s, %d %s", name, w.Writers, writers)
	if w.Deployments > 1 {
		name += fmt.Sprintf(", %d deployments", w.Deployments)
	}
	return name
}

// writersOf is 0 for keys that are alike for any number of writers. It is -1 for those that are
// compared with no peer's: of several deployments, and of generators apart from each other.
func (n named) writersOf(scheme string, w measure.Writing) int {
	switch {
	case w.Apart || w.Deployments > 1:
		return -1
	case len(n.writings[scheme]) < 2:
		return 0
	}
	return w.Writers
}

// kinds are the kinds of databases, in the order of the page. Each is the first word of the
// databases' names: several versions of a kind may have been measured.
func (n named) kinds() []string {
	var kinds []string
	for _, d := range n.Databases {
		if kind := kindOf(d.Name); !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	rank := func(kind string) int {
		return (slices.Index([]string{"PostgreSQL", "MariaDB", "MySQL", "SQLite"}, kind) + 5) % 5
	}
	slices.SortStableFunc(kinds, func(a, b string) int { return rank(a) - rank(b) })
	return kinds
}

func kindOf(database string) string {
	kind, _, _ := strings.Cut(database, " ")
	return kind
}

// serversOf are the databases of a kind, the newest first.
func (n named) serversOf(kind string) []measure.Server {
	var servers []measure.Server
	for _, d := range n.Databases {
		if kindOf(d.Name) != kind {
			continue
		}
		newer := 0
		for newer < len(servers) && servers[newer].Name >= d.Name {
			newer++
		}
		servers = slices.Insert(servers, newer, d)
	}
	return servers
}

// standIn says which server of the kind is not the official one, and what it calls itself.
func (n named) standIn(kind string) string {
	servers := n.serversOf(kind)
	for _, d := range servers {
		switch {
		case d.StandIn == "":
		case len(servers) > 1:
			return d.Name + ", " + d.StandIn
		default:
			return d.StandIn
		}
	}
	return ""
}

// standInOf is what a server calls itself, where it is not the official one.
func (n named) standInOf(server string) string {
	for _, d := range n.Databases {
		if d.Name == server {
			return d.StandIn
		}
	}
	return ""
}

// slug is the name of a place of the page.
func slug(words ...string) string {
	keep := func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r == ' ', r == ',', r == '-':
			return '-'
		}
		return -1
	}
	text := strings.Map(keep, strings.ToLower(strings.Join(words, " ")))
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '-' }), "-")
}
