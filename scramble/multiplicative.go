package scramble

const multiplicativeLabel = "idmint/scramble/multiplicative/"

// Multiplicative is multiplicative hashing: the ID times an odd number modulo 2^n, twice.
//
//	x += c    x ^= x>>s    x *= a    x ^= x>>s    x *= b    x ^= x>>s
//
// A product's bit depends on lower bits of its factors only. So a plain multiple of a counter still
// counts in its low bits. Hence the shifts: each folds the high half onto the low half. One stands
// between the products. One stands before them, for IDs that count in their high bits, as trace IDs
// do in seconds. One stands behind them, for the low bits of what is shown. The sum hides that both
// products and shifts commute with doubling. Without it 6 % of all IDs look twice as large when
// they are twice as large.
//
// The steps permute 0 ..= 2^n−1. Zero stays out: the ID that would become 0 becomes what 0 would.
//
// Some dozens of forms in a row give its key away: see the package's documentation, and [Network].
//
// It is immutable, and safe for use by many goroutines. The zero value takes no ID: its
// methods return a [*DomainError].
type Multiplicative struct {
	domain  Domain
	factors func() *factors // as the secret of a [Key]
}

type factors struct {
	c            uint64
	a, b         uint64 // odd
	undoA, undoB uint64 // their inverses
}

// NewMultiplicative makes the permutation of a domain that a key selects. The error is a
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

// Scramble returns the scrambled form of v. The error is a [*RangeError] for a v that is not in the
// domain, as zero never is.
func (m Multiplicative) Scramble(v int64) (int64, error) { return m.domain.permute(v, m.forth) }

// Unscramble returns what v is the scrambled form of. The error is a [*RangeError] for a v that is
// not in the domain.
func (m Multiplicative) Unscramble(v int64) (int64, error) { return m.domain.permute(v, m.back) }

func (m *Multiplicative) forth(x uint64) uint64 {
	f := m.factors()
	return m.domain.multiply((x+f.c)&m.domain.mask(), f.a, f.b)
}

func (m *Multiplicative) back(x uint64) uint64 {
	f := m.factors()
	return (m.domain.multiply(x, f.undoB, f.undoA) - f.c) & m.domain.mask()
}

// multiply undoes itself with the inverses of b and a for a and b. A shift by half of the bits or
// more undoes itself.
func (d Domain) multiply(x, a, b uint64) uint64 {
	mask, shift := d.mask(), (d+1)/2&63
	x ^= x >> shift
	x = x * a & mask
	x ^= x >> shift
	x = x * b & mask
	return x ^ x>>shift
}

// inverse returns the x for which odd·x is 1 modulo 2^64, and so modulo every smaller power of two.
// Newton's step doubles the bits that are right. There are 3 to begin with: the square of an odd
// number is 1 modulo 8.
func inverse(odd uint64) uint64 {
	x := odd
	for right := 3; right < 64; right *= 2 {
		x *= 2 - odd*x
	}
	return x
}
