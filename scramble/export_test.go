package scramble

// What tests need of the inside: the same constructions over any number of bits.

// SmallMultiplicative and SmallNetwork are the permutations of 1 ..= 2^bits−1, bits 2 to 63.
func SmallMultiplicative(bits int, key Key) Multiplicative {
	return newMultiplicative(Domain(bits), key)
}
func SmallNetwork(bits int, key Key) Network { return newNetwork(Domain(bits), key) }
