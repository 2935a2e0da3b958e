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

// A Key is a scheme of IDs in a form of storage. Make it with [Keys].
type Key struct {
	Scheme  string         `json:"scheme"` // as people call it: "eightbyte, SPREAD"
	Storage idtype.Storage `json:"storage"`

	size int // of the bytes and the text forms
	mint func(context.Context, Rhythm) (*IDs, error)
}

// What schemes are compared with.
const (
	// Serial is a column that counts up by itself: an identity column of PostgreSQL, AUTO_INCREMENT
	// of MariaDB, INTEGER PRIMARY KEY of SQLite. ClickHouse has none.
	Serial = "serial"
	// UUIDv7 is RFC 9562's version 7 as google/uuid makes it.
	UUIDv7 = "UUIDv7"
)

// Peer reports whether the key is not ours.
func (k Key) Peer() bool { return k.Scheme == Serial || k.Scheme == UUIDv7 }

// Name is the scheme and, where there is a choice, the form: "sno as uuid".
func (k Key) Name() string {
	if k.Peer() || k.Storage == idtype.StorageBigint && k.size == 0 {
		return k.Scheme
	}
	return k.Scheme + " as " + string(k.Storage)
}

// A Rhythm is how IDs are minted.
type Rhythm struct {
	IDs        int
	Generators int // which mint at once, each the next ID with the same chance
	// IDs of all generators, on the average: the gaps are random, as those of requests are
	PerSecond int
	Start     time.Time // zero is a day of 2026
	// Deployments come one after another, each with generators of its own for its share. Zero is
	// one.
	Deployments int
}

// IDs are minted IDs, in the order in which they were minted.
type IDs struct {
	Key     Key
	n       int
	at      func(i int) any
	compare func(i, j int) int
}

// Len is the number of IDs.
func (d *IDs) Len() int { return d.n }

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

// Keys lists what is measured: every scheme of ours in every form, and UUIDv7.
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

// Keys lists [Serial], where the database has it, and then [Keys].
func (d *Database) Keys() []Key {
	if d.Kind == dsn.ClickHouse {
		return Keys()
	}
	numbers := func(_ context.Context, r Rhythm) (*IDs, error) {
		return &IDs{n: r.IDs}, nil
	}
	return append([]Key{{Scheme: Serial, Storage: idtype.StorageBigint, mint: numbers}}, Keys()...)
}

// Find is the key of the database with the name. It panics where there is none.
func (d *Database) Find(name string) Key {
	for _, k := range d.Keys() {
		if k.Name() == name {
			return k
		}
	}
	panic("measure: no key " + name)
}

// A source makes the generator i of n, on a clock that they share, and returns what mints an ID. A
// further deployment has the generators from n on, and so on.
type source[T any] func(clock *testclock.Clock, i, n int) (next[T], error)

type next[T any] func(context.Context) (T, error)

// nextOf is the method of a generator that was made, or an error.
func nextOf[T any, G interface {
	Next(context.Context) (T, error)
}](g G, err error) (next[T], error) {
	if err != nil {
		return nil, err
	}
	return g.Next, nil
}

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
			// a generator may have slept into the time to come
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

// A register keeps how far the counters of decimal IDs have come, as a launch log does. One
// goroutine uses it.
type register struct {
	value, looks int64
	running      []*generator.Decimal
}

// A number gives a generator number once, of the launch of its deployment.
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

// decimal makes generators of which a deployment's report before those of the next begin. Each
// looks at the register each second, as a Decimal does, but by the simulated clock. Close is a look.
func (all *register) decimal(clock *testclock.Clock, i, n int) (next[idtype.DecimalID], error) {
	ctx := context.Background()
	if i == 0 { // IDs are minted anew
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

// blockSize is that of a sequence: a database's work every tenth of a second.
const blockSize = 1_000

// A counter is that of a sequence, as a database keeps it. One goroutine uses it.
type counter struct{ last int64 }

// a generator asks for one block at a time
func (c *counter) Reserve(context.Context, int64, int64) (int64, error) {
	c.last += blockSize
	return c.last - blockSize + 1, nil
}

func (c *counter) Last(context.Context) (int64, error) { return c.last, nil }

func (c *counter) sequence(_ *testclock.Clock, i, _ int) (next[idtype.SequenceID], error) {
	if i == 0 { // IDs are minted anew
		c.last = 0
	}
	return nextOf(generator.NewSequence(c, blockSize))
}

func trace(clock *testclock.Clock, i, _ int) (next[idtype.TraceID], error) {
	return nextOf(generator.NewTrace(generator.Given(i+1), &generator.Options{Clock: clock}))
}

// short shares the sequence numbers of a millisecond among the generators.
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

// uuid7 has milliseconds, their fraction in 12 bits, and 62 random bits. It is laid out here, since
// google/uuid takes no clock. Random bits are of a fast source: to a database they are as random as
// others.
func uuid7(clock *testclock.Clock, _, _ int) (next[uuid.UUID], error) {
	return func(context.Context) (id uuid.UUID, _ error) {
		ms, part := clock.UnixNano()/1e6, clock.UnixNano()%1e6
		binary.BigEndian.PutUint64(id[:], uint64(ms)<<16|7<<12|uint64(part*4096/1e6))
		binary.BigEndian.PutUint64(id[8:], 1<<63|rand.Uint64()>>2)
		return id, nil
	}, nil
}
