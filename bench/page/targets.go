package main

import (
	"fmt"
	"math"
)

// A target is a bound on one of our figures, or on its ratio to another figure of the same round.
type target struct {
	what    string
	ours    figure
	peer    string // the name of what ours is compared with, if anything
	against figure
	ratio   bool // the bound is on the ratio
	bound   bound
	reason  string // why it is missed on some machines, if known
}

// A bound includes both ends.
type bound struct{ least, most float64 }

func atMost(v float64) bound  { return bound{math.Inf(-1), v} }
func atLeast(v float64) bound { return bound{v, math.Inf(1)} }

func (b bound) holds(v float64) bool { return b.least <= v && v <= b.most }

func (b bound) String() string {
	switch {
	case math.IsInf(b.least, -1):
		return fmt.Sprintf("≤ %.3g", b.most)
	case math.IsInf(b.most, 1):
		return fmt.Sprintf("≥ %.3g", b.least)
	default:
		return fmt.Sprintf("%.1f–%.1f", b.least, b.most)
	}
}

func serial(name string) figure   { return figure{name, false, "ns/op"} }
func parallel(name string) figure { return figure{name, true, "ns/op"} }

func (f figure) in(unit string) figure {
	f.unit = unit
	return f
}

const (
	add   = "an atomic add"
	clock = "`time.Since`, then an atomic add"
	muyo  = "muyo/sno" // below its cap, because otherwise it must wait
)

// targets are the project's targets for minting and text conversion. Except for counts and shares
// they are ratios within a run, because times in nanoseconds depend on the machine.
var targets = []target{
	relative("decimal, a shared generator", serial("Mint/decimal/shared"), add,
		serial("Floor/atomic-add"), atMost(1.15)),
	relative("decimal, a shared generator, 2 goroutines", parallel("Mint/decimal/shared"), add,
		parallel("Floor/atomic-add"), atMost(1.15)),
	absolute("decimal, allocations", serial("Mint/decimal/shared").in("allocs/op"), atMost(0)),
	relative("decimal, a goroutine's own", serial("Mint/decimal/owned"), add,
		serial("Floor/atomic-add"), atMost(0.5)),
	relative("decimal, a slice of 1,000, per ID", serial("Mint/decimal/fill"), add,
		serial("Floor/atomic-add"), atMost(0.12)),

	relative("trace below its cap", serial("Mint/trace/shared"), clock,
		serial("Floor/time.Since-then-add"), atMost(1.15)),
	relative("short below its cap", serial("Mint/short/shared"), clock,
		serial("Floor/time.Since-then-add"), atMost(1.15)),
	relative("eightbyte below its cap", serial("Mint/eightbyte/shared"), clock,
		serial("Floor/time.Since-then-add"), atMost(1.15)),
	relative("sno below its cap", serial("Mint/sno/shared"), clock,
		serial("Floor/time.Since-then-add"), atMost(1.15)),
	relative("snowflake, 20 bits of step", serial("Mint/snowflake/20-step-bits"),
		"bwmarrin/snowflake", serial("Peer/snowflake-20-step-bits"), atMost(1)),
	relative("sno below its cap, processor time", serial("Mint/sno/shared").in("cpu-ns/op"), muyo,
		serial("Peer/muyo-sno-below-cap").in("cpu-ns/op"), atMost(0.65)),
	relative("sno below its cap, processor time, 2 goroutines",
		parallel("Mint/sno/shared").in("cpu-ns/op"), muyo,
		parallel("Peer/muyo-sno-below-cap").in("cpu-ns/op"), atMost(0.65)),

	absolute("sno at its cap of 65,536 per 4 ms", serial("Cap/sno").in("%cap"), atLeast(99)),
	absolute("snowflake at its cap of 4,096 per ms", serial("Cap/snowflake-ours").in("%cap"),
		atLeast(99)),
	absolute("snowflake at its cap, a processor", serial("Cap/snowflake-ours").in("%core"),
		atMost(30)),
	absolute("snowflake in Sonyflake's layout at its cap of 256 per 10 ms",
		serial("Cap/sonyflake-ours").in("%cap"), atLeast(99)),
	absolute("snowflake in Sonyflake's layout at its cap, a processor",
		serial("Cap/sonyflake-ours").in("%core"), atMost(30)),
	absolute("eightbyte at its cap of 64 per ms", serial("Cap/eightbyte").in("%cap"), atLeast(99)),
	absolute("eightbyte at its cap of 64 per ms, 8 callers", parallel("Cap/eightbyte").in("%cap"),
		atLeast(99)),
	absolute("eightbyte at its cap, a processor", serial("Cap/eightbyte").in("%core"), atMost(10)),
	absolute("eightbyte at its cap, a processor, 8 callers", parallel("Cap/eightbyte").in("%core"),
		atMost(10)),
	absolute("short at its cap of 512 per ms", serial("Cap/short").in("%cap"), atLeast(99)),
	absolute("short at its cap of 512 per ms, 8 callers", parallel("Cap/short").in("%cap"),
		atLeast(99)),
	absolute("short at its cap, a processor", serial("Cap/short").in("%core"), atMost(10)),
	absolute("short at its cap, a processor, 8 callers", parallel("Cap/short").in("%core"),
		atMost(10)),

	absolute("eightbyte at its cap, 200 callers, the longest call",
		parallel("Crowd").in("worst-ms"), atMost(50)),
	absolute("eightbyte at its cap, 200 callers, fewest IDs of one / most",
		parallel("Crowd").in("fewest/most"), atLeast(0.5)),
	absolute("eightbyte at its cap, 200 callers, a processor", parallel("Crowd").in("%core"),
		atMost(20)),

	relative("decimal, to text", serial("Encode/decimal"), "`strconv.AppendInt`",
		serial("Encode/strconv.AppendInt"), atMost(0.9)),
	relative("decimal, from text", serial("Decode/decimal"), "`strconv.ParseInt`",
		serial("Decode/strconv.ParseInt"), atMost(0.5)),
	relative("sno, to text", serial("Encode/sno"), "xid", serial("Encode/xid"), atMost(0.65)),
	relative("sno, from text", serial("Decode/sno"), "muyo/sno", serial("Decode/muyo-sno"),
		atMost(1)),
}

