package functions

import (
	"database/sql/driver"
	"fmt"
	"strings"
	"time"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/idtype/formats"
)

// A Registrar registers a function on a connection to SQLite. The *sqlite3.SQLiteConn of go-sqlite3
// is one.
type Registrar interface {
	RegisterFunc(name string, impl any, pure bool) error
}

// Register adds the functions to a connection to SQLite, which forgets them when it is closed. So
// it goes into the ConnectHook of go-sqlite3:
//
//	sql.Register("sqlite3_idmint", &sqlite3.SQLiteDriver{
//		ConnectHook: func(c *sqlite3.SQLiteConn) error { return functions.Register(c) },
//	})
//	db, err := sql.Open("sqlite3_idmint", "app.db")
//
// A time is a text as SQLite's own functions write it, 2026-11-23 15:04:05.000. They also take one
// with T, a fraction of other length, without a time of day, and with Z or +01:00 behind it.
// Without that it is of UTC. The error is a [*RegisterError].
func Register(c Registrar) error {
	for name, impl := range sqlite() {
		if err := c.RegisterFunc("idmint_"+name, impl, true); err != nil {
			return &RegisterError{"idmint_" + name, err}
		}
	}
	return nil
}

// A RegisterError is returned for a function that a connection refused.
type RegisterError struct {
	Function string
	Err      error
}

func (e *RegisterError) Error() string {
	return fmt.Sprintf("functions: %s: %v", e.Function, e.Err)
}

func (e *RegisterError) Unwrap() error { return e.Err }

// The values of SQLite are nil, int64, float64, string and []byte. A part of another value is NULL.
//
// A function makes them, so that programs without SQLite's have none of it.
func sqlite() map[string]any {
	return map[string]any{
		"decimal_counter":   ofNumber(func(id idtype.DecimalID) any { return id.Parts().Counter }),
		"decimal_generator": ofNumber(func(id idtype.DecimalID) any { return id.Parts().Generator }),
		"decimal_launch":    ofNumber(func(id idtype.DecimalID) any { return id.Parts().Launch }),

		"trace_timestamp": ofNumber(func(id idtype.TraceID) any { return id.Parts().Timestamp }),
		"trace_node":      ofNumber(func(id idtype.TraceID) any { return id.Parts().Node }),
		"trace_bottom":    ofNumber(func(id idtype.TraceID) any { return id.Parts().Bottom }),
		"trace_time": func(id, around any) any {
			return ofNumber(func(id idtype.TraceID) any {
				t, ok := moment(around)
				if !ok {
					return nil
				}
				last, _ := id.Times(t)
				return last.Format(millis)
			})(id)
		},
		"trace_min": ofTime(func(t time.Time) (any, error) {
			r, err := idtype.Bounds[idtype.TraceID](t, t) // of a moment there is no error
			return int64(r[0].Min), err
		}),
		"trace_max": ofTime(func(t time.Time) (any, error) {
			r, err := idtype.Bounds[idtype.TraceID](t, t)
			return int64(r[0].Max), err
		}),

		"short_time":     ofNumber(func(id idtype.ShortID) any { return id.Time().Format(millis) }),
		"short_sequence": ofNumber(func(id idtype.ShortID) any { return id.Parts().Sequence }),
		"short_random":   ofNumber(func(id idtype.ShortID) any { return id.Parts().Random }),
		"short_min":      bound(formats.ShortEpoch, formats.ShortMaxUnixMs, idtype.Bounds[idtype.ShortID], least),
		"short_max":      bound(formats.ShortEpoch, formats.ShortMaxUnixMs, idtype.Bounds[idtype.ShortID], most),
		"short_text": func(v any) any {
			if n, ok := v.(int64); ok && n > 0 {
				return idtype.ShortID(n).String()
			}
			return nil
		},
		"short_from_text": ofText(idtype.Parse[idtype.ShortID]),

		"eightbyte_mode": ofBytes(func(id idtype.EightByteID) any { return string(id.Parts().Mode) }),
		"eightbyte_time": ofBytes(func(id idtype.EightByteID) any {
			return id.Time().Format(millis)
		}),
		"eightbyte_sequence":  ofBytes(func(id idtype.EightByteID) any { return id.Parts().Sequence }),
		"eightbyte_generator": ofBytes(func(id idtype.EightByteID) any { return id.Parts().Generator }),
		"eightbyte_cluster":   ofBytes(func(id idtype.EightByteID) any { return id.Parts().Cluster }),
		"eightbyte_min":       bound(0, formats.EightByteMaxUnixMs, idtype.Bounds[idtype.EightByteID], least),
		"eightbyte_max":       bound(0, formats.EightByteMaxUnixMs, idtype.Bounds[idtype.EightByteID], most),
		"eightbyte_text":      ofBytes(func(id idtype.EightByteID) any { return id.String() }),
		"eightbyte_from_text": ofText(idtype.Parse[idtype.EightByteID]),
		"eightbyte_number":    ofBytes(func(id idtype.EightByteID) any { return int64(id.Uint64()) }),
		"eightbyte_from_number": func(v any) any {
			if n, ok := v.(int64); ok && n != 0 {
				return stored(idtype.EightByteFromUint64(uint64(n)))
			}
			return nil
		},

		"sno_time":      ofBytes(func(id idtype.SnoID) any { return id.Time().Format(millis) }),
		"sno_tick_tock": ofBytes(func(id idtype.SnoID) any { return id.Parts().TickTock }),
		"sno_meta":      ofBytes(func(id idtype.SnoID) any { return int(id.Parts().Meta) }),
		"sno_partition": ofBytes(func(id idtype.SnoID) any { return id.Parts().Partition }),
		"sno_sequence":  ofBytes(func(id idtype.SnoID) any { return id.Parts().Sequence }),
		"sno_min":       bound(formats.SnoEpoch, formats.SnoMaxUnixMs, idtype.Bounds[idtype.SnoID], least),
		"sno_max":       bound(formats.SnoEpoch, formats.SnoMaxUnixMs, idtype.Bounds[idtype.SnoID], most),
		"sno_text":      ofBytes(func(id idtype.SnoID) any { return id.String() }),
		"sno_from_text": ofText(idtype.Parse[idtype.SnoID]),
		"sno_uuid":      ofBytes(func(id idtype.SnoID) any { return stored(snoUUID(id)) }),
		"sno_from_uuid": ofText(func(text string) (idtype.SnoID, error) {
			var id snoUUID
			if len(text) != 36 { // Scan takes bytes as well
				return idtype.SnoID{}, idtype.ErrZero
			}
			err := id.Scan(text)
			return idtype.SnoID(id), err
		}),
	}
}

