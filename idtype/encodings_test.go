package idtype_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"slices"
	"testing"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/schemes"
)

// encodes and encodable are the methods that formats call which have no package here.
type encodes interface {
	MarshalBSONValue() (typ byte, data []byte, err error)
	MarshalCBOR() ([]byte, error)
}

type encodable interface {
	encodes
	UnmarshalBSONValue(typ byte, data []byte) error
	UnmarshalCBOR(data []byte) error
}

// Integers of CBOR as RFC 8949 shows them in its appendix A, and at the ends of each length.
var cborIntegers = map[idtype.DecimalID]string{
	1: "01", 10: "0a", 23: "17", 24: "1818", 25: "1819", 100: "1864", 255: "18ff", 256: "190100",
	1000: "1903e8", 65535: "19ffff", 65536: "1a00010000", 1000000: "1a000f4240",
	1<<32 - 1: "1affffffff", 1 << 32: "1b0000000100000000", 1000000000000: "1b000000e8d4a51000",
	1<<63 - 1: "1b7fffffffffffffff",
}

func TestCBORIntegers(t *testing.T) {
	for id, want := range cborIntegers {
		data, err := id.MarshalCBOR()
		var back idtype.DecimalID
		if err := errors.Join(err, back.UnmarshalCBOR(data)); hex.EncodeToString(data) != want ||
			back != id || err != nil {
			t.Errorf("%d is %x and %d, %v, want %s", id, data, back, err, want)
		}
	}
}

