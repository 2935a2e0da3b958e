package measure

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/testclock"
)

// A Key is a scheme of IDs in a form of storage. [Keys] returns all keys.
type Key struct {
	Scheme  string         `json:"scheme"` // for people, such as "eightbyte, SPREAD"
	Storage idtype.Storage `json:"storage"`

	size int // of forms in bytes and text
	mint func(context.Context, Rhythm) (*IDs, error)
}

// The keys with which schemes are compared.
const (
	// Serial is a column that the database counts up: an identity column in PostgreSQL,
	// AUTO_INCREMENT in MariaDB, and INTEGER PRIMARY KEY in SQLite. ClickHouse has none.
	Serial = "serial"
	// UUIDv7 is version 7 of RFC 9562, as google/uuid generates it.
	UUIDv7 = "UUIDv7"
)

// Peer reports whether the key is not a scheme of idmint.
func (k Key) Peer() bool { return k.Scheme == Serial || k.Scheme == UUIDv7 }

// Name returns the scheme and, if it has several, the form: "sno as uuid".
func (k Key) Name() string {
	if k.Peer() || k.Storage == idtype.StorageBigint && k.size == 0 {
		return k.Scheme
	}
	return k.Scheme + " as " + string(k.Storage)
}

// A Rhythm says how IDs are minted.
type Rhythm struct {
	IDs        int
	Generators int // mint at once, each the next ID with the same probability
	// average of IDs of all generators; the gaps are random, as between requests
	PerSecond int
	Start     time.Time // zero means a day in 2026
	// Deployments follow one another, each with new generators for its share of the IDs. Zero means
	// one.
	Deployments int
}

// IDs holds IDs in the order in which they were minted.
type IDs struct {
	Key     Key
	n       int
	at      func(i int) any
	compare func(i, j int) int
}

// Len returns the number of IDs.
func (d *IDs) Len() int { return d.n }

// At returns the ID with index i in its own type, which database drivers accept.
func (d *IDs) At(i int) any { return d.at(i) }

// Mint mints IDs of the key. The error comes from a generator or from the context.
func (k Key) Mint(ctx context.Context, r Rhythm) (*IDs, error) {
	ids, err := k.mint(ctx, r)
	if err == nil {
		ids.Key = k
	}
	return ids, err
}

type entity struct{}

// Keys lists what is measured: every scheme in every form, and UUIDv7.
func Keys() []Key {
	const bigint = idtype.StorageBigint
	return []Key{
		{"decimal", bigint, 0, minter(new(register).decimal, idtype.Compare[idtype.DecimalID])},
		{"sequence", bigint, 0, minter(new(counter).sequence, idtype.Compare[idtype.SequenceID])},
		{"trace", bigint, 0, minter(trace, idtype.Compare[idtype.TraceID])},
		{"short", bigint, 0, minter(short, idtype.Compare[idtype.ShortID])},
		{"snowflake", bigint, 0, minter(snowflake, idtype.Compare[idtype.SnowflakeID])},
		eightByte[entity]("eightbyte", idtype.StorageBytes, idtype.EightByteTimeSequential),
		eightByte[idtype.AsBigint[entity]]("eightbyte", bigint, idtype.EightByteTimeSequential),
		eightByte[entity]("eightbyte, SPREAD", idtype.StorageBytes, idtype.EightByteSpread),
		eightByte[idtype.AsBigint[entity]]("eightbyte, SPREAD", bigint, idtype.EightByteSpread),
		sno[entity](idtype.StorageBytes, 10),
		sno[idtype.AsText[entity]](idtype.StorageText, 16),
		sno[idtype.AsUUID[entity]](idtype.StorageUUID, 16),
		{UUIDv7, idtype.StorageUUID, 16, minter(uuid7, func(a, b uuid.UUID) int {
			return bytes.Compare(a[:], b[:])
		})},
	}
}

