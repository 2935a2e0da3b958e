package generator_test

import (
	"context"
	"math/bits"
	"math/rand/v2"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

// A scheme is what the tests of uniqueness know of one whose IDs carry the time. N are its numbers, T its IDs.
type scheme[N, T any] struct {
	name   string
	unit   time.Duration
	end    time.Time      // the first one that the layout does not have
	span   time.Duration  // over which IDs are unique, or longer than any test
	slots  generator.Pool // all there are
	number func(i int) N  // as a store counts them, from 0
	make   func(generator.Windows[N], *generator.Options) (generatorOf[T], error)
	of     func(T) int // the number in an ID
	key    func(T) key
}

// A key is what has to be unique of an ID, as a number: those of neighbouring slots are neighbours.
type key struct{ high, low uint64 }

// A generatorOf is a generator of the IDs T.
type generatorOf[T any] interface {
	minter[T]
	states
}

type nexter[T any] interface {
	Next(context.Context) (T, error)
}

const year = 365 * 24 * time.Hour

var traces = scheme[int, idtype.TraceID]{
	name: "trace", unit: time.Second, end: time.Unix(1<<33, 0), span: (idtype.TraceMaxTimestamp + 1) * time.Second,
	slots:  generator.Pool{Min: 1, Max: idtype.TraceMaxBottom},
	number: func(i int) int { return i },
	make: func(w generator.Windows[int], o *generator.Options) (generatorOf[idtype.TraceID], error) {
		return generator.NewTrace(w, o)
	},
	of:  func(id idtype.TraceID) int { return id.Node() },
	key: func(id idtype.TraceID) key { return key{0, uint64(id)} },
}

var eightBytes = []scheme[generator.EightBytePair, idtype.EightByteID]{
	eightByteIn(idtype.EightByteSpread), eightByteIn(idtype.EightByteTimeSequential),
}

func eightByteIn(mode idtype.EightByteMode) scheme[generator.EightBytePair, idtype.EightByteID] {
	return scheme[generator.EightBytePair, idtype.EightByteID]{
		name: "eightbyte " + mode.String(), unit: time.Millisecond, end: time.UnixMilli(idtype.EightByteMaxUnixMs + 1), span: 20 * year,
		slots: generator.Pool{Max: idtype.EightByteMaxSequence},
		number: func(i int) generator.EightBytePair {
			return generator.EightBytePair{Generator: i / 16, Cluster: i % 16}
		},
		make: func(w generator.Windows[generator.EightBytePair], o *generator.Options) (generatorOf[idtype.EightByteID], error) {
			return generator.NewEightByte(mode, w, o)
		},
		of: func(id idtype.EightByteID) int { return id.Generator()*16 + id.Cluster() },
		// The 64 bits in another order: those of the generator, the mode and the cluster, the time, in either mode with the
		// highest bit first, and the sequence.
		key: func(id idtype.EightByteID) key {
			const modeBit, tail = 1 << 12, 1<<22 - 1
			n := id.Uint64()
			if n&modeBit == 0 {
				n = bits.Reverse64(n&^tail)<<22 | n&tail
			}
			return key{0, n<<48 | n>>16}
		},
	}
}

// shorts are compared without their random bits, which only hide repeats.
var shorts = scheme[struct{}, idtype.ShortID]{
	name: "short", unit: time.Millisecond, end: time.UnixMilli(idtype.ShortMaxUnixMs + 1), span: 20 * year,
	slots:  generator.Pool{Max: idtype.ShortMaxSequence},
	number: func(int) struct{} { return struct{}{} },
	make: func(w generator.Windows[struct{}], o *generator.Options) (generatorOf[idtype.ShortID], error) {
		return generator.NewShort(w, o)
	},
	of:  func(idtype.ShortID) int { return 0 },
	key: func(id idtype.ShortID) key { return key{0, uint64(id) / idtype.ShortSequenceStep} },
}

// snos have all metabytes, and are compared without them.
var snos = scheme[int, idtype.SnoID]{
	name: "sno", unit: idtype.SnoTimeUnit * time.Millisecond, end: time.UnixMilli(idtype.SnoMaxUnixMs + 1),
	span:   20 * year,
	slots:  generator.Pool{Max: idtype.SnoMaxSequence},
	number: func(i int) int { return i },
	make: func(w generator.Windows[int], o *generator.Options) (generatorOf[idtype.SnoID], error) {
		g, err := generator.NewSno(w, o)
		return anyMeta{g}, err
	},
	of: func(id idtype.SnoID) int { return id.Partition() },
	key: func(id idtype.SnoID) key {
		return key{uint64(id.UnixMs())<<1 | uint64(id.TickTock()), uint64(id.Partition())<<16 | uint64(id.Sequence())}
	},
}

type anyMeta struct{ *generator.Sno }

func (g anyMeta) Next(ctx context.Context) (idtype.SnoID, error) {
	return g.With(byte(rand.Uint32())).Next(ctx)
}

func (g anyMeta) Fill(ctx context.Context, ids []idtype.SnoID) (int, error) {
	return g.With(byte(rand.Uint32())).Fill(ctx, ids)
}
