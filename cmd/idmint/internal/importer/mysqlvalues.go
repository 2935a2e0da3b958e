package importer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
)

// A mysqlColumn is one of the table's, and what its server does with values.
type mysqlColumn struct {
	name, typ string
	required  bool
	generated bool
	fills     bool // NULL becomes the time, or the next number
}

// mysqlColumns are those of the table, without the key.
func mysqlColumns(ctx context.Context, s *session, r rows) (columns []mysqlColumn, err error) {
	list, err := s.QueryContext(ctx, `SELECT column_name, column_type, is_nullable = 'NO',
			coalesce(generation_expression, '') <> '',
			is_nullable = 'NO' AND (data_type = 'timestamp' OR extra LIKE '%auto_increment%')
		FROM information_schema.columns
		WHERE table_schema = DATABASE() AND table_name = ? AND column_name <> ?`,
		r.Table, r.IDColumn)
	if err != nil {
		return nil, err
	}
	defer list.Close()
	for list.Next() {
		var c mysqlColumn
		if err := list.Scan(&c.name, &c.typ, &c.required, &c.generated, &c.fills); err != nil {
			return nil, err
		}
		columns = append(columns, c)
	}
	return columns, list.Err()
}

// check refuses a value that the server would change without a word.
func (c *mysqlColumn) check(r rows) error {
	fits := c.fits()
	if fits == nil && !c.fills {
		return nil
	}
	for i, name := range r.columns {
		if !strings.EqualFold(name, c.name) {
			continue
		}
		for row := range r.ids {
			text, ok := r.fields.field(row*len(r.columns) + i)
			var err error
			switch {
			case !ok && c.fills:
				err = errors.New("the column cannot be null")
			case ok && fits != nil:
				err = fits(text)
			}
			if err != nil {
				return r.at(row, name, err)
			}
		}
	}
	return nil
}

// mysqlType is the name of a column's type, and the number in parentheses behind it, or else 0.
func mysqlType(typ string) (base string, number int) {
	base = strings.ToLower(typ)
	if end := strings.IndexAny(base, "( "); end >= 0 { // "unsigned" may follow, or a comment
		_, _ = fmt.Sscanf(base[end:], "(%d)", &number)
		base = base[:end]
	}
	return base, number
}

// A valueCheck refuses a text.
type valueCheck func(text []byte) error

func (c *mysqlColumn) fits() valueCheck {
	base, number := mysqlType(c.typ)
	switch base {
	case "tinyint", "smallint", "mediumint", "int", "bigint":
		return whole
	case "enum", "set":
		return memberOf(c.typ)
	case "time", "datetime", "timestamp":
		return secondsOf(number)
	}
	return nil
}

// whole refuses numbers with a fraction: a column of integers rounds them.
func whole(text []byte) error {
	if _, fraction, _ := bytes.Cut(text, []byte(".")); len(bytes.Trim(fraction, "0 ")) > 0 {
		return fmt.Errorf("%s: the table's column takes integers alone", text)
	}
	return nil
}

// memberOf refuses numbers that are no members: ENUM and SET take them for places of members.
func memberOf(typ string) valueCheck {
	return func(text []byte) error {
		if len(text) > 0 && len(bytes.Trim(text, "0123456789 ")) == 0 &&
			!strings.Contains(typ, "'"+string(text)+"'") {
			return fmt.Errorf("%s: it is no member of the table's column", text)
		}
		return nil
	}
}

// secondsOf refuses times with more digits of a second than the column keeps, unless they are 0.
func secondsOf(most int) valueCheck {
	return func(text []byte) error {
		colon := bytes.LastIndexByte(text, ':')
		_, fraction, _ := bytes.Cut(text[colon+1:], []byte("."))
		if colon >= 0 && len(bytes.TrimRight(fraction, "0 Z")) > most {
			return fmt.Errorf("%s: the table's column keeps %d digits of a second", text, most)
		}
		return nil
	}
}
