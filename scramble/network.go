package scramble

const (
	networkLabel = "idmint/scramble/network/"

	// rounds is the number of rounds of the network. Its difference from a random permutation
	// shrinks by a factor of about 2^(n/2) with every round. This was measured for small n: for 8
	// and 12 bits, six and five rounds are the fewest that 100,000 keys cannot distinguish from a
	// random permutation. For 63 bits no test rejects three rounds, and six is twice that.
	rounds = 6
)

// Network is a Feistel network over exactly n bits: six times in turn, a hash of one half of the ID
// changes the other half.
//
//	 63 bits          53 bits
//	l 31 · r 32     l 26 · r 27
//
//	l ^= F(r + w0)    r ^= F(l + w1)    l ^= F(r + w2)    …    r ^= F(l + w5)
//
// The network permutes 0 ..= 2^n−1. To keep zero out, the ID that would become 0 becomes what 0
// would.
//
// A Network is immutable, and safe for concurrent use by multiple goroutines. The methods of the
// zero value return a [*DomainError].
type Network struct {
	domain Domain
	keys   func() *[rounds]uint64 // a func for the same reason as the secret of a [Key]
}

// NewNetwork returns the permutation of a domain that the key selects. The error is a
// [*DomainError], or a [*KeyError] for the zero key.
func NewNetwork(d Domain, key Key) (Network, error) {
	if err := key.check(d); err != nil {
		return Network{}, err
	}
	return newNetwork(d, key), nil
}

func newNetwork(d Domain, key Key) Network {
	w := words(networkLabel, d, key)
	keys := (*[rounds]uint64)(w[:])
	return Network{d, func() *[rounds]uint64 { return keys }}
}

// Scramble returns the scrambled form of v. If v is outside the domain, as zero always is, the
// error is a [*RangeError].
func (n Network) Scramble(v int64) (int64, error) { return n.domain.permute(v, n.forth) }

// Unscramble returns the value whose scrambled form is v. If v is outside the domain, the error is
// a [*RangeError].
func (n Network) Unscramble(v int64) (int64, error) { return n.domain.permute(v, n.back) }

func (n *Network) forth(x uint64) uint64 { return n.domain.forth(x, n.keys()[:]) }
func (n *Network) back(x uint64) uint64  { return n.domain.back(x, n.keys()[:]) }

// forth runs one round per key, and alternates the half that it changes. The second half is the
// lower one again only after an even number of rounds.
func (d Domain) forth(x uint64, keys []uint64) uint64 {
	l, r, wl, wr := d.split(x)
	for _, k := range keys {
		l, r, wl, wr = r, l^hash(r+k)>>((64-wl)&63), wr, wl
	}
	return l<<(wr&63) | r
}

// back undoes forth for an even number of keys.
func (d Domain) back(x uint64, keys []uint64) uint64 {
	l, r, wl, wr := d.split(x)
	for i := len(keys) - 1; i >= 0; i-- {
		l, r, wl, wr = r^hash(l+keys[i])>>((64-wr)&63), l, wr, wl
	}
	return l<<(wr&63) | r
}

// split returns the two halves of an ID, and their widths.
func (d Domain) split(x uint64) (l, r uint64, wl, wr Domain) {
	wl, wr = d/2, d-d/2
	return x >> (wr & 63), x & wr.mask(), wl, wr
}

// hash spreads every bit of z over its high bits. The multipliers are from SplitMix64.
func hash(z uint64) uint64 {
	z *= 0x9e3779b97f4a7c15
	z ^= z >> 32
	return z * 0xbf58476d1ce4e5b9
}
