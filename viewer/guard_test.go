package viewer_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
	"github.com/idmint/idmint/viewer"
)

var paths = []string{
	"/", "/?q=14150000000065", "/?q=nonsense+here", "/launches", "/launches?before=x", "/launches/65",
	"/launches/9999", "/health", "/healthz", "/metrics", "/nope", "/assets/nope.css",
}

// Every answer has the headers, whatever is asked, and however it ends. Pages have no style and no
// script but those of files, and nothing of another host.
func TestHeaders(t *testing.T) {
	h := sample(t)
	inline := regexp.MustCompile(`<style|<script>| style=| on[a-z]+="|(src|href)="(https?:)?//`)
	for _, path := range paths {
		for _, method := range []string{"GET", "HEAD", "POST"} {
			w := record(h, httptest.NewRequestWithContext(t.Context(), method, path, nil))
			for name, want := range map[string]string{
				"Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src " +
					"'self'; img-src 'self'; form-action 'self'; base-uri 'none'; " +
					"frame-ancestors 'none'",
				"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
				"X-Frame-Options": "DENY", "Cache-Control": "no-store",
			} {
				if got := w.Header().Get(name); got != want {
					t.Errorf("%s %s: %s %q, want %q", method, path, name, got, want)
				}
			}
			// A link of the launch leads elsewhere.
			page := strings.ReplaceAll(w.Body.String(), `href="https://ci.example/run/`, "")
			if found := inline.FindString(page); found != "" {
				t.Errorf("%s has %s", path, found)
			}
		}
	}
}

func TestMethods(t *testing.T) {
	store := &watcher{of: sampleStore(t)}
	h := newPages(t, newLog(t, store, nil), nil)
	for _, path := range paths {
		for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "get"} {
			r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
			w := record(h, r)
			if w.Code != 405 || w.Header().Get("Allow") != "GET, HEAD" {
				t.Errorf("%s %s: %d, allowed is %q", method, path, w.Code, w.Header().Get("Allow"))
			}
		}
	}
	if store.reads != 0 {
		t.Errorf("%d questions to the log", store.reads)
	}
}

// Under a prefix that is stripped all links lead to pages.
func TestPrefix(t *testing.T) {
	log := newLog(t, sampleStore(t), nil)
	mux := http.NewServeMux()
	mux.Handle("/a/stripped/", http.StripPrefix("/a/stripped", newPages(t, log, nil)))
	mux.Handle("/", newPages(t, log, nil))
	link := regexp.MustCompile(`(?:href|src|action)="([^"#]*)`)
	for _, prefix := range []string{"", "/a/stripped"} {
		seen := map[string]bool{}
		var follow func(at *url.URL, depth int)
		follow = func(at *url.URL, depth int) {
			address := at.RequestURI()
			if seen[address] || depth == 0 {
				return
			}
			seen[address] = true
			if !strings.HasPrefix(address, prefix+"/") {
				t.Errorf("%s leads out of %s", address, prefix)
			}
			w := get(t, mux, address)
			want(t, w, 200)
			for _, m := range link.FindAllStringSubmatch(w.Body.String(), -1) {
				target := strings.ReplaceAll(m[1], "&amp;", "&")
				next, err := at.Parse(target)
				if err != nil {
					t.Errorf("%s: %v", address, err)
				} else if next.Host == at.Host {
					follow(next, depth-1)
				}
			}
		}
		for i, path := range []string{"/", "/?q=14150000000065"} {
			at, err := url.Parse("http://pages.example" + prefix + path)
			if err != nil {
				t.Fatal(err)
			}
			follow(at, 3-i) // an address is followed once, from the first page as far as it goes
		}
		if len(seen) < 55 {
			t.Errorf("%s: only %d addresses", prefix, len(seen))
		}
	}
}

func TestAssets(t *testing.T) {
	h := sample(t)
	page := get(t, h, "/").Body.String()
	found := regexp.MustCompile(`"\./(assets/[^"]+)"`).FindAllStringSubmatch(page, -1)
	if len(found) < 3 {
		t.Fatalf("%q", found)
	}
	for _, m := range found {
		w := get(t, h, "/"+m[1])
		kind, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";")
		if w.Code != 200 || !strings.Contains(w.Header().Get("Cache-Control"), "immutable") ||
			kind != "text/css" && kind != "text/javascript" && kind != "image/svg+xml" {
			t.Errorf("%s: %d, %v", m[1], w.Code, w.Header())
		}
	}
	want(t, get(t, h, "/assets/style.css"), 404)
	want(t, get(t, h, "/assets/../viewer.go"), 404)
}

