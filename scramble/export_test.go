package scramble

// What tests need of the inside: the same constructions over any number of bits.

// SmallMultiplicative and SmallNetwork are the permutations of 1 ..= 2^bits−1, bits 2 to 63.
func SmallMultiplicative(bits int, key Key) Multiplicative {
	return newMultiplicative(Domain(bits), key)
}
func SmallNetwork(bits int, key Key) Network { return newNetwork(Domain(bits), key) }

// NewKey is the key of 16 bytes.
func NewKey(b [16]byte) Key { return Key{func() [16]byte { return b }} }

// Empty reports whether it is the zero key.
func (k Key) Empty() bool { return k.secret == nil }

// Bytes are those of the key.
func (k Key) Bytes() []byte {
	b := k.secret()
	return b[:]
}
