package viewer_test

import (
	"encoding/json"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
	"github.com/idmint/idmint/launchlog/storetest"
	"github.com/idmint/idmint/viewer"
)

// An explained is the answer of Explain for machines.
type explained struct {
	Query string `json:"query"`
	IDs   []struct {
		Text string `json:"text"`
		Fits []struct {
			Form   string          `json:"form"`
			ID     json.RawMessage `json:"id"`
			Launch *struct {
				ID int `json:"launch_id"`
			} `json:"launch"`
			Claim *struct {
				Host string `json:"host"`
			} `json:"claim"`
		} `json:"fits"`
	} `json:"ids"`
	Left    int    `json:"left"`
	Error   string `json:"error"`
	Reasons []struct{ Scheme, Why string }
}

func ask(t testing.TB, h *viewer.Handler, query string) (explained, int) {
	t.Helper()
	w := get(t, h, "/?q="+url.QueryEscape(query), "Accept", "application/json")
	var e explained
	if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	return e, w.Code
}

// schemes are those that the first ID of an answer fits, in their order, and the forms.
func (e explained) schemes(t testing.TB) (list []string) {
	t.Helper()
	for _, f := range e.IDs[0].Fits {
		var id struct {
			Scheme string `json:"scheme"`
		}
		if err := json.Unmarshal(f.ID, &id); err != nil {
			t.Fatal(err)
		}
		list = append(list, id.Scheme+" "+f.Form)
	}
	return list
}

// texts are the IDs that were found.
func (e explained) texts() (list []string) {
	for _, id := range e.IDs {
		list = append(list, id.Text)
	}
	return list
}

// Without a log, IDs are explained all the same.
func TestExplain(t *testing.T) {
	h := newPages(t, nil, nil)
	for query, want := range map[string][]string{
		"14150009200065":         {"decimal text", "trace text", "sequence text", "eightbyte number", "short number"},
		"5b9bda2989e1989b":       {"eightbyte text"},
		"8fhmi7mfls62jp64":       {"sno text"},
		`\x335f48168d9e8808dc82`: {"sno hex"},
		"7":                      {"trace text", "sequence text"},
	} {
		e, status := ask(t, h, query)
		if status != 200 || len(e.IDs) != 1 || e.IDs[0].Text != query {
			t.Fatalf("%s: %d, %+v", query, status, e)
		}
		got := e.schemes(t)
		for _, fit := range want {
			if !slices.Contains(got, fit) {
				t.Errorf("%s fits %q, want %q", query, got, fit)
			}
		}
		if got[0] != want[0] {
			t.Errorf("%s: %q comes first, want %q", query, got[0], want[0])
		}
	}
	e, _ := ask(t, h, "14150009200065")
	const object = `{"scheme":"decimal","id":"14150009200065","counter":1415,"generator_id":92,` +
		`"launch_id":65}`
	if got := string(e.IDs[0].Fits[0].ID); got != object {
		t.Errorf("%s, want %s", got, object)
	}
}

// The parts are drawn: digits of decimal IDs, bits of others.
func TestExplainDraws(t *testing.T) {
	h := newPages(t, nil, nil)
	want(t, get(t, h, "/?q=14150009200065"), 200,
		`<li class="part c1"><code class="digits">1415</code><span class="name">counter</span> `+
			`<span class="value">1415</span></li>`,
		`<li class="part c2"><code class="digits">00092</code>`,
		`<li class="part c3"><code class="digits">00065</code>`)
	want(t, get(t, h, "/?q=5b9bda2989e1989b"), 200,
		`<code class="digits">010110111001101111011010001010011000100111</code>`,
		`2019-11-15 14:12:39.591 UTC`,
		`<li class="part c3"><code class="digits">100</code><span class="name">upper bits</span>`,
		`<li class="part c3"><code class="digits">10001001</code><span class="name">generator_id`)
}

