package viewer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
	"github.com/idmint/idmint/viewer"
)

func request(key string) launchlog.Request {
	return launchlog.Request{Key: key, Service: "shop", Environment: "prod", Initiator: "ann"}
}

var listed = regexp.MustCompile(`<th role="rowheader" scope="row" class="launch"><a href="launches/(\d+)">`)

// numbers are the launches that a page lists.
func numbers(page string) (list []string) {
	for _, m := range listed.FindAllStringSubmatch(page, -1) {
		list = append(list, m[1])
	}
	return list
}

var next = regexp.MustCompile(`id="older" rel="next" href="launches(\?[^"]+)"`)

// follow returns the launches of a list, and its last page.
func follow(t *testing.T, h *viewer.Handler, path string) (all []string, last string) {
	t.Helper()
	for range 4 {
		w := get(t, h, path)
		want(t, w, 200)
		last = w.Body.String()
		all = append(all, numbers(last)...)
		m := next.FindStringSubmatch(last)
		if m == nil {
			break
		}
		path = "/launches" + strings.ReplaceAll(m[1], "&amp;", "&")
	}
	return all, last
}

// Whoever follows the links sees each launch once, the newest first.
func TestPaging(t *testing.T) {
	h := sample(t)
	all, last := follow(t, h, "/launches")
	if len(all) != 120 {
		t.Fatalf("%d launches: %q", len(all), all)
	}
	for i, n := range all {
		if n != fmt.Sprint(120-i) {
			t.Errorf("launch %s at %d", n, i)
		}
	}
	if !strings.Contains(last, `id="newest" href="launches?"`) ||
		strings.Contains(last, `id="older"`) {
		t.Error("the last page has a next one, or none to the first")
	}
	all, last = follow(t, h, "/launches?environment=prod")
	if len(all) != 60 || !strings.Contains(last, `id="newest" href="launches?environment=prod"`) {
		t.Errorf("%d launches of prod: %q", len(all), all)
	}
}

func TestFilters(t *testing.T) {
	h := sample(t)
	for query, want := range map[string]int{
		"?service=shop":                           40,
		"?service=shop&environment=prod":          20,
		"?environment=staging&running=1":          3,
		"?running=1":                              6,
		"?service=nobody":                         0,
		"?service=shop&before=10":                 3,
		"?service=%27+OR+1%3D1--":                 0,
		"?service=&environment=&running=&before=": 50,
	} {
		w := get(t, h, "/launches"+query)
		if got := len(numbers(w.Body.String())); got != want || w.Code != 200 {
			t.Errorf("%s: %d launches, want %d; status %d", query, got, want, w.Code)
		}
	}
	want(t, get(t, h, "/launches?service=nobody"), 200, "No launch matches the filter")
	want(t, get(t, h, "/launches?service=shop&running=1"), 200, `value="shop"`, ` checked`)
	for query, text := range map[string]string{
		"?before=x":                     `before, &#34;x&#34;, must be a number from 1 to 2,147,483,647`,
		"?before=0":                     `&#34;0&#34;`,
		"?before=2147483648":            `&#34;2147483648&#34;`,
		"?before=007":                   `&#34;007&#34;`,
		"?running=yes":                  `running, &#34;yes&#34;, is not 1`,
		"?servce=shop":                  `servce, &#34;shop&#34;, is not known here`,
		"?service=shop&service=billing": `service, &#34;shop, billing&#34;, is given twice`,
		"?service=%zz":                  "is not escaped",
	} {
		want(t, get(t, h, "/launches"+query), 400, text)
	}
}

func TestTimeline(t *testing.T) {
	h := sample(t)
	page := get(t, h, "/launches").Body.String()
	if n := strings.Count(page, `<div class="lane">`); n != 6 {
		t.Errorf("%d lanes, want one of each service in each environment", n)
	}
	signs := regexp.MustCompile(`<use class="sign (is-[a-z-]+)" href="#sign-(is-[a-z-]+)" x="`)
	drawn := signs.FindAllStringSubmatch(page, -1)
	for _, m := range drawn {
		if m[1] != m[2] || !strings.Contains(page, ` id="sign-`+m[2]+`"`) {
			t.Errorf("a launch that %s has the sign %s", m[1], m[2])
		}
	}
	if n := len(drawn); n != 50 {
		t.Errorf("%d launches are drawn of 50", n)
	}
	var legend []string
	for _, m := range regexp.MustCompile(`</svg>([a-z-]+)</span>`).FindAllStringSubmatch(page, -1) {
		legend = append(legend, m[1])
	}
	if got := strings.Join(legend, " "); got != "failed rolled-back running succeeded" {
		t.Errorf("the legend has %s", got)
	}
	bars := regexp.MustCompile(`<rect class="run (is-[a-z-]+)" x="([\d.]+)%" y="9" width="([\d.]+)%"`)
	running := 0
	for _, m := range bars.FindAllStringSubmatch(page, -1) {
		var x, width float64
		if _, err := fmt.Sscan(m[2]+" "+m[3], &x, &width); err != nil || x < 0 || x+width > 100.01 {
			t.Errorf("%s is not on the line", m[0])
		}
		if m[1] == "is-running" {
			running++
			if x+width < 99.99 {
				t.Errorf("a launch that runs is drawn to %v %%", x+width)
			}
		}
	}
	if running == 0 {
		t.Error("no launch runs")
	}
}

