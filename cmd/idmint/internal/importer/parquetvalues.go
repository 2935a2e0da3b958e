package importer

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// A pageBody is what a page has behind its header, unpacked.
type pageBody struct {
	levels   []byte // which values are there, and which are NULL; nil in a column without NULLs
	values   []byte
	encoding format.Encoding // of the values
	n        int64           // values that are there
}

// splitLevels moves levels that lie before the values, which they do in pages of the first version:
// behind their length. It returns how many there are.
func (b *pageBody) splitLevels(header *format.PageHeader) (levels int64, err error) {
	own, encoding := b.levels, format.RLE
	if header.Type == format.DataPageV2 {
		own = own[header.DataPageHeaderV2.V.RepetitionLevelsByteLength:]
	} else {
		encoding = header.DataPageHeader.V.DefinitionLevelEncoding
		const length = 4
		if len(b.values) < length {
			return 0, errCutOff
		}
		size := uint64(binary.LittleEndian.Uint32(b.values))
		if size > uint64(len(b.values)-length) {
			return 0, errCutOff
		}
		own = b.values[length : length+size]
		b.levels, b.values = b.values[:length+size], b.values[length+size:]
	}
	claimed := b.n
	b.n = 0
	if encoding == format.BitPacked { // from the highest bit on
		for i, octet := range own {
			b.n += int64(bits.OnesCount8(octet & ^byte(0xff>>within(claimed-int64(i)*8))))
		}
		return 8 * int64(len(own)), nil
	}
	err = eachRun(own, 1, func(count int64, value []byte, packed bool) {
		left := min(count, max(0, claimed-levels))
		levels += count
		if !packed {
			if value[0] == 1 {
				b.n += left
			}
			return
		}
		for i, octet := range value {
			b.n += int64(bits.OnesCount8(octet & (1<<within(left-int64(i)*8) - 1)))
		}
	})
	return levels, err
}

// within is a number of bits of a byte.
func within(n int64) int64 { return max(0, min(8, n)) }

// more is what memory the values take, where they may take more than their text. It looks at no
// value.
func (b *pageBody) more(kind parquet.Kind) (int64, error) {
	const number, length = 8, 4
	switch {
	case len(b.values) == 0:
	case inDictionary(b.encoding):
		n := int64(0)
		err := eachRun(b.values[1:], uint64(b.values[0]), func(count int64, _ []byte, _ bool) {
			n += count
		})
		return n * length, err
	case b.encoding == format.DeltaBinaryPacked:
		n, _, err := deltasOf(b.values)
		if kind == parquet.Int32 { // see plainInt32s
			return n * (number + length), err
		}
		return n * number, err
	case b.encoding == format.DeltaLengthByteArray:
		n, _, err := deltasOf(b.values)
		return n * length, err
	case b.encoding == format.DeltaByteArray:
		return prefixed(b.values)
	}
	return 0, nil
}

// simplify makes values plain that the library reads as others: booleans in runs, and numbers of 32
// bits with differences of more. It cuts off what follows plain values, which some writers leave
// there.
func (b *pageBody) simplify(typ parquet.Type) (err error) {
	switch kind := typ.Kind(); {
	case b.encoding == format.RLE && kind == parquet.Boolean:
		b.values, err = plainBooleans(b.values, b.n)
		b.encoding = format.Plain
	case b.encoding == format.DeltaBinaryPacked && kind == parquet.Int32:
		b.values, err = plainInt32s(b.values)
		b.encoding = format.Plain
	case isPlain(b.encoding) && !inDictionary(b.encoding):
		b.values = b.values[:plainSize(b.values, b.n, typ)]
	}
	return err
}

// plainBooleans takes n booleans out of runs, which follow their length, to a bit each.
func plainBooleans(text []byte, n int64) ([]byte, error) {
	const length = 4
	if len(text) < length && n > 0 {
		return nil, errCutOff
	}
	plain := make([]byte, (n+7)/8)
	if n == 0 {
		return plain, nil
	}
	size := uint64(binary.LittleEndian.Uint32(text))
	if size > uint64(len(text)-length) {
		return nil, errCutOff
	}
	at := int64(0)
	err := eachRun(text[length:length+size], 1, func(count int64, value []byte, packed bool) {
		for i := int64(0); i < count && at < n; i++ {
			bit := value[0] & 1
			if packed {
				bit = value[i/8] >> (i % 8) & 1
			}
			plain[at/8] |= bit << (at % 8)
			at++
		}
	})
	if err == nil && at < n {
		err = errCutOff
	}
	return plain, err
}

