package idtype

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"time"
)

// SnowflakeBits describes how a layout divides the bits of its IDs, which from the top are time,
// node, and step. To define your own layout, declare a type:
//
//	type Layout struct{}
//
//	func (Layout) Layout() *idtype.SnowflakeLayout { return layout }
//
//	var layout = idtype.MustSnowflakeLayout(idtype.SnowflakeBits{
//		Epoch: 1672531200000, Node: 3, Step: 8,
//	})
//
// Its IDs have the type idtype.SnowflakeIn[Order, Layout]. The bits above the time are zero. IDs of
// up to 53 bits, such as those of 41, 3, and 8 bits, are therefore exact in JavaScript's numbers.
type SnowflakeBits struct {
	// Epoch is the Unix time in milliseconds that the layout counts from. It must be 0, or in the
	// years 2005 to 2100, and a multiple of the unit.
	Epoch int64
	// Unit is the unit of the time, in whole milliseconds, from 1 ms to 1 s. Zero means 1 ms.
	Unit time.Duration
	// Time is the number of bits for the time: 32 to 41, and together with the others at most 63.
	// Zero means as many as possible.
	Time int
	// Node and Step are the numbers of bits for the generator's number and for the count within a
	// unit. Their sum must be at least 1.
	Node, Step int
	// StepFirst puts the step above the node, as in sonyflake.
	StepFirst bool
	// Text is the form in which String writes IDs.
	Text SnowflakeText
}

// A SnowflakeLayout is a layout that was checked and cannot be changed. Create one with
// [NewSnowflakeLayout] or [MustSnowflakeLayout].
type SnowflakeLayout struct {
	bits                  SnowflakeBits
	name                  string
	scheme                Scheme         // with the layout appended
	text                  *snowflakeText // nil for decimal digits
	unit                  int64          // milliseconds
	time, node, step      uint8          // positions of the parts
	maxUnixMs             int64
	maxTime, nodes, steps int64 // the largest values
}

// Snowflakes is implemented by types that stand for a layout as a parameter of [SnowflakeIn]. Such
// a type has no fields, and its method returns the same layout on each call.
type Snowflakes interface {
	~struct{}
	Layout() *SnowflakeLayout
}

// Layouts of other libraries and products. Discord and TSID define 42 bits of time, of which the
// domain of IDs, 1 ..= 2^63−1, can hold 41.
type (
	Twitter     struct{} // 41, 10 and 12 bits, milliseconds since 2010-11-04, until 2080
	Discord     struct{} // 41, 10 and 12 bits, milliseconds since 2015, until 2084
	TSID        struct{} // 41, 10 and 12 bits, milliseconds since 2020, until 2089; 13 characters
	PgEdge      struct{} // 41, 10 and 12 bits, milliseconds since 2023, until 2092
	UnixEpoch   struct{} // 41, 10 and 12 bits, milliseconds since 1970, until 2039; ClickHouse's
	SonyflakeV1 struct{} // 39 bits, 8 of step, and 16 of node, 10 ms since 2014-09-01, until 2188
	SonyflakeV2 struct{} // 39 bits, 8 of step, and 16 of node, 10 ms since 2025, until 2199
)

var (
	twitter     = MustSnowflakeLayout(SnowflakeBits{Epoch: 1288834974657, Node: 10, Step: 12})
	discord     = MustSnowflakeLayout(SnowflakeBits{Epoch: 1420070400000, Node: 10, Step: 12})
	pgEdge      = MustSnowflakeLayout(SnowflakeBits{Epoch: 1672531200000, Node: 10, Step: 12})
	unixEpoch   = MustSnowflakeLayout(SnowflakeBits{Node: 10, Step: 12})
	sonyflakeV1 = MustSnowflakeLayout(sonyflake(1409529600000))
	sonyflakeV2 = MustSnowflakeLayout(sonyflake(1735689600000))
	tsid        = MustSnowflakeLayout(SnowflakeBits{
		Epoch: 1577836800000, Node: 10, Step: 12, Text: SnowflakeCrockford,
	})
)

func sonyflake(epoch int64) SnowflakeBits {
	return SnowflakeBits{
		Epoch: epoch, Unit: 10 * time.Millisecond, Node: 16, Step: 8, StepFirst: true,
	}
}

func (Twitter) Layout() *SnowflakeLayout     { return twitter }
func (Discord) Layout() *SnowflakeLayout     { return discord }
func (TSID) Layout() *SnowflakeLayout        { return tsid }
func (PgEdge) Layout() *SnowflakeLayout      { return pgEdge }
func (UnixEpoch) Layout() *SnowflakeLayout   { return unixEpoch }
func (SonyflakeV1) Layout() *SnowflakeLayout { return sonyflakeV1 }
func (SonyflakeV2) Layout() *SnowflakeLayout { return sonyflakeV2 }

