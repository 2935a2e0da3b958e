package publicid

// alphabet is Crockford's base 32 in lower case, in the order of the values.
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// none is the value of a byte that is no character of the alphabet.
const none = 0xff

var values = func() (v [256]byte) {
	for i := range v {
		v[i] = none
	}
	for i := range len(alphabet) {
		v[alphabet[i]] = byte(i)
	}
	return v
}()

// checkChars are the characters of a check.
const checkChars = 2

// A check is two sums over the field of 32 elements, in which ⊕ adds. a is the root 2 of
// x⁵ ⊕ x² ⊕ 1. Both sums of a whole text are zero.
//
//	sum = x1 ⊕ x2 ⊕ … ⊕ xn
//	power = aⁿ⁻¹·x1 ⊕ aⁿ⁻²·x2 ⊕ … ⊕ xn
//
// That is a Reed-Solomon code. One wrong character changes the first sum. Two wrong ones that leave
// it differ by the same d. They change the second by (aⁱ ⊕ aʲ)·d. That is zero for i = j alone.
// The powers of a repeat after 31, and no text has more characters behind its prefix.
type check struct {
	sum, power byte
}

func (c *check) add(x byte) {
	c.sum ^= x
	c.power = double(c.power) ^ x
}

// addPrefix takes each byte as two characters, of 3 and of 5 bits.
func (c *check) addPrefix(prefix string) {
	for i := range len(prefix) {
		c.add(prefix[i] >> 5)
		c.add(prefix[i] & 31)
	}
}

// end returns the two characters, u and v, that make both sums zero: u ⊕ v = sum, and
// a·u ⊕ v = a²·power.
func (c check) end() (u, v byte) {
	u = divideBy3(double(double(c.power)) ^ c.sum)
	return u, u ^ c.sum
}

func (c check) holds() bool { return c == check{} }

// double multiplies by a.
func double(x byte) byte { return x<<1&31 ^ x>>4*0b00101 }

// divideBy3 divides by a ⊕ 1. Its inverse is a⁴ ⊕ a³ ⊕ a².
func divideBy3(x byte) byte {
	x = double(double(x))
	twice := double(x)
	return x ^ twice ^ double(twice)
}
