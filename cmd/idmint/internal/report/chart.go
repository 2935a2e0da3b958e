package report

import (
	"bytes"
	"fmt"
	"html"
	"html/template"
	"image/color"
	"math"
	"regexp"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A chart has a row for each thing that is compared. A row with one mark is a bar, others are dots on a line.
type chart struct {
	id     string // within the page
	title  string // what a screen reader says of it
	axis   string
	log    bool
	rows   []chartRow
	series []string // of the marks, where rows have several; their colours and shapes are in this order
	line   float64  // a value that is marked across all rows; 0 is none
}

type chartRow struct {
	label string
	ours  bool
	marks []mark
}

type mark struct {
	series int // index of chart.series
	value  float64
	text   string
}

// Colours are drawn as placeholders, which the page's style sheet gives a value for light and for dark.
var (
	ink    = placeholder(1)
	quiet  = placeholder(2)
	grid   = placeholder(3)
	ours   = placeholder(4)
	theirs = placeholder(5)
	series = []color.Color{placeholder(6), placeholder(7), placeholder(8), placeholder(9), placeholder(10), placeholder(11), placeholder(12), placeholder(13)}
)

var variables = []string{"ink", "quiet", "grid", "ours", "theirs", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8"}

func placeholder(n uint8) color.Color { return color.RGBA{R: n, G: 254, B: 254, A: 255} }

var placeholders = regexp.MustCompile(`#([0-9A-F]{2})FEFE`)

// shapes tell series apart for those who do not see it by the colours.
var shapes = []draw.GlyphDrawer{
	draw.CircleGlyph{},
	polygon{{X: -1, Y: 0}, {X: 0, Y: -1.2}, {X: 1, Y: 0}, {X: 0, Y: 1.2}},
	polygon{{X: -0.9, Y: -0.9}, {X: 0.9, Y: -0.9}, {X: 0.9, Y: 0.9}, {X: -0.9, Y: 0.9}},
	polygon{{X: -1.1, Y: -0.9}, {X: 1.1, Y: -0.9}, {X: 0, Y: 1.1}},
	polygon{{X: -1.1, Y: 0.9}, {X: 0, Y: -1.1}, {X: 1.1, Y: 0.9}},
	polygon{{X: -0.5, Y: -1.4}, {X: 0.5, Y: -1.4}, {X: 0.5, Y: 1.4}, {X: -0.5, Y: 1.4}},
	polygon{{X: -1.4, Y: -0.5}, {X: 1.4, Y: -0.5}, {X: 1.4, Y: 0.5}, {X: -1.4, Y: 0.5}},
	polygon{{X: 0.9, Y: -1.1}, {X: 0.9, Y: 1.1}, {X: -1.1, Y: 0}},
}

// A polygon is a filled glyph, in multiples of its radius.
type polygon []vg.Point

// DrawGlyph implements [draw.GlyphDrawer].
func (p polygon) DrawGlyph(c *draw.Canvas, style draw.GlyphStyle, at vg.Point) {
	corners := make([]vg.Point, len(p))
	for i, corner := range p {
		corners[i] = at.Add(corner.Scale(style.Radius))
	}
	c.FillPolygon(style.Color, corners)
}

// A size is one of the two in which each chart is drawn: the style sheet shows the one that fits.
type size struct {
	class       string
	width       vg.Length
	row         vg.Length
	font        vg.Length
	labelsAbove bool // rows have their labels above the bars, where there is no room beside them
}

var sizes = []size{
	{"wide", 860, 25, 13, false},
	{"narrow", 320, 36, 12, true},
}

// svg draws the chart in both sizes.
func (c chart) svg() (template.HTML, error) {
	var b strings.Builder
	for _, s := range sizes {
		drawn, err := c.draw(s)
		if err != nil {
			return "", err
		}
		b.WriteString(drawn)
	}
	return template.HTML(b.String()), nil
}

// bounds are the ends of the axis. They leave room for the smallest bar, and for the texts of the largest.
func (c chart) bounds() (low, high float64) {
	low, high = math.Inf(1), c.line
	for _, r := range c.rows {
		for _, m := range r.marks {
			low, high = min(low, m.value), max(high, m.value)
		}
	}
	if c.log {
		return low * 0.6, high * 2
	}
	return 0, high * 1.1
}

func (c chart) draw(s size) (string, error) {
	p := plot.New()
	p.BackgroundColor = nil
	low, high := c.bounds()
	p.X.Min, p.X.Max = low, high
	p.Y.Min, p.Y.Max = -0.6, float64(len(c.rows))-0.4
	if c.log {
		p.X.Scale = plot.LogScale{}
	}
	p.X.Tick.Marker = plot.ConstantTicks(c.ticks(low, high))
	p.X.Label.Text = c.axis
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		for _, style := range []*text.Style{&axis.Label.TextStyle, &axis.Tick.Label} {
			style.Font.Variant = "Sans"
			style.Font.Size = s.font
			style.Color = quiet
		}
		axis.LineStyle.Width = 0
		axis.Tick.LineStyle.Width = 0
		axis.Tick.Length = 0
		axis.Padding = 0
	}
	p.X.Label.Padding = 4
	if s.labelsAbove {
		p.HideY()
	} else {
		ticks := make([]plot.Tick, len(c.rows))
		for i, r := range c.rows {
			ticks[i] = plot.Tick{Value: float64(len(c.rows) - 1 - i), Label: r.label}
		}
		p.Y.Tick.Marker = plot.ConstantTicks(ticks)
		p.Y.Tick.Label.Color = ink
		p.Y.Padding = 8
	}
	lines := plotter.NewGrid()
	lines.Horizontal.Width = 0
	lines.Vertical = draw.LineStyle{Color: grid, Width: 1}
	p.Add(lines, rows{c, s, p.Y.Tick.Label})
	height := s.row*vg.Length(len(c.rows)) + 2.9*s.font
	canvas := vgsvg.New(s.width, height)
	p.Draw(draw.New(canvas))
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return "", err
	}
	return c.themed(b.String(), s), nil
}