// Keys lists [Serial], if the database has it, and then [Keys].
func (d *Database) Keys() []Key {
	if d.Kind == dsn.ClickHouse {
		return Keys()
	}
	numbers := func(_ context.Context, r Rhythm) (*IDs, error) {
		return &IDs{n: r.IDs}, nil
	}
	return append([]Key{{Scheme: Serial, Storage: idtype.StorageBigint, mint: numbers}}, Keys()...)
}

// Find returns the key with the name. It panics if the database has no such key.
func (d *Database) Find(name string) Key {
	for _, k := range d.Keys() {
		if k.Name() == name {
			return k
		}
	}
	panic("measure: no key " + name)
}

// A source creates the generator i of n, with a clock that they share, and returns the function
// that mints an ID. The second deployment has the generators from n on, and so on.
type source[T any] func(clock *testclock.Clock, i, n int) (next[T], error)

type next[T any] func(context.Context) (T, error)

// nextOf returns the method Next of a generator, unless there was an error.
func nextOf[T any, G interface {
	Next(context.Context) (T, error)
}](g G, err error) (next[T], error) {
	if err != nil {
		return nil, err
	}
	return g.Next, nil
}

const launch = 65

// day is when IDs are minted by default.
var day = time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)

func minter[T any](
	from source[T], compare func(a, b T) int,
) func(context.Context, Rhythm) (*IDs, error) {
	return func(ctx context.Context, r Rhythm) (*IDs, error) {
		if r.Start.IsZero() {
			r.Start = day
		}
		// generators mint only after the time at which they are created
		clock := testclock.New(r.Start.Add(-time.Minute))
		generators := make([]next[T], r.Generators)
		deployed, share := 0, r.IDs/max(r.Deployments, 1)
		deploy := func() (err error) {
			for i := range generators {
				if generators[i], err = from(clock, deployed*r.Generators+i, r.Generators); err != nil {
					return err
				}
			}
			deployed++
			return nil
		}
		random := rand.New(rand.NewPCG(uint64(r.IDs), uint64(r.Generators)))
		ids := make([]T, r.IDs)
		now := r.Start
		for i := range ids {
			if i%10_000 == 0 && ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if deployed == 0 || deployed < r.Deployments && i == deployed*share {
				if err := deploy(); err != nil {
					return nil, err
				}
			}
			now = now.Add(time.Duration(
				random.ExpFloat64() / float64(r.PerSecond) * float64(time.Second)))
			// a generator may have slept past now
			if now.UnixNano() > clock.UnixNano() {
				clock.Set(now)
			}
			var err error
			if ids[i], err = generators[random.IntN(r.Generators)](ctx); err != nil {
				return nil, err
			}
		}
		return &IDs{
			n: len(ids), at: func(i int) any { return ids[i] },
			compare: func(i, j int) int { return compare(ids[i], ids[j]) },
		}, nil
	}
}

// A register keeps how far the counters of decimal IDs have come, as a launch log does. Only one
// goroutine may use it.
type register struct {
	value, looks int64
	running      []*generator.Decimal
}

// A number hands out a generator number of its deployment's launch once.
type number struct {
	*register
	launch, number int
}

func (n number) NextGenerator(context.Context) (launch, number int, err error) {
	return n.launch, n.number, nil
}

func (n number) Order(_ context.Context, reached int64) (is, looks int64, err error) {
	n.value, n.looks = max(n.value, reached), n.looks+1
	return n.value, n.looks, nil
}

// decimal creates generators. Those of a deployment report before those of the next one begin. Each
// looks at the register every second, as a Decimal does, but by the simulated clock. A call of
// Close is such a look.
func (all *register) decimal(clock *testclock.Clock, i, n int) (next[idtype.DecimalID], error) {
	ctx := context.Background()
	if i == 0 { // a new run
		*all = register{}
	}
	if i%n == 0 {
		for _, g := range all.running {
			if err := g.Close(ctx); err != nil {
				return nil, err
			}
		}
		all.running = nil
	}
	g, err := generator.NewDecimal(number{all, launch + i/n, i % n})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(g.Ready(ctx), g.Close(ctx)); err != nil {
		return nil, err
	}
	all.running = append(all.running, g)
	last := clock.UnixNano()
	return func(ctx context.Context) (idtype.DecimalID, error) {
		if now := clock.UnixNano(); time.Duration(now-last) >= time.Second {
			last = now
			if err := g.Close(ctx); err != nil {
				return 0, err
			}
		}
		return g.Next(ctx)
	}, nil
}

