package sqlid

import (
	"database/sql"
	"database/sql/driver"
	"encoding/json"

	"github.com/idmint/idmint/idtype"
)

// Null is [sql.Null] of an ID, with the JSON that readers expect: the ID, or null. The JSON of
// sql.Null itself is its two fields.
type Null[T idtype.ID] struct {
	sql.Null[T]
}

var (
	_ driver.Valuer    = Null[idtype.DecimalID]{}
	_ sql.Scanner      = (*Null[idtype.DecimalID])(nil)
	_ json.Marshaler   = Null[idtype.DecimalID]{}
	_ json.Unmarshaler = (*Null[idtype.DecimalID])(nil)
)

// NullOf returns an ID for a nullable column. Zero becomes NULL.
func NullOf[T idtype.ID](id T) Null[T] { return Null[T]{sql.Null[T]{V: id, Valid: !id.IsZero()}} }

// IsZero reports whether the value is NULL.
func (n Null[T]) IsZero() bool { return !n.Valid }

// Scan takes what the ID's Scan takes, NULL, and a Null. On an error the receiver stays as it was.
func (n *Null[T]) Scan(src any) error {
	switch same := src.(type) {
	case Null[T]:
		*n = same
		return nil
	case *Null[T]:
		if same != nil {
			*n = *same
			return nil
		}
		src = nil
	}
	var scanned sql.Null[T]
	if err := scanned.Scan(src); err != nil {
		return err
	}
	n.Null = scanned
	return nil
}

// MarshalJSON returns the ID's JSON, or null.
func (n Null[T]) MarshalJSON() ([]byte, error) {
	if !n.Valid {
		return []byte("null"), nil
	}
	return n.V.MarshalJSON()
}

// UnmarshalJSON takes what the ID's UnmarshalJSON takes. On an error the receiver stays as it was.
func (n *Null[T]) UnmarshalJSON(data []byte) error {
	var id T
	if err := json.Unmarshal(data, &id); err != nil {
		return err
	}
	*n = NullOf(id)
	return nil
}

// GormDataType returns the ID's column type.
func (n Null[T]) GormDataType() string { return n.V.GormDataType() }
