package main

import (
	"fmt"
	"math"
)

// A target is a bound on one of our figures, or on its ratio to another of the same round.
type target struct {
	what    string
	ours    figure
	peer    string // the name of what ours stands beside, if anything
	against figure
	ratio   bool // the bound is on the ratio
	bound   bound
	reason  string // why it is missed where it is, once that is known
}

// A bound has both ends included.
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
	add  = "an atomic add"
	muyo = "muyo/sno" // below its cap, or else it is to wait, unless ours is at its cap too
	uuid = "google/uuid v7"
)

// targets are those of the project for minting and texts.
var targets = []target{
	relative("decimal, a shared generator", serial("Mint/decimal/shared"), add,
		serial("Floor/atomic-add"), atMost(1.15)),
	relative("decimal, a shared generator, 2 goroutines", parallel("Mint/decimal/shared"), add,
		parallel("Floor/atomic-add"), atMost(1.15)),
	relative("decimal, 7 times as fast as muyo/sno", serial("Mint/decimal/shared"), muyo,
		serial("Peer/muyo-sno-below-cap"), atMost(1./7)),
	absolute("decimal, allocations", serial("Mint/decimal/shared").in("allocs/op"), atMost(0)),
	absolute("decimal, a goroutine's own", serial("Mint/decimal/owned"), atMost(2)),
	relative("decimal, a goroutine's own, 2 goroutines", parallel("Mint/decimal/owned"),
		"one goroutine", serial("Mint/decimal/owned"), atMost(0.55)),
	absolute("decimal, a slice of 1,000", serial("Mint/decimal/fill"), atMost(0.6)),

	relative("sno below its cap, processor time", serial("Mint/sno/shared").in("cpu-ns/op"), muyo,
		serial("Peer/muyo-sno-below-cap").in("cpu-ns/op"), atMost(0.6)),
	relative("sno below its cap, processor time, 2 goroutines",
		parallel("Mint/sno/shared").in("cpu-ns/op"), muyo,
		parallel("Peer/muyo-sno-below-cap").in("cpu-ns/op"), atMost(0.6)),
	{
		what: "sno at its cap", ours: serial("Cap/sno"), peer: muyo,
		against: serial("Cap/muyo-sno"), bound: bound{61.0, 61.5},
		reason: reasons["sno at its cap"],
	},

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

	absolute("eightbyte below its cap", serial("Mint/eightbyte/shared"), atMost(40)),
	relative("eightbyte below its cap", serial("Mint/eightbyte/shared"), uuid,
		serial("Peer/google-uuid7"), atMost(0.25)),
	absolute("short below its cap", serial("Mint/short/shared"), atMost(40)),
	relative("short below its cap", serial("Mint/short/shared"), uuid, serial("Peer/google-uuid7"),
		atMost(0.25)),
	absolute("sno below its cap", serial("Mint/sno/shared"), atMost(40)),
	relative("sno below its cap", serial("Mint/sno/shared"), uuid, serial("Peer/google-uuid7"),
		atMost(0.25)),

	relative("decimal, to text", serial("Encode/decimal"), "`strconv.AppendInt`",
		serial("Encode/strconv.AppendInt"), atMost(0.9)),
	relative("decimal, from text", serial("Decode/decimal"), "`strconv.ParseInt`",
		serial("Decode/strconv.ParseInt"), atMost(0.5)),
	relative("sno, to text", serial("Encode/sno"), "xid", serial("Encode/xid"), atMost(0.5)),
	relative("sno, from text", serial("Decode/sno"), muyo, serial("Decode/muyo-sno"), atMost(1)),
}

// reasons say why a target is missed on the machines where it is.
var reasons = map[string]string{
	"sno below its cap, processor time":               "most of it reads the monotonic clock: `time.Since` below.",
	"sno below its cap, processor time, 2 goroutines": "as with one goroutine. Both processors wait for the word that they write, and so they do in muyo/sno.",
	"sno below its cap":                               "most of it reads the monotonic clock: `time.Since` below.",
	"short below its cap":                             "most of it reads the monotonic clock: `time.Since` below.",
	"sno, to text":                                    "two words of eight characters, without a table, take most of it. Of that the call and the stores are nearly half. A table of pairs was no faster.",
	"sno at its cap":                                  "two processors write one word, or something else took a processor for longer than the generator may be behind.",
	"short at its cap of 512 per ms":                  "something else took the processor for longer than the generator may be behind.",
	"short at its cap of 512 per ms, 8 callers":       "something else took the processor for longer than the generator may be behind.",
	"eightbyte at its cap of 64 per ms":               "something else took the processor for longer than the generator may be behind.",
	"eightbyte at its cap of 64 per ms, 8 callers":    "something else took the processor for longer than the generator may be behind.",
	"decimal, a goroutine's own, 2 goroutines":        "within what the machine varies by.",
	"decimal, a shared generator, 2 goroutines":       "the machine had less than two processors to give during the run.",
	"short at its cap, a processor, 8 callers":        "timers of a busy machine.",
	"eightbyte at its cap, a processor, 8 callers":    "timers of a busy machine.",
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
