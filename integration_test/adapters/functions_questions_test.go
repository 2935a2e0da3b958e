package adapters_test

import (
	"database/sql/driver"
	"encoding"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"time"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/formats"
)

// rows are how many random IDs each scheme is asked for.
const randomRows = 12

// A part is a function of an ID alone, and what Go says.
type functionPart[T any] struct {
	name string
	kind resultKind
	of   func(T) any
}

// questions are all that testFunctions asks.
func questions() (all []question) {
	random := rand.New(rand.NewPCG(20, 26))
	number63 := func() int64 { return 1 + random.Int64()>>random.IntN(62) }
	all = append(all, askNumbers("idmint_decimal_", number63, []functionPart[idtype.DecimalID]{
		{"counter", asPlain, func(id idtype.DecimalID) any { return id.Parts().Counter }},
		{"generator", asPlain, func(id idtype.DecimalID) any { return id.Parts().Generator }},
		{"launch", asPlain, func(id idtype.DecimalID) any { return id.Parts().Launch }},
	}, formats.DecimalMin, formats.DecimalMin-1, 10000000001, 14150009200065,
		formats.DecimalMax, formats.DecimalMax+1)...)
	all = append(all, askNumbers("idmint_trace_", number63, []functionPart[idtype.TraceID]{
		{"timestamp", asPlain, func(id idtype.TraceID) any { return id.Parts().Timestamp }},
		{"node", asPlain, func(id idtype.TraceID) any { return id.Parts().Node }},
		{"bottom", asPlain, func(id idtype.TraceID) any { return id.Parts().Bottom }},
	}, 1<<22, 1<<38, 1<<38+1, 4646428214845635103)...)
	all = append(all, askTraceTimes(number63)...)
	all = append(all, askNumbers("idmint_short_", number63, []functionPart[idtype.ShortID]{
		{"time", asTime, func(id idtype.ShortID) any { return id.Time() }},
		{"sequence", asPlain, func(id idtype.ShortID) any { return id.Parts().Sequence }},
		{"random", asPlain, func(id idtype.ShortID) any { return id.Parts().Random }},
	}, 1<<60-1, 1<<60, 11093174944930914, 1023)...)
	all = append(all, askShortTexts(number63)...)
	all = append(all, askBounds("idmint_short_", asPlain, formats.ShortEpoch, formats.ShortMaxUnixMs,
		idtype.Bounds[idtype.ShortID])...)
	all = append(all, askEightBytes(random)...)
	all = append(all, askBounds("idmint_eightbyte_", asBytes, 0, formats.EightByteMaxUnixMs,
		idtype.Bounds[idtype.EightByteID])...)
	all = append(all, askSnos(random)...)
	all = append(all, askBounds("idmint_sno_", asBytes, formats.SnoEpoch, formats.SnoMaxUnixMs,
		idtype.Bounds[idtype.SnoID])...)
	return all
}

// numbers asks for the parts of IDs that are numbers: of some, of the ends of an int64, and of
// random ones. What does not follow the layout has none.
func askNumbers[T interface {
	~int64
	Validate() error
}](prefix string, random func() int64, parts []functionPart[T], some ...int64) (all []question) {
	some = append(some, 0, 1, -1, math.MaxInt64, math.MinInt64)
	for range randomRows {
		some = append(some, random())
	}
	for _, p := range parts {
		name := prefix + p.name
		all = append(all, question{name, []arg{argNull}, p.kind, nil})
		for _, n := range some {
			q := question{name, []arg{argNumber(n)}, p.kind, nil}
			if T(n).Validate() == nil {
				q.want = p.of(T(n))
			}
			all = append(all, q)
		}
	}
	return all
}

// times are the ends of the units around an instant, before and after.
func timesAround(at time.Time) []time.Time {
	var all []time.Time
	for _, ms := range []int{-1000, -4, -1, 0, 1, 3, 4, 999, 1000} {
		t := at.Add(time.Duration(ms) * time.Millisecond)
		all = append(all, t, t.Add(-time.Microsecond), t.Add(999*time.Microsecond))
	}
	return all
}