func TestBasicAuth(t *testing.T) {
	h := newPages(t, newLog(t, sampleStore(t), nil), &viewer.Options{
		Auth: &viewer.Auth{User: "ann", Password: "secret"},
	})
	for _, c := range []struct {
		user, password string
		want           int
	}{
		{"ann", "secret", 200},
		{"", "", 401},
		{"ann", "", 401},
		{"ann", "secret ", 401},
		{"ann", "secre", 401},
		{"Ann", "secret", 401},
		{"", "secret", 401},
	} {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/launches", nil)
		r.SetBasicAuth(c.user, c.password)
		w := record(h, r)
		if w.Code != c.want || w.Code == 401 && (w.Header().Get("WWW-Authenticate") == "" ||
			strings.Contains(w.Body.String(), "launches/120")) {
			t.Errorf("%q with %q: %d, want %d: %v: %s", c.user, c.password, w.Code, c.want,
				w.Header(), w.Body)
		}
	}
	for _, path := range []string{"/", "/metrics", "/assets/x.css", "/nope", "/healthz/"} {
		want(t, get(t, h, path), 401)
	}
}

// Who is not admitted hears the same as where there is no log, whatever is asked. So nothing tells
// of the log or of its hosts.
func TestStrangers(t *testing.T) {
	opts := &viewer.Options{
		Hosts: []string{"pages.example"}, Auth: &viewer.Auth{User: "ann", Password: "secret"},
	}
	store := sampleStore(t)
	full := newPages(t, newLog(t, store, &launchlog.Options{Namespace: "orbital-payments"}), opts)
	empty := newPages(t, nil, opts)
	for _, path := range paths {
		if path == "/healthz" { // it tells everybody whether all is well
			continue
		}
		for host, status := range map[string]int{"pages.example": 401, "evil.example": 421} {
			for _, accept := range []string{"text/html", "application/json"} {
				r := httptest.NewRequestWithContext(t.Context(), "GET", path, nil)
				r.Host = host
				r.Header.Set("Accept", accept)
				w := record(full, r)
				body := w.Body.String()
				if w.Code != status || body != record(empty, r).Body.String() {
					t.Errorf("%s of %s: %d: %s", path, host, w.Code, body)
				}
				for _, secret := range []string{
					"orbital", "pages.example", "namespace", "without a launch log",
				} {
					if strings.Contains(body, secret) {
						t.Errorf("%s of %s tells %q: %s", path, host, secret, body)
					}
				}
			}
		}
	}
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/launches", nil)
	r.Host = "evil.example"
	want(t, record(full, r), 421, "&#34;evil.example&#34;", "--host")
	r.Host = "pages.example"
	r.SetBasicAuth("ann", "secret")
	want(t, record(full, r), 200, "orbital-payments")
}

// A probe has no password, and asks an address: it hears whether all is well, and no more.
func TestProbe(t *testing.T) {
	h := newPages(t, newLog(t, sampleStore(t), nil), &viewer.Options{
		Auth:  &viewer.Auth{User: "ann", Password: "secret"},
		Hosts: []string{"pages.example"},
	})
	if w := get(t, h, "/healthz"); w.Code != 200 || w.Body.String() != "ok\n" {
		t.Errorf("%d: %s", w.Code, w.Body)
	}
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/healthz", nil)
	r.Host = "pages.example"
	r.SetBasicAuth("ann", "secret")
	if w := record(h, r); w.Code != 200 || !strings.Contains(w.Body.String(), "namespace") {
		t.Errorf("%d: %s", w.Code, w.Body)
	}
}

// A page of a stranger, whose name leads to this machine, reads nothing. Names of hosts are the
// same in any case.
func TestHosts(t *testing.T) {
	names := []string{"localhost", "Pages.Example"}
	h := newPages(t, nil, &viewer.Options{Hosts: names})
	for host, want := range map[string]int{
		"localhost:8390": 200, "127.0.0.1:8390": 200, "[::1]:8390": 200, "[::1]": 200,
		"192.0.2.7": 200, "[fe80::7%25eth0]:80": 200, "pages.example": 200,
		"PAGES.example:443": 200, "LOCALHOST": 200, "evil.example:8390": 421, "example": 421,
		"127.0.0.1.evil.example": 421, "": 421, "localhost.": 421, "0x7f.1": 421,
		"2130706433": 421, "127.1": 421, "[evil.example]": 421,
	} {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/?q=7", nil)
		r.Host = host
		if w := record(h, r); w.Code != want {
			t.Errorf("%q: %d, want %d", host, w.Code, want)
		}
	}
	if names[1] != "Pages.Example" {
		t.Error("the caller's list was changed")
	}
}

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		opts viewer.Options
		want string
	}{
		{viewer.Options{Timeout: -1}, "Timeout"},
		{viewer.Options{Auth: &viewer.Auth{}}, "Auth"},
		{viewer.Options{Auth: &viewer.Auth{User: "ann"}}, "Auth"},
		{viewer.Options{Auth: &viewer.Auth{Password: "secret"}}, "Auth"},
	} {
		_, err := viewer.New(nil, &c.opts)
		var wrong *viewer.OptionError
		if !errors.As(err, &wrong) || wrong.Option != c.want ||
			strings.Contains(err.Error(), "secret") {
			t.Errorf("%+v: %v, want one about %s", c.opts, err, c.want)
		}
	}
	if _, err := viewer.New(newLog(t, memory.New(nil), nil), nil); err != nil {
		t.Error(err)
	}
}
