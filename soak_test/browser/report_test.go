package browser

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// reportPage serves the page of docs, which is that of the figures beside it: a test of package
// report looks.
func reportPage(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.FileServer(http.Dir("../../docs")))
	t.Cleanup(s.Close)
	return s.URL
}

func TestReport(t *testing.T) {
	t.Parallel()
	for _, l := range append(looks, look{width: 1600, height: 900}, look{width: 700, height: 900}) {
		t.Run(l.String(), func(t *testing.T) {
			t.Parallel()
			origin := reportPage(t)
			b := open(t, origin+"/report.html", l)
			b.fits()
			for _, what := range eval[[]string](b, overlaps) {
				t.Error(what)
			}
			b.quiet(origin)
			if n := len(b.requests); n != 1 {
				t.Errorf("%d requests: the page stands by itself", n)
			}
			name := map[look]string{
				looks[0]: "report-light.png", looks[1]: "report-dark.png", looks[2]: "report-narrow.png",
			}[l]
			if name != "" {
				b.picture(name)
			}
			if l.checked() {
				b.accessible()
			}
		})
	}
}

// overlaps are the texts of charts and cards that lie on one another, on a line or a mark. Those that
// stick out of their card are also there. Boxes may touch.
const overlaps = `(() => {
	const found = [], say = text => found.length < 10 && found.push(text)
	const box = e => {
		const range = document.createRange()
		range.selectNodeContents(e)
		return range.getBoundingClientRect()
	}
	const lies = (a, b) => a.left < b.right - 0.5 && b.left < a.right - 0.5 &&
		a.top < b.bottom - 0.5 && b.top < a.bottom - 0.5
	const shown = r => r.width > 0 && r.height > 0
	const charts = [...document.querySelectorAll(".chart")]
	const claims = [...document.querySelectorAll(".claims dl")]
	if (charts.length < 5 || claims.length < 2)
		say(charts.length + " charts, " + claims.length + " cards")
	for (const chart of charts.concat(claims)) {
		const name = chart.getAttribute("aria-label") || chart.parentNode.querySelector("h3").textContent
		const texts = [...chart.querySelectorAll("b, span, dt, dd")]
			.filter(e => e.textContent.trim()).map(e => ({e, r: box(e)})).filter(t => shown(t.r))
		const marks = [...chart.querySelectorAll("i")]
			.map(e => ({e, r: e.getBoundingClientRect()}))
			.filter(m => m.r.height > 0 && getComputedStyle(m.e).visibility != "hidden")
		if (texts.length < 6 || marks.length < 3)
			say(name + ": " + texts.length + " texts, " + marks.length + " marks")
		const card = chart.parentNode.getBoundingClientRect()
		texts.forEach((t, i) => {
			for (const o of texts.slice(i + 1))
				if (lies(t.r, o.r)) say(name + ": " + t.e.textContent + " lies on " + o.e.textContent)
			for (const m of marks)
				if (lies(t.r, m.r))
					say(name + ": " + t.e.textContent + " lies on a " + (m.e.className || "line"))
			if (t.r.left < card.left || t.r.right > card.right)
				say(name + ": " + t.e.textContent + " sticks out")
		})
	}
	return found
})()`

// What overlaps is seen.
func TestOverlapsSeen(t *testing.T) {
	t.Parallel()
	origin := reportPage(t)
	b := open(t, origin+"/report.html", looks[0])
	for _, c := range []struct{ selector, moved, want string }{
		{".chart .value", "translateX(-5rem)", " lies on a "},
		{".chart .label", "translateY(1.2rem)", " lies on "},
		{".chart .label:nth-of-type(3)", "translateX(-20rem)", " sticks out"},
	} {
		move := `document.querySelector("` + c.selector + `").style.transform = `
		eval[string](b, move+`"`+c.moved+`"`)
		if found := strings.Join(eval[[]string](b, overlaps), "\n"); !strings.Contains(found, c.want) {
			t.Errorf("%s moved: it sees %q, not %q", c.selector, found, c.want)
		}
		eval[string](b, move+`""`)
	}
	eval[string](b, `document.querySelector("figure").style.width = "3000px"`)
	if wide := b.wide(); len(wide) < 2 || !strings.HasPrefix(wide[1], "<figure") {
		t.Errorf("what is too wide is %q", wide)
	}
}

// The contents, and the cards' headings, lead to places of the page.
func TestReportLinks(t *testing.T) {
	t.Parallel()
	origin := reportPage(t)
	b := open(t, origin+"/report.html", looks[0])
	links := eval[[]string](b, `[...document.querySelectorAll("a")].map(a => a.getAttribute("href"))`)
	if len(links) < 15 {
		t.Errorf("%d links", len(links))
	}
	for _, href := range links {
		place, ok := strings.CutPrefix(href, "#")
		if !ok || eval[int](b, `document.querySelectorAll('[id="`+place+`"]').length`) != 1 {
			t.Errorf("%s leads nowhere", href)
		}
	}
	if missing := eval[[]string](b, `[...document.querySelectorAll("section h2[id], figure[id]")]
		.filter(e => e.id != "claims" && !document.querySelector('nav a[href="#' + e.id + '"]'))
		.map(e => e.id)`); len(missing) != 0 {
		t.Errorf("the contents lack %v", missing)
	}
	eval[bool](b, `document.querySelector("nav li li a").click(), true`)
	if top := eval[float64](b, `document.querySelector("nav li li a").hash &&
		document.querySelector(location.hash).getBoundingClientRect().top`); top < -1 || top > 100 {
		t.Errorf("a link leads to what is %v px below the window's top", top)
	}
	b.quiet(origin)
}
