package report

import (
	"math"
	"strconv"
)

// A chart has a row for each thing that is compared, and a mark of it in each panel. The page draws
// it with elements and styles, so that it takes the reader's font, colours and width. Values stand
// in columns of their own, where no line crosses them.
//
// Marks are bars from zero. They are dots on a logarithmic axis, which has no zero, and for ratios,
// which have a spread.
type chart struct {
	Title  string // what a screen reader says of it
	Axis   string
	Log    bool
	Ratio  bool
	Panels []string // what marks are of; one panel has no heading
	Rows   []chartRow
	Lines  []float64 // a value of each panel that is marked across all rows; 0 is none
	Full   float64   // that the axis reaches at least
}

// A chartRow has a mark for each panel.
type chartRow struct {
	Label   string
	Scheme  string
	Ours    bool
	Writers int // that minted at once; 0 where the keys are alike for any number, -1 for a case apart
	Marks   []mark
}

// A mark without a text is of something that was not measured.
type mark struct {
	Value  float64
	Spread float64 // half the distance between the quartiles of the rounds
	Text   string
	Rounds int // of which Value is the median; 0 where it was counted
	// Step is what one more makes of a Value that was counted, and is small. 0 is any other.
	Step float64
}

// Dots reports whether marks are dots, and not bars.
func (c chart) Dots() bool { return c.Log || c.Ratio }

// Low and High are the ends of what may be true of a mark.
func (m mark) Low() float64  { return max(0, m.Value-m.Spread) }
func (m mark) High() float64 { return m.Value + m.Spread }

// bounds are the ends of the axis, with room for the dots there. Where nothing was measured above
// zero they are 0 and 1.
func (c chart) bounds() (low, high float64) {
	low, high = math.Inf(1), c.Full
	for _, l := range c.Lines {
		high = max(high, l)
	}
	for _, r := range c.Rows {
		for _, m := range r.Marks {
			if m.Text == "" {
				continue
			}
			high = max(high, m.High())
			if m.Value > 0 {
				low = min(low, m.Value)
			}
		}
	}
	switch {
	case high == 0:
		return 0, 1
	case c.Log:
		return low * 0.75, high * 1.3
	case c.Ratio:
		return 0, high * 1.05
	}
	return 0, high
}

// At tells where a value lies on the axis: 0 is its left end, 100 its right end.
func (c chart) At(value float64) float64 {
	low, high := c.bounds()
	if c.Log {
		if value <= low {
			return 0
		}
		low, high, value = math.Log(low), math.Log(high), math.Log(value)
	}
	return math.Round(1000*(value-low)/(high-low)) / 10 // more digits nobody sees
}

// A tick is a value of the axis that has a label.
type tick struct {
	Value float64
	Label string
}

// Ticks are few enough for a phone.
func (c chart) Ticks() []tick {
	low, high := c.bounds()
	if c.Log {
		if ticks := powers(low, high); len(ticks) > 1 {
			return ticks
		}
		return ends(low, high)
	}
	return steps(high)
}

// powers are the powers of ten from low to high.
func powers(low, high float64) []tick {
	var ticks []tick
	for n := int(math.Ceil(math.Log10(low))); math.Pow10(n) <= high; n++ {
		ticks = append(ticks, tick{math.Pow10(n), label(math.Pow10(n))})
	}
	return ticks
}

// ends are round numbers near the ends of an axis that has less than two powers of ten.
func ends(low, high float64) []tick {
	step := math.Pow10(int(math.Floor(math.Log10(low))))
	first := math.Ceil(low/step) * step
	step = math.Pow10(int(math.Floor(math.Log10(high))))
	last := math.Floor(high/step) * step
	if last <= first {
		return []tick{{first, label(first)}}
	}
	return []tick{{first, label(first)}, {last, label(last)}}
}

// steps are three to five values from 0 to high.
func steps(high float64) []tick {
	step := math.Pow(10, math.Floor(math.Log10(high)))
	for _, part := range []float64{2, 2, 1.25, 2} { // of 10: 5, 2.5, 2, 1
		if high/step >= 2 {
			break
		}
		step /= part
	}
	for high/step > 4 {
		step *= 2
	}
	var ticks []tick
	for i := 0.0; i*step <= high; i++ {
		ticks = append(ticks, tick{i * step, label(i * step)})
	}
	return ticks
}

func label(v float64) string {
	if v >= 1000 {
		return grouped(v)
	}
	return strconv.FormatFloat(math.Round(v*1e6)/1e6, 'f', -1, 64)
}
