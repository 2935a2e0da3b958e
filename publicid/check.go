package publicid

// alphabet is Crockford's base 32 in lower case, ordered by value.
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// none marks bytes that are not characters of the alphabet.
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

// checkChars is the number of characters in a check.
const checkChars = 2

// A check holds two sums over the field of 32 elements, in which ⊕ is addition, and a is the root 2
// of x⁵ ⊕ x² ⊕ 1. For a complete text both sums are zero.
//
//	sum = x1 ⊕ x2 ⊕ … ⊕ xn
//	power = aⁿ⁻¹·x1 ⊕ aⁿ⁻²·x2 ⊕ … ⊕ xn
//
// This is a Reed-Solomon code. One wrong character changes the first sum. Two wrong characters at
// positions i and j that leave the first sum unchanged differ by the same d, and change the second
// sum by (aⁱ ⊕ aʲ)·d, which is zero only for i = j. The powers of a repeat after 31, and no text
// has more characters than that after its prefix.
type check struct {
	sum, power byte
}

func (c *check) add(x byte) {
	c.sum ^= x
	c.power = double(c.power) ^ x
}

// addPrefix adds each byte as two characters, of 3 and 5 bits.
func (c *check) addPrefix(prefix string) {
	for i := range len(prefix) {
		c.add(prefix[i] >> 5)
		c.add(prefix[i] & 31)
	}
}

// end returns the two characters u and v that make both sums zero: u ⊕ v = sum, and a·u ⊕ v =
// a²·power.
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
