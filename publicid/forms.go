package publicid

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/scramble"
)

const (
	scrambledLabel = "idmint/publicid/scrambled/"
	encryptedLabel = "idmint/publicid/encrypted/"

	scrambledChars = 13 // 65 bits hold 63
	encryptedChars = 26 // 130 bits hold 128
)

// wide is the 128-bit number that the characters after the key's number spell.
type wide struct {
	high, low uint64
}

// last removes the last character.
func (w wide) last() (wide, byte) {
	return wide{w.high >> 5, w.low>>5 | w.high<<59}, byte(w.low & 31)
}

// with appends a character. It reports false if the result needs more than 128 bits.
func (w wide) with(x byte) (wide, bool) {
	return wide{w.high<<5 | w.low>>59, w.low<<5 | uint64(x)}, w.high>>59 == 0
}

// A form is the mapping between IDs and numbers that a key selects.
type form[T idtype.ID] interface {
	seal(id T) (wide, error)
	// open reports false for numbers that seal never returns.
	open(w wide) (T, bool)
}

type scrambled[T interface {
	~int64
	idtype.ID
}] struct {
	network scramble.Network
}

func (s scrambled[T]) seal(id T) (wide, error) {
	v, err := scramble.ID(s.network, id)
	return wide{0, uint64(v)}, err
}

func (s scrambled[T]) open(w wide) (id T, ok bool) {
	if w.high != 0 {
		return id, false
	}
	// 2^63 and above become negative, and are outside the domain.
	id, err := scramble.Original(s.network, T(w.low))
	return id, err == nil
}

// encrypted holds a block cipher and the number of bytes in an ID.
type encrypted[T idtype.ID] struct {
	block func() cipher.Block // a func for the same reason as the secret of a [Key]
	size  int
}

func (e encrypted[T]) seal(id T) (w wide, err error) {
	if _, err := id.Value(); err != nil { // outside its type's domain
		return w, err
	}
	var block [aes.BlockSize]byte
	idtype.AppendBytes(block[:aes.BlockSize-e.size], id)
	e.block().Encrypt(block[:], block[:])
	return wide{binary.BigEndian.Uint64(block[:8]), binary.BigEndian.Uint64(block[8:])}, nil
}

func (e encrypted[T]) open(w wide) (id T, ok bool) {
	var block [aes.BlockSize]byte
	binary.BigEndian.PutUint64(block[:8], w.high)
	binary.BigEndian.PutUint64(block[8:], w.low)
	e.block().Decrypt(block[:], block[:])
	var set byte // the zeros, combined so that the timing reveals nothing about them
	for _, b := range block[:aes.BlockSize-e.size] {
		set |= b
	}
	id, err := idtype.FromBytes[T](block[aes.BlockSize-e.size:])
	if set != 0 || err != nil {
		var zero T
		return zero, false
	}
	return id, true
}
