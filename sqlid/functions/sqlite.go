package functions

import (
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/idmint/idmint/internal/schemes"
)

// A Registrar registers a function on a connection to SQLite. *sqlite3.SQLiteConn of go-sqlite3
// implements it.
type Registrar interface {
	RegisterFunc(name string, impl any, pure bool) error
}

// Register adds the functions to a connection to SQLite, which keeps them until it is closed. Call
// Register in go-sqlite3's ConnectHook, so that every connection has them:
//
//	sql.Register("sqlite3_idmint", &sqlite3.SQLiteDriver{
//		ConnectHook: func(c *sqlite3.SQLiteConn) error { return functions.Register(c) },
//	})
//	db, err := sql.Open("sqlite3_idmint", "app.db")
//
// Times are texts as SQLite's own functions write them, such as 2026-11-23 15:04:05.000. A time may
// also be written with T, with a fraction of another length, without a time of day, or followed by
// Z or an offset such as +01:00. Without an offset it is in UTC. The error is a [*RegisterError] or
// a [*NameError].
func Register(c Registrar, layouts ...Layout) error {
	known, err := wanted(layouts)
	if err != nil {
		return err
	}
	for name, impl := range sqlite(known) {
		if err := c.RegisterFunc("idmint_"+name, impl, true); err != nil {
			return &RegisterError{"idmint_" + name, err}
		}
	}
	return nil
}

// A RegisterError is returned for a function that a connection rejected.
type RegisterError struct {
	Function string
	Err      error
}

func (e *RegisterError) Error() string {
	return fmt.Sprintf("functions: %s: %v", e.Function, e.Err)
}

func (e *RegisterError) Unwrap() error { return e.Err }

// The values of SQLite are nil, int64, float64, string, and []byte.
func sqlite(known []Layout) map[string]any {
	all := map[string]any{}
	for _, k := range known {
		s, f := k.scheme, k.scheme.Known()
		if f.Size > 0 && f.SQL == "" { // databases have their own functions for these
			continue
		}
		add := func(name string, of any) { all[k.name+"_"+name] = of }
		for _, part := range f.PartNames {
			if _, below := f.Part(part); below >= 0 {
				add(schemes.FunctionOf(part), ofID(s, partOf(part)))
			}
		}
		_, below := f.Part("unix_ms")
		if f.Unit > 0 {
			add("min", bound(s, below >= 0, func(b schemes.Bound) string { return b.Min }))
			add("max", bound(s, below >= 0, func(b schemes.Bound) string { return b.Max }))
		}
		if f.Unit > 0 && below < 0 {
			add("time", func(id, around any) any {
				t, ok := moment(around)
				if !ok {
					return nil
				}
				return ofID(s, func(id schemes.ID) any { return timeOf(id, t) })(id)
			})
		}
		for _, form := range s.FormNames() {
			if f.Text.Digits || f.Layout != "" || form == schemes.Hex ||
				form == schemes.Number && f.Size == 0 {
				continue
			}
			add(form, func(v any) any {
				id := read(s, v)
				if id == nil {
					return nil
				}
				text := id.In(form)
				if n, err := strconv.ParseInt(text, 10, 64); form == schemes.Number && err == nil {
					return n
				}
				return text
			})
			add("from_"+form, func(v any) any {
				text, ok := v.(string)
				if n, isNumber := v.(int64); form == schemes.Number {
					text, ok = strconv.FormatInt(n, 10), isNumber
				}
				if !ok {
					return nil
				}
				return stored(s.Parse(form, text))
			})
		}
	}
	return all
}

// read returns the ID that a column holds, from the whole domain, or nil.
func read(s schemes.Scheme, v any) schemes.ID {
	b, isBytes := v.([]byte)
	n, isNumber := v.(int64)
	if isNumber {
		b = binary.BigEndian.AppendUint64(nil, uint64(n))
	}
	if isBytes != (s.Known().Size > 0) || isBytes == isNumber {
		return nil
	}
	id, err := s.FromBytes(b)
	if err != nil {
		return nil
	}
	return id
}

// ofID returns a function of an ID, whose result is nil unless the ID follows the layout.
func ofID(s schemes.Scheme, f func(schemes.ID) any) func(any) any {
	return func(v any) any {
		if id := read(s, v); id != nil && id.Validate() == nil {
			return f(id)
		}
		return nil
	}
}

func partOf(name string) func(schemes.ID) any {
	return func(id schemes.ID) any {
		if name == "unix_ms" {
			return timeOf(id, time.Time{})
		}
		for _, p := range id.Parts() {
			if p.Name != name {
				continue
			}
			if n, err := strconv.ParseInt(p.Value, 10, 64); err == nil {
				return n
			}
			return p.Value
		}
		return nil
	}
}

func timeOf(id schemes.ID, around time.Time) any { return id.Times(around)[0].Format(millis) }

// stored returns the value that a column holds for the ID, or NULL.
func stored(id schemes.ID, err error) any {
	if err != nil {
		return nil
	}
	v, err := id.Value().(driver.Valuer).Value()
	if err != nil {
		return nil
	}
	return v
}

// bound returns a function of a time. If clamped is set, times outside the range that IDs can carry
// are replaced by the first or the last time of the range.
func bound(s schemes.Scheme, clamped bool, end func(schemes.Bound) string) func(any) any {
	form := schemes.Text
	if s.Known().Size == 0 {
		form = schemes.Number
	}
	least, most := s.Known().Range("unix_ms")
	return ofTime(func(t time.Time) any {
		switch first, last := time.UnixMilli(least), time.UnixMilli(most); {
		case clamped && t.Before(first):
			t = first
		case clamped && t.After(last):
			t = last
		}
		bounds, err := s.Bounds(form, t, t)
		if err != nil {
			return nil
		}
		return stored(s.Parse(form, end(bounds[0])))
	})
}

// ofTime returns a function of a time.
func ofTime(f func(time.Time) any) func(any) any {
	return func(v any) any {
		if t, ok := moment(v); ok {
			return f(t)
		}
		return nil
	}
}

const millis = "2006-01-02 15:04:05.000"

// moment parses a time as SQLite writes it.
func moment(v any) (time.Time, bool) {
	s, _ := v.(string)
	s = strings.Replace(s, "T", " ", 1)
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02"} {
		for _, zone := range []string{"", "Z07:00"} {
			if t, err := time.Parse(layout+zone, s); err == nil {
				return t, true
			}
		}
	}
	return time.Time{}, false
}
