package measure

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

// A Key is a scheme of IDs in a form of storage. Make it with [Keys].
type Key struct {
	Scheme  string         `json:"scheme"` // as people call it: "eightbyte, SPREAD"
	Storage idtype.Storage `json:"storage"`
	Peer    bool           `json:"peer,omitempty"` // it is not ours

	byServer bool     // the database gives the key
	alike    bool     // see Alike
	only     dsn.Kind // the one database that has it as a form of its own; "" is all
	size     int      // of the bytes and the text forms
	mint     func(context.Context, Rhythm) (*IDs, error)
	// nil for a scheme without order by time
	bounds func(from, to time.Time) (first, last any, err error)
}

// Name is the scheme and, where there is a choice, the form: "sno as uuid".
func (k Key) Name() string {
	if k.Peer && k.Storage == idtype.StorageUUID ||
		k.Storage == idtype.StorageBigint && k.size == 0 {
		return k.Scheme
	}
	return k.Scheme + " as " + string(k.Storage)
}

// Alike reports whether the IDs are the same whatever the number of generators.
func (k Key) Alike() bool { return k.byServer || k.alike }

// A Rhythm is how IDs are minted.
type Rhythm struct {
	IDs        int
	Generators int // which mint at once, each the next ID with the same chance
	// IDs of all generators, on the average: the gaps are random, as those of requests are
	PerSecond int
	Start     time.Time // zero is a day of 2026
	// Deployments of decimal IDs come one after another, each with generators of its own for its
	// share. Zero is one. It is not for other schemes.
	Deployments int
	// Apart has decimal generators begin at 1 each, without the launch log.
	Apart bool
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

// The schemes whose keys the database gives.
const (
	// Serial is a column that counts up by itself, which others are compared with. It is an
	// identity column of PostgreSQL, AUTO_INCREMENT of MariaDB, INTEGER PRIMARY KEY of SQLite.
	Serial = "serial"
	// ServerV7 is PostgreSQL 18's function as the column's default.
	ServerV7 = "uuidv7()"
	// ClickHouseV7 is ClickHouse's function. The keys are laid out as it does, and minted here, so
	// that they have the times of the others.
	ClickHouseV7 = "generateUUIDv7()"
)

type entity struct{}

// Keys lists what is measured: every scheme of ours in every form, and peers.
func Keys() []Key {
	return []Key{
		{
			Scheme: "decimal", Storage: idtype.StorageBigint,
			mint: func(ctx context.Context, r Rhythm) (*IDs, error) {
				from := decimal(new(registers))
				if r.Apart {
					from = apart
				}
				return minter(from, idtype.DecimalID.Compare)(ctx, r)
			},
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
			mint: minter(snowflake, snowflakeID.compare), bounds: snowflakeBounds,
		},
		{
			Scheme: "UUIDv7", Storage: idtype.StorageUUID, Peer: true, size: 16, alike: true,
			mint: minter(uuid7, compareUUID), bounds: uuid7Bounds,
		},
		{ // its order in ClickHouse, where a column of UUIDs has another
			Scheme: "UUIDv7", Storage: idtype.StorageBytes, Peer: true, size: 16, alike: true,
			only: dsn.ClickHouse, mint: minter(uuid7Bytes, bytes16.compare),
			bounds: bytesBounds(uuid7Bounds),
		},
		{
			Scheme: ClickHouseV7, Storage: idtype.StorageUUID, Peer: true, size: 16, alike: true,
			only: dsn.ClickHouse, mint: func(ctx context.Context, r Rhythm) (*IDs, error) {
				return minter(uuid7Counted(new(counted)), compareUUID)(ctx, r)
			},
		},
		{
			Scheme: "UUIDv4", Storage: idtype.StorageUUID, Peer: true, size: 16, alike: true,
			mint: minter(uuid4, compareUUID),
		},
		{
			Scheme: "ULID", Storage: idtype.StorageBytes, Peer: true, size: 16,
			mint: minter(ulid, bytes16.compare), bounds: ulidBounds,
		},
		{
			Scheme: "ULID", Storage: idtype.StorageText, Peer: true, size: 26,
			mint: minter(ulidOfText, ulidText.compare),
		},
	}
}

// Keys lists those of [Keys] that the database has a column for.
func (d *Database) Keys() []Key {
	return slices.DeleteFunc(Keys(), func(k Key) bool { return k.only != "" && k.only != d.Kind })
}

// ServerKeys lists the keys that the database gives by itself, [Serial] first.
func (d *Database) ServerKeys() []Key {
	if d.Kind == dsn.ClickHouse {
		return nil
	}
	keys := []Key{{
		Scheme: Serial, Storage: idtype.StorageBigint, Peer: true, byServer: true, mint: numbers,
	}}
	if d.uuidv7 {
		keys = append(keys, Key{
			Scheme: ServerV7, Storage: idtype.StorageUUID, Peer: true, byServer: true,
			mint: numbers,
		})
	}
	return keys
}

// numbers are rows without keys.
func numbers(_ context.Context, r Rhythm) (*IDs, error) {
	return &IDs{Minted: make([]int64, r.IDs), at: func(int) any { return nil }}, nil
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

// A source makes the generator i of n, on a clock that they share, and returns what mints an ID. A
// further deployment has the generators from n on, and so on.
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
		deployed, share := 0, r.IDs/max(r.Deployments, 1)
		deploy := func() (err error) {
			for i := range next {
				if next[i], err = from(clock, deployed*r.Generators+i, r.Generators); err != nil {
					return err
				}
			}
			deployed++
			return nil
		}
		random := rand.New(rand.NewPCG(uint64(r.IDs), uint64(r.Generators)))
		ids, minted := make([]T, r.IDs), make([]int64, r.IDs)
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

// registers keep how far the counters of decimal IDs have come, as a launch log does. One goroutine
// uses them.
type registers struct {
	highest [2]int64
	running []*looker
}

// A looker is a generator that looks at the registers now and then.
type looker struct {
	*generator.Decimal
	number    int
	last, due int64  // its last look and its next, in Unix nanoseconds; 0 before the first
	taken     uint64 // at the last
	pause     time.Duration
}

// firstLook is after a generator took its number.
const firstLook = 100 * time.Millisecond

// look has generators look at the registers that are to do so by now. They do so as often as a
// Decimal with others beside it, by the simulated clock. Close is a look.
func (r *registers) look(ctx context.Context, now int64) (err error) {
	for i, g := range r.running {
		if g.due == 0 { // time begins with the first ID; they look one after another
			g.last = now
			g.due = now + int64(firstLook)*int64(i+1)/int64(len(r.running))
		}
		if now < g.due {
			continue
		}
		err = errors.Join(err, g.Close(ctx))
		most, taken := 10*time.Second, g.Stats().Taken
		minted := time.Duration(taken - g.taken)
		if minted >= 10 {
			most = time.Second
		}
		if minted > 0 && len(r.running) > 1 && g.number < 8 {
			most = min(most, max(20*time.Millisecond, time.Duration(now-g.last)*32/minted))
		}
		g.pause = min(2*g.pause, most)
		g.last, g.due, g.taken = now, now+int64(g.pause), taken
	}
	return err
}

// number gives a generator number once, of the launch of its deployment.
type number struct {
	*registers
	launch, number int
}

func (n number) Launch() int { return n.launch }

func (n number) NextGenerator(context.Context) (int, error) { return n.number, nil }

func (n number) Hint(_ context.Context, epoch int, counter int64) (int64, error) {
	before := n.highest[epoch]
	n.highest[epoch] = max(before, counter)
	return before, nil
}

// decimal makes generators of which a deployment's report before those of the next begin. They look
// at the registers by the simulated clock: by the system's, what they mint would depend on this
// machine's speed.
func decimal(all *registers) source[idtype.DecimalID] {
	return func(
		clock *generator.TestClock, i, n int,
	) (func(context.Context) (idtype.DecimalID, error), error) {
		ctx := context.Background()
		if i%n == 0 {
			if err := all.look(ctx, math.MaxInt64); err != nil {
				return nil, err
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
		all.running = append(all.running, &looker{Decimal: g, number: i % n, pause: firstLook})
		return func(ctx context.Context) (idtype.DecimalID, error) {
			if err := all.look(ctx, clock.UnixNano()); err != nil {
				return 0, err
			}
			return g.Next(ctx)
		}, nil
	}
}

// apart makes generators that begin at 1, and hear nothing of each other.
func apart(_ *generator.TestClock, i, n int) (
	func(context.Context) (idtype.DecimalID, error), error,
) {
	g, err := generator.NewDecimal(
		generator.FromOne(number{new(registers), launch + i/n, i % n}))
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
