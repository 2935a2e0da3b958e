package scramble

import "fmt"

// Permutation is what [ID] and [Original] work with: a [Multiplicative] or a [Network].
type Permutation interface {
	Scramble(v int64) (int64, error)
	Unscramble(v int64) (int64, error)
}

var (
	_ Permutation = Multiplicative{}
	_ Permutation = Network{}
)

// ID is the scrambled form of an ID, as the same type: a UserID stays a UserID. The error is a
// [*RangeError] for an ID that is not in the permutation's domain, as zero never is.
func ID[T ~int64](p Permutation, id T) (T, error) {
	v, err := p.Scramble(int64(id))
	return T(v), err
}

// Original is the ID that [ID] made the scrambled one from. The error is a [*RangeError] for a
// value outside the permutation's domain. Any other value is the scrambled form of some ID, though
// perhaps of none that was minted.
func Original[T ~int64](p Permutation, scrambled T) (T, error) {
	v, err := p.Unscramble(int64(scrambled))
	return T(v), err
}

// Domain is the set of IDs that a permutation takes and gives: 1 ..= 2^n−1, and n is its number.
type Domain int

const (
	// Int63 is 1 ..= 2^63−1, the domain of all int64 IDs.
	Int63 Domain = 63
	// Int53 is 1 ..= 2^53−1, the integers that ECMAScript's numbers hold exactly.
	Int53 Domain = 53
)

// Max is the largest ID of the domain.
func (d Domain) Max() int64 { return int64(d.mask()) }

func (d Domain) String() string { return fmt.Sprintf("1..%d", d.Max()) }

// mask has the n lowest bits set. It is 0 for the domain of a permutation that no constructor made,
// which so takes nothing.
func (d Domain) mask() uint64 { return 1<<(d&63) - 1 }

func (d Domain) check() error {
	if d != Int63 && d != Int53 {
		return &DomainError{d}
	}
	return nil
}

func (d Domain) has(v int64) bool { return uint64(v)-1 < d.mask() }

// permute takes a step of a permutation of 0 ..= 2^n−1. Zero stays out: the ID that would become 0
// becomes what 0 would. The error is a [*RangeError] for a v that is not in the domain.
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

// refuse is the error for a v that the domain does not have.
func (d Domain) refuse(v int64) error {
	if err := d.check(); err != nil {
		return err
	}
	return &RangeError{v, d}
}

// A RangeError is returned for a value that is not in a permutation's domain.
type RangeError struct {
	Value  int64
	Domain Domain
}

func (e *RangeError) Error() string {
	return fmt.Sprintf("scramble: %d is outside %v", e.Value, e.Domain)
}

// Constructors return a DomainError for a domain that is none of the constants. The methods of a
// permutation that no constructor made return it too.
type DomainError struct {
	Domain Domain
}

func (e *DomainError) Error() string {
	return fmt.Sprintf("scramble: unknown domain %d: want Int63 or Int53", int(e.Domain))
}