type snoUUID = idtype.Sno[idtype.AsUUID[any]]

// ofNumber is a function of an ID that is a number and follows the layout.
func ofNumber[T interface {
	~int64
	Validate() error
}](f func(T) any) func(any) any {
	return func(v any) any {
		if n, ok := v.(int64); ok && T(n).Validate() == nil {
			return f(T(n))
		}
		return nil
	}
}

// ofBytes is a function of an ID that is bytes.
func ofBytes[T idtype.ID](f func(T) any) func(any) any {
	return func(v any) any {
		if b, ok := v.([]byte); ok {
			if id, err := idtype.FromBytes[T](b); err == nil {
				return f(id)
			}
		}
		return nil
	}
}

// ofText is a function of a text, whose result is what a column holds.
func ofText[T driver.Valuer](parse func(string) (T, error)) func(any) any {
	return func(v any) any {
		if s, ok := v.(string); ok {
			if id, err := parse(s); err == nil {
				return stored(id)
			}
		}
		return nil
	}
}

// stored is what a column holds, or NULL.
func stored(id driver.Valuer) any {
	v, err := id.Value()
	if err != nil {
		return nil
	}
	return v
}

// bound is a function of a time. One before the first millisecond counts as that, and one after the
// last as the last.
func bound[T driver.Valuer](
	first, last int64, of func(from, to time.Time) ([]idtype.Range[T], error),
	end func(idtype.Range[T]) T,
) func(any) any {
	return ofTime(func(t time.Time) (any, error) {
		switch from, to := time.UnixMilli(first), time.UnixMilli(last); {
		case t.Before(from):
			t = from
		case t.After(to):
			t = to
		}
		r, err := of(t, t)
		if err != nil {
			return nil, err
		}
		return stored(end(r[0])), nil
	})
}

func least[T any](r idtype.Range[T]) T { return r.Min }
func most[T any](r idtype.Range[T]) T  { return r.Max }

// ofTime is a function of a time.
func ofTime(f func(time.Time) (any, error)) func(any) any {
	return func(v any) any {
		if t, ok := moment(v); ok {
			if result, err := f(t); err == nil {
				return result
			}
		}
		return nil
	}
}

const millis = "2006-01-02 15:04:05.000"

// moment reads a time as SQLite writes it.
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
