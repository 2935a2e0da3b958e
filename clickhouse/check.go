package clickhouse

import (
	"context"
	"fmt"
	"strings"
)

// A Conn is a native connection of clickhouse-go, as clickhouse.Open returns it.
type Conn interface {
	Select(ctx context.Context, dest any, query string, args ...any) error
}

// An Aspect is what a [Finding] is about.
type Aspect string

// The aspects.
const (
	AspectColumn   Aspect = "column"      // no column has the name
	AspectType     Aspect = "type"        // values would be converted or refused
	AspectNullable Aspect = "nullable"    // NULL is allowed but unwanted, or wanted but forbidden
	AspectCodec    Aspect = "codec"       // the column takes more space than necessary
	AspectOrder    Aspect = "sorting key" // it does not begin with the column
	AspectIndex    Aspect = "index"       // no data skipping index has the type
)

// A Finding is one way in which a table differs from a column's definition.
type Finding struct {
	Column    string
	Aspect    Aspect
	Want, Got string
	Reason    string // the harm that it does
}

// String returns the finding in words.
func (f Finding) String() string {
	return fmt.Sprintf("column %s: %s: %q, want %q: %s",
		f.Column, f.Aspect, f.Got, f.Want, f.Reason)
}

// CheckTable compares a table with definitions of its columns, and returns no findings if it
// matches all of them. The table is named as TABLE or DATABASE.TABLE. If it does not exist, the
// error is a [*TableError] that wraps [ErrNoTable].
func CheckTable(
	ctx context.Context, conn Conn, table string, columns ...Definition,
) ([]Finding, error) {
	t, err := describe(ctx, conn, table)
	if err != nil {
		return nil, &TableError{table, err}
	}
	var findings []Finding
	for _, d := range columns {
		findings = append(findings, t.check(d)...)
	}
	return findings, nil
}

// A description is what the system tables contain about a table.
type description struct {
	sortingKey string
	columns    map[string]columnRow
	indexes    []indexRow
}

type columnRow struct {
	Name  string `ch:"name"`
	Type  string `ch:"type"`
	Codec string `ch:"compression_codec"`
}

type indexRow struct {
	Expr string `ch:"expr"`
	Type string `ch:"type_full"`
}

// where selects a table in the system tables. Its arguments are the database's name, passed twice,
// or "" for the current one, and the table's name.
const where = " WHERE database = if(? = '', currentDatabase(), ?) AND table = ?"

func names(table string) []any {
	database, name, ok := strings.Cut(table, ".")
	if !ok {
		database, name = "", table
	}
	return []any{database, database, name}
}

func describe(ctx context.Context, conn Conn, table string) (*description, error) {
	var tables []struct {
		SortingKey string `ch:"sorting_key"`
	}
	of := names(table)
	err := conn.Select(ctx, &tables, "SELECT sorting_key FROM system.tables"+where, of...)
	if err != nil {
		return nil, err
	}
	if len(tables) == 0 {
		return nil, ErrNoTable
	}
	var columns []columnRow
	err = conn.Select(ctx, &columns,
		"SELECT name, type, compression_codec FROM system.columns"+where, of...)
	if err != nil {
		return nil, err
	}
	t := &description{sortingKey: tables[0].SortingKey, columns: map[string]columnRow{}}
	for _, c := range columns {
		t.columns[c.Name] = c
	}
	err = conn.Select(ctx, &t.indexes,
		"SELECT expr, type_full FROM system.data_skipping_indices"+where, of...)
	return t, err
}

func (t *description) check(d Definition) (findings []Finding) {
	found := func(aspect Aspect, want, got, reason string) {
		findings = append(findings, Finding{d.Name, aspect, want, got, reason})
	}
	c, ok := t.columns[d.Name]
	if !ok {
		found(AspectColumn, d.Type, "", "the column does not exist")
		return findings
	}
	base, nullable := withoutNullable(c.Type)
	want, _ := withoutNullable(d.Type)
	if base != want {
		found(AspectType, d.Type, c.Type,
			"IDs are converted on their way to and from another type, or rejected")
	}
	switch {
	case nullable && !d.Nullable:
		found(AspectNullable, d.Type, c.Type,
			"a forgotten ID is stored as NULL, and the NULL mark of each row takes space and time")
	case d.Nullable && !nullable:
		found(AspectNullable, d.Type, c.Type, "the column cannot store NULL")
	}
	if normalCodec(c.Codec) != normalCodec(d.Codec) {
		found(AspectCodec, d.Codec, c.Codec, d.Reason)
	}
	// The server quotes a name only if necessary.
	isFirst := strings.HasPrefix(t.sortingKey+",", d.Name+",") ||
		strings.HasPrefix(t.sortingKey+",", quote(d.Name)+",")
	if d.Sorted && !isFirst {
		found(AspectOrder, d.Name, t.sortingKey,
			"finding rows by ID requires reading the whole table, "+
				"and IDs out of order take more space")
	}
	if d.Index != "" {
		var types []string
		for _, i := range t.indexes {
			if i.Expr == d.Name || i.Expr == quote(d.Name) {
				types = append(types, i.Type)
				if indexKind(i.Type) == indexKind(d.Index) {
					return findings
				}
			}
		}
		found(AspectIndex, d.Index, strings.Join(types, ", "), d.IndexReason)
	}
	return findings
}

func withoutNullable(typ string) (base string, nullable bool) {
	if base, ok := strings.CutPrefix(typ, "Nullable("); ok {
		return strings.TrimSuffix(base, ")"), true
	}
	return typ, false
}

// normalCodec returns a codec in the form of a definition. The server spells out omitted
// parameters, and writes the column's width for Delta's.
func normalCodec(codec string) string {
	if inner, ok := strings.CutPrefix(codec, "CODEC("); ok {
		codec = strings.TrimSuffix(inner, ")")
	}
	return strings.NewReplacer("Delta(8)", "Delta", "T64('byte')", "T64", " ", "").Replace(codec)
}
