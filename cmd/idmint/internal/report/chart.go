package report

import (
	"math"
	"strconv"
)

// A chart has a row for each thing that is compared. The page draws it with elements and styles, so
// that it takes the reader's font, colours and width. A row with one mark is a bar. Rows of a chart
// with series have dots on a line.
type chart struct {
	Title  string // what a screen reader says of it
	Axis   string
	Log    bool
	Rows   []chartRow
	Series []string // of the marks; the style sheet has their colours and shapes, in this order
	Line   float64  // a value that is marked across all rows; 0 is none
}

type chartRow struct {
	Label string
	Ours  bool
	Marks []mark
}

type mark struct {
	Series int // index of chart.Series
	Value  float64
	Text   string
}

// bounds are the ends of the axis. They leave room for the smallest bar and for the texts of the
// largest.
func (c chart) bounds() (low, high float64) {
	low, high = math.Inf(1), c.Line
	for _, r := range c.Rows {
		low, high = min(low, r.Low()), max(high, r.High())
	}
	if c.Log {
		return low * 0.6, high * 2
	}
	return 0, high * 1.1
}

// Low is the smallest value of the row.
func (r chartRow) Low() float64 {
	low := math.Inf(1)
	for _, m := range r.Marks {
		low = min(low, m.Value)
	}
	return low
}

// High is the largest value of the row.
func (r chartRow) High() float64 {
	high := math.Inf(-1)
	for _, m := range r.Marks {
		high = max(high, m.Value)
	}
	return high
}

// At tells where a value lies on the axis: 0 is its left end, 100 its right end.
func (c chart) At(value float64) float64 {
	low, high := c.bounds()
	if c.Log {
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
		return powers(low, high)
	}
	return steps(high)
}

// powers are the powers of ten from low to high.
func powers(low, high float64) []tick {
	var ticks []tick
	for n := int(math.Ceil(math.Log10(low))); math.Pow10(n) <= high; n++ {
		ticks = append(ticks, tick{math.Pow10(n), strconv.FormatFloat(math.Pow10(n), 'f', -1, 64)})
	}
	return ticks
}

// steps are at least five values from 0 to high.
func steps(high float64) []tick {
	step := math.Pow(10, math.Floor(math.Log10(high)))
	for high/step < 4 {
		step /= 2
	}
	var ticks []tick
	for i := 0.0; i*step <= high; i++ {
		label := strconv.FormatFloat(math.Round(i*step*1000)/1000, 'f', -1, 64)
		ticks = append(ticks, tick{i * step, label})
	}
	return ticks
}
