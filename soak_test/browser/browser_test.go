package browser

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// theBrowser is one process, whose tabs the tests share. It ends with the last test.
var theBrowser struct {
	sync.Mutex
	ctx    context.Context
	cancel context.CancelFunc
}

func TestMain(m *testing.M) {
	status := m.Run()
	if theBrowser.ctx != nil {
		if err := chromedp.Cancel(theBrowser.ctx); err != nil {
			fmt.Fprintln(os.Stderr, "Chromium:", err)
			status = max(status, 1)
		}
		theBrowser.cancel()
	}
	os.Exit(status)
}

// chromium is the browser. A test that needs it is skipped where it is missing.
func chromium(t *testing.T) context.Context {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		path, err = exec.LookPath("google-chrome")
	}
	if err != nil {
		t.Skip("chromium is missing: scripts/browser installs Debian's package")
	}
	theBrowser.Lock()
	defer theBrowser.Unlock()
	if theBrowser.ctx != nil {
		return theBrowser.ctx
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(path),
		// In containers the tests are root, and the sandbox refuses root. It opens our pages alone.
		chromedp.NoSandbox,
		chromedp.Flag("hide-scrollbars", true), chromedp.Flag("font-render-hinting", "none"),
		chromedp.Flag("lang", "en-GB"))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	theBrowser.ctx, theBrowser.cancel = ctx, func() { cancel(); stop() }
	return ctx
}

// A look is how somebody looks at a page.
type look struct {
	width, height int64
	dark          bool
	noScript      bool
}

func (l look) String() string {
	text := fmt.Sprintf("%d px, light", l.width)
	if l.dark {
		text = fmt.Sprintf("%d px, dark", l.width)
	}
	if l.noScript {
		text += ", without JavaScript"
	}
	return text
}

// looks are those that each page is tested with.
var looks = []look{
	{width: 1200, height: 900},
	{width: 1200, height: 900, dark: true},
	{width: 390, height: 844},
	{width: 390, height: 844, dark: true},
}

// A tab is open at a page. It has a profile of its own, and keeps what happens in it.
type tab struct {
	*testing.T
	ctx context.Context
	*happened
}

// happened is what a tab did.
type happened struct {
	mu        sync.Mutex
	requests  []string        // guarded by mu; the URLs that were asked for
	documents map[string]bool // guarded by mu; those of them that are pages
	troubles  []string        // guarded by mu; errors of the console, exceptions, dialogs, refusals
}

// open opens a page, and closes it with the test. A page that never answers ends it.
func open(t *testing.T, url string, l look) *tab {
	t.Helper()
	parent := chromium(t)
	b := &tab{T: t, happened: &happened{documents: map[string]bool{}}}
	ctx, cancel := chromedp.NewContext(parent, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil { // a limit of the first call would close the tab
		t.Fatal(err)
	}
	b.ctx, cancel = context.WithTimeout(ctx, 10*time.Minute)
	t.Cleanup(cancel)
	if err := chromedp.Listen(b.ctx, func(event any) { b.note(ctx, event) }); err != nil {
		t.Fatal(err)
	}
	scheme := "light"
	if l.dark {
		scheme = "dark"
	}
	call(b, network.Enable, network.EnableParams{})
	call(b, cdplog.Enable, cdp.Empty{})
	call(b, audits.Enable, cdp.Empty{})
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: l.width, Height: l.height, DeviceScaleFactor: 1,
	})
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme},
			{Name: "prefers-reduced-motion", Value: "reduce"},
		},
	})
	if l.noScript {
		call(b, emulation.SetScriptExecutionDisabled,
			emulation.SetScriptExecutionDisabledParams{Value: true})
	}
	b.do(chromedp.Navigate(url))
	return b
}

// call runs a command of the protocol.
func call[P, R any](b *tab, command cdp.Command[P, R], params P) R {
	b.Helper()
	result, err := chromedp.Call(b.ctx, command, params)
	if err != nil {
		b.Fatal(err)
	}
	return result
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.Fatal(err)
	}
}

// eval is the value of a JavaScript expression, or of the promise that it is.
func eval[V any](b *tab, expression string) V {
	b.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[V](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatalf("%.200s: %v", expression, err)
	}
	return v
}

