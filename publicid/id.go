package publicid

import (
	"bytes"
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"reflect"

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

// ID is an ID whose text and JSON are the public ones, and whose column is the one of T. [Of] makes
// it:
//
//	type PublicUserID = publicid.ID[UserID, inUsers]
//
//	type UserResponse struct {
//		ID   PublicUserID `json:"id"`
//		Name string       `json:"name"`
//	}
//	UserResponse{ID: publicid.Of[inUsers](user.ID)}
//
// It shows the ID behind it to nobody but databases: no verb of fmt and no encoder. Those of gob,
// CBOR, BSON and MessagePack write the public text. Encoders that look for fields find none. Keep it in exported
// fields: of others fmt calls no method, and prints what is in them.
//
// The zero value means "not assigned", as it does for T. Its JSON is null, and all other forms of it
// are errors. On an error methods leave the receiver as it was.
type ID[T idtype.ID, S Source[T]] struct {
	id T // which reflection does not hand out
}

// Of returns the ID with the public text of a source's codec.
func Of[S Source[T], T idtype.ID](id T) ID[T, S] { return ID[T, S]{id} }

type noSource struct{}

func (noSource) Codec() *Codec[idtype.DecimalID] { return nil }

var (
	_ driver.Valuer              = ID[idtype.DecimalID, noSource]{}
	_ sql.Scanner                = (*ID[idtype.DecimalID, noSource])(nil)
	_ encoding.TextMarshaler     = ID[idtype.DecimalID, noSource]{}
	_ encoding.TextUnmarshaler   = (*ID[idtype.DecimalID, noSource])(nil)
	_ encoding.BinaryMarshaler   = ID[idtype.DecimalID, noSource]{}
	_ encoding.BinaryUnmarshaler = (*ID[idtype.DecimalID, noSource])(nil)
	_ json.Marshaler             = ID[idtype.DecimalID, noSource]{}
	_ json.Unmarshaler           = (*ID[idtype.DecimalID, noSource])(nil)
	_ fmt.Formatter              = ID[idtype.DecimalID, noSource]{}
)

var (
	errJSON   = errors.New("want the public text as a string, or null")
	errString = errors.New("want the public text as a string")
)

func (ID[T, S]) codec() (*Codec[T], error) {
	var s S
	if c := s.Codec(); c != nil {
		return c, nil
	}
	return nil, &SourceError{fmt.Sprintf("%T", s)}
}

// Internal returns the ID that the database has.
func (i ID[T, S]) Internal() T { return i.id }

// IsZero reports whether no ID was assigned.
func (i ID[T, S]) IsZero() bool { return i.id.IsZero() }

// Equal reports whether two IDs are the same, as == does. It is for packages that would compare, and
// show, what is behind an ID.
func (i ID[T, S]) Equal(other ID[T, S]) bool { return i == other }

// Compare orders as [idtype.Compare] does the IDs behind the texts, and so tells more than the texts.
func (i ID[T, S]) Compare(other ID[T, S]) int {
	return bytes.Compare(idtype.AppendBytes(nil, i.id), idtype.AppendBytes(nil, other.id))
}

// Format writes the public text, whatever the verb.
func (i ID[T, S]) Format(f fmt.State, verb rune) {
	fmt.Fprintf(f, fmt.FormatString(f, verb), i.String())
}

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
	return c.AppendText(b, i.id)
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
		i.id = id
	}
	return err
}

// Generate draws an ID that follows the layout of T, for testing/quick.
func (ID[T, S]) Generate(r *rand.Rand, size int) reflect.Value {
	var zero T
	id := any(zero).(interface {
		Generate(r *rand.Rand, size int) reflect.Value
	}).Generate(r, size)
	return reflect.ValueOf(ID[T, S]{id.Interface().(T)})
}

// UnmarshalParam is UnmarshalText, for web frameworks that bind parameters by it, as gin does.
func (i *ID[T, S]) UnmarshalParam(param string) error { return i.UnmarshalText([]byte(param)) }

// MarshalBinary is the public text.
func (i ID[T, S]) MarshalBinary() ([]byte, error) { return i.MarshalText() }

// UnmarshalBinary is UnmarshalText.
func (i *ID[T, S]) UnmarshalBinary(data []byte) error { return i.UnmarshalText(data) }

const (
	bsonString byte = 0x02
	cborString byte = 3 << 5
	cborSize   byte = 24 // a byte with the length follows
)

// MarshalBSONValue is the public text as a string.
func (i ID[T, S]) MarshalBSONValue() (typ byte, data []byte, err error) {
	text, err := i.MarshalText()
	if err != nil {
		return 0, nil, err
	}
	data = binary.LittleEndian.AppendUint32(nil, uint32(len(text)+1))
	return bsonString, append(append(data, text...), 0), nil
}

// UnmarshalBSONValue accepts what MarshalBSONValue writes.
func (i *ID[T, S]) UnmarshalBSONValue(typ byte, data []byte) error {
	text, ok := bytes.CutSuffix(data, []byte{0})
	if typ == bsonString && ok && len(data) > 4 {
		return i.UnmarshalText(text[4:])
	}
	return i.refuse(data, errString)
}

// MarshalCBOR is the public text as a string.
func (i ID[T, S]) MarshalCBOR() ([]byte, error) {
	text, err := i.MarshalText()
	if err != nil {
		return nil, err
	}
	if len(text) < int(cborSize) {
		return append([]byte{cborString | byte(len(text))}, text...), nil
	}
	return append([]byte{cborString | cborSize, byte(len(text))}, text...), nil
}

// UnmarshalCBOR accepts what MarshalCBOR writes.
func (i *ID[T, S]) UnmarshalCBOR(data []byte) error {
	n := len(data)
	switch {
	case n > 2 && data[0] == cborString|cborSize && int(data[1]) == n-2:
		return i.UnmarshalText(data[2:])
	case n > 1 && n <= int(cborSize) && data[0] == cborString|byte(n-1):
		return i.UnmarshalText(data[1:])
	}
	return i.refuse(data, errString)
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
	return i.refuse(data, errJSON)
}

func (i ID[T, S]) refuse(data []byte, reason error) error {
	c, err := i.codec()
	if err != nil {
		return err
	}
	return c.refuse(quote(data), reason)
}

// Value hands the ID to a database driver as T does: the BIGINT. Zero is an error.
func (i ID[T, S]) Value() (driver.Value, error) { return i.id.Value() }

// Scan takes what the Scan of T takes, and an ID of its own type, by value or by pointer.
func (i *ID[T, S]) Scan(src any) error {
	switch same := src.(type) {
	case ID[T, S]:
		src = same.id
	case *ID[T, S]:
		if src = nil; same != nil {
			src = same.id
		}
	}
	return any(&i.id).(sql.Scanner).Scan(src)
}

// GormDataType is the column type of T.
func (i ID[T, S]) GormDataType() string { return i.id.GormDataType() }
