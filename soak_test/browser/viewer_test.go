package browser

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// views are the pages of the launch log, with a text that each of them must show.
var views = []struct{ path, shows string }{
	{"/", "What is this ID?"},
	{"/?q=" + explained, "SHOP-4487"},
	{"/?q=" + url.QueryEscape("order 14150009200487 of 687e575023e2189b failed"), "2026-11-20 14:30:00.591"},
	{"/?q=hello!", "That is not an ID"},
	{"/launches", "v2.500.0"},
	{"/launches?service=shop&running=1", "v2.498.0"},
	{"/launches?service=nowhere", "No launch matches the filter"},
	{fmt.Sprintf("/launches/%d", explainedLaunch), "release of the week"},
	{"/health", "orders"},
	{"/nowhere", "There is no such page"},
	{"/launches/99999", "99999"},
	{"/launches?before=x", "That cannot be listed"},
}

// pages are the pictures of views.
var viewPictures = map[string]string{
	"/?q=" + explained + ", 1200 px, light":                     "viewer-explain-light.png",
	"/launches, 1200 px, light":                                 "viewer-launches-light.png",
	fmt.Sprintf("/launches/%d, 1200 px, dark", explainedLaunch): "viewer-launch-dark.png",
	"/health, 1200 px, light":                                   "viewer-health-light.png",
	"/?q=" + explained + ", 390 px, dark":                       "viewer-explain-narrow-dark.png",
}

func TestViewer(t *testing.T) {
	t.Parallel()
	origin := shop(t)
	for _, l := range append(looks, look{width: 1600, height: 900}, look{width: 640, height: 900}) {
		t.Run(l.String(), func(t *testing.T) {
			t.Parallel()
			tab := open(t, origin+"/", l)
			for _, v := range views {
				t.Run(v.path, func(t *testing.T) {
					b := tab.of(t)
					b.do(chromedp.Navigate(origin + v.path))
					b.shows(v.shows)
					b.fits()
					if name := viewPictures[v.path+", "+l.String()]; name != "" {
						b.picture(name)
					}
					if l.checked() {
						b.accessible()
					}
					b.quiet(origin)
				})
			}
		})
	}
}

// A person types or pastes an ID, and reads who launched it and which process had the generator
// number. The address is a permalink.
func TestExplain(t *testing.T) {
	t.Parallel()
	origin := shop(t)
	for way, ask := range map[string]func(b *tab){
		"typed": func(b *tab) {
			b.do(chromedp.SendKeys(chromedp.CSS("#q"), explained+kb.Enter))
		},
		"pasted": func(b *tab) { b.paste(origin, explained) },
		"a line of a log": func(b *tab) {
			b.do(chromedp.SendKeys(chromedp.CSS("#q"), "GET /orders/"+explained+"?x=1 500"),
				chromedp.Click(chromedp.CSS("#explain button")))
		},
	} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			b := open(t, origin+"/", looks[0])
			ask(b)
			b.do(chromedp.WaitVisible(chromedp.CSS(".origin")))
			b.shows("Launch 487 of", "SHOP-4487", "v2.487.0", "taken by process 4792 on shop-3.example")
			address, err := chromedp.Run(b.ctx, chromedp.Location())
			if err != nil || !strings.Contains(address, explained) {
				t.Fatalf("%q, %v", address, err)
			}
			b.do(chromedp.Navigate(address))
			b.shows("Launch 487 of")
			b.quiet(origin)
		})
	}
}

// paste pastes a text into the box.
func (b *tab) paste(origin, text string) {
	b.Helper()
	b.allowClipboard(origin)
	eval[chromedp.Void](b, fmt.Sprintf(`navigator.clipboard.writeText(%q)`, text))
	b.do(chromedp.Focus(chromedp.CSS("#q")))
	call(b, input.DispatchKeyEvent, input.DispatchKeyEventParams{
		Type: input.DispatchKeyEventTypeKeyDown, Key: "v", Code: "KeyV", Modifiers: 2,
		Commands: []string{"paste"},
	})
}