const (
	aBusyMachine = "something else used the processor for longer than the generator may be behind."
	aCheapAdd    = "on this processor an atomic add costs as little as a call: see `increment` " +
		"and `atomic-add` below. If it costs 8 ns, the ratio is a fourth of this."
)

// reasons say why a target is missed on the machines where it is.
var reasons = map[string]string{
	"decimal, a goroutine's own":        aCheapAdd,
	"decimal, a slice of 1,000, per ID": aCheapAdd,
	"decimal, a shared generator, 2 goroutines": "less than two processors were available during " +
		"the run.",
	"short below its cap": "its random bits take 4 to 6 ns.",
	"eightbyte below its cap": "a generator mints 32 IDs per millisecond here, and the first " +
		"takes 100 ns. The rest is reversing bits.",
	"snowflake, 20 bits of step": "both spend most of the time reading the clock, and are about " +
		"as fast. Ours calls it through an interface, which costs slightly more than their lock.",
	"sno below its cap": "ten bytes are returned in memory rather than in registers.",
	"decimal, a shared generator": "whatever uses the result waits for it, as after a function " +
		"call: see `atomic-add-called` below.",
	"sno, from text": "muyo/sno does not check whether a letter is in the alphabet.",
	"sno below its cap, processor time": "four fifths of it are for reading the clock and for " +
		"the addition: see above.",
	"sno below its cap, processor time, 2 goroutines": "both processors wait for the word that " +
		"they write, as they do in muyo/sno.",
	"short at its cap of 512 per ms":                              aBusyMachine,
	"short at its cap of 512 per ms, 8 callers":                   aBusyMachine,
	"eightbyte at its cap of 64 per ms":                           aBusyMachine,
	"eightbyte at its cap of 64 per ms, 8 callers":                aBusyMachine,
	"sno at its cap of 65,536 per 4 ms":                           aBusyMachine,
	"snowflake at its cap of 4,096 per ms":                        aBusyMachine,
	"snowflake in Sonyflake's layout at its cap of 256 per 10 ms": aBusyMachine,
	"short at its cap, a processor, 8 callers":                    "the timers of a busy machine.",
	"eightbyte at its cap, a processor, 8 callers":                "the timers of a busy machine.",
}

func relative(what string, ours figure, peer string, against figure, b bound) target {
	return target{
		what: what, ours: ours, peer: peer, against: against, ratio: true, bound: b,
		reason: reasons[what],
	}
}

func absolute(what string, ours figure, b bound) target {
	return target{what: what, ours: ours, bound: b, reason: reasons[what]}
}