// Of a line the IDs are marked, and the rest stays text. Its times as numbers fit schemes as well:
// they are taken where it has nothing else. A list may hold IDs of any age.
func TestExplainLine(t *testing.T) {
	h := newPages(t, nil, nil)
	for query, want := range map[string]string{
		`level=info msg="order 14150009200065 stored" status=200 took=12ms`: "14150009200065",
		`2026-11-23T10:01:02.345Z INFO order-14150009200065 port 65535`:     "14150009200065",
		`{"id":"14150009200065","sum":1299} 14150009200065`:                 "14150009200065",
		`14150009200065, 8fhmi7mfls62jp64` + "\n" + `10000000001`:           "14150009200065 8fhmi7mfls62jp64 10000000001",
		`5 6`:                                "5 6",
		`user 5 has 6`:                       "",
		`information was rolled out ten day`: "",
		"xinaS8QBh 5b9bda2989e1989b":         "xinaS8QBh 5b9bda2989e1989b",
		"xinaS8QBh\r\n14150009200065":        "xinaS8QBh 14150009200065",
		"order 5001 failed":                  "",
		"user xinaS8QBh":                     "",

		`{"time":1763892062345,"id":"14150009200065"}`:           "14150009200065",
		`1763892062 1763892062345678 order=14150009200065 x`:     "14150009200065",
		`ts=1763892062345678901 id=14150009200065`:               "14150009200065",
		`{"exp":1890000000000,"id":14150009200065}`:              "14150009200065",
		`{"time":1763892062345,"at":1763892062346}`:              "1763892062345 1763892062346",
		`{"id":1063892062345,"sum":4763892062345} is no time`:    "1063892062345 4763892062345",
		`{"id":17638920623450,"other":"14150009200065"} 14 long`: "17638920623450 14150009200065",
		`1763892062345 14150009200065`:                           "1763892062345 14150009200065", // a list
		`1763892062345`:                                          "1763892062345",
	} {
		e, status := ask(t, h, query)
		if got := strings.Join(e.texts(), " "); got != want || (want == "") != (status == 400) ||
			(want == "") != (e.Error != "" && len(e.Reasons) > 3) {
			t.Errorf("%q: %d, %q, want %q", query, status, got, want)
		}
	}
	page := get(t, h, "/?q="+url.QueryEscape(`a <b>14150009200065</b> c`))
	want(t, page, 200, `a &lt;b&gt;<a class="mark" href="#id-1">14150009200065</a>&lt;/b&gt; c`,
		`permalink<span class="hidden"> of 14150009200065</span></a>`)
}

// Of the numbers in a line, those come first whose launch the log has.
func TestExplainLineKnown(t *testing.T) {
	h := sample(t)
	order := func(query string) []string {
		e, _ := ask(t, h, query)
		return e.texts()
	}
	const stranger, known = "14150009277777", "14150000000065"
	line := "GET /customers/" + stranger + "/orders/" + known + " 500"
	if got := order(line); !slices.Equal(got, []string{known, stranger}) {
		t.Errorf("a line: %q", got)
	}
	// The marks lead to the cards all the same.
	want(t, get(t, h, "/?q="+url.QueryEscape(line)), 200, `href="#id-1">`+stranger,
		`href="#id-2">`+known, `id="id-2"`)
	if got := order(stranger + " " + known); !slices.Equal(got, []string{stranger, known}) {
		t.Errorf("a list: %q", got)
	}
}

