package scramble

import "fmt"

// Permutation is implemented by [Multiplicative] and [Network]. [ID] and [Original] work with
// either.
type Permutation interface {
	Scramble(v int64) (int64, error)
	Unscramble(v int64) (int64, error)
}

var (
	_ Permutation = Multiplicative{}
	_ Permutation = Network{}
)

// ID returns the scrambled form of an ID as the same type, so that a UserID stays a UserID. If the
// ID is outside the permutation's domain, as zero always is, the error is a [*RangeError].
func ID[T ~int64](p Permutation, id T) (T, error) {
	v, err := p.Scramble(int64(id))
	return T(v), err
}

// Original returns the ID that [ID] scrambled. If the value is outside the permutation's domain,
// the error is a [*RangeError]. Any other value is the scrambled form of some ID, although that ID
// may never have been minted.
func Original[T ~int64](p Permutation, scrambled T) (T, error) {
	v, err := p.Unscramble(int64(scrambled))
	return T(v), err
}

// Domain is the set of IDs that a permutation accepts and returns, 1 ..= 2^n−1. Its number is n.
type Domain int

const (
	// Int63 is 1 ..= 2^63−1, the domain of all int64 IDs.
	Int63 Domain = 63
	// Int53 is 1 ..= 2^53−1, the integers that ECMAScript's numbers hold exactly.
	Int53 Domain = 53
)

// Max returns the largest ID of the domain.
func (d Domain) Max() int64 { return int64(d.mask()) }

func (d Domain) String() string { return fmt.Sprintf("1..%d", d.Max()) }

// mask returns a number with the n lowest bits set. It is 0 for the domain of a permutation that
// was not created by a constructor, and which therefore accepts nothing.
func (d Domain) mask() uint64 { return 1<<(d&63) - 1 }

func (d Domain) check() error {
	if d != Int63 && d != Int53 {
		return &DomainError{d}
	}
	return nil
}

func (d Domain) has(v int64) bool { return uint64(v)-1 < d.mask() }

// permute applies a step that permutes 0 ..= 2^n−1. To keep zero out, the ID that would become 0
// becomes what 0 would. If v is outside the domain, the error is a [*RangeError].
func (d Domain) permute(v int64, step func(uint64) uint64) (int64, error) {
	if !d.has(v) {
		return 0, d.refuse(v)
	}
	x := step(uint64(v))
	if x == 0 {
		x = step(0)
	}
	return int64(x), nil
}

// refuse returns the error for a v outside the domain.
func (d Domain) refuse(v int64) error {
	if err := d.check(); err != nil {
		return err
	}
	return &RangeError{v, d}
}

// A RangeError is returned for a value outside a permutation's domain.
type RangeError struct {
	Value  int64
	Domain Domain
}

func (e *RangeError) Error() string {
	return fmt.Sprintf("scramble: %d is outside %v", e.Value, e.Domain)
}

// A DomainError is returned by constructors for a domain other than the constants. It is also
// returned by the methods of a permutation that was not created by a constructor.
type DomainError struct {
	Domain Domain
}

func (e *DomainError) Error() string {
	return fmt.Sprintf("scramble: unknown domain %d: want Int63 or Int53", int(e.Domain))
}