// ticks are those with a label: few enough for a phone.
func (c chart) ticks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	if c.log {
		for power := int(math.Ceil(math.Log10(low))); math.Pow10(power) <= high; power++ {
			ticks = append(ticks, plot.Tick{Value: math.Pow10(power), Label: strconv.FormatFloat(math.Pow10(power), 'f', -1, 64)})
		}
		return ticks
	}
	step := math.Pow(10, math.Floor(math.Log10(high)))
	for high/step < 4 {
		step /= 2
	}
	for i := 0.0; i*step <= high; i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: strconv.FormatFloat(math.Round(i*step*1000)/1000, 'f', -1, 64)})
	}
	return ticks
}

var head = regexp.MustCompile(`(?s)^.*?<svg.*?viewBox="([^"]*)".*?>`)

// themed makes the drawing part of the page: with its colours, and its title for those who do not see it. Numbers lose the
// digits that nobody sees.
func (c chart) themed(svg string, s size) string {
	id := c.id + "-" + s.class
	svg = head.ReplaceAllString(svg, fmt.Sprintf(`<svg class="%s" viewBox="$1" role="img" aria-labelledby="%s" xmlns="http://www.w3.org/2000/svg"><title id="%[2]s">%s</title>`,
		s.class, id, html.EscapeString(c.title)))
	svg = placeholders.ReplaceAllStringFunc(svg, func(hex string) string {
		n, _ := strconv.ParseUint(hex[1:3], 16, 8) // by the pattern
		return "var(--" + variables[n-1] + ")"
	})
	svg = numbers.ReplaceAllStringFunc(svg, func(attribute string) string { return decimals.ReplaceAllString(attribute, "$1") })
	return texts.ReplaceAllStringFunc(svg, fitted)
}

var (
	numbers  = regexp.MustCompile(` (d|x|y|transform)="[^"]*"`)
	decimals = regexp.MustCompile(`(\d\.\d)\d+`)
	texts    = regexp.MustCompile(`(?s)<text ([^>]*?)\s*style="font-family:[^"]*?font-size:([0-9.]+)px([^"]*)">(.*?)</text>`)
)

