package measure

import (
	"cmp"
	"context"
	"encoding/binary"
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

// uuid4 is RFC 9562's version 4: 122 random bits.
func uuid4(*generator.TestClock, int, int) (func(context.Context) (uuid.UUID, error), error) {
	return func(context.Context) (id uuid.UUID, _ error) {
		binary.BigEndian.PutUint64(id[:], rand.Uint64()&^0xf000|4<<12)
		binary.BigEndian.PutUint64(id[8:], 1<<63|rand.Uint64()>>2)
		return id, nil
	}, nil
}

// ulidID is a ULID's text: 48 bits of milliseconds and 80 random ones in Crockford's base 32.
type ulidID string

func (u ulidID) compare(other ulidID) int { return cmp.Compare(u, other) }

func ulid(clock *generator.TestClock, _, _ int) (func(context.Context) (ulidID, error), error) {
	const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	return func(context.Context) (ulidID, error) {
		var text [26]byte
		for part, at := uint64(milliseconds(clock)), 9; at >= 0; part, at = part>>5, at-1 {
			text[at] = digits[part&31]
		}
		for _, end := range []int{17, 25} {
			for part, at := rand.Uint64(), end; at > end-8; part, at = part>>5, at-1 {
				text[at] = digits[part&31]
			}
		}
		return ulidID(text[:]), nil
	}, nil
}

func milliseconds(clock *generator.TestClock) int64 {
	return clock.UnixNano() / int64(time.Millisecond)
}
