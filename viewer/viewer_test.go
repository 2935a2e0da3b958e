package viewer_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/idmint/idmint/viewer"
)

// get asks for a page.
func get(t testing.TB, h http.Handler, path string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// want fails where a page has another status, or lacks a text.
func want(t testing.TB, w *httptest.ResponseRecorder, status int, texts ...string) {
	t.Helper()
	if w.Code != status {
		t.Errorf("status %d, want %d: %s", w.Code, status, w.Body)
	}
	for _, text := range texts {
		if !strings.Contains(w.Body.String(), text) {
			t.Errorf("the page lacks %q: %s", text, w.Body)
		}
	}
}

func TestPages(t *testing.T) {
	h := sample(t)
	want(t, get(t, h, "/"), 200, `<textarea id="q"`, `href="./launches"`)
	want(t, get(t, h, "/?q=14150000000065"), 200, "<code>14150000000065</code>", "launches/65",
		"SHOP-64", "release of the week", "process 4711 on <bdi>web-1</bdi>")
	want(t, get(t, h, "/launches"), 200, `<a href="launches/120">120</a>`, "before=71")
	want(t, get(t, h, "/launches/65"), 200, "Launch 65", "SHOP-64", "9007199254740993", "web-1",
		`href="./../launches"`)
	want(t, get(t, h, "/health"), 200, "All is well", "120 of 99,999", "9,007,199,254,740,993")
	want(t, get(t, h, "/healthz"), 200, `"status":"ok"`)
}

func record(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// A fetched page came over the network, perhaps from where another one led.
type fetched struct {
	at   string
	url  *url.URL
	body string
}

// fetch asks for an address as a browser does. It is nil where there is no page.
func fetch(t testing.TB, address string) *fetched {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if answer.StatusCode != http.StatusOK {
		t.Errorf("%s: %s", address, answer.Status)
		return nil
	}
	return &fetched{answer.Request.URL.String(), answer.Request.URL, string(body)}
}

// Without a log the pages lead nowhere that is not there.
func TestWithoutLogLeads(t *testing.T) {
	pages, err := viewer.New(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	body := get(t, pages, "/").Body.String()
	if strings.Contains(body, "nav-launches") || strings.Contains(body, "nav-health") ||
		!strings.Contains(body, "nav-explain") {
		t.Error(body)
	}
}