// plainInt32s takes numbers out of their differences. Of sums only the lower 32 bits count.
func plainInt32s(text []byte) ([]byte, error) {
	numbers, err := parquet.DeltaBinaryPacked.DecodeInt64(nil, text)
	plain := make([]byte, 0, 4*len(numbers))
	for _, n := range numbers {
		plain = binary.LittleEndian.AppendUint32(plain, uint32(n))
	}
	return plain, err
}

// plainSize is the size of n plain values, or that of the text where it has fewer.
func plainSize(text []byte, n int64, typ parquet.Type) int {
	size := int64(len(text))
	switch typ.Kind() {
	case parquet.Boolean:
		size = (n + 7) / 8
	case parquet.Int32, parquet.Float:
		size = 4 * n
	case parquet.Int64, parquet.Double:
		size = 8 * n
	case parquet.Int96:
		size = 12 * n
	case parquet.FixedLenByteArray:
		size = int64(typ.Length()) * n
	case parquet.ByteArray:
		at := uint64(0)
		for range n {
			if at+4 > uint64(len(text)) {
				return len(text)
			}
			at += 4 + uint64(binary.LittleEndian.Uint32(text[at:]))
		}
		size = int64(at)
	}
	return int(min(size, int64(len(text))))
}

// prefixed is what texts take of which each repeats the beginning of the one before.
func prefixed(text []byte) (int64, error) {
	n, rest, err := deltasOf(text)
	if err != nil {
		return 0, err
	}
	m, texts, err := deltasOf(rest)
	total := 4 * (n + m) // their lengths
	if err != nil || total > maxPages {
		return total, err
	}
	prefixes, err := sumOf(text)
	if err != nil {
		return 0, err
	}
	suffixes, err := sumOf(rest)
	if err == nil && suffixes > int64(len(texts)) {
		err = errCutOff
	}
	return total + prefixes + suffixes, err
}

// sumOf is the sum of the lengths with which a text begins.
func sumOf(text []byte) (sum int64, err error) {
	lengths, err := parquet.DeltaBinaryPacked.DecodeInt32(nil, text)
	for _, n := range lengths {
		if n < 0 {
			return 0, errDamage
		}
		sum += int64(n)
	}
	return sum, err
}

// eachRun calls a function for each run of a text. A run repeats a value of some bits, or has eight
// values side by side, or a multiple of that:
// https://parquet.apache.org/docs/file-format/data-pages/encodings
func eachRun(text []byte, width uint64, run func(count int64, value []byte, packed bool)) error {
	for len(text) > 0 {
		head, k := binary.Uvarint(text)
		count, packed := head>>1, head&1 != 0
		if k <= 0 || count > math.MaxInt32 {
			return errDamage
		}
		if text = text[k:]; count == 0 {
			continue // padding, which has no value
		}
		size := (width + 7) / 8
		if packed {
			count, size = 8*count, count*width
		}
		if size > uint64(len(text)) {
			if !packed || size-uint64(len(text)) >= width {
				return errCutOff
			}
			size = uint64(len(text)) // see padding
		}
		run(int64(count), text[:size], packed)
		text = text[size:]
	}
	return nil
}

// deltasOf is how many values a text of DELTA_BINARY_PACKED holds, and what lies behind them.
func deltasOf(text []byte) (n int64, rest []byte, err error) {
	var head [3]uint64 // values of a block, its parts, all values
	for i := range head {
		var k int
		if head[i], k = binary.Uvarint(text); k <= 0 || head[i] > math.MaxInt32 {
			return 0, nil, errDamage
		}
		text = text[k:]
	}
	if head[1] == 0 || head[0]%head[1] != 0 {
		return 0, nil, errDamage
	}
	part, parts, left := head[0]/head[1], head[1], head[2]
	_, k := binary.Varint(text) // the first value
	for text = text[max(0, k):]; k > 0 && left > 1; {
		if _, k = binary.Varint(text); k <= 0 { // the least difference
			break
		}
		text = text[k:]
		widths := text[:min(parts, uint64(len(text)))]
		text = text[len(widths):]
		for _, width := range widths {
			if left <= 1 {
				break
			}
			// The last part may be cut.
			text = text[min(uint64(len(text)), part*uint64(width)/8):]
			left -= min(left-1, part)
		}
	}
	if k <= 0 {
		return 0, nil, errDamage
	}
	return int64(head[2]), text, nil
}