// note keeps what happens in a tab.
func (h *happened) note(ctx context.Context, event any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	trouble := func(format string, args ...any) {
		h.troubles = append(h.troubles, fmt.Sprintf(format, args...))
	}
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		h.requests = append(h.requests, e.Request.URL)
		if e.Type == network.ResourceTypeDocument {
			h.documents[e.Request.URL] = true
		}
	case *runtime.EventExceptionThrown:
		trouble("exception: %s", e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		trouble("console: %s", e.Type)
	case *cdplog.EventEntryAdded:
		// A page whose status is 404 is what the test asked for. A file of a page is not.
		if e.Entry.Source != cdplog.EntrySourceNetwork || !h.documents[e.Entry.URL] {
			trouble("log: %s: %s: %s", e.Entry.Source, e.Entry.Text, e.Entry.URL)
		}
	case *page.EventJavascriptDialogOpening:
		trouble("dialog: %s", e.Message)
		go func() { // a page waits for the answer, and so would the test
			_, _ = chromedp.Call(ctx, page.HandleJavaScriptDialog,
				page.HandleJavaScriptDialogParams{Accept: true})
		}()
	case *audits.EventIssueAdded:
		if e.Issue.Code == audits.InspectorIssueCodeContentSecurityPolicyIssue {
			trouble("Content-Security-Policy: %s",
				e.Issue.Details.ContentSecurityPolicyIssueDetails.ViolatedDirective)
		}
	}
}

// quiet fails where a page did what nobody asked for: it asked another host, it wrote errors, or it
// broke its own policy.
func (b *tab) quiet(origin string) {
	b.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, url := range b.requests {
		if !strings.HasPrefix(url, origin+"/") && !strings.HasPrefix(url, "data:") {
			b.Errorf("it asked for %s", url)
		}
	}
	for _, trouble := range b.troubles {
		b.Error(trouble)
	}
}

// fits fails where the page is wider than the window, so that one must scroll sideways.
func (b *tab) fits() {
	b.Helper()
	for _, what := range b.wide() {
		b.Error(what)
	}
}

// wide is what is wider than the window. A box that scrolls may hold anything.
func (b *tab) wide() []string {
	b.Helper()
	return eval[[]string](b, `(() => {
		const width = document.documentElement.clientWidth
		if (document.documentElement.scrollWidth <= width) return []
		return ["the page is " + document.documentElement.scrollWidth + " px wide"].concat(
			[...document.querySelectorAll("body *")]
				.filter(e => e.getBoundingClientRect().right > width + 0.5 && !e.closest(".scroll"))
				.slice(0, 5).map(e => e.outerHTML.slice(0, 120)))
	})()`)
}

// of is the tab for a part of a test. What happened before is forgotten.
func (b *tab) of(t *testing.T) *tab {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.requests, b.troubles = nil, nil
	return &tab{T: t, ctx: b.ctx, happened: b.happened}
}

// shows fails where the page lacks a text. What repeats the question is not looked at: the box, and
// the line with its marks.
func (b *tab) shows(texts ...string) {
	b.Helper()
	page := strings.Join(strings.Fields(eval[string](b, `(() => {
		const body = document.body.cloneNode(true)
		for (const e of body.querySelectorAll("textarea, #echo")) e.remove()
		return body.textContent
	})()`)), " ")
	for _, text := range texts {
		if !strings.Contains(page, text) {
			b.Errorf("the page lacks %q: %.1500s", text, page)
		}
	}
}

// follow clicks on what leads to another page, and waits for it.
func (b *tab) follow(selector string) {
	b.Helper()
	if _, err := chromedp.RunResponse(b.ctx, chromedp.Click(chromedp.CSS(selector))); err != nil {
		b.Fatalf("%s: %v", selector, err)
	}
}

// press presses a key that leads to another page, and waits for it.
func (b *tab) press(key string) {
	b.Helper()
	if _, err := chromedp.RunResponse(b.ctx, chromedp.KeyEvent(key)); err != nil {
		b.Fatalf("%q: %v", key, err)
	}
}

// What a page does wrong is noticed: what is not, elsewhere, did not happen.
func TestTroubleNoticed(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Security-Policy", "style-src 'none'")
		fmt.Fprint(w, `<title>t</title><p style="color:red">x<img src="gone.png" width="5000">`+
			`<img src="http://127.0.0.2:9/other.png">`+
			`<script>alert("hello"); console.error("no"); throw new Error("thrown")</script>`)
	}))
	t.Cleanup(s.Close)
	b := open(t, s.URL+"/", looks[0])
	if wide := b.wide(); len(wide) < 2 || !strings.Contains(strings.Join(wide[1:], ""), "<img") {
		t.Errorf("what is too wide is %q", wide)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	noticed := strings.Join(b.troubles, "\n") + strings.Join(b.requests, "\n")
	for _, want := range []string{
		"dialog: hello", "console: error", "exception: ", "Content-Security-Policy: style-src",
		"/gone.png", "127.0.0.2:9/other.png",
	} {
		if !strings.Contains(noticed, want) {
			t.Errorf("it does not notice %q: %s", want, noticed)
		}
	}
}