// blockSize is the block size of a sequence, which costs the database one call every tenth of a
// second.
const blockSize = 1_000

// A counter is a sequence's counter, as a database keeps it. Only one goroutine may use it.
type counter struct{ last int64 }

// Reserve returns the next block. A generator asks for one block at a time.
func (c *counter) Reserve(context.Context, int64, int64) (int64, error) {
	c.last += blockSize
	return c.last - blockSize + 1, nil
}

func (c *counter) Last(context.Context) (int64, error) { return c.last, nil }

func (c *counter) sequence(_ *testclock.Clock, i, _ int) (next[idtype.SequenceID], error) {
	if i == 0 { // a new run
		c.last = 0
	}
	return nextOf(generator.NewSequence(c, blockSize))
}

func trace(clock *testclock.Clock, i, _ int) (next[idtype.TraceID], error) {
	return nextOf(generator.NewTrace(generator.Given(i+1), &generator.Options{Clock: clock}))
}

// short divides the sequence numbers of a millisecond among the generators.
func short(clock *testclock.Clock, i, n int) (next[idtype.ShortID], error) {
	const all = 512
	pool := &generator.Pool{Min: i % n * all / n, Max: (i%n+1)*all/n - 1}
	return nextOf(generator.NewShort(generator.Given(struct{}{}),
		&generator.Options{Clock: clock, Pool: pool}))
}

func snowflake(clock *testclock.Clock, i, _ int) (next[idtype.SnowflakeID], error) {
	return nextOf(generator.NewSnowflake(generator.Given(i), &generator.Options{Clock: clock}))
}

func eightByte[E any](scheme string, form idtype.Storage, mode idtype.EightByteMode) Key {
	return Key{scheme, form, 8, minter(func(
		clock *testclock.Clock, i, _ int,
	) (next[idtype.EightByte[E]], error) {
		mint, err := nextOf(generator.NewEightByte(mode,
			generator.Given(generator.EightBytePair{Generator: i, Cluster: 1}),
			&generator.Options{Clock: clock}))
		return func(ctx context.Context) (idtype.EightByte[E], error) {
			id, err := mint(ctx)
			return idtype.EightByte[E](id), err
		}, err
	}, idtype.Compare[idtype.EightByte[E]])}
}

func sno[E any](form idtype.Storage, size int) Key {
	return Key{"sno", form, size, minter(func(
		clock *testclock.Clock, i, _ int,
	) (next[idtype.Sno[E]], error) {
		mint, err := nextOf(generator.NewSno(generator.Given(i+1), &generator.Options{Clock: clock}))
		return func(ctx context.Context) (idtype.Sno[E], error) {
			id, err := mint(ctx)
			return idtype.Sno[E](id), err
		}, err
	}, idtype.Compare[idtype.Sno[E]])}
}

// uuid7 mints UUIDs of milliseconds, their fraction in 12 bits, and 62 random bits. It does not use
// google/uuid, which accepts no clock. The random bits come from a fast source, because for a
// database they are as random as others.
func uuid7(clock *testclock.Clock, _, _ int) (next[uuid.UUID], error) {
	return func(context.Context) (id uuid.UUID, _ error) {
		ms, part := clock.UnixNano()/1e6, clock.UnixNano()%1e6
		binary.BigEndian.PutUint64(id[:], uint64(ms)<<16|7<<12|uint64(part*4096/1e6))
		binary.BigEndian.PutUint64(id[8:], 1<<63|rand.Uint64()>>2)
		return id, nil
	}, nil
}
