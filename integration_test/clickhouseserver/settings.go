package main

import (
	"maps"
	"strings"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2/lib/column"
	native "github.com/ClickHouse/clickhouse-go/v2/lib/proto"
)

// A scope holds the settings of a session that are meant only for its current query. They stay
// until a query omits them, because clients send the same settings with each query, and are then
// reset to the defaults.
type scope struct{ set map[string]string } // SQL of the value, by name

// apply applies the settings of a query to the session.
func (s *scope) apply(eng *session, settings []proto.Setting) error {
	want, defaults := map[string]string{}, map[string]string{}
	for _, x := range settings {
		want[x.Key] = quote(x.Value)
		if x.Custom {
			want[x.Key] = x.Value
		}
	}
	if maps.Equal(want, s.set) {
		return nil
	}
	for name := range s.set {
		defaults[name] = "DEFAULT"
	}
	if err := setAll(eng, defaults); err != nil { // first, because readonly forbids other settings
		return err
	}
	s.set = nil
	if err := setAll(eng, want); err != nil {
		return err
	}
	s.set = want
	return nil
}

func setAll(eng *session, values map[string]string) error {
	var all []string
	for name, value := range values {
		all = append(all, identifier(name)+" = "+value)
	}
	if len(all) == 0 {
		return nil
	}
	_, err := table(eng, "SET "+strings.Join(all, ", "), nil)
	return err
}

// table returns the rows of a small result as text.
func table(eng *session, sql string, parameters []proto.Parameter) ([][]string, error) {
	text, err := fetch(eng, sql, "TabSeparated", parameters)
	return fields(text), err
}

// columnsOf returns the columns of a query's result, in a block without rows.
func columnsOf(eng *session, sql string, parameters []proto.Parameter) (*native.Block, error) {
	text, err := fetch(eng, sql, "TabSeparatedWithNamesAndTypes", parameters)
	b, rows := newBlock(), fields(text)
	if err != nil || len(rows) < 2 {
		return b, err
	}
	for i, name := range rows[0] {
		if err := b.AddColumn(name, column.Type(rows[1][i])); err != nil {
			return b, carried(err)
		}
	}
	return b, nil
}

func fetch(eng *session, sql, format string, parameters []proto.Parameter) (string, error) {
	r, err := eng.query(sql, format, parameters)
	if err != nil {
		return "", err
	}
	defer r.free()
	return string(r.data), nil
}

func fields(text string) [][]string {
	var rows [][]string
	for line := range strings.Lines(text) {
		row := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		for i, field := range row {
			row[i] = unescape(field)
		}
		rows = append(rows, row)
	}
	return rows
}