func TestLaunch(t *testing.T) {
	h := sample(t)
	want(t, get(t, h, "/launches/65"), 200, "Launch 65", "billing", "staging", "ann", "v1.64.0",
		"SHOP-64", "0f3a9c1", "joe", "&#34;big&#34;: 9007199254740993,",
		`<a href="https://ci.example/run/64" rel="noreferrer noopener external">`,
		"<b>started</b> by <bdi>ann</bdi>", "<b>ended</b> by <bdi>ci</bdi>", "121 of 100,000",
		`<th scope="row" class="num">120</th>`, `href="?before=71"`)
	older := get(t, h, "/launches/65?before=71")
	want(t, older, 200, `<th scope="row" class="num">70</th>`, `href="?before=21"`,
		`id="newest" href="65"`)
	if strings.Contains(older.Body.String(), `class="num">71</th>`) {
		t.Error("a number is on two pages")
	}
	want(t, get(t, h, "/launches/65?before=21"), 200, `<th scope="row" class="num">0</th>`)
	for path, text := range map[string]string{
		"/launches/121": "has no launch of that number", "/launches/0": "is not a launch number",
		"/launches/x": "&#34;x&#34; is not a launch number", "/launches/65/": "is not a launch number",
		"/launches/": "is not a launch number", "/launches/065": "is not a launch number",
		"/launch": "There is nothing at", "/launches/65/x": "is not a launch number",
	} {
		want(t, get(t, h, path), 404, text)
	}
	want(t, get(t, h, "/launches/65?before=0"), 400)
	want(t, get(t, h, "/launches/65?befor=71"), 400, `befor, &#34;71&#34;, is not known here`)
}

// An outcome may be any word, also one that a style sheet or a page uses for itself.
func TestOutcomes(t *testing.T) {
	log := newLog(t, memory.New(nil), nil)
	for _, outcome := range []launchlog.Outcome{
		"hidden", "skip", "running", launchlog.Failed, launchlog.Superseded,
	} {
		l := start(t, log, request(string(outcome)))
		if _, err := log.End(t.Context(), l.ID, launchlog.Ending{Outcome: outcome}); err != nil {
			t.Fatal(err)
		}
	}
	_ = start(t, log, request("runs"))
	h := newPages(t, log, &viewer.Options{Now: time.Now})
	states := regexp.MustCompile(`<span class="state ([^"]*)">([^<]*)</span>`)
	for path, want := range map[string]string{
		"/launches": "is-running running, is-superseded superseded, is-failed failed, " +
			"is-other ended as running, is-other skip, is-other hidden",
		"/launches/1": "is-other hidden", "/launches/3": "is-other ended as running",
		"/launches/6": "is-running running", "/?q=10000000003": "is-other ended as running",
	} {
		page := get(t, h, path).Body.String()
		var got []string
		for _, m := range states.FindAllStringSubmatch(page, -1) {
			got = append(got, m[1]+" "+m[2])
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: %q, want %s", path, got, want)
		}
		if n := strings.Count(page, `class="run is-running"`); path == "/launches" && n != 1 {
			t.Errorf("%d launches are drawn as if they ran", n)
		}
	}
}

// A told store has a launch with data that another tool wrote.
type told struct {
	launchlog.Store
	data json.RawMessage
}

func (s *told) Launch(ctx context.Context, ref launchlog.Ref) (launchlog.Launch, error) {
	l, err := s.Store.Launch(ctx, ref)
	l.Data = s.data
	return l, err
}

// The page of a launch stays small, whatever its data are. Machines get all.
func TestData(t *testing.T) {
	store := &told{Store: memory.New(nil)}
	log := newLog(t, store, nil)
	_ = start(t, log, request("a"))
	h := newPages(t, log, nil)
	nested := func(depth int, inside string) string {
		return strings.Repeat("[", depth) + inside + strings.Repeat("]", depth)
	}
	numbers := strings.Repeat("1,", 32<<10) + "1"
	for name, c := range map[string]struct {
		data, shows string
		cut         bool
	}{
		"small":           {`{"a":["b, {c\"",{}],"n":1.0}`, "  &#34;n&#34;: 1.0\n}</pre>", false},
		"long":            {nested(32, numbers[:1001]), "[\n" + strings.Repeat(" ", 64) + "1,\n", false},
		"deep":            {nested(64, `{"a": 1}`), nested(64, "{&#34;a&#34;:1}"), false},
		"deep and long":   {nested(64, numbers), nested(64, numbers), false},
		"very deep":       {nested(9_999, "1"), "[[1]]", false},
		"no JSON":         {nested(20_000, "\x1b"), `[[\x1b]]`, false},
		"large":           {"[" + strings.Repeat(numbers+",", 17) + "1]", ">[1,1,1", true},
		"large when seen": {`["` + strings.Repeat("\u3164", 300_000) + `"]`, `[&#34;\u3164\u3164`, true},
	} {
		store.data = json.RawMessage(c.data)
		w := get(t, h, "/launches/1")
		page := w.Body.String()
		if w.Code != 200 || len(page) > 2<<20 || !strings.Contains(page, c.shows) ||
			strings.Contains(page, "This is the beginning of") != c.cut {
			t.Errorf("%s: %d, %d bytes: %.3000s", name, w.Code, len(page), page)
		}
		machine := get(t, h, "/launches/1", "Accept", "application/json").Body.Len()
		if json.Valid(store.data) && machine < len(c.data) {
			t.Errorf("%s: machines get %d bytes of %d", name, machine, len(c.data))
		}
	}
}