// testEncodings takes an ID, and OrZero of it, through BSON and CBOR.
func testEncodings[T idtype.ID](t *testing.T, id T) {
	var zero T
	raw := rawOf(id)
	integer := schemes.Of(id.Scheme()).Size == 0
	kind, bson := byte(0x12), bytes.Clone(raw)
	slices.Reverse(bson)
	cbor := append([]byte{0x1b}, raw...) // above 2^32
	if !integer {
		kind, bson = 0x05, append([]byte{byte(len(raw)), 0, 0, 0, 0}, raw...)
		cbor = append([]byte{0x40 | byte(len(raw))}, raw...)
	}
	for _, v := range []encodable{any(&id).(encodable), &idtype.OrZero[T]{ID: id}} {
		typ, data, err := v.MarshalBSONValue()
		if typ != kind || !bytes.Equal(data, bson) || err != nil {
			t.Errorf("%T in BSON: %#x %x, %v, want %#x %x", v, typ, data, err, kind, bson)
		}
		data, err = v.MarshalCBOR()
		if !bytes.Equal(data, cbor) || err != nil {
			t.Errorf("%T in CBOR: %x, %v, want %x", v, data, err, cbor)
		}
	}
	for _, v := range []encodable{any(new(T)).(encodable), &idtype.OrZero[T]{}} {
		err := v.UnmarshalBSONValue(kind, bson)
		if !bytes.Equal(rawOf(v), raw) || err != nil {
			t.Errorf("%T of BSON is %v, %v", v, v, err)
		}
	}
	for _, v := range []encodable{any(new(T)).(encodable), &idtype.OrZero[T]{}} {
		if err := v.UnmarshalCBOR(cbor); !bytes.Equal(rawOf(v), raw) || err != nil {
			t.Errorf("%T of CBOR is %v, %v", v, v, err)
		}
	}
	// Zero does not leave, and no decoder makes it.
	_, _, err := any(zero).(encodes).MarshalBSONValue()
	_, err2 := any(zero).(encodes).MarshalCBOR()
	if !errors.Is(err, idtype.ErrZero) || !errors.Is(err2, idtype.ErrZero) {
		t.Errorf("zero is written: %v, %v", err, err2)
	}
	typ, data, err := idtype.OrZero[T]{}.MarshalBSONValue()
	if typ != 0x0a || len(data) != 0 || err != nil {
		t.Errorf("none in BSON: %#x %x, %v, want null", typ, data, err)
	}
	if data, err := (idtype.OrZero[T]{}).MarshalCBOR(); string(data) != "\xf6" || err != nil {
		t.Errorf("none in CBOR: %x, %v, want null", data, err)
	}
	none := make([]byte, len(raw))
	for _, bad := range []struct {
		name   string
		kind   byte // of BSON, 0 for CBOR
		data   []byte
		reason error // ErrZero and ErrNull are none for OrZero
	}{
		{"zero", kind, append(bson[:len(bson)-len(raw):len(bson)-len(raw)], none...), idtype.ErrZero},
		{"null", 0x0a, nil, idtype.ErrNull},
		{"true", 0x08, []byte{1}, nil},
		{"1.0", 0x01, []byte{0, 0, 0, 0, 0, 0, 0xf0, 0x3f}, nil},
		{"text", 0x02, []byte("\x02\x00\x00\x001\x00"), nil},
		{"document", 0x03, []byte{5, 0, 0, 0, 0}, nil},
		{"too short", kind, bson[:len(bson)-1], nil},
		{"too long", kind, append(bytes.Clone(bson), 1), nil},
		{"nothing", kind, nil, nil},
		{"of a foreign kind", 0x05 + 0x12 - kind, bson, nil},
		{"three bytes", 0x05, []byte{3, 0, 0, 0, 0, 1, 2, 3}, nil},
		{"negative", 0x12, bytes.Repeat([]byte{0xff}, 8), nil},
		{"negative in 32 bits", 0x10, bytes.Repeat([]byte{0xff}, 4), nil},

		{"zero", 0, append(cbor[:1:1], none...), idtype.ErrZero},
		{"null", 0, []byte{0xf6}, idtype.ErrNull},
		{"undefined", 0, []byte{0xf7}, nil},
		{"true", 0, []byte{0xf5}, nil},
		{"1.0", 0, []byte{0xf9, 0x3c, 0}, nil},
		{"1.0 in 64 bits", 0, []byte{0xfb, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0}, nil},
		{"text", 0, []byte("\x611"), nil},
		{"a list", 0, append([]byte{0x81}, cbor...), nil},
		{"a tag", 0, append([]byte{0xc1}, cbor...), nil},
		{"too short", 0, cbor[:len(cbor)-1], nil},
		{"too long", 0, append(bytes.Clone(cbor), 1), nil},
		{"nothing", 0, nil, nil},
		{"-1", 0, []byte{0x20}, nil},
		{"2^63", 0, []byte{0x1b, 0x80, 0, 0, 0, 0, 0, 0, 0}, nil},
		{"three bytes", 0, []byte{0x43, 1, 2, 3}, nil},
		{"bytes of no length", 0, append([]byte{0x5f, 0x48}, append(bytes.Repeat([]byte{1}, 8), 0xff)...), nil},
	} {
		for _, v := range []encodable{any(&id).(encodable), &idtype.OrZero[T]{ID: id}} {
			unmarshal := v.UnmarshalCBOR
			if bad.kind != 0 {
				unmarshal = func(data []byte) error { return v.UnmarshalBSONValue(bad.kind, data) }
			}
			err := unmarshal(bad.data)
			if _, plain := any(v).(key); !plain && bad.reason != nil {
				if err != nil || !isZero(rawOf(v)) {
					t.Errorf("%s in %T is %v, %v, want none", bad.name, v, v, err)
				}
				continue
			}
			var input *idtype.InputError
			if !errors.As(err, &input) || bad.reason != nil && !errors.Is(err, bad.reason) ||
				!bytes.Equal(rawOf(v), raw) {
				t.Errorf("%s (%#x %x) in %T is %v, %v", bad.name, bad.kind, bad.data, v, v, err)
			}
		}
	}
	if integer { // other programs write small ones so
		small := new(T)
		err := any(small).(encodable).UnmarshalBSONValue(0x10, []byte{57, 0, 0, 0})
		if !bytes.Equal(rawOf(*small), bigEndian(57)) || err != nil {
			t.Errorf("57 in 32 bits is %v, %v", small, err)
		}
	}
}