const (
	maxSnowflakeTime = 41
	minSnowflakeTime = 32
	earliestEpoch    = 1_104_537_600_000 // 2005-01-01: rejects seconds given as milliseconds
	latestEpoch      = 4_133_980_800_000 // 2101-01-01: rejects microseconds
	earliestEnd      = 1_893_456_000_000 // 2030-01-01
)

// A LayoutError is returned for a layout that cannot be used for IDs.
type LayoutError struct {
	Bits   SnowflakeBits
	Reason string
}

func (e *LayoutError) Error() string {
	return fmt.Sprintf("idtype: snowflake layout %+v: %s", e.Bits, e.Reason)
}

// NewSnowflakeLayout checks a layout. The error is a [*LayoutError].
func NewSnowflakeLayout(b SnowflakeBits) (*SnowflakeLayout, error) {
	given := b
	fail := func(format string, args ...any) (*SnowflakeLayout, error) {
		return nil, &LayoutError{given, fmt.Sprintf(format, args...)}
	}
	b.Unit = cmp.Or(b.Unit, time.Millisecond)
	if b.Time == 0 {
		b.Time = min(maxSnowflakeTime, 63-b.Node-b.Step)
	}
	switch {
	case b.Unit < time.Millisecond || b.Unit > time.Second || b.Unit%time.Millisecond != 0:
		return fail("Unit must be whole milliseconds, from 1 ms to 1 s")
	case b.Node < 0 || b.Step < 0 || b.Node+b.Step == 0:
		return fail("Node and Step must not be negative, and at least one must be positive")
	case b.Time < minSnowflakeTime || b.Time > maxSnowflakeTime || b.Time+b.Node+b.Step > 63:
		return fail("Time must be %d to %d bits, and at most 63 together with Node and Step",
			minSnowflakeTime, maxSnowflakeTime)
	case b.Epoch != 0 && (b.Epoch < earliestEpoch || b.Epoch >= latestEpoch):
		return fail("Epoch must be 0, or Unix time in milliseconds of the years 2005 to 2100")
	case b.Epoch%b.Unit.Milliseconds() != 0:
		return fail("Epoch must be a multiple of Unit")
	case b.Text < SnowflakeDecimal || int(b.Text) >= len(snowflakeTexts):
		return fail("Text is unknown")
	}
	l := &SnowflakeLayout{
		bits: b, text: snowflakeTexts[b.Text], unit: b.Unit.Milliseconds(),
		time: uint8(b.Node + b.Step), node: uint8(b.Step),
		maxTime: 1<<b.Time - 1, nodes: 1<<b.Node - 1, steps: 1<<b.Step - 1,
	}
	if b.StepFirst {
		l.node, l.step = 0, uint8(b.Node)
	}
	l.name = fmt.Sprintf("epoch=%d,unit=%v,time=%d,node=%d,step=%d",
		b.Epoch, b.Unit, b.Time, b.Node, b.Step)
	if b.StepFirst {
		l.name += ",stepfirst"
	}
	l.scheme = SchemeSnowflake + " " + Scheme(l.name)
	l.maxUnixMs = b.Epoch + (l.maxTime+1)*l.unit - 1
	if l.maxUnixMs < earliestEnd {
		return fail("its time ends in %d: use a later Epoch, a longer Unit, or more bits of Time",
			time.UnixMilli(l.maxUnixMs).UTC().Year())
	}
	return l, nil
}

// MustSnowflakeLayout is like [NewSnowflakeLayout] but panics on an error. It is meant for package
// variables, so that a mistake is found before main begins.
func MustSnowflakeLayout(b SnowflakeBits) *SnowflakeLayout { return must(NewSnowflakeLayout(b)) }

// Bits returns the description of the layout, with Unit and Time set.
func (l *SnowflakeLayout) Bits() SnowflakeBits { return l.bits }

// String returns the layout without its text, such as
// "epoch=1577836800000,unit=1ms,time=41,node=10,step=12".
func (l *SnowflakeLayout) String() string { return l.name }

// Most returns the largest number of the layout, in its last unit of time. The smallest is 1.
func (l *SnowflakeLayout) Most() int64 {
	return l.maxTime<<l.time | l.nodes<<l.node | l.steps<<l.step
}

// ID composes an ID from its parts, with the time rounded down to the unit. It returns a
// [*RangeError] for the first part outside its range. If every part has its smallest value, the
// result would be zero, and the error is an [*InputError] that wraps [ErrZero].
func (l *SnowflakeLayout) ID(p SnowflakeParts) (int64, error) {
	if err := l.check(p); err != nil {
		return 0, err
	}
	id := (p.UnixMs-l.bits.Epoch)/l.unit<<l.time | int64(p.Node)<<l.node | int64(p.Step)<<l.step
	return id, inDomain(snowflakeType, id)
}

func (l *SnowflakeLayout) check(p SnowflakeParts) error {
	return checkParts(snowflakeType, []part[int64]{
		{"unix_ms", p.UnixMs, l.bits.Epoch, l.maxUnixMs},
		{"node", int64(p.Node), 0, l.nodes},
		{"step", int64(p.Step), 0, l.steps},
	})
}