// Machines get the same, and the log's own names for it.
func TestLaunchesForMachines(t *testing.T) {
	h := sample(t)
	w := get(t, h, "/launches?service=shop", "Accept", "application/json")
	var list struct {
		Launches []launchlog.Launch `json:"launches"`
		Before   int                `json:"before"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || len(list.Launches) != 40 ||
		list.Launches[0].ID != 118 || list.Before != 0 {
		t.Errorf("%v: %d launches, %d", err, len(list.Launches), list.Before)
	}
	w = get(t, h, "/launches/65", "Accept", "application/json")
	var one struct {
		launchlog.Launch
		Events []launchlog.Event `json:"events"`
		Claims []struct {
			Generator int    `json:"generator_id"`
			PID       string `json:"pid"`
		} `json:"claims"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &one); err != nil || one.ID != 65 ||
		len(one.Events) != 2 || len(one.Claims) != 50 || one.Claims[0].Generator != 120 ||
		one.Claims[0].PID != "4711" {
		t.Errorf("%v: %+v", err, one)
	}
	if strings.Contains(w.Body.String(), "token") {
		t.Error("a claim has its token")
	}
	if !strings.Contains(w.Header().Get("Vary"), "Accept") {
		t.Error("a cache would mix both forms")
	}
}

// Texts of the log are shown, and are nothing else: no markup, no script, no link that runs one.
func TestHostileTexts(t *testing.T) {
	const evil = `</td><script>alert(1)</script><img src=x onerror=alert(2)>"'` + "`{{.}}" + "\u202e"
	log := newLog(t, memory.New(nil), &launchlog.Options{Host: evil, PID: 1})
	l := start(t, log, launchlog.Request{
		Key: "k" + evil, Service: "s" + evil, Environment: "e" + evil, Initiator: "i" + evil,
		InitiatorKind: "n" + evil, Version: "v" + evil, Commit: "c" + evil, Ref: "r" + evil,
		ArtifactDigest: "a" + evil, Ticket: "javascript:alert(3)", Reason: "w" + evil,
		Approver: "p" + evil, PipelineURL: "javascript:alert(4)//" + evil,
		Data: json.RawMessage(`{"x":"</pre><script>alert(5)</script>\u202e"}`),
	})
	if _, err := log.Claim(t.Context(), l.ID); err != nil {
		t.Fatal(err)
	}
	end := launchlog.Ending{Outcome: "odd-end", Actor: "b" + evil, Reason: "z" + evil}
	if _, err := log.End(t.Context(), l.ID, end); err != nil {
		t.Fatal(err)
	}
	h := newPages(t, log, nil)
	for path, least := range map[string]int{
		"/?q=10000000001": 7, "/launches": 4, "/launches/1": 13, "/health": 0,
		"/?q=" + "%3Cscript%3Ealert(1)%3C/script%3E%E2%80%AE": 1, "/%3Cscript%3Ealert(1)": 1,
		"/launches?service=%22%3E%3Cscript%3E%3C/td%3E": 0, "/launches/%3Cscript%3E": 1,
	} {
		page := get(t, h, path).Body.String()
		// A field of a form keeps its text to itself, and sends it as it is.
		page = regexp.MustCompile(` value="[^"]*"|(?s)<textarea.*</textarea>`).ReplaceAllString(page, "")
		for _, bad := range []string{
			"<script>", "<img src=x", "href=\"javascript", "ZgotmplZ", "\u202e", "</td><script",
		} {
			if strings.Contains(page, bad) {
				t.Errorf("%s has %q: %s", path, bad, page)
			}
		}
		if got := strings.Count(page, "&lt;script&gt;") + strings.Count(page, "&lt;/td&gt;"); got < least {
			t.Errorf("%s shows %d hostile texts, want %d: %s", path, got, least, page)
		}
	}
	page := get(t, h, "/launches/1").Body.String()
	for _, text := range []string{`\u202e`, "javascript:alert(3)", "odd-end"} {
		if !strings.Contains(page, text) {
			t.Errorf("the page lacks %q", text)
		}
	}
}
