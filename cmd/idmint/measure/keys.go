package measure

import (
	"bytes"
	"context"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

// A Key is a scheme of IDs in a form of storage. Make it with [Keys].
type Key struct {
	Scheme  string         `json:"scheme"` // as people call it: "eightbyte, SPREAD"
	Storage idtype.Storage `json:"storage"`
	Peer    bool           `json:"peer,omitempty"` // it is not ours

	size int // of the bytes and the text forms
	mint func(context.Context, Rhythm) (*IDs, error)
	// nil for a scheme without order by time
	bounds func(from, to time.Time) (first, last any, err error)
}

// Name is the scheme and, where there is a choice, the form: "sno as uuid".
func (k Key) Name() string {
	if k.Peer || k.Storage == idtype.StorageBigint && k.size == 0 {
		return k.Scheme
	}
	return k.Scheme + " as " + string(k.Storage)
}

// Alike reports whether the IDs are the same whatever the number of generators.
func (k Key) Alike() bool { return k.Peer && k.Storage != idtype.StorageBigint }

// A Rhythm is how IDs are minted.
type Rhythm struct {
	IDs        int
	Generators int // which mint at once, each the next ID with the same chance
	// IDs of all generators, on the average: the gaps are random, as those of requests are
	PerSecond int
	Start     time.Time // zero is a day of 2026
}

// IDs are minted IDs, in the order in which they were minted.
type IDs struct {
	Key     Key
	Minted  []int64 // when, in Unix nanoseconds
	at      func(i int) any
	compare func(i, j int) int
}

// Len is the number of IDs.
func (d *IDs) Len() int { return len(d.Minted) }

// At is the ID i in its own type, which database drivers take.
func (d *IDs) At(i int) any { return d.at(i) }

// Mint mints IDs of the key. The error is that of a generator or of the context.
func (k Key) Mint(ctx context.Context, r Rhythm) (*IDs, error) {
	ids, err := k.mint(ctx, r)
	if err == nil {
		ids.Key = k
	}
	return ids, err
}

type entity struct{}

// Keys lists what is measured: every scheme of ours in every form, and peers.
func Keys() []Key {
	return []Key{
		{
			Scheme: "decimal", Storage: idtype.StorageBigint,
			mint: minter(decimal, idtype.DecimalID.Compare),
		},
		{
			Scheme: "sequence", Storage: idtype.StorageBigint,
			mint: minter(sequence, idtype.SequenceID.Compare),
		},
		{
			Scheme: "trace", Storage: idtype.StorageBigint,
			mint: minter(trace, idtype.TraceID.Compare), bounds: traceBounds,
		},
		{
			Scheme: "short", Storage: idtype.StorageBigint,
			mint: minter(short, idtype.ShortID.Compare), bounds: bounds(
				idtype.MinShortID, idtype.MaxShortID, func(id idtype.ShortID) any { return id }),
		},
		eightByte[entity]("eightbyte", idtype.StorageBytes, idtype.EightByteTimeSequential),
		eightByte[idtype.AsBigint[entity]]("eightbyte", idtype.StorageBigint,
			idtype.EightByteTimeSequential),
		eightByte[entity]("eightbyte, SPREAD", idtype.StorageBytes, idtype.EightByteSpread),
		eightByte[idtype.AsBigint[entity]]("eightbyte, SPREAD", idtype.StorageBigint,
			idtype.EightByteSpread),
		sno[entity](idtype.StorageBytes, 10),
		sno[idtype.AsText[entity]](idtype.StorageText, 16),
		sno[idtype.AsUUID[entity]](idtype.StorageUUID, 16),
		{
			Scheme: "snowflake", Storage: idtype.StorageBigint, Peer: true,
			mint: minter(snowflake, snowflakeID.compare),
		},
		{
			Scheme: "UUIDv7", Storage: idtype.StorageUUID, Peer: true, size: 16,
			mint: minter(uuid7, compareUUID),
		},
		{
			Scheme: "UUIDv4", Storage: idtype.StorageUUID, Peer: true, size: 16,
			mint: minter(uuid4, compareUUID),
		},
		{
			Scheme: "ULID", Storage: idtype.StorageText, Peer: true, size: 26,
			mint: minter(ulid, ulidID.compare),
		},
	}
}

// Find is the key of a scheme in a form. It panics where there is none.
func Find(scheme string, form idtype.Storage) Key {
	for _, k := range Keys() {
		if k.Scheme == scheme && k.Storage == form {
			return k
		}
	}
	panic("measure: no key " + scheme + " as " + string(form))
}

// A source makes the generator i of n, on a clock that they share, and returns what mints an ID.
type source[T any] func(clock *generator.TestClock, i, n int) (func(context.Context) (T, error),
	error)

const launch = 65

// day is when IDs are minted unless somebody says otherwise.
var day = time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)

