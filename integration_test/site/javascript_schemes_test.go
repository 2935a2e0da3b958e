package site_test

import (
	"database/sql"
	"encoding"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/formats"
)

// A twin is a scheme as package idtype has it.
type twin struct {
	name     string
	alphabet string // of its texts
	longest  int    // of its texts
	forms    []string
	ranges   []partRange
	parse    func(text, form string, now time.Time) (answer, error)
	compose  func(parts json.RawMessage, layout string) (answer, error)
	bounds   func(from, to time.Time) ([][2]string, error)
}

// idPointer reads an ID.
type idPointer[T any] interface {
	*T
	encoding.TextUnmarshaler
	encoding.BinaryUnmarshaler
	sql.Scanner
}

// A composer is parts that have an ID.
type composer[T any] interface{ ID() (T, error) }

// A partRange is a part's name in JSON, and its least and largest value.
type partRange struct {
	name        string
	least, most int64
}

// describe is the answer about an ID.
func describe[T idtype.ID](id T, forms []string, parts any, now time.Time) (answer, error) {
	raw, err := id.AppendBinary(nil)
	if err != nil {
		return answer{}, err
	}
	encoded, err := json.Marshal(parts)
	a := answer{ID: numberOf(raw), Parts: string(encoded), Valid: []bool{id.Validate() == nil}}
	for _, form := range forms {
		switch form {
		case "text":
			a.Texts = append(a.Texts, id.String())
		case "number":
			v, _ := strconv.ParseUint(numberOf(raw), 10, 64)
			a.Texts = append(a.Texts, strconv.FormatInt(int64(v), 10))
		case "hex":
			a.Texts = append(a.Texts, fmt.Sprintf("%x", raw))
		case "uuid":
			text := id.String()
			a.Texts = append(a.Texts, fmt.Sprintf("%x-%x-%x-%x-%x", text[:4], text[4:6], text[6:8],
				text[8:10], text[10:]))
		}
	}
	switch id := any(id).(type) {
	case idtype.EightByteID:
		for layout := range 3 {
			a.Valid = append(a.Valid, id.ValidateFormer(layout+1) == nil)
		}
		a.Times = []int64{id.Parts().UnixMs}
	case idtype.TraceID:
		last, next := id.Times(now)
		a.Times = []int64{last.UnixMilli(), next.UnixMilli()}
	case interface{ Time() time.Time }:
		a.Times = []int64{id.Time().UnixMilli()}
	}
	return a, err
}

// numberOf is bytes as one number, big-endian.
func numberOf(raw []byte) string { return new(big.Int).SetBytes(raw).String() }

// hexOf is a number in so many hexadecimal digits.
func hexOf(id string, digits int) string {
	v, _ := new(big.Int).SetString(id, 10)
	return fmt.Sprintf("%0*x", digits, v)
}

// twinOf fills in what goes by an ID's type.
func twinOf[T idtype.ID, Q idPointer[T], P composer[T]](w twin, parts func(T) P) twin {
	w.parse = func(text, form string, now time.Time) (answer, error) {
		id, err := readForm[T, Q](text, form)
		if err != nil {
			return answer{}, err
		}
		return describe(id, w.forms, parts(id), now)
	}
	w.compose = func(encoded json.RawMessage, layout string) (answer, error) {
		var p P
		if err := json.Unmarshal(encoded, &p); err != nil {
			return answer{}, err
		}
		id, err := p.ID()
		if e, is := any(p).(idtype.EightByteParts); is && layout != "" {
			var composed idtype.EightByteID
			composed, err = e.FormerID(int(layout[1] - '0'))
			id = any(composed).(T)
		}
		if err != nil {
			return answer{}, err
		}
		raw, err := id.AppendBinary(nil)
		return answer{ID: numberOf(raw)}, err
	}
	return w
}

var errForm = errors.New("not of the form")

// readForm reads a form of an ID as its type does, from a text or a column.
func readForm[T idtype.ID, Q idPointer[T]](text, form string) (id T, err error) {
	switch form {
	case "text":
		return id, Q(&id).UnmarshalText([]byte(text))
	case "number":
		if _, is := any(id).(idtype.EightByteID); is {
			var column idtype.EightByte[idtype.AsBigint[any]]
			err = column.Scan(text)
			return any(idtype.EightByteID(column)).(T), err
		}
		return id, Q(&id).Scan(text)
	case "hex":
		digits, prefixed := strings.CutPrefix(text, `\x`)
		if !prefixed {
			digits = strings.TrimPrefix(text, "0x")
		}
		raw, err := hex.DecodeString(digits)
		if err != nil || digits != strings.ToLower(digits) && digits != strings.ToUpper(digits) {
			return id, errForm
		}
		return id, Q(&id).UnmarshalBinary(raw)
	case "uuid":
		if len(text) != 36 { // Scan takes other forms too
			return id, errForm
		}
		var column idtype.Sno[idtype.AsUUID[any]]
		err = column.Scan(text)
		return any(idtype.SnoID(column)).(T), err
	}
	return id, errForm
}

