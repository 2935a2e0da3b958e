package main

import (
	"fmt"
	"maps"
	"strings"
)

// A scope holds the settings of a session that are there for its current query alone. They stay
// until a query comes without them, as clients send the same with each.
type scope struct {
	set    map[string]string // SQL of the value, by name
	before map[string]string // SQL of the value that comes back
}

// apply gives the session the settings of a query.
func (s *scope) apply(eng session, settings []setting) error {
	want := map[string]string{}
	for _, x := range settings {
		want[x.name] = quote(x.value)
		if x.custom {
			want[x.name] = x.value
		}
	}
	if maps.Equal(want, s.set) {
		return nil
	}
	if err := s.reset(eng); err != nil {
		return err
	}
	if len(want) == 0 {
		return nil
	}
	before, err := valuesOf(eng, want)
	if err != nil {
		return err
	}
	for _, x := range settings { // the server ignores what it does not know unless it is important
		if _, known := before[x.name]; !known && !x.important && !x.custom {
			delete(want, x.name)
		}
	}
	if len(want) == 0 {
		return nil
	}
	if err := setAll(eng, want); err != nil {
		return err
	}
	s.set, s.before = want, before
	return nil
}

// byDefault is the SQL of a value that was not set.
const byDefault = "DEFAULT"

// reset gives the session back the settings from before.
func (s *scope) reset(eng session) error {
	if len(s.set) == 0 {
		return nil
	}
	defaults, values := map[string]string{}, map[string]string{}
	for name, value := range s.before {
		if value == byDefault {
			defaults[name] = value
		} else {
			values[name] = value
		}
	}
	if err := setAll(eng, defaults); err != nil { // first, as readonly lets nothing else go back
		return err
	}
	if err := setAll(eng, values); err != nil {
		return err
	}
	s.set, s.before = nil, nil
	return nil
}

func setAll(eng session, values map[string]string) error {
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

// valuesOf returns the session's values of settings.
func valuesOf(eng session, names map[string]string) (map[string]string, error) {
	var quoted []string
	for name := range names {
		quoted = append(quoted, quote(name))
	}
	rows, err := table(eng, fmt.Sprintf("SELECT name, value, changed FROM system.settings "+
		"WHERE name IN (%s)", strings.Join(quoted, ", ")), nil)
	values := map[string]string{}
	for _, row := range rows {
		values[row[0]] = quote(row[1])
		if row[2] == "0" {
			values[row[0]] = byDefault
		}
	}
	return values, err
}

// table returns the rows of a small result as text.
func table(eng session, sql string, parameters []parameter) ([][]string, error) {
	text, err := fetch(eng, sql, "TabSeparated", parameters)
	return fields(text), err
}

// header returns the columns of a query's result.
func header(eng session, sql string, parameters []parameter) ([]column, error) {
	text, err := fetch(eng, sql, "TabSeparatedWithNamesAndTypes", parameters)
	rows := fields(text)
	if err != nil || len(rows) < 2 {
		return nil, err
	}
	var columns []column
	for i, name := range rows[0] {
		columns = append(columns, column{name, rows[1][i]})
	}
	return columns, nil
}

func fetch(eng session, sql, format string, parameters []parameter) (string, error) {
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