// traceTimes are around 1970, a period's end, and today.
func askTraceTimes(random func() int64) (all []question) {
	some := timesAround(time.Unix(0, 0))
	some = append(some, timesAround(time.Unix(1<<25*52, 0))...)
	some = append(some, timesAround(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))...)
	for _, t := range some {
		r := must(idtype.Bounds[idtype.TraceID](t, t))[0]
		after := must(idtype.Bounds[idtype.TraceID](t.Add(time.Second), t.Add(time.Second)))[0]
		all = append(all,
			question{"idmint_trace_min", []arg{argTime(t)}, asPlain, int64(r.Min)},
			question{"idmint_trace_max", []arg{argTime(t)}, asPlain, int64(r.Max)})
		for _, id := range []idtype.TraceID{
			r.Min, after.Max, 1<<63 - 1,
			idtype.TraceID(random()),
		} {
			q := question{"idmint_trace_time", []arg{argNumber(int64(id)), argTime(t)}, asTime, nil}
			if id.Validate() == nil {
				q.want, _ = id.Times(t)
			}
			all = append(all, q)
		}
	}
	now := argTime(some[0])
	return append(all,
		question{"idmint_trace_min", []arg{argNull}, asPlain, nil},
		question{"idmint_trace_max", []arg{argNull}, asPlain, nil},
		question{"idmint_trace_time", []arg{argNull, now}, asTime, nil},
		question{"idmint_trace_time", []arg{argNumber(1), argNull}, asTime, nil},
		question{"idmint_trace_time", []arg{argNumber(0), now}, asTime, nil})
}

