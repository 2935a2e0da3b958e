package importer

import (
	"slices"
	"unicode/utf8"
)

// A block holds the fields of rows one after another, as one text and the end of each field. A
// million fields take two allocations this way. As values of type any they took two million, and a
// seventh of the time of an import.
type block struct {
	text []byte
	ends []uint32 // of each field in text, possibly with isNull
}

// isNull marks the end of a field that is NULL. No text is long enough to need this bit: see
// batchBytes.
const isNull = 1 << 31

// newBlock returns a block with room for most batches. The unused part takes no memory.
func newBlock() *block { return &block{text: make([]byte, 0, batchBytes+batchBytes/64)} }

// endField ends a field whose text was appended.
func (b *block) endField() { b.ends = append(b.ends, uint32(len(b.text))) }

func (b *block) add(text []byte) {
	b.text = append(b.text, text...)
	b.endField()
}

func (b *block) addNull() { b.ends = append(b.ends, uint32(len(b.text))|isNull) }

// begin returns where the field with index i begins in the text.
func (b *block) begin(i int) int {
	if i == 0 {
		return 0
	}
	return int(b.ends[i-1] &^ isNull)
}

// field returns the text of the field with index i. It is not ok if the field is NULL.
func (b *block) field(i int) (text []byte, ok bool) {
	end := b.ends[i]
	return b.text[b.begin(i) : end&^isNull], end&isNull == 0
}

// hasNull reports whether any field is NULL.
func (b *block) hasNull() bool {
	return slices.ContainsFunc(b.ends, func(end uint32) bool { return end&isNull != 0 })
}

// splitsNoRune reports whether each field from index first on begins where a rune does. If so, and
// if the whole text is UTF-8, each field is UTF-8 too.
func (b *block) splitsNoRune(first int) bool {
	for i := first + 1; i < len(b.ends); i++ {
		if at := b.begin(i); at < len(b.text) && !utf8.RuneStart(b.text[at]) {
			return false
		}
	}
	return true
}

// cut removes all but the first n fields.
func (b *block) cut(n int) { b.text, b.ends = b.text[:b.begin(n)], b.ends[:n] }

// size returns how much memory the fields take.
func (b *block) size() int { return len(b.text) + 4*len(b.ends) }

// reset empties the block. It keeps its memory, unless a few long rows made that too large.
func (b *block) reset() {
	if cap(b.text) > 2*batchBytes {
		*b = *newBlock()
	}
	b.text, b.ends = b.text[:0], b.ends[:0]
}

// texts returns n fields from index first on as strings, which share one copy of their text.
func (b *block) texts(first, n int) func(i int) (text string, ok bool) {
	begin := b.begin(first)
	all := string(b.text[begin:b.begin(first+n)])
	return func(i int) (string, bool) {
		end := b.ends[first+i]
		return all[b.begin(first+i)-begin : int(end&^isNull)-begin], end&isNull == 0
	}
}
