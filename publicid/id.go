package publicid

import (
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/idmint/idmint/idtype"
)

// A Source names a codec by a type, because encoding/json hands MarshalJSON nothing but the value.
// The app declares the type, and keeps the codec where it likes. This package has no state.
//
//	var users *publicid.Codec[UserID] // made as the app starts
//
//	type inUsers struct{}
//
//	func (inUsers) Codec() *publicid.Codec[UserID] { return users }
//
// Codec is called on the zero value, by many goroutines. It returns the same codec each time. A nil
// codec is a [*SourceError] wherever an ID is written or read.
type Source[T idtype.ID] interface {
	Codec() *Codec[T]
}

// ID is an ID whose text and JSON are the public ones, and whose column is the one of T:
//
//	type PublicUserID = publicid.ID[UserID, inUsers]
//
//	type UserResponse struct {
//		ID   PublicUserID `json:"id"`
//		Name string       `json:"name"`
//	}
//	UserResponse{ID: PublicUserID{ID: user.ID}}
//
// The zero value means "not assigned", as it does for T. Its JSON is null. On an error methods
// leave the receiver as it was.
type ID[T idtype.ID, S Source[T]] struct {
	ID T
}

type noSource struct{}

func (noSource) Codec() *Codec[idtype.DecimalID] { return nil }

var (
	_ driver.Valuer            = ID[idtype.DecimalID, noSource]{}
	_ sql.Scanner              = (*ID[idtype.DecimalID, noSource])(nil)
	_ encoding.TextMarshaler   = ID[idtype.DecimalID, noSource]{}
	_ encoding.TextUnmarshaler = (*ID[idtype.DecimalID, noSource])(nil)
	_ json.Marshaler           = ID[idtype.DecimalID, noSource]{}
	_ json.Unmarshaler         = (*ID[idtype.DecimalID, noSource])(nil)
)

var errJSON = errors.New("want the public text as a string, or null")

func (ID[T, S]) codec() (*Codec[T], error) {
	var s S
	if c := s.Codec(); c != nil {
		return c, nil
	}
	return nil, &SourceError{fmt.Sprintf("%T", s)}
}

// IsZero reports whether no ID was assigned.
func (i ID[T, S]) IsZero() bool { return i.ID.IsZero() }

// String is the public text. For people alone it is (0) for zero, and the error in parentheses for
// what has no text.
func (i ID[T, S]) String() string {
	if i.IsZero() {
		return "(0)"
	}
	text, err := i.AppendText(nil)
	if err != nil {
		return "(" + err.Error() + ")"
	}
	return string(text)
}

// AppendText appends the public text. The error is that of [Codec.Format], or a [*SourceError].
func (i ID[T, S]) AppendText(b []byte) ([]byte, error) {
	c, err := i.codec()
	if err != nil {
		return b, err
	}
	return c.AppendText(b, i.ID)
}

// MarshalText is the public text. The error is that of AppendText.
func (i ID[T, S]) MarshalText() ([]byte, error) {
	b, err := i.AppendText(make([]byte, 0, maxLen))
	if err != nil {
		return nil, err
	}
	return b, nil
}

// UnmarshalText is [Codec.Parse].
func (i *ID[T, S]) UnmarshalText(text []byte) error {
	c, err := i.codec()
	if err != nil {
		return err
	}
	id, err := parse(c, text)
	if err == nil {
		i.ID = id
	}
	return err
}

// MarshalJSON is the public text as a string, and null for zero. The error is that of AppendText.
func (i ID[T, S]) MarshalJSON() ([]byte, error) {
	if i.IsZero() {
		return []byte("null"), nil
	}
	b, err := i.AppendText(append(make([]byte, 0, maxLen+2), '"'))
	if err != nil {
		return nil, err
	}
	return append(b, '"'), nil
}

// UnmarshalJSON accepts what MarshalJSON writes. null sets zero. It takes no numbers: whoever sends
// one knows the ID that the database has.
func (i *ID[T, S]) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*i = ID[T, S]{}
		return nil
	}
	if n := len(data); n >= 2 && data[0] == '"' && data[n-1] == '"' {
		return i.UnmarshalText(data[1 : n-1])
	}
	c, err := i.codec()
	if err != nil {
		return err
	}
	return c.refuse(quote(data), errJSON)
}

// Value hands the ID to a database driver as T does: the BIGINT. Zero is an error.
func (i ID[T, S]) Value() (driver.Value, error) { return i.ID.Value() }

// Scan takes what the Scan of T takes, and an ID of its own type, by value or by pointer.
func (i *ID[T, S]) Scan(src any) error {
	switch same := src.(type) {
	case ID[T, S]:
		src = same.ID
	case *ID[T, S]:
		if src = nil; same != nil {
			src = same.ID
		}
	}
	return any(&i.ID).(sql.Scanner).Scan(src)
}

// GormDataType is the column type of T.
func (i ID[T, S]) GormDataType() string { return i.ID.GormDataType() }