// bounds asks for the smallest and the largest ID of times. Those that IDs cannot carry have the
// bounds of the first and the last one that they can.
func askBounds[T interface {
	comparable
	driver.Valuer
}](
	prefix string, k resultKind, first, last int64,
	of func(from, to time.Time) ([]idtype.Range[T], error),
) (all []question) {
	some := timesAround(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	some = append(some, timesAround(time.UnixMilli(first))...)
	some = append(some, timesAround(time.UnixMilli(last))...)
	some = append(some, time.Date(1902, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(2299, 12, 31, 0, 0, 0, 0, time.UTC))
	for name, end := range map[string]func(idtype.Range[T]) T{
		prefix + "min": func(r idtype.Range[T]) T { return r.Min },
		prefix + "max": func(r idtype.Range[T]) T { return r.Max },
	} {
		all = append(all, question{name, []arg{argNull}, k, nil})
		for _, t := range some {
			within := t
			if t.Before(time.UnixMilli(first)) {
				within = time.UnixMilli(first)
			} else if t.After(time.UnixMilli(last)) {
				within = time.UnixMilli(last)
			}
			id := end(must(of(within, within))[0])
			all = append(all, question{name, []arg{argTime(t)}, k, storedValue(id)})
		}
	}
	return all
}

func askShortTexts(random func() int64) (all []question) {
	some := []int64{0, -1, math.MinInt64, math.MaxInt64, 1, 63, 64, 65, 4095, 4096, 1 << 60}
	for range randomRows {
		some = append(some, random())
	}
	for _, n := range some {
		q := question{"idmint_short_text", []arg{argNumber(n)}, asPlain, nil}
		if n > 0 {
			q.want = idtype.ShortID(n).String()
		}
		all = append(all, q)
	}
	return append(all, askTexts("idmint_short_", asPlain, idtype.Parse[idtype.ShortID], []string{
		"A", "B", "AB", "BA", "AAB", "AAA", "AABA", "__H________", "__I________", "(0)", "a b", "+/",
		"___", "xinaS8QBh", "xinaS8QBh=", "XINAS8QBH", "0", "1234567", "xinaS8QBhxinaS8QBh", "__A________",
	}, func() string { return idtype.ShortID(random()).String() })...)
}

// texts asks for what a column holds of texts: of IDs, and of what looks like one.
func askTexts[T driver.Valuer](
	prefix string, k resultKind, parse func(string) (T, error), some []string, random func() string,
) (all []question) {
	name := prefix + "from_text"
	some = append(some, "", " ", "ä", "x\n")
	for range randomRows {
		good := random()
		some = append(some, good, good[1:], good+"\n", good+".", " "+good)
	}
	for _, s := range some {
		q := question{name, []arg{argText(s)}, k, nil}
		if id, err := parse(s); err == nil {
			q.want = storedValue(id)
		}
		all = append(all, q)
	}
	return append(all, question{prefix + "text", []arg{argNull}, asPlain, nil},
		question{name, []arg{argNull}, k, nil})
}

// byteIDs asks for parts of bytes of all lengths.
func askByteIDs[T any, P interface {
	*T
	encoding.BinaryUnmarshaler
}](prefix string, parts []functionPart[T], some ...[]byte) (all []question) {
	for _, p := range parts {
		all = append(all, question{prefix + p.name, []arg{argNull}, p.kind, nil})
		for _, b := range some {
			q := question{prefix + p.name, []arg{argBytes(b)}, p.kind, nil}
			var id T
			if P(&id).UnmarshalBinary(b) == nil {
				q.want = p.of(id)
			}
			all = append(all, q)
		}
	}
	return all
}

func askEightBytes(random *rand.Rand) (all []question) {
	id := func() idtype.EightByteID {
		return idtype.EightByteFromUint64(1 + random.Uint64()>>random.IntN(63))
	}
	some := [][]byte{{}, {1}, make([]byte, 8), make([]byte, 9), []byte("1234567"), []byte("123456789")}
	numbers := []int64{0, 1, -1, math.MaxInt64, math.MinInt64}
	for _, hex := range []string{
		"5b9bda2989e1989b", "cb54ecf284000000", "bfffffffc0000000", "ffffffffffffefff",
		"0000000000000270", "0000000000001000", "ffffffffffffffff",
	} {
		worked := idtype.MustParse[idtype.EightByteID](hex)
		some, numbers = append(some, worked[:]), append(numbers, int64(worked.Uint64()))
	}
	for range randomRows {
		made := id()
		some, numbers = append(some, made[:]), append(numbers, int64(made.Uint64()))
	}
	all = askByteIDs("idmint_eightbyte_", []functionPart[idtype.EightByteID]{
		{"mode", asPlain, func(id idtype.EightByteID) any { return id.Parts().Mode }},
		{"time", asTime, func(id idtype.EightByteID) any { return id.Time() }},
		{"sequence", asPlain, func(id idtype.EightByteID) any { return id.Parts().Sequence }},
		{"generator", asPlain, func(id idtype.EightByteID) any { return id.Parts().Generator }},
		{"cluster", asPlain, func(id idtype.EightByteID) any { return id.Parts().Cluster }},
		{"text", asPlain, func(id idtype.EightByteID) any { return id.String() }},
		{"number", asPlain, func(id idtype.EightByteID) any {
			return storedValue(idtype.EightByte[idtype.AsBigint[any]](id))
		}},
	}, some...)
	const name = "idmint_eightbyte_from_number"
	all = append(all, question{name, []arg{argNull}, asBytes, nil})
	for _, n := range numbers {
		q := question{name, []arg{argNumber(n)}, asBytes, nil}
		if n != 0 {
			q.want = binary.BigEndian.AppendUint64(nil, uint64(n))
		}
		all = append(all, q)
	}
	return append(all, askTexts("idmint_eightbyte_", asBytes, idtype.Parse[idtype.EightByteID], []string{
		"0000000000000000", "5b9bda2989e1989b", "5B9BDA2989E1989B", "0x5b9bda2989e198", "5b9bda2989e1989g",
	}, func() string { return id().String() })...)
}

func askSnos(random *rand.Rand) (all []question) {
	id := func() (made idtype.SnoID) {
		binary.BigEndian.PutUint64(made[:], random.Uint64())
		binary.BigEndian.PutUint16(made[8:], uint16(random.Uint64()))
		return made
	}
	some := [][]byte{
		{},
		{1},
		make([]byte, 10), make([]byte, 11), []byte("123456789"), []byte("12345678901"),
		append(make([]byte, 9), 1), append([]byte{1}, make([]byte, 9)...),
	}
	type uuid = idtype.Sno[idtype.AsUUID[any]]
	const fromUUID = "idmint_sno_from_uuid"
	all = append(all, question{fromUUID, []arg{argNull}, asBytes, nil})
	for _, other := range []string{
		"00000000-0000-0000-0000-000000000000", "32323232-3232-3232-3232-323232323232",
		"f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "6272706b-3471-3732-7877-66326d363379",
	} {
		all = append(all, question{fromUUID, []arg{{"uuid", other}}, asBytes, nil})
	}
	for _, s := range []string{"8fhmi7mfls62jp64", "vxxxxxxxxxxxxxxx", "xxxxxxxxxxxxxxxx"} {
		worked := idtype.MustParse[idtype.SnoID](s)
		some = append(some, worked[:])
	}
	for range randomRows {
		made := id()
		some = append(some, made[:])
		all = append(all, question{
			fromUUID, []arg{{"uuid", storedValue(uuid(made)).(string)}}, asBytes, made[:],
		})
	}
	all = append(all, askByteIDs("idmint_sno_", []functionPart[idtype.SnoID]{
		{"time", asTime, func(id idtype.SnoID) any { return id.Time() }},
		{"tick_tock", asPlain, func(id idtype.SnoID) any { return id.Parts().TickTock }},
		{"meta", asPlain, func(id idtype.SnoID) any { return id.Parts().Meta }},
		{"partition", asPlain, func(id idtype.SnoID) any { return id.Parts().Partition }},
		{"sequence", asPlain, func(id idtype.SnoID) any { return id.Parts().Sequence }},
		{"text", asPlain, func(id idtype.SnoID) any { return id.String() }},
		{"uuid", asPlain, func(id idtype.SnoID) any { return storedValue(uuid(id)) }},
	}, some...)...)
	return append(all, askTexts("idmint_sno_", asBytes, idtype.Parse[idtype.SnoID], []string{
		"2222222222222222", "8fhmi7mfls62jp64", "8FHMI7MFLS62JP64", "8fhmi7mfls62jp6y", "8fhmi7mfls62jp61",
	}, func() string { return id().String() })...)
}

// stored is what a column holds.
func storedValue(id driver.Valuer) any { return must(id.Value()) }
