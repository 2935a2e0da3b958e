package report

import (
	"slices"
	"testing"
)

// bar is a row with marks of values.
func bar(values ...float64) chartRow {
	var r chartRow
	for _, v := range values {
		r.Marks = append(r.Marks, mark{Value: v, Text: small(v)})
	}
	return r
}

// A place on the axis tells the value: by equal steps, or on a logarithmic axis by equal factors.
func TestPlaces(t *testing.T) {
	linear := chart{Rows: []chartRow{bar(10), bar(5)}}
	if a, b, c := linear.At(0), linear.At(5), linear.At(10); a != 0 || b != 50 || c != 100 {
		t.Errorf("%v, %v, %v", a, b, c)
	}
	logarithmic := chart{Log: true, Rows: []chartRow{bar(1), bar(100, 10)}}
	if a, b, c := logarithmic.At(1), logarithmic.At(10), logarithmic.At(100); a != 5.6 ||
		b != 50.2 || c != 94.9 {
		t.Errorf("%v, %v, %v", a, b, c)
	}
	if low := logarithmic.At(0); low != 0 {
		t.Errorf("zero lies at %v of a logarithmic axis", low)
	}
	if marked := (chart{Lines: []float64{2}, Rows: []chartRow{bar(1)}}).At(2); marked != 100 {
		t.Errorf("the line lies at %v", marked)
	}
	if full := (chart{Full: 4, Rows: []chartRow{bar(1)}}).At(1); full != 25 {
		t.Errorf("one of four lies at %v", full)
	}
	if none := (chart{Rows: []chartRow{bar(0)}}).At(0); none != 0 {
		t.Errorf("zero of nothing lies at %v", none)
	}
	ratio := chart{Ratio: true, Rows: []chartRow{{Marks: []mark{{Value: 1, Spread: 0.5, Text: "1", Rounds: 31}, {}}}}}
	if at := ratio.At(ratio.Rows[0].Marks[0].High()); at != 95.2 {
		t.Errorf("the end of the spread lies at %v", at)
	}
	if low := (mark{Value: 1, Spread: 2}).Low(); low != 0 {
		t.Errorf("a spread begins at %v", low)
	}
}

// Values far apart are dots on a logarithmic axis. Others are bars from zero, with the best on top.
func TestAxis(t *testing.T) {
	for _, c := range []struct {
		rows   []chartRow
		higher bool
		ratio  bool
		log    bool
		first  float64
	}{
		{[]chartRow{bar(10), bar(1)}, false, false, false, 1},
		{[]chartRow{bar(1), bar(10)}, true, false, false, 10},
		{[]chartRow{bar(1), bar(21)}, false, false, true, 1},
		{[]chartRow{bar(21), bar(0)}, false, false, false, 0},
		{[]chartRow{bar(1), bar(21)}, false, true, false, 1},
	} {
		f := figure{Title: "t", Higher: c.higher, Chart: chart{Axis: "u", Ratio: c.ratio, Rows: c.rows}}
		f.finish()
		if f.Chart.Log != c.log || f.Chart.Rows[0].Marks[0].Value != c.first ||
			f.Chart.Dots() != (c.log || c.ratio) {
			t.Errorf("%+v: %+v", c, f.Chart)
		}
		want := "t: u, by scheme"
		if c.log {
			want = "t: u, logarithmic, by scheme"
		}
		if f.Chart.Title != want {
			t.Error(f.Chart.Title)
		}
	}
	late := chartRow{Label: "late", Marks: []mark{{}, {Value: 2, Text: "2"}}}
	f := figure{Chart: chart{Rows: []chartRow{late, bar(1, 3)}}}
	f.finish()
	if f.Chart.Rows[1].Label != "late" {
		t.Error("what only the second panel has is not placed by it")
	}
}

func TestFigures(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.0102: "0.010", 0.0994: "0.099", 0.0996: "0.10", 0.784: "0.78", 9.94: "9.94",
		9.96: "10.0", 13.98: "14.0", 99.6: "100", 1234.5: "1,234", 1234567: "1,234,567", 999: "999",
	} {
		if got := small(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
	if got := ratio(0.984, 0.031); got != "0.98 ± 0.03" {
		t.Error(got)
	}
}

// Ticks have room for their labels, and are few.
func TestTicks(t *testing.T) {
	for _, c := range []struct {
		ticks []tick
		want  []float64
	}{
		{powers(0.006, 52), []float64{0.01, 0.1, 1, 10}},
		{powers(1, 10), []float64{1, 10}},
		{ends(0.15, 9), []float64{0.2, 9}},
		{ends(3.1, 3.9), []float64{4}},
		{steps(1), []float64{0, 0.5, 1}},
		{steps(1.4), []float64{0, 0.5, 1}},
		{steps(4.7), []float64{0, 2, 4}},
		{steps(51), []float64{0, 20, 40}},
		{steps(130), []float64{0, 50, 100}},
	} {
		var got []float64
		for _, tick := range c.ticks {
			got = append(got, tick.Value)
			if tick.Label == "" {
				t.Errorf("no label at %v", tick.Value)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v, want %v", got, c.want)
		}
	}
	if l := label(20000); l != "20,000" {
		t.Error(l)
	}
}
