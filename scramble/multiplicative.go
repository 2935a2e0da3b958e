package scramble

const multiplicativeLabel = "idmint/scramble/multiplicative/"

// Multiplicative is multiplicative hashing: it multiplies the ID by an odd number modulo 2^n,
// twice.
//
//	x += c    x ^= x>>s    x *= a    x ^= x>>s    x *= b    x ^= x>>s
//
// A bit of a product depends only on the lower bits of its factors, so a plain multiple of a
// counter still counts in its low bits. The shifts prevent that by folding the high half onto the
// low half. The shift between the products does so for the second product. The one before them is
// for IDs that count in their high bits, as trace IDs do in seconds, and the one after them is for
// the low bits of the result. The addition is needed because products and shifts commute with
// doubling: without it, the form of 2x would be twice the form of x for 6 % of all IDs.
//
// The steps permute 0 ..= 2^n−1. To keep zero out, the ID that would become 0 becomes what 0 would.
//
// A few dozen consecutive forms reveal its key: see the package documentation, and [Network].
//
// A Multiplicative is immutable, and safe for concurrent use by multiple goroutines. The methods of
// the zero value return a [*DomainError].
type Multiplicative struct {
	domain  Domain
	factors func() *factors // a func for the same reason as the secret of a [Key]
}

type factors struct {
	c            uint64
	a, b         uint64 // odd
	undoA, undoB uint64 // their inverses
}

// NewMultiplicative returns the permutation of a domain that the key selects. The error is a
// [*DomainError], or a [*KeyError] for the zero key.
func NewMultiplicative(d Domain, key Key) (Multiplicative, error) {
	if err := key.check(d); err != nil {
		return Multiplicative{}, err
	}
	return newMultiplicative(d, key), nil
}

func newMultiplicative(d Domain, key Key) Multiplicative {
	w := words(multiplicativeLabel, d, key)
	a, b := w[1]|1, w[2]|1
	f := &factors{w[0], a, b, inverse(a), inverse(b)}
	return Multiplicative{d, func() *factors { return f }}
}

// Scramble returns the scrambled form of v. If v is outside the domain, as zero always is, the
// error is a [*RangeError].
func (m Multiplicative) Scramble(v int64) (int64, error) { return m.domain.permute(v, m.forth) }

// Unscramble returns the value whose scrambled form is v. If v is outside the domain, the error is
// a [*RangeError].
func (m Multiplicative) Unscramble(v int64) (int64, error) { return m.domain.permute(v, m.back) }

func (m *Multiplicative) forth(x uint64) uint64 {
	f := m.factors()
	return m.domain.multiply((x+f.c)&m.domain.mask(), f.a, f.b)
}

func (m *Multiplicative) back(x uint64) uint64 {
	f := m.factors()
	return (m.domain.multiply(x, f.undoB, f.undoA) - f.c) & m.domain.mask()
}

// multiply undoes itself if a and b are replaced by the inverses of b and a. A shift by at least
// half of the bits undoes itself.
func (d Domain) multiply(x, a, b uint64) uint64 {
	mask, shift := d.mask(), (d+1)/2&63
	x ^= x >> shift
	x = x * a & mask
	x ^= x >> shift
	x = x * b & mask
	return x ^ x>>shift
}

// inverse returns the x for which odd·x is 1 modulo 2^64, and therefore modulo every smaller power
// of two. Each Newton step doubles the number of correct bits. At first there are 3, because the
// square of an odd number is 1 modulo 8.
func inverse(odd uint64) uint64 {
	x := odd
	for right := 3; right < 64; right *= 2 {
		x *= 2 - odd*x
	}
	return x
}
