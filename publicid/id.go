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

// A Source names a codec by a type, because encoding/json passes nothing but the value to
// MarshalJSON. The app declares the type and stores the codec wherever it likes; this package has
// no state.
//
//	var users *publicid.Codec[UserID] // set at startup
//
//	type inUsers struct{}
//
//	func (inUsers) Codec() *publicid.Codec[UserID] { return users }
//
// Codec is called on the zero value, by many goroutines, and must return the same codec each time.
// If it returns nil, reading or writing an ID fails with a [*SourceError].
type Source[T idtype.ID] interface {
	Codec() *Codec[T]
}

// ID is an ID with the text and JSON of its public form, and with the column of T. Create one with
// [Of]:
//
//	type PublicUserID = publicid.ID[UserID, inUsers]
//
//	type UserResponse struct {
//		ID   PublicUserID `json:"id"`
//		Name string       `json:"name"`
//	}
//	UserResponse{ID: publicid.Of[inUsers](user.ID)}
//
// An ID reveals its internal value only to databases: every verb of fmt, and the encoders of gob,
// CBOR, BSON, and MessagePack, write the public text, and encoders that use reflection find no
// exported field. Use it in exported fields, because fmt prints the content of unexported ones
// without calling their methods.
//
// The zero value means "not assigned", as it does for T. Its JSON is null, and writing any other
// form of it is an error. If a method fails, the receiver is unchanged.
type ID[T idtype.ID, S Source[T]] struct {
	id T // not accessible by reflection
}

// Of returns the ID whose public text is written by the codec of a source.
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

// Internal returns the ID as the database has it.
func (i ID[T, S]) Internal() T { return i.id }

// IsZero reports whether the ID is zero, which means "not assigned".
func (i ID[T, S]) IsZero() bool { return i.id.IsZero() }

// Equal reports whether two IDs are the same, like ==. Packages that would otherwise compare and
// print unexported fields call it instead.
func (i ID[T, S]) Equal(other ID[T, S]) bool { return i == other }

// Compare orders the internal IDs like [idtype.Compare], so it reveals more than the texts do.
func (i ID[T, S]) Compare(other ID[T, S]) int {
	return bytes.Compare(idtype.AppendBytes(nil, i.id), idtype.AppendBytes(nil, other.id))
}

// Format writes the public text for every verb.
func (i ID[T, S]) Format(f fmt.State, verb rune) {
	fmt.Fprintf(f, fmt.FormatString(f, verb), i.String())
}

// String returns the public text. For people to read, it returns (0) for zero, and the error in
// parentheses for an ID without a text.
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

// AppendText appends the public text to b. It returns the errors of [Codec.Format], or a
// [*SourceError].
func (i ID[T, S]) AppendText(b []byte) ([]byte, error) {
	c, err := i.codec()
	if err != nil {
		return b, err
	}
	return c.AppendText(b, i.id)
}

// MarshalText returns the public text, or the same error as AppendText.
func (i ID[T, S]) MarshalText() ([]byte, error) {
	b, err := i.AppendText(make([]byte, 0, maxLen))
	if err != nil {
		return nil, err
	}
	return b, nil
}

// UnmarshalText parses the text with [Codec.Parse].
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

// Generate returns a random ID that follows the layout of T, for testing/quick.
func (ID[T, S]) Generate(r *rand.Rand, size int) reflect.Value {
	var zero T
	id := any(zero).(interface {
		Generate(r *rand.Rand, size int) reflect.Value
	}).Generate(r, size)
	return reflect.ValueOf(ID[T, S]{id.Interface().(T)})
}

// UnmarshalParam is UnmarshalText for web frameworks, such as gin, that call it to bind parameters.
func (i *ID[T, S]) UnmarshalParam(param string) error { return i.UnmarshalText([]byte(param)) }

// MarshalBinary returns the public text.
func (i ID[T, S]) MarshalBinary() ([]byte, error) { return i.MarshalText() }

// UnmarshalBinary is the same as UnmarshalText.
func (i *ID[T, S]) UnmarshalBinary(data []byte) error { return i.UnmarshalText(data) }

const (
	bsonString byte = 0x02
	cborString byte = 3 << 5
	cborSize   byte = 24 // the length follows in one byte
)

// MarshalBSONValue returns the public text as a string.
func (i ID[T, S]) MarshalBSONValue() (typ byte, data []byte, err error) {
	text, err := i.MarshalText()
	if err != nil {
		return 0, nil, err
	}
	data = binary.LittleEndian.AppendUint32(nil, uint32(len(text)+1))
	return bsonString, append(append(data, text...), 0), nil
}

// UnmarshalBSONValue accepts the output of MarshalBSONValue.
func (i *ID[T, S]) UnmarshalBSONValue(typ byte, data []byte) error {
	text, ok := bytes.CutSuffix(data, []byte{0})
	if typ == bsonString && ok && len(data) > 4 {
		return i.UnmarshalText(text[4:])
	}
	return i.refuse(data, errString)
}

// MarshalCBOR returns the public text as a string.
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

// UnmarshalCBOR accepts the output of MarshalCBOR.
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

// MarshalJSON returns the public text as a string, or null for zero. The error is the same as for
// AppendText.
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

// UnmarshalJSON accepts the output of MarshalJSON; null sets the ID to zero. It rejects numbers,
// because a client that sends one knows the internal ID.
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

// Value returns T's value for a database driver, such as the BIGINT. Zero is an error.
func (i ID[T, S]) Value() (driver.Value, error) { return i.id.Value() }

// Scan accepts the same values as T's Scan, and an ID of the same type, by value or by pointer.
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

// GormDataType returns the column type of T.
func (i ID[T, S]) GormDataType() string { return i.id.GormDataType() }