// What was asked is bounded, and the page says how.
func TestExplainBounds(t *testing.T) {
	h := newPages(t, nil, nil)
	w := get(t, h, "/?q="+strings.Repeat("7", 8193))
	want(t, w, 400, "8,193 characters, but at most 8,192", "7777777777")
	var many []string
	for i := range 60 {
		many = append(many, "100000000"+string(rune('0'+i/10))+string(rune('0'+i%10)))
	}
	e, status := ask(t, h, strings.Join(many, " "))
	if status != 200 || len(e.IDs) != 50 || e.Left != 10 {
		t.Errorf("%d: %d IDs, and %d left", status, len(e.IDs), e.Left)
	}
	page := get(t, h, "/?q="+strings.Join(many, "+"))
	want(t, page, 200, "Not explained: 10.", many[59])
	links := regexp.MustCompile(`href="#(id-\d+)"`)
	for _, m := range links.FindAllStringSubmatch(page.Body.String(), -1) {
		if !strings.Contains(page.Body.String(), `id="`+m[1]+`"`) {
			t.Errorf("a link leads to %s, which is not there", m[1])
		}
	}
	if box := get(t, h, "/").Body.String(); strings.Contains(box, "maxlength") {
		t.Error("a browser cuts what is pasted, and nobody sees it")
	}
	want(t, get(t, h, "/?q=%E2%80%AEabc"), 400, "That is not an ID", `\u202eabc`,
		`<th scope="row">decimal</th>`, `<th scope="row">sequence</th>`)
	want(t, get(t, h, "/?q=+"), 200, "For example")
}

// Of a decimal ID the log knows who launched it, and which process had the generator number.
func TestExplainLaunch(t *testing.T) {
	h := sample(t)
	e, _ := ask(t, h, "14150000000065")
	first := e.IDs[0].Fits[0]
	if first.Launch == nil || first.Launch.ID != 65 || first.Claim == nil ||
		first.Claim.Host != "web-1" {
		t.Errorf("%+v", first)
	}
	want(t, get(t, h, "/?q=14150000000065"), 200,
		`Launch <a href="launches/65">65</a> of billing in staging`, "<bdi>ann</bdi>", "v1.64.0",
		"SHOP-64", "release of the week", "failed", "2026-11-02 04:00:00 UTC", "21 days ago",
		"taken by process 4711 on <bdi>web-1</bdi>")
	// The log was perhaps restored: what it lacks may have been.
	want(t, get(t, h, "/?q=10990000065"), 200, "has no claim of this generator number",
		"a restore of the log may have lost the claim")
	want(t, get(t, h, "/?q=10000099999"), 200, "has no launch 99,999",
		"a restore of the log may have lost the launch")
	want(t, get(t, h, "/?q=10000000000"), 200, "Launch 0: a test generator minted it")
}

// Of a number whose claim a trim removed, the log knows the launch alone.
func TestExplainTrimmed(t *testing.T) {
	store := memory.New(nil)
	log, err := launchlog.New(store, nil)
	for n := range 3 {
		_, start := log.Start(t.Context(), storetest.Request("a"))
		_, claim := log.Claim(t.Context(), 1)
		trim := store.TrimClaims(t.Context(), launchlog.Ref{Namespace: "default", Launch: 1}, n)
		if err := errors.Join(err, start, claim, trim); err != nil {
			t.Fatal(err)
		}
	}
	h := newPages(t, log, nil)
	want(t, get(t, h, "/?q=10000100001"), 200, `href="launches/1">`, "a trim removed its claim")
	want(t, get(t, h, "/?q=10000200001"), 200, "taken by process")
	want(t, get(t, h, "/?q=10000300001"), 200, "has no claim of this generator number")
	want(t, get(t, h, "/launches/1?before=2"), 200, "a trim removed their claims")
}

// The log's knowledge is a better sign than a time: what looks like another scheme comes later.
func TestExplainPrefersTaken(t *testing.T) {
	log := newLog(t, memory.New(nil), nil)
	h := newPages(t, log, nil)
	// As a number of short IDs, this one is of the last years.
	const id = "71000000000000001"
	e, _ := ask(t, h, id)
	if got := e.schemes(t)[0]; got == "decimal text" {
		t.Fatalf("%s comes first without a launch: the test has no case", got)
	}
	_ = start(t, log, request("a"))
	if _, err := log.Claim(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	e, _ = ask(t, h, id)
	if got := e.schemes(t)[0]; got != "decimal text" {
		t.Errorf("%s comes first", got)
	}
}