// Parts returns the parts of an ID. They are meaningless outside 1 ..= [SnowflakeLayout.Most].
func (l *SnowflakeLayout) Parts(id int64) SnowflakeParts {
	return SnowflakeParts{
		UnixMs: id>>(l.time&63)*l.unit + l.bits.Epoch,
		Node:   int(id >> (l.node & 63) & l.nodes),
		Step:   int(id >> (l.step & 63) & l.steps),
	}
}

// Bounds is [Bounds] for the numbers of this layout, for programs that learn the layout at run
// time.
func (l *SnowflakeLayout) Bounds(from, to time.Time) (Range[int64], error) {
	var none Range[int64]
	if !inOrder(from, to) {
		return none, spanError(snowflakeType, from, to, errInverted)
	}
	least, err := l.ID(SnowflakeParts{UnixMs: unixMs(from)})
	if errors.Is(err, ErrZero) {
		least, err = 1, nil // the first unit of the epoch
	}
	if err != nil {
		return none, err
	}
	most, err := l.ID(SnowflakeParts{unixMs(to), int(l.nodes), int(l.steps)})
	if err != nil {
		return none, err
	}
	return Range[int64]{least, most}, nil
}

// SnowflakeText is the form in which a layout writes its IDs. Each ID has exactly one text, and
// [Parse] accepts no other.
type SnowflakeText int

// The texts.
const (
	// SnowflakeDecimal is decimal digits.
	SnowflakeDecimal SnowflakeText = iota
	// SnowflakeBase58 is base 58 of bwmarrin/snowflake, up to 11 characters. It does not sort like
	// the IDs.
	SnowflakeBase58
	// SnowflakeBase32 is z-base-32 of bwmarrin/snowflake, up to 13 characters. It does not sort
	// like the IDs.
	SnowflakeBase32
	// SnowflakeCrockford is 13 characters of Crockford's base 32 in upper case, as in TSID. It
	// sorts like the IDs. Lower case, and O, I, and L in place of digits, are rejected.
	SnowflakeCrockford
)

var snowflakeTexts = []*snowflakeText{
	nil,
	newSnowflakeText("123456789abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ", 0),
	newSnowflakeText("ybndrfg8ejkmcpqxot1uwisza345h769", 0),
	newSnowflakeText("0123456789ABCDEFGHJKMNPQRSTVWXYZ", maxSnowflakeText),
}

const maxSnowflakeText = 13 // characters of base 32

// A snowflakeText describes digits in another base, the highest first.
type snowflakeText struct {
	alphabet string
	width    int // characters of each text; 0 if there are no leading zeros
	values   [256]byte
}

func newSnowflakeText(alphabet string, width int) *snowflakeText {
	t := &snowflakeText{alphabet: alphabet, width: width}
	for i := range t.values {
		t.values[i] = noDigit
	}
	for i := range len(alphabet) {
		t.values[alphabet[i]] = byte(i)
	}
	return t
}

func (t *snowflakeText) append(b []byte, v int64) []byte {
	if v <= 0 {
		return append(appendInt63(append(b, '('), v), ')')
	}
	var buf [maxSnowflakeText]byte
	i, base := len(buf), uint64(len(t.alphabet))
	for u := uint64(v); u > 0 || len(buf)-i < t.width; u /= base {
		i--
		buf[i] = t.alphabet[u%base]
	}
	return append(b, buf[i:]...)
}

// parseSnowflake is the exact inverse of append over 1 ..= 2^63−1.
func parseSnowflake[S string | []byte](t *snowflakeText, s S) (int64, error) {
	n, base := len(s), uint64(len(t.alphabet))
	if string(s) == "(0)" {
		return 0, ErrZero
	}
	if n == 0 || n > maxSnowflakeText || t.width > 0 && n != t.width {
		return 0, t.syntax()
	}
	var v, over uint64
	for i := range n {
		d := t.values[s[i]]
		if d == noDigit {
			return 0, t.syntax()
		}
		high, low := bits.Mul64(v, base)
		sum, carry := bits.Add64(low, uint64(d), 0)
		v, over = sum, over|high|carry|sum>>63
	}
	switch {
	case over != 0:
		return 0, errOverflow
	case v == 0 && (n == 1 || t.width > 0):
		return 0, ErrZero
	case t.width == 0 && t.values[s[0]] == 0:
		return 0, t.syntax()
	}
	return int64(v), nil
}

func (t *snowflakeText) syntax() error {
	length := "1 to " + strconv.Itoa(maxSnowflakeText)
	zeros := ", the first not " + t.alphabet[:1]
	if t.width > 0 {
		length, zeros = strconv.Itoa(t.width), ""
	}
	return fmt.Errorf("not %s characters of %s%s", length, t.alphabet, zeros)
}
