package idtype_test

import (
	"fmt"
	"math"
)

// A model is a scheme as docs/design/formats.md describes it. Its arithmetic is slow: an ID is a
// string of digits. It shares none with the package.
type model struct {
	kind   kind // for the reference of its text
	base   int  // of the digits
	ranges []partRanges
	digits func(p parts) string
	middle parts // those of a worked value
	// numbers that do not follow the layout, and the part that shows it
	older map[int64]string
	bad   []badText
	// whether JSON takes a number for the ID
	jsonNumbers bool
	spans       [][2]int64
	// those of the layouts v1, v2 and v3 that hold an ID
	layouts func(p parts) []string
}

// parts are by their names in JSON. The mode of eightbyte IDs is its bit.
type parts map[string]int64

type partRanges struct {
	name        string
	least, most int64
	step        int64 // the unit of a time in milliseconds, 0 for other parts
}

const (
	shortEpochMs = 1_519_862_400_000 // 2018-03-01T00:00:00Z
	snoEpochMs   = 1_262_304_000_000 // 2010-01-01T00:00:00Z
	lastOf42     = 1<<42 - 1
)

var models = map[string]model{
	"decimal": {
		kind: kindNamed("DecimalID as bigint"), base: 10,
		ranges: []partRanges{
			{"counter", 1, 922_337_202, 0},
			{"generator_id", 0, 99_999, 0},
			{"launch_id", 0, 99_999, 0},
		},
		digits: func(p parts) string {
			return fmt.Sprintf("%09d%05d%05d", p["counter"], p["generator_id"], p["launch_id"])
		},
		middle: parts{"counter": 1415, "generator_id": 92, "launch_id": 65},
		older: map[int64]string{
			1: "counter", 57: "counter", 99_999: "counter", 9_999_999_999: "counter",
			9_223_372_030_000_000_000: "counter", math.MaxInt64: "counter",
		},
		bad: badNumbers, jsonNumbers: true,
	},
	"sequence": {
		kind: kindNamed("SequenceID as bigint"), base: 2,
		ranges: []partRanges{{"number", 1, math.MaxInt64, 0}},
		digits: func(p parts) string { return fmt.Sprintf("%064b", p["number"]) },
		middle: parts{"number": 57},
		bad:    badNumbers, jsonNumbers: true,
	},
	"trace": {
		kind: kindNamed("TraceID as bigint"), base: 2,
		ranges: []partRanges{
			{"timestamp", 0, 1<<25 - 1, 0},
			{"node_no", 0, 1<<16 - 1, 0},
			{"bottom", 1, 1<<22 - 1, 0},
		},
		digits: func(p parts) string {
			return fmt.Sprintf("0%025b%016b%022b", p["timestamp"], p["node_no"], p["bottom"])
		},
		middle: parts{"timestamp": 16_903_607, "node_no": 24_528, "bottom": 3_799_583},
		older:  map[int64]string{1 << 22: "bottom", 1 << 62: "bottom", 5 << 38: "bottom"},
		bad:    badNumbers, jsonNumbers: true,
		spans: [][2]int64{
			{0, 0},
			{999, 1000},
			{1_700_000_000_000, 1_700_003_599_999},
			{-1, 0},
			{-1500, -1001},
			{(1<<25 - 1) * 1000, 1 << 25 * 1000},
			{0, (1<<25 - 1) * 1000},
			{0, 1 << 25 * 1000},
			{1000, (1<<25)*1000 + 999},
			{1, 0},
			{5000, 4999},
		},
	},
	"short": {
		kind: short, base: 2,
		ranges: []partRanges{
			{"unix_ms", shortEpochMs, shortEpochMs + lastOf42, 1},
			{"sequence", 0, 511, 0},
			{"random", 0, 511, 0},
		},
		digits: func(p parts) string {
			ms := p["unix_ms"] - shortEpochMs
			return fmt.Sprintf("0000%042b%09b%09b", ms, p["sequence"], p["random"])
		},
		middle: parts{"unix_ms": 1_562_179_504_129, "sequence": 270, "random": 98},
		older: map[int64]string{
			1 << 60: "unix_ms", 1<<62 | 98: "unix_ms", math.MaxInt64: "unix_ms",
		},
		bad: badShortTexts, jsonNumbers: true,
		spans: spansOf(shortEpochMs, shortEpochMs+lastOf42),
	},
	"eightbyte": {
		kind: kindNamed("EightByteID as bytes"), base: 2,
		ranges: []partRanges{
			{"mode", 0, 1, 0},
			{"unix_ms", 0, lastOf42, 1},
			{"sequence", 0, 63, 0},
			{"generator_id", 0, 2047, 0},
			{"cluster_id", 0, 15, 0},
		},
		digits: func(p parts) string {
			at, generator := fmt.Sprintf("%042b", p["unix_ms"]), fmt.Sprintf("%011b", p["generator_id"])
			if p["mode"] == 0 {
				at = reversed(at)
			}
			return fmt.Sprintf("%s%06b%s%b%s%04b", at, p["sequence"], generator[:3], p["mode"],
				generator[3:], p["cluster_id"])
		},
		middle: parts{
			"mode": 1, "unix_ms": 1_573_827_159_591, "sequence": 33, "generator_id": 1161,
			"cluster_id": 11,
		},
		bad:   append(badByteTexts, badText{"a letter of sno", "233333333333333g", "", nil}),
		spans: spansOf(0, lastOf42),
		layouts: func(p parts) (held []string) {
			if p["mode"] == 0 && p["generator_id"] <= 63 {
				held = append(held, "v1")
			}
			if p["mode"] == 0 && p["generator_id"] <= 255 {
				held = append(held, "v2")
			}
			if p["generator_id"] <= 255 {
				held = append(held, "v3")
			}
			return held
		},
	},
	"sno": {
		kind: kindNamed("SnoID as bytes"), base: 2,
		ranges: []partRanges{
			{"unix_ms", snoEpochMs, snoEpochMs + 4*(1<<39) - 1, 4},
			{"tick_tock", 0, 1, 0},
			{"meta", 0, 255, 0},
			{"partition", 0, 65_535, 0},
			{"sequence", 0, 65_535, 0},
		},
		digits: func(p parts) string {
			units := (p["unix_ms"] - snoEpochMs) / 4
			return fmt.Sprintf("%039b%b%08b%016b%016b", units, p["tick_tock"], p["meta"],
				p["partition"], p["sequence"])
		},
		middle: parts{
			"unix_ms": 1_703_587_783_960, "tick_tock": 1, "meta": 158, "partition": 34_824,
			"sequence": 56_450,
		},
		bad: append(badByteTexts,
			badText{"a digit of hexadecimal", "2333333333333330", "", nil},
			badText{"a digit of hexadecimal", "1333333333333333", "", nil}),
		spans: spansOf(snoEpochMs, snoEpochMs+4*(1<<39)-1),
	},
}

// spansOf are spans of time at and beyond the ends of a scheme's.
func spansOf(first, last int64) [][2]int64 {
	return [][2]int64{
		{first, first},
		{first, last},
		{last, last},
		{first + 1, first + 4},
		{first + 3, first + 3},
		{1_700_000_000_000, 1_700_000_000_000},
		{1_700_000_000_001, 1_700_003_600_000},
		{1<<41 - 1, 1 << 41},
		{first - 1, first},
		{first, last + 1},
		{last + 1, last + 9},
		{first + 5, first + 4},
		{-1, -1},
	}
}