// A sequenceNumber is the part of a sequence's ID, as the decoder names it. It is a string, because
// floats do not hold it.
type sequenceNumber struct {
	Number int64 `json:"number,string"`
}

func (n sequenceNumber) ID() (idtype.SequenceID, error) {
	return idtype.Parse[idtype.SequenceID](strconv.FormatInt(n.Number, 10))
}

// numbersOf is the bounds of a span as numbers.
func numbersOf[T idtype.ID](
	bounds func(from, to time.Time) ([]idtype.Range[T], error),
) func(from, to time.Time) ([][2]string, error) {
	return func(from, to time.Time) (ranges [][2]string, err error) {
		found, err := bounds(from, to)
		for _, r := range found {
			first, _ := r.Min.AppendBinary(nil)
			last, _ := r.Max.AppendBinary(nil)
			ranges = append(ranges, [2]string{numberOf(first), numberOf(last)})
		}
		return ranges, err
	}
}

const (
	tenDigits = "0123456789"
	base64    = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
)

var numeric = []string{"text", "number"}

var twins = []twin{
	twinOf[idtype.DecimalID, *idtype.DecimalID](twin{
		name: "decimal", alphabet: tenDigits, longest: 19, forms: numeric,
		ranges: []partRange{
			{"counter", 1, formats.DecimalMaxCounter},
			{"generator_id", 0, formats.DecimalMaxGenerator},
			{"launch_id", 0, formats.DecimalMaxLaunch},
		},
	}, idtype.DecimalID.Parts),
	twinOf[idtype.TraceID, *idtype.TraceID](twin{
		name: "trace", alphabet: tenDigits, longest: 19, forms: numeric,
		ranges: []partRange{
			{"timestamp", 0, formats.TraceMaxTimestamp},
			{"node_no", 0, formats.TraceMaxNode},
			{"bottom", 1, formats.TraceMaxBottom},
		},
		bounds: numbersOf(idtype.Bounds[idtype.TraceID]),
	}, idtype.TraceID.Parts),
	twinOf[idtype.EightByteID, *idtype.EightByteID](twin{
		name: "eightbyte", alphabet: "0123456789abcdef", longest: 16,
		forms: []string{"text", "number", "hex"},
		ranges: []partRange{
			{"mode", 0, 1},
			{"unix_ms", 0, formats.EightByteMaxUnixMs},
			{"sequence", 0, formats.EightByteMaxSequence},
			{"generator_id", 0, formats.EightByteMaxGenerator},
			{"cluster_id", 0, formats.EightByteMaxCluster},
		},
		bounds: numbersOf(idtype.Bounds[idtype.EightByteID]),
	}, idtype.EightByteID.Parts),
	twinOf[idtype.ShortID, *idtype.ShortID](twin{
		name: "short", alphabet: base64, longest: 11, forms: numeric,
		ranges: []partRange{
			{"unix_ms", formats.ShortEpoch, formats.ShortMaxUnixMs},
			{"sequence", 0, formats.ShortMaxSequence},
			{"random", 0, formats.ShortMaxRandom},
		},
		bounds: numbersOf(idtype.Bounds[idtype.ShortID]),
	}, idtype.ShortID.Parts),
	twinOf[idtype.SnoID, *idtype.SnoID](twin{
		name: "sno", alphabet: "23456789abcdefghijklmnopqrstuvwx", longest: 16,
		forms: []string{"text", "hex", "uuid"},
		ranges: []partRange{
			{"unix_ms", formats.SnoEpoch, formats.SnoMaxUnixMs},
			{"tick_tock", 0, 1},
			{"meta", 0, formats.SnoMaxMeta},
			{"partition", 0, formats.SnoMaxPartition},
			{"sequence", 0, formats.SnoMaxSequence},
		},
		bounds: numbersOf(idtype.Bounds[idtype.SnoID]),
	}, idtype.SnoID.Parts),
	twinOf[idtype.SequenceID, *idtype.SequenceID](twin{
		name: "sequence", alphabet: tenDigits, longest: 19, forms: numeric,
		ranges: []partRange{{"number", 1, math.MaxInt64}},
	}, func(id idtype.SequenceID) sequenceNumber { return sequenceNumber{int64(id)} }),
}
