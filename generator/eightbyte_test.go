package generator_test

import (
	"fmt"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

var (
	_ = eightByte("eightbyte spread", idtype.EightByteSpread)
	_ = eightByte("eightbyte sequential", idtype.EightByteTimeSequential)
)

func eightByte(name string, mode idtype.EightByteMode) scheme {
	return add(scheme{
		name: name, id: idtype.SchemeEightByte, typ: "EightByteID", unit: time.Millisecond,
		begin: time.Unix(0, 0),
		end:   time.UnixMilli(1 << 42), last: 63, lag: 8,
		numbers: 1 << 15, part: "generator_id", below: 4,
		ascends: mode == idtype.EightByteTimeSequential,
		make: func(w windows, o *generator.Options) (*timed, error) {
			pair := func(n int) generator.EightBytePair {
				return generator.EightBytePair{Generator: n >> 4, Cluster: n & 15}
			}
			g, err := generator.NewEightByte(mode, numbered(w, pair), o)
			if err != nil {
				return nil, err
			}
			return adapt(g, func(id idtype.EightByteID) mark {
				intact(id)(id.Parts().ID())
				if id.Parts().Mode != mode {
					panic(fmt.Sprintf("%v is of mode %v, want %v", id, id.Parts().Mode, mode))
				}
				p := id.Parts()
				return mark{p.Generator<<4 | p.Cluster, id.Time().UnixNano(), 0, p.Sequence}
			}), nil
		},
		zero: adapt[idtype.EightByteID](new(generator.EightByte), nil),
	})
}
