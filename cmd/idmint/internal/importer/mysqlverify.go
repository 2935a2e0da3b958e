package importer

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"
)

// A mysqlColumn is a column of the table.
type mysqlColumn struct {
	name      string
	same      func(sent, stored []byte) bool // for verify; nil if texts are stored unchanged
	required  bool
	generated bool
}

// mysqlColumns returns the columns of the table, without the key.
func mysqlColumns(ctx context.Context, s *session, r rows) (columns []mysqlColumn, err error) {
	list, err := s.QueryContext(ctx, `SELECT column_name, data_type, is_nullable = 'NO',
			coalesce(generation_expression, '') <> ''
		FROM information_schema.columns
		WHERE table_schema = DATABASE() AND table_name = ? AND column_name <> ?`,
		r.Table, r.IDColumn)
	if err != nil {
		return nil, err
	}
	defer list.Close()
	for list.Next() {
		var c mysqlColumn
		var typ string
		if err := list.Scan(&c.name, &typ, &c.required, &c.generated); err != nil {
			return nil, err
		}
		switch typ {
		case "tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "year":
			c.same = sameNumber
		case "date", "time", "datetime", "timestamp":
			c.same = sameTime
		case "enum", "set":
			c.same = bytes.Equal
		}
		columns = append(columns, c)
	}
	return columns, list.Err()
}

// verify reads what a statement has stored, and returns an error for a value that differs from the
// one that was sent. The server gives a warning for some values that it changes, and changes others
// silently. For example, an INT to which 15e-1 was sent is 2, and an ENUM to which +1 was sent is
// its first member. Texts and floats are not compared.
func verify(ctx context.Context, s *session, r rows, columns []mysqlColumn) error {
	var fields []int // of a row, to compare
	var same []func(sent, stored []byte) bool
	query := "SELECT " + s.quote(r.IDColumn)
	for i, name := range r.columns {
		for _, c := range columns {
			if c.same != nil && strings.EqualFold(name, c.name) {
				fields, same = append(fields, i), append(same, c.same)
				query += ", " + s.quote(name)
			}
		}
	}
	if len(fields) == 0 {
		return nil
	}
	query += " FROM " + s.quote(r.Table) + " WHERE "
	row, scratch := 0, []byte(nil)
	compare := func(stored []driver.Value) error {
		id, ok := stored[0].(int64)
		if unsigned, is := stored[0].(uint64); is {
			id, ok = int64(unsigned), true
		}
		if !ok || id != int64(r.ids[row]) {
			return r.at(row, r.IDColumn, errOtherID)
		}
		for i, value := range stored[1:] {
			var text []byte // as stored
			switch value := value.(type) {
			case []byte:
				text = value
			case int64:
				scratch = strconv.AppendInt(scratch[:0], value, 10)
				text = scratch
			case uint64:
				scratch = strconv.AppendUint(scratch[:0], value, 10)
				text = scratch
			}
			sent, ok := r.fields.field(row*len(r.columns) + fields[i])
			if ok != (value != nil) || ok && !same[i](sent, text) {
				return r.at(row, r.columns[fields[i]], fmt.Errorf("%s would be stored as %s",
					orNull(sent, ok), orNull(text, value != nil)))
			}
		}
		if row++; row%1000 == 0 {
			s.progress()
		}
		return nil
	}
	for _, span := range with(nil, r.ids) {
		// Uses the driver directly, because database/sql would take half as long again.
		err := s.Raw(func(conn any) error {
			list, err := conn.(driver.QueryerContext).QueryContext(ctx,
				query+span.where(s.quote(r.IDColumn))+" ORDER BY 1", nil)
			if err != nil {
				return err
			}
			defer list.Close()
			stored := make([]driver.Value, 1+len(fields))
			for err == nil {
				if err = list.Next(stored); err == nil {
					err = compare(stored)
				}
			}
			if err == io.EOF {
				return nil
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	if row < len(r.ids) {
		return r.at(row, r.IDColumn, errOtherID)
	}
	return nil
}

var errOtherID = errors.New("a trigger of the table would change its ID")

func orNull(text []byte, ok bool) string {
	if !ok {
		return "NULL"
	}
	return quoted(string(text))
}

// sameNumber reports whether two texts are the same decimal number. Package big rejects exponents
// in the millions.
func sameNumber(sent, stored []byte) bool {
	if bytes.Equal(sent, stored) {
		return true
	}
	a, ok := new(big.Rat).SetString(string(bytes.TrimSpace(sent)))
	b, known := new(big.Rat).SetString(string(stored))
	return ok && known && a.Cmp(b) == 0
}

// sameTime reports whether two texts have the same digits. A number of one digit counts as if it
// had a leading zero, and zeros at the end do not count.
func sameTime(sent, stored []byte) bool {
	return bytes.Equal(sent, stored) || bytes.Equal(timeDigits(sent), timeDigits(stored))
}

func timeDigits(text []byte) (digits []byte) {
	isDigit := func(i int) bool {
		return i >= 0 && i < len(text) && '0' <= text[i] && text[i] <= '9'
	}
	text = bytes.TrimSpace(text)
	for i, c := range text {
		switch {
		case i == 0 && c == '-':
			digits = append(digits, c)
		case isDigit(i) && !isDigit(i-1) && !isDigit(i+1) && (i == 0 || text[i-1] != '.'):
			digits = append(digits, '0', c)
		case isDigit(i):
			digits = append(digits, c)
		}
	}
	return bytes.TrimRight(digits, "0")
}
