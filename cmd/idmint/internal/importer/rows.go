package importer

import (
	"strings"

	"github.com/idmint/idmint/idtype"
)

// rows are the rows of a batch for a table.
type rows struct {
	Import
	columns []string
	ids     []idtype.DecimalID
	fields  *block
	before  int64 // rows of the file that precede them
}

// at returns err as an error about the row with index i.
func (r rows) at(i int, column string, err error) error {
	return &RowError{r.before + int64(i) + 1, column, err}
}

// allStored returns an error unless a statement has stored all of its n rows. First is the index of
// the first of them.
func (r rows) allStored(first, n int, stored int64) error {
	if stored == int64(n) {
		return nil
	}
	from := r.before + int64(first)
	return &LeftOutError{from + 1, from + int64(n), stored}
}

// into returns the beginning of an INSERT, or of another statement with the same syntax.
func (r rows) into(verb string, quote func(string) string) string {
	return verb + " " + quote(r.Table) + " " + r.names(quote)
}

// names returns the names of the columns, in parentheses.
func (r rows) names(quote func(string) string) string {
	names := []string{quote(r.IDColumn)}
	for _, c := range r.columns {
		names = append(names, quote(c))
	}
	return "(" + strings.Join(names, ", ") + ")"
}

// values returns an INSERT of n rows, with a parameter for each value.
func (r rows) values(quote func(string) string, n int) string {
	row := "(?" + strings.Repeat(", ?", len(r.columns)) + ")"
	return r.into("INSERT INTO", quote) + " VALUES " + row + strings.Repeat(", "+row, n-1)
}

// bind calls to with the values of n rows from index first on, in the order of the parameters of
// values.
func (r rows) bind(first, n int, to func(at int, value any)) {
	text, at := r.fields.texts(first*len(r.columns), n*len(r.columns)), 0
	for i := range n {
		to(at, int64(r.ids[first+i]))
		at++
		for k := range r.columns {
			if v, ok := text(i*len(r.columns) + k); ok {
				to(at, v)
			} else {
				to(at, nil)
			}
			at++
		}
	}
}
