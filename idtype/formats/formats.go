// Package formats defines the constants of the layouts in docs/design/formats.md: the widths and
// largest values of the parts, epochs, and the steps between IDs. Package idtype uses them to
// compose IDs, and package generator to count. For users, the ranges are listed above each type of
// idtype.
package formats

import (
	"math"
	"time"
)

// Constants of the decimal ID.
const (
	DecimalMaxLaunch    = 99_999
	DecimalMaxGenerator = 99_999
	// DecimalMaxCounter is the largest counter with which every generator and launch fits into 63
	// bits.
	DecimalMaxCounter = math.MaxInt64/DecimalStep - 1

	DecimalGeneratorStep = DecimalMaxLaunch + 1
	// DecimalStep is the distance between two consecutive IDs of a generator.
	DecimalStep = (DecimalMaxGenerator + 1) * DecimalGeneratorStep

	// DecimalMin and DecimalMax are the smallest and the largest ID, including IDs of test
	// launches.
	DecimalMin = DecimalStep
	DecimalMax = DecimalMaxCounter*DecimalStep + (DecimalStep - 1)
)

// Constants of the trace ID.
const (
	TraceTimestampBits = 25
	TraceNodeBits      = 16
	TraceBottomBits    = 22

	TraceMaxTimestamp = 1<<TraceTimestampBits - 1 // after it, timestamps start again at 0
	TraceMaxNode      = 1<<TraceNodeBits - 1
	TraceMaxBottom    = 1<<TraceBottomBits - 1

	// TraceNodeStep is the distance between the same number of two adjacent nodes, and
	// TraceTimeStep is that between two adjacent seconds.
	TraceNodeStep = 1 << TraceBottomBits
	TraceTimeStep = TraceNodeStep << TraceNodeBits

	// TracePeriod is the time after which timestamps repeat, and IDs with them.
	TracePeriod = (TraceMaxTimestamp + 1) * time.Second
)

// Constants of the short ID. Times are Unix times in milliseconds.
const (
	ShortTimeBits     = 42
	ShortSequenceBits = 9
	ShortRandomBits   = 9

	ShortEpoch       = 1_519_862_400_000                 // 2018-03-01T00:00:00Z
	ShortMaxUnixMs   = ShortEpoch + 1<<ShortTimeBits - 1 // 2157-07-13T07:35:11.103Z
	ShortMaxSequence = 1<<ShortSequenceBits - 1
	ShortMaxRandom   = 1<<ShortRandomBits - 1

	ShortSequenceStep = 1 << ShortRandomBits
	ShortTimeStep     = ShortSequenceStep << ShortSequenceBits
)

// Constants of the eightbyte ID. The mode separates the generator's bits in two.
const (
	EightByteTimeBits         = 42
	EightByteSequenceBits     = 6
	EightByteGeneratorTopBits = 3
	EightByteModeBits         = 1
	EightByteGeneratorLowBits = 8
	EightByteClusterBits      = 4

	EightByteMaxUnixMs    = 1<<EightByteTimeBits - 1 // 2109-05-15T07:35:11.103Z
	EightByteMaxSequence  = 1<<EightByteSequenceBits - 1
	EightByteMaxGenerator = 1<<(EightByteGeneratorTopBits+EightByteGeneratorLowBits) - 1
	EightByteMaxCluster   = 1<<EightByteClusterBits - 1
)

// Constants of the sno ID. Times are Unix times in milliseconds.
const (
	SnoTimeBits      = 39
	SnoTickTockBits  = 1
	SnoMetaBits      = 8
	SnoPartitionBits = 16
	SnoSequenceBits  = 16

	SnoEpoch        = 1_262_304_000_000                         // 2010-01-01T00:00:00Z
	SnoTimeUnit     = 4                                         // milliseconds
	SnoMaxUnixMs    = SnoEpoch + 1<<SnoTimeBits*SnoTimeUnit - 1 // 2079-09-07T15:47:35.551Z
	SnoMaxTickTock  = 1<<SnoTickTockBits - 1
	SnoMaxMeta      = 1<<SnoMetaBits - 1
	SnoMaxPartition = 1<<SnoPartitionBits - 1
	SnoMaxSequence  = 1<<SnoSequenceBits - 1
)

// Constants of [idtype.UUID7], defined by RFC 9562.
const (
	UUID7MaxUnixMs = 1<<48 - 1
	UUID7Version   = 7
	UUID7MaxRandA  = 1<<12 - 1
	UUID7Variant   = 2
	UUID7MaxRandB  = 1<<30 - 1
	UUID7MaxRandC  = 1<<32 - 1
)
