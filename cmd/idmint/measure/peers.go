package measure

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"github.com/idmint/idmint/generator"
)

// The peers are laid out here, because their own generators take no clock. Random bits are of a
// fast source: to a database they are as random as others.

// snowflakeID is Twitter's: 41 bits of milliseconds since 2010-11-04, 10 of the worker, 12 of a
// sequence within the millisecond.
type snowflakeID int64

const snowflakeEpoch = 1_288_834_974_657

func (s snowflakeID) compare(other snowflakeID) int { return cmp.Compare(s, other) }

func snowflake(
	clock *generator.TestClock, i, _ int,
) (func(context.Context) (snowflakeID, error), error) {
	var last, sequence int64
	return func(ctx context.Context) (snowflakeID, error) {
		if sequence++; milliseconds(clock) != last {
			sequence = 0
		}
		if sequence == 1<<12 {
			sequence = 0
			if err := clock.Sleep(ctx, time.Millisecond); err != nil {
				return 0, err
			}
		}
		last = milliseconds(clock)
		return snowflakeID((last-snowflakeEpoch)<<22 | int64(i)<<12 | sequence), nil
	}, nil
}

// uuid7 is RFC 9562's version 7 with method 3, as google/uuid makes it: milliseconds, their
// fraction in 12 bits, 62 random bits.
func uuid7(clock *generator.TestClock, _, _ int) (func(context.Context) (uuid.UUID, error), error) {
	return func(context.Context) (id uuid.UUID, _ error) {
		nano := clock.UnixNano()
		fraction := nano % int64(time.Millisecond) * (1 << 12) / int64(time.Millisecond)
		binary.BigEndian.PutUint64(id[:], uint64(milliseconds(clock))<<16|7<<12|uint64(fraction))
		binary.BigEndian.PutUint64(id[8:], 1<<63|rand.Uint64()>>2)
		return id, nil
	}, nil
}

// counted is the counter of UUIDs that a server keeps for all its clients.
type counted struct{ ms, counter uint64 }

// uuid7Counted is version 7 as ClickHouse's generateUUIDv7 makes it: a counter of 42 bits, and 32
// random ones. The counter begins at a random value in each millisecond.
func uuid7Counted(c *counted) source[uuid.UUID] {
	return func(clock *generator.TestClock, _, _ int) (
		func(context.Context) (uuid.UUID, error), error,
	) {
		return func(context.Context) (id uuid.UUID, _ error) {
			if ms := uint64(milliseconds(clock)); ms != c.ms {
				c.ms, c.counter = ms, rand.Uint64()>>(64-41) // one bit less, which leaves room
			}
			c.counter++
			binary.BigEndian.PutUint64(id[:], c.ms<<16|7<<12|c.counter>>30)
			binary.BigEndian.PutUint64(id[8:],
				1<<63|c.counter&(1<<30-1)<<32|uint64(rand.Uint32()))
			return id, nil
		}, nil
	}
}

// uuid4 is RFC 9562's version 4: 122 random bits.
func uuid4(*generator.TestClock, int, int) (func(context.Context) (uuid.UUID, error), error) {
	return func(context.Context) (id uuid.UUID, _ error) {
		binary.BigEndian.PutUint64(id[:], rand.Uint64()&^0xf000|4<<12)
		binary.BigEndian.PutUint64(id[8:], 1<<63|rand.Uint64()>>2)
		return id, nil
	}, nil
}

// bytes16 are 16 bytes that sort from the first on.
type bytes16 [16]byte

func (b bytes16) compare(other bytes16) int { return bytes.Compare(b[:], other[:]) }

func uuid7Bytes(clock *generator.TestClock, i, n int) (
	func(context.Context) (bytes16, error), error,
) {
	next, err := uuid7(clock, i, n)
	return func(ctx context.Context) (bytes16, error) {
		id, err := next(ctx)
		return bytes16(id), err
	}, err
}

// ulid is a ULID as oklog/ulid's Make makes it: 48 bits of milliseconds and 80 more. These are random
// in the first ULID of a generator's millisecond. The next ones add up to 2^32, so that a process
// has its IDs in order.
func ulid(clock *generator.TestClock, _, _ int) (func(context.Context) (bytes16, error), error) {
	var last, high, low uint64
	return func(context.Context) (id bytes16, _ error) {
		if ms := uint64(milliseconds(clock)); ms != last {
			last, high, low = ms, rand.Uint64()>>49, rand.Uint64()
		} else {
			var carry uint64
			low, carry = bits.Add64(low, 1+uint64(rand.Uint32()), 0)
			high += carry // it began below half of its 16 bits
		}
		binary.BigEndian.PutUint64(id[:], last<<16|high)
		binary.BigEndian.PutUint64(id[8:], low)
		return id, nil
	}, nil
}

// ulidText is a ULID in Crockford's base 32: 26 digits of 5 bits, of which the first has 3.
type ulidText string

func (u ulidText) compare(other ulidText) int { return cmp.Compare(u, other) }

func ulidOfText(
	clock *generator.TestClock, i, n int,
) (func(context.Context) (ulidText, error), error) {
	next, err := ulid(clock, i, n)
	return func(ctx context.Context) (ulidText, error) {
		id, err := next(ctx)
		return id.text(), err
	}, err
}

func (b bytes16) text() ulidText {
	const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	high, low := binary.BigEndian.Uint64(b[:]), binary.BigEndian.Uint64(b[8:])
	var text [26]byte
	for at := len(text) - 1; at >= 0; at-- {
		text[at] = digits[low&31]
		low, high = low>>5|high<<59, high>>5
	}
	return ulidText(text[:])
}

// The bounds of peers are the lowest and the highest ID of the times from ..< to, which are whole
// milliseconds.

func snowflakeBounds(from, to time.Time) (first, last any, err error) {
	return snowflakeID(from.UnixMilli()-snowflakeEpoch) << 22,
		snowflakeID(to.UnixMilli()-snowflakeEpoch)<<22 - 1, nil
}

func uuid7Bounds(from, to time.Time) (first, last any, err error) {
	var low, high uuid.UUID
	binary.BigEndian.PutUint64(low[:], uint64(from.UnixMilli())<<16|7<<12)
	binary.BigEndian.PutUint64(low[8:], 1<<63)
	binary.BigEndian.PutUint64(high[:], uint64(to.UnixMilli()-1)<<16|7<<12|0xfff)
	binary.BigEndian.PutUint64(high[8:], 1<<63|(1<<62-1))
	return low, high, nil
}

// bytesBounds are those of UUIDs as bytes.
func bytesBounds(
	of func(from, to time.Time) (any, any, error),
) func(from, to time.Time) (any, any, error) {
	return func(from, to time.Time) (any, any, error) {
		first, last, err := of(from, to)
		if err != nil {
			return nil, nil, err
		}
		return bytes16(first.(uuid.UUID)), bytes16(last.(uuid.UUID)), nil
	}
}

func ulidBounds(from, to time.Time) (first, last any, err error) {
	var low, high bytes16
	binary.BigEndian.PutUint64(low[:], uint64(from.UnixMilli())<<16)
	binary.BigEndian.PutUint64(high[:], uint64(to.UnixMilli())<<16-1)
	binary.BigEndian.PutUint64(high[8:], 1<<64-1)
	return low, high, nil
}

func milliseconds(clock *generator.TestClock) int64 {
	return clock.UnixNano() / int64(time.Millisecond)
}