func minter[T any](
	from source[T], compare func(a, b T) int,
) func(context.Context, Rhythm) (*IDs, error) {
	return func(ctx context.Context, r Rhythm) (*IDs, error) {
		if r.Start.IsZero() {
			r.Start = day
		}
		// generators begin after the time in which they are made
		clock := generator.NewTestClock(r.Start.Add(-time.Minute))
		next := make([]func(context.Context) (T, error), r.Generators)
		for i := range next {
			var err error
			if next[i], err = from(clock, i, r.Generators); err != nil {
				return nil, err
			}
		}
		random := rand.New(rand.NewPCG(uint64(r.IDs), uint64(r.Generators)))
		ids, minted := make([]T, r.IDs), make([]int64, r.IDs)
		now := r.Start
		for i := range ids {
			if i%10_000 == 0 && ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			now = now.Add(time.Duration(
				random.ExpFloat64() / float64(r.PerSecond) * float64(time.Second)))
			// a generator may have slept into the time to come
			if now.UnixNano() > clock.UnixNano() {
				clock.Set(now)
			}
			var err error
			if ids[i], err = next[random.IntN(r.Generators)](ctx); err != nil {
				return nil, err
			}
			minted[i] = clock.UnixNano()
		}
		return &IDs{
			Minted: minted, at: func(i int) any { return ids[i] },
			compare: func(i, j int) int { return compare(ids[i], ids[j]) },
		}, nil
	}
}

// numbers gives a generator number once.
type number int

func (number) Launch() int { return launch }

func (n number) NextGenerator(context.Context) (int, error) { return int(n), nil }

func decimal(
	_ *generator.TestClock, i, _ int,
) (func(context.Context) (idtype.DecimalID, error), error) {
	g, err := generator.NewDecimal(number(i))
	if err != nil {
		return nil, err
	}
	return g.Next, nil
}

// blocks is the counter that sequences share, as a database would keep it. Blocks of a thousand are
// a database's work every tenth of a second.
const blockSize = 1_000

func sequence(
	_ *generator.TestClock, i, n int,
) (func(context.Context) (idtype.SequenceID, error), error) {
	// Generators take turns at blocks, which is what a counter does for generators of the same
	// speed.
	g, err := generator.NewSequence(
		&turns{next: int64(i*blockSize + 1), step: int64(n * blockSize)}, blockSize)
	if err != nil {
		return nil, err
	}
	return g.Next, nil
}

// turns is a counter's share of one generator.
type turns struct{ next, step int64 }

// a generator asks for one block at a time
func (c *turns) Reserve(context.Context, int64, int64) (int64, error) {
	first := c.next
	c.next += c.step
	return first, nil
}

func trace(
	clock *generator.TestClock, i, _ int,
) (func(context.Context) (idtype.TraceID, error), error) {
	g, err := generator.NewTrace(generator.Given(i+1), &generator.Options{Clock: clock})
	if err != nil {
		return nil, err
	}
	return g.Next, nil
}

// short shares the sequence numbers of a millisecond among the generators.
func short(
	clock *generator.TestClock, i, n int,
) (func(context.Context) (idtype.ShortID, error), error) {
	const all = idtype.ShortMaxSequence + 1
	pool := &generator.Pool{Min: i * all / n, Max: (i+1)*all/n - 1}
	g, err := generator.NewShort(generator.Given(struct{}{}),
		&generator.Options{Clock: clock, Pool: pool})
	if err != nil {
		return nil, err
	}
	return g.Next, nil
}

func eightByte[E any](scheme string, form idtype.Storage, mode idtype.EightByteMode) Key {
	k := Key{Scheme: scheme, Storage: form, size: 8}
	k.mint = minter(func(
		clock *generator.TestClock, i, _ int,
	) (func(context.Context) (idtype.EightByte[E], error), error) {
		g, err := generator.NewEightByte(mode,
			generator.Given(generator.EightBytePair{
				Generator: i, Cluster: 1,
			}), &generator.Options{Clock: clock})
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context) (idtype.EightByte[E], error) {
			id, err := g.Next(ctx)
			return idtype.EightByte[E](id), err
		}, nil
	}, idtype.EightByte[E].Compare)
	if mode == idtype.EightByteTimeSequential {
		k.bounds = bounds(idtype.MinEightByteID, idtype.MaxEightByteID,
			func(id idtype.EightByteID) any { return idtype.EightByte[E](id) })
	}
	return k
}

func sno[E any](form idtype.Storage, size int) Key {
	k := Key{Scheme: "sno", Storage: form, size: size}
	k.mint = minter(func(
		clock *generator.TestClock, i, _ int,
	) (func(context.Context) (idtype.Sno[E], error), error) {
		g, err := generator.NewSno(generator.Given(i+1), &generator.Options{Clock: clock})
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context) (idtype.Sno[E], error) {
			id, err := g.Next(ctx)
			return idtype.Sno[E](id), err
		}, nil
	}, idtype.Sno[E].Compare)
	k.bounds = bounds(idtype.MinSnoID, idtype.MaxSnoID,
		func(id idtype.SnoID) any { return idtype.Sno[E](id) })
	return k
}

// bounds makes the bounds of the times from ..< to, which are whole milliseconds.
func bounds[T any](
	lowest, highest func(time.Time) (T, error), typed func(T) any,
) func(from, to time.Time) (any, any, error) {
	return func(from, to time.Time) (any, any, error) {
		first, err := lowest(from)
		if err != nil {
			return nil, nil, err
		}
		last, err := highest(to.Add(-time.Millisecond))
		return typed(first), typed(last), err
	}
}

// traceBounds is of whole seconds. No span that is measured holds the end of the period.
func traceBounds(from, to time.Time) (any, any, error) {
	ranges, err := idtype.TraceBounds(from, to.Add(-time.Second))
	if err != nil {
		return nil, nil, err
	}
	return ranges[0].Min, ranges[0].Max, nil
}

func compareUUID(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) }
