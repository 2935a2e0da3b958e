package scramble

// What tests need of the inside: the same constructions over any number of bits, and of parts of
// them.

// SmallMultiplicative and SmallNetwork are the permutations of 1 ..= 2^bits−1, bits 2 to 63.
func SmallMultiplicative(bits int, key Key) Multiplicative {
	return newMultiplicative(Domain(bits), key)
}
func SmallNetwork(bits int, key Key) Network { return newNetwork(Domain(bits), key) }

// Rounds is the network with as many rounds as keys, over 0 ..= 2^bits−1.
func Rounds(bits int, x uint64, keys []uint64) uint64 { return Domain(bits).forth(x, keys) }

// RoundsOfNetwork is the number that it has.
const RoundsOfNetwork = rounds