// allowClipboard lets a page read and write the clipboard.
func (b *tab) allowClipboard(origin string) {
	b.Helper()
	for _, name := range []string{"clipboard-read", "clipboard-write"} {
		_, err := chromedp.CallBrowser(b.ctx, browser.SetPermission, browser.SetPermissionParams{
			Permission: &browser.PermissionDescriptor{Name: name},
			Setting:    browser.PermissionSettingGranted, Origin: origin,
			BrowserContextID: chromedp.FromContext(b.ctx).BrowserContextID,
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// Without JavaScript everything works: the form, the filter, the folded schemes, the links.
func TestNoScript(t *testing.T) {
	t.Parallel()
	origin := shop(t)
	b := open(t, origin+"/", look{width: 1200, height: 900, noScript: true})
	b.do(chromedp.SendKeys(chromedp.CSS("#q"), explained))
	b.follow("#explain button")
	b.shows("taken by process 4792 on shop-3.example")
	b.do(chromedp.Click(chromedp.CSS("details summary")))
	if open := eval[int](b, `document.querySelectorAll("details[open]").length`); open != 1 {
		t.Errorf("%d are unfolded", open)
	}
	b.follow(".origin h3 a")
	b.shows("Launch 487", "Generator numbers")
	b.follow("#nav-launches")
	b.do(chromedp.SendKeys(chromedp.CSS("#service"), "billing"),
		chromedp.Click(chromedp.CSS("#running")))
	b.follow("#filter button")
	if rows := eval[[]string](b, `[...document.querySelectorAll("#launches tbody tr")].map(
		r => r.querySelector(".service").textContent + r.querySelector(".is").textContent.trim())`,
	); !slices.Equal(rows, []string{"billingrunning", "billingrunning"}) {
		t.Errorf("rows %q", rows)
	}
	if eval[bool](b, `document.querySelector("script") == null`) {
		t.Error("there is no script, so this test says nothing")
	}
	b.quiet(origin)
}

// What strangers wrote into the log is text, and nothing else.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	origin := strangers(t)
	paths := []string{"/launches", "/health"}
	for i, text := range hostile {
		paths = append(paths, fmt.Sprintf("/launches/%d", i+1), fmt.Sprintf("/?q=1000000000%d", i+1),
			"/?q="+url.QueryEscape(text), "/?q="+url.QueryEscape(text+" 10000000001"),
			"/launches?service="+url.QueryEscape(text), "/launches?before="+url.QueryEscape(text),
			"/"+url.PathEscape(text), "/launches/"+url.PathEscape(text))
	}
	b := open(t, origin+"/", looks[3])
	for _, path := range paths {
		b.do(chromedp.Navigate(origin + path))
		b.fits()
		for _, what := range eval[[]string](b, intruders) {
			t.Errorf("%s: %s", path, what)
		}
	}
	b.do(chromedp.Navigate(origin + "/health"))
	for _, text := range hostile[:2] {
		b.shows("of "+text+" in "+text+", has used", "lent"+text)
	}
	b.accessible()
	b.do(chromedp.Navigate(origin + "/launches/1"))
	b.shows("started from" + hostile[0])
	b.do(chromedp.Navigate(origin + "/?q=" + url.QueryEscape(hostile[2])))
	if value, err := chromedp.Run(b.ctx, chromedp.Value(chromedp.CSS("#q"))); err != nil ||
		value != hostile[2] {
		t.Errorf("the box holds %q, %v", value, err)
	}
	b.quiet(origin)
}

// intruders are what no page of ours has.
const intruders = `(() => {
	const found = []
	if (window.broken) found.push("a script of the log ran")
	for (const e of document.querySelectorAll("*")) {
		for (const a of e.attributes)
			if (/^on/i.test(a.name)) found.push(e.outerHTML.slice(0, 100))
		const url = e.getAttribute("href") || e.getAttribute("src") || ""
		// The template writes #ZgotmplZ for what it takes for no address: it should not have been a link.
		if (/^\s*(javascript|data|vbscript):|ZgotmplZ/i.test(url)) found.push(e.outerHTML.slice(0, 100))
	}
	const ours = {script: 1, img: 1, style: 0, iframe: 0, object: 0, embed: 0, base: 0, link: 2}
	for (const [name, n] of Object.entries(ours))
		if (document.querySelectorAll(name).length != n)
			found.push(document.querySelectorAll(name).length + " of " + name)
	return found
})()`

// The keyboard reaches everything, in the order of the page, and one sees where it is.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	origin := shop(t)
	b := open(t, origin+"/launches", looks[0])
	var order []string
	for range 13 {
		order = append(order, b.tab())
	}
	want := "Skip to the content|idmint|nav-explain|nav-launches|nav-health|service|environment|" +
		"running|Show|500|499|498|497"
	if got := strings.Join(order, "|"); got != want {
		t.Errorf("the order is %s, want %s", got, want)
	}
	b.press(kb.Enter)
	b.shows("Launch 497")
	b.do(chromedp.KeyEvent(kb.Tab)) // the skip link
	b.do(chromedp.KeyEvent(kb.Enter))
	if at := eval[string](b, `document.activeElement.id`); at != "main" {
		t.Errorf("the skip link leads to %q", at)
	}
	b.do(chromedp.Navigate(origin + "/launches?before=451"))
	b.tabTo("newest")
	b.tabTo("older")
	b.press(kb.Enter)
	b.shows("v2.400.0")
	b.do(chromedp.Navigate(origin + "/"))
	// A page takes the focus when it is first drawn.
	b.do(chromedp.WaitVisible(chromedp.CSS("#q:focus")))
	b.do(chromedp.KeyEvent(explained))
	b.press(kb.Enter)
	b.shows("Launch 487 of")
	b.allowClipboard(origin)
	b.tabTo("copy link of " + explained)
	b.do(chromedp.KeyEvent(kb.Enter),
		chromedp.WaitVisible(chromedp.CSS(`.said:not(:empty)`)))
	if said := eval[string](b, `document.querySelector("[role=status]").textContent`); said != "copied" {
		t.Errorf("a screen reader says %q", said)
	}
	if copied := eval[string](b, `navigator.clipboard.readText()`); !strings.HasSuffix(copied,
		"/?q="+explained) {
		t.Errorf("%q was copied", copied)
	}
	b.tabTo("It also fits")
	b.do(chromedp.KeyEvent(kb.Enter))
	if open := eval[int](b, `document.querySelectorAll("details[open]").length`); open != 1 {
		t.Errorf("%d schemes are unfolded", open)
	}
	b.quiet(origin)
}

// tab goes to what comes next on the page, and names it. It fails where one does not see it.
func (b *tab) tab() string {
	b.Helper()
	b.do(chromedp.KeyEvent(kb.Tab))
	at := eval[struct {
		Name string `json:"name"`
		Seen bool   `json:"seen"`
	}](b, `(() => {
		const e = document.activeElement, s = getComputedStyle(e), r = e.getBoundingClientRect()
		return {name: e.id || e.ariaLabel || e.textContent.trim() || e.href,
			seen: r.width > 4 && r.height > 4 && r.top >= 0 && r.left >= 0 && r.right <= innerWidth &&
				(s.outlineStyle != "none" && parseFloat(s.outlineWidth) >= 1 || s.boxShadow != "none")}
	})()`)
	if !at.Seen {
		b.Errorf("one does not see that %q has the focus", at.Name)
	}
	return at.Name
}

// tabTo goes on until something has the focus whose name begins so.
func (b *tab) tabTo(name string) {
	b.Helper()
	for range 100 {
		if strings.HasPrefix(b.tab(), name) {
			return
		}
	}
	b.Fatalf("the keyboard does not reach %q", name)
}

// On a narrow screen, or a wide one that is enlarged four times, one sees each cell of the list.
func TestNarrowList(t *testing.T) {
	t.Parallel()
	origin := shop(t)
	for width, want := range map[int64]string{
		1200: "500|search|production|v2.500.0|chris|2026-11-23 07:00:00 UTC 5 hours ago|5 hours|1|running",
		320: "500|search|production|v2.500.0|chris|2026-11-23 07:00:00 UTC 5 hours ago|" +
			"ran for 5 hours|generators: 1|running",
	} {
		b := open(t, origin+"/launches", look{width: width, height: 844})
		rows := eval[[]string](b, `[...document.querySelectorAll("#launches tbody tr")].map(
			r => [...r.children].map(c => c.getBoundingClientRect().right <= innerWidth ?
				c.innerText.trim().replace(/\s+/g, " ") || "empty" : "cut off").join("|"))`)
		if len(rows) != 50 || rows[0] != want {
			t.Errorf("%d px: %d rows, the first is %q", width, len(rows), rows[0])
		}
		for _, row := range rows {
			if strings.Contains(row, "cut off") || strings.Contains(row, "empty") {
				t.Errorf("%d px: %s", width, row)
			}
		}
	}
}

// A long text that is pasted stays in the box, all of it, until somebody asks.
func TestPasteLong(t *testing.T) {
	t.Parallel()
	origin := shop(t)
	b := open(t, origin+"/", looks[0])
	text := strings.Repeat("order "+explained+" ", 1000)
	b.paste(origin, text)
	at := eval[string](b, `new Promise(done => {
		const look = () => document.getElementById("q").value == "" ? setTimeout(look, 10) :
			setTimeout(() => done(location.search), 200)
		look()
	})`)
	if n := eval[int](b, `document.getElementById("q").value.length`); n != len(text) || at != "" {
		t.Errorf("the box has %d of %d characters, at %q", n, len(text), at)
	}
	b.follow("#explain button")
	b.shows("That is too long")
}
