package bench

import (
	"sync/atomic"
	"testing"
	"time"
)

// padded is a word on a cache line of its own.
type padded struct {
	_    [56]byte
	word uint64
	_    [56]byte
}

//go:noinline
func (p *padded) next() uint64 { return atomic.AddUint64(&p.word, 1) }

var start = time.Now()

// BenchmarkFloor is what generators are made of: none can be faster than the parts that it needs.
func BenchmarkFloor(b *testing.B) {
	b.Run("increment", func(b *testing.B) {
		measure(b, block, func() func() uint64 {
			p := new(padded)
			return func() uint64 {
				for range block {
					p.word++
				}
				return p.word
			}
		})
	})
	b.Run("atomic-add", func(b *testing.B) {
		p := new(padded)
		shared(b, block, func() (sum uint64) {
			for range block {
				sum ^= atomic.AddUint64(&p.word, 1)
			}
			return sum
		})
	})
	// what a function that is too large to be inlined adds
	b.Run("atomic-add-called", func(b *testing.B) {
		p := new(padded)
		shared(b, block, func() (sum uint64) {
			for range block {
				sum ^= p.next()
			}
			return sum
		})
	})
	b.Run("time.Since", func(b *testing.B) {
		shared(b, block, func() (sum uint64) {
			for range block {
				sum ^= uint64(time.Since(start))
			}
			return sum
		})
	})
	// What the targets of time schemes stand beside: a reading and an addition, one after another.
	b.Run("time.Since-then-add", func(b *testing.B) {
		p := new(padded)
		shared(b, block, func() (sum uint64) {
			for range block {
				sum ^= uint64(time.Since(start))
			}
			for range block {
				sum ^= p.next()
			}
			return sum
		})
	})
}
