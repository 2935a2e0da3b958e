// Code generated from methods.tmpl by TestSchemesInSuites. DO NOT EDIT.

package idtype

// MarshalBSONValue is the ID in BSON: an integer of 64 bits, or the bytes. Zero is an error that
// wraps [ErrZero].
func (id Decimal[E]) MarshalBSONValue() (typ byte, data []byte, err error) { return marshalBSON(id) }

// UnmarshalBSONValue accepts what MarshalBSONValue writes, and integers of 32 bits. On an error,
// which is an [*InputError], the ID stays as it was.
func (id *Decimal[E]) UnmarshalBSONValue(typ byte, data []byte) error {
	return unmarshalBSON(id, typ, data)
}

// MarshalCBOR is the ID in CBOR: an integer, or the bytes. Zero is an error that wraps [ErrZero].
func (id Decimal[E]) MarshalCBOR() ([]byte, error) { return marshalCBOR(id) }

// UnmarshalCBOR accepts what MarshalCBOR writes. On an error, which is an [*InputError], the ID
// stays as it was.
func (id *Decimal[E]) UnmarshalCBOR(data []byte) error { return unmarshalCBOR(id, data) }

// MarshalBSONValue is the ID in BSON: an integer of 64 bits, or the bytes. Zero is an error that
// wraps [ErrZero].
func (id Trace[E]) MarshalBSONValue() (typ byte, data []byte, err error) { return marshalBSON(id) }

// UnmarshalBSONValue accepts what MarshalBSONValue writes, and integers of 32 bits. On an error,
// which is an [*InputError], the ID stays as it was.
func (id *Trace[E]) UnmarshalBSONValue(typ byte, data []byte) error {
	return unmarshalBSON(id, typ, data)
}

// MarshalCBOR is the ID in CBOR: an integer, or the bytes. Zero is an error that wraps [ErrZero].
func (id Trace[E]) MarshalCBOR() ([]byte, error) { return marshalCBOR(id) }

// UnmarshalCBOR accepts what MarshalCBOR writes. On an error, which is an [*InputError], the ID
// stays as it was.
func (id *Trace[E]) UnmarshalCBOR(data []byte) error { return unmarshalCBOR(id, data) }

// MarshalBSONValue is the ID in BSON: an integer of 64 bits, or the bytes. Zero is an error that
// wraps [ErrZero].
func (id EightByte[E]) MarshalBSONValue() (typ byte, data []byte, err error) { return marshalBSON(id) }

// UnmarshalBSONValue accepts what MarshalBSONValue writes, and integers of 32 bits. On an error,
// which is an [*InputError], the ID stays as it was.
func (id *EightByte[E]) UnmarshalBSONValue(typ byte, data []byte) error {
	return unmarshalBSON(id, typ, data)
}

// MarshalCBOR is the ID in CBOR: an integer, or the bytes. Zero is an error that wraps [ErrZero].
func (id EightByte[E]) MarshalCBOR() ([]byte, error) { return marshalCBOR(id) }

// UnmarshalCBOR accepts what MarshalCBOR writes. On an error, which is an [*InputError], the ID
// stays as it was.
func (id *EightByte[E]) UnmarshalCBOR(data []byte) error { return unmarshalCBOR(id, data) }

// MarshalBSONValue is the ID in BSON: an integer of 64 bits, or the bytes. Zero is an error that
// wraps [ErrZero].
func (id Short[E]) MarshalBSONValue() (typ byte, data []byte, err error) { return marshalBSON(id) }

// UnmarshalBSONValue accepts what MarshalBSONValue writes, and integers of 32 bits. On an error,
// which is an [*InputError], the ID stays as it was.
func (id *Short[E]) UnmarshalBSONValue(typ byte, data []byte) error {
	return unmarshalBSON(id, typ, data)
}

// MarshalCBOR is the ID in CBOR: an integer, or the bytes. Zero is an error that wraps [ErrZero].
func (id Short[E]) MarshalCBOR() ([]byte, error) { return marshalCBOR(id) }

// UnmarshalCBOR accepts what MarshalCBOR writes. On an error, which is an [*InputError], the ID
// stays as it was.
func (id *Short[E]) UnmarshalCBOR(data []byte) error { return unmarshalCBOR(id, data) }

// MarshalBSONValue is the ID in BSON: an integer of 64 bits, or the bytes. Zero is an error that
// wraps [ErrZero].
func (id Sno[E]) MarshalBSONValue() (typ byte, data []byte, err error) { return marshalBSON(id) }

// UnmarshalBSONValue accepts what MarshalBSONValue writes, and integers of 32 bits. On an error,
// which is an [*InputError], the ID stays as it was.
func (id *Sno[E]) UnmarshalBSONValue(typ byte, data []byte) error {
	return unmarshalBSON(id, typ, data)
}

// MarshalCBOR is the ID in CBOR: an integer, or the bytes. Zero is an error that wraps [ErrZero].
func (id Sno[E]) MarshalCBOR() ([]byte, error) { return marshalCBOR(id) }

// UnmarshalCBOR accepts what MarshalCBOR writes. On an error, which is an [*InputError], the ID
// stays as it was.
func (id *Sno[E]) UnmarshalCBOR(data []byte) error { return unmarshalCBOR(id, data) }

// MarshalBSONValue is the ID in BSON: an integer of 64 bits, or the bytes. Zero is an error that
// wraps [ErrZero].
func (id Sequence[E]) MarshalBSONValue() (typ byte, data []byte, err error) { return marshalBSON(id) }

// UnmarshalBSONValue accepts what MarshalBSONValue writes, and integers of 32 bits. On an error,
// which is an [*InputError], the ID stays as it was.
func (id *Sequence[E]) UnmarshalBSONValue(typ byte, data []byte) error {
	return unmarshalBSON(id, typ, data)
}

// MarshalCBOR is the ID in CBOR: an integer, or the bytes. Zero is an error that wraps [ErrZero].
func (id Sequence[E]) MarshalCBOR() ([]byte, error) { return marshalCBOR(id) }

// UnmarshalCBOR accepts what MarshalCBOR writes. On an error, which is an [*InputError], the ID
// stays as it was.
func (id *Sequence[E]) UnmarshalCBOR(data []byte) error { return unmarshalCBOR(id, data) }