// fitted makes a text as wide as it was measured, in whatever font the reader has instead of that which was measured.
func fitted(element string) string {
	parts := texts.FindStringSubmatch(element)
	points, _ := strconv.ParseFloat(parts[2], 64) // by the pattern
	measured := text.Style{Font: plot.DefaultFont, Handler: plot.DefaultTextHandler}
	measured.Font.Variant, measured.Font.Size = "Sans", vg.Length(points)
	return fmt.Sprintf(`<text %s textLength="%.1f" lengthAdjust="spacingAndGlyphs" style="font-size:%spx%s">%s</text>`,
		parts[1], float64(measured.Width(html.UnescapeString(parts[4]))), parts[2], parts[3], parts[4])
}

// rows draws the bars or the dots.
type rows struct {
	chart
	size
	style text.Style
}

// Plot implements [plot.Plotter].
func (r rows) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	words := r.style
	words.Font.Variant, words.Font.Size = "Sans", r.font
	if r.line != 0 {
		c.StrokeLine2(draw.LineStyle{Color: quiet, Width: 1.2, Dashes: []vg.Length{4, 3}}, x(r.line), c.Min.Y, x(r.line), c.Max.Y)
	}
	for i, row := range r.rows {
		middle := y(float64(len(r.rows) - 1 - i))
		left := c.Min.X
		words.Color, words.XAlign, words.YAlign = ink, draw.XLeft, draw.YCenter
		if r.labelsAbove {
			c.FillText(words, vg.Point{X: left, Y: middle + 0.24*r.row}, row.label)
			middle -= 0.2 * r.row
		}
		if len(r.series) == 0 {
			r.bar(c, words, row, x, middle)
			continue
		}
		r.dots(c, row, x, middle)
	}
}

func (r rows) bar(c draw.Canvas, words text.Style, row chartRow, x func(float64) vg.Length, middle vg.Length) {
	m, fill := row.marks[0], theirs
	if row.ours {
		fill = ours
	}
	half := vg.Length(8)
	if r.labelsAbove {
		half = 6
	}
	left, right := c.Min.X, max(x(m.value), c.Min.X+1)
	c.FillPolygon(fill, []vg.Point{{X: left, Y: middle - half}, {X: right, Y: middle - half}, {X: right, Y: middle + half}, {X: left, Y: middle + half}})
	at := vg.Point{X: right + 6, Y: middle}
	if r.labelsAbove { // on the line of the label
		at = vg.Point{X: c.Max.X, Y: middle + 0.44*r.row}
		words.XAlign = draw.XRight
	}
	c.FillText(words, at, m.text)
}

func (r rows) dots(c draw.Canvas, row chartRow, x func(float64) vg.Length, middle vg.Length) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, m := range row.marks {
		low, high = min(low, m.value), max(high, m.value)
	}
	line := draw.LineStyle{Color: theirs, Width: 1.5}
	if row.ours {
		line = draw.LineStyle{Color: ours, Width: 3}
	}
	c.StrokeLine2(line, x(low), middle, x(high), middle)
	for _, m := range row.marks {
		glyph(c, m.series, vg.Point{X: x(m.value), Y: middle})
	}
}

func glyph(c draw.Canvas, n int, at vg.Point) {
	c.DrawGlyph(draw.GlyphStyle{Color: series[n], Radius: 5, Shape: shapes[n]}, at)
}

// legend draws the mark of a series alone.
func legend(n int) (template.HTML, error) {
	canvas := vgsvg.New(14, 14)
	glyph(draw.New(canvas), n, vg.Point{X: 7, Y: 7})
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return "", err
	}
	svg := chart{}.themed(b.String(), size{class: "glyph"})
	svg = regexp.MustCompile(` role="img" aria-labelledby="[^"]*"`).ReplaceAllString(svg, ` aria-hidden="true"`)
	return template.HTML(regexp.MustCompile(`<title.*</title>`).ReplaceAllString(svg, "")), nil
}
