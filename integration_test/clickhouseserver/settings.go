package main

import (
	"maps"
	"strings"
)

// A scope holds the settings of a session that are there for its current query alone. They stay
// until a query comes without them, as clients send the same with each, and then are the defaults.
type scope struct{ set map[string]string } // SQL of the value, by name

// apply gives the session the settings of a query.
func (s *scope) apply(eng *session, settings []setting) error {
	want, defaults := map[string]string{}, map[string]string{}
	for _, x := range settings {
		want[x.name] = quote(x.value)
		if x.custom {
			want[x.name] = x.value
		}
	}
	if maps.Equal(want, s.set) {
		return nil
	}
	for name := range s.set {
		defaults[name] = "DEFAULT"
	}
	if err := setAll(eng, defaults); err != nil { // first, as readonly lets nothing else be set
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
func table(eng *session, sql string, parameters []parameter) ([][]string, error) {
	text, err := fetch(eng, sql, "TabSeparated", parameters)
	return fields(text), err
}

// header returns the columns of a query's result.
func header(eng *session, sql string, parameters []parameter) ([]column, error) {
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

func fetch(eng *session, sql, format string, parameters []parameter) (string, error) {
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
