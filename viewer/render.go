package viewer

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"html/template"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/idmint/idmint/internal/schemes"
	"github.com/idmint/idmint/internal/visible"
	"github.com/idmint/idmint/launchlog"
)

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed assets
var assetFiles embed.FS

// kinds are the content types of the assets, by their names. Package mime would ask the machine,
// whose answers vary.
var kinds = map[string]string{
	"icon.svg": "image/svg+xml", "script.js": "text/javascript; charset=utf-8",
	"style.css": "text/css; charset=utf-8",
}

// version returns a hash of the assets, which is part of their addresses so that a browser may
// cache them.
var version = sync.OnceValue(func() string {
	hash := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		data, err := assetFiles.ReadFile("assets/" + name)
		if err != nil {
			panic(err) // the file is part of the program
		}
		hash.Write(data)
	}
	return hex.EncodeToString(hash.Sum(nil)[:6])
})

var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"asset":  func(name string) string { return "assets/" + version() + "/" + name },
		"text":   visible.Text,
		"number": grouped,
		"clock":  clock,
		"stamp":  stamp,
		"link":   webLink,
		"data":   pretty,
		"state":  state,
	}).ParseFS(templateFiles, "templates/*.html"))
})

// An answer is a page, for HTML and for JSON.
type answer struct {
	status   int    // 0 is 200
	template string // of the page
	title    string
	data     any // for the template and for JSON
}

// A problem says why a request has no answer, and is shown as a page.
type problem struct {
	status int
	title  string
	text   string
	detail string // what the database says
	err    error
}

func (p *problem) Error() string { return "viewer: " + p.title + ": " + p.text }
func (p *problem) Unwrap() error { return p.err }

// away returns the problem for an error of the launch log.
func away(err error) *problem {
	var schema *launchlog.SchemaError
	if errors.As(err, &schema) {
		return &problem{
			status: http.StatusServiceUnavailable, title: "The launch log has other tables",
			text:   "Run idmint migrate, or the version of idmint that created them.",
			detail: err.Error(), err: err,
		}
	}
	return &problem{
		status: http.StatusServiceUnavailable, title: "The launch log does not answer",
		text: "Running apps keep minting until their numbers are used up. " +
			"Explain works without the log.",
		detail: err.Error(), err: err,
	}
}

// A visit is one request.
type visit struct {
	h    *Handler
	w    http.ResponseWriter
	r    *http.Request
	path string // without the prefix and the slash in front of it
	// stranger means that the visitor was not admitted, and must see nothing of the log.
	stranger bool
}

func (v *visit) serve() {
	first, rest, nested := strings.Cut(v.path, "/")
	switch {
	case first == "assets" && nested:
		v.asset(rest)
		return
	case v.path == "healthz":
		v.h.healthz(v.w, v.r, true)
		return
	case v.path == "metrics" && v.h.opts.Metrics != nil:
		v.h.opts.Metrics.ServeHTTP(v.w, v.r)
		return
	}
	answer, err := v.page(first, rest, nested)
	if err != nil {
		v.fail(err)
		return
	}
	v.write(answer)
}

func (v *visit) page(first, rest string, nested bool) (answer, error) {
	if first == "launches" && nested {
		return v.h.launch(v.r, rest)
	}
	if page, ok := v.h.routes[v.path]; ok {
		return page(v.r)
	}
	return answer{}, &problem{
		status: http.StatusNotFound, title: "There is no such page",
		text: "There is nothing at " + quoted(v.r.URL.Path) + ". The pages are linked below.",
	}
}

func (v *visit) asset(address string) {
	of, name, _ := strings.Cut(address, "/")
	data, err := assetFiles.ReadFile("assets/" + name)
	if of != version() || err != nil {
		v.fail(&problem{
			status: http.StatusNotFound, title: "There is no such file",
			text: "The file " + quoted(address) + " belongs to another version of these pages. " +
				"Reload the page.",
		})
		return
	}
	header := v.w.Header()
	header.Set("Content-Type", kinds[name])
	header.Set("Cache-Control", "public, max-age=31536000, immutable")
	v.send(http.StatusOK, data)
}

// fail answers with a problem. An error that is not a problem comes from the launch log.
func (v *visit) fail(err error) {
	var p *problem
	if !errors.As(err, &p) {
		p = away(err)
	}
	switch p.status {
	case http.StatusMethodNotAllowed:
		v.w.Header().Set("Allow", "GET, HEAD")
	case http.StatusUnauthorized:
		v.w.Header().Set("WWW-Authenticate", `Basic realm="idmint", charset="UTF-8"`)
	case http.StatusServiceUnavailable:
		v.w.Header().Set("Retry-After", "5")
	}
	v.write(answer{
		status: p.status, template: "problem.html", title: p.title,
		data: struct {
			Title  string `json:"-"`
			Text   string `json:"-"`
			Error  string `json:"error"`
			Detail string `json:"detail,omitempty"`
		}{p.title, p.text, p.title + ": " + p.text, p.detail},
	})
}

// A frame holds what surrounds every page.
type frame struct {
	Title     string
	Root      string // relative path from the page to the first one
	Here      string // the page in the menu
	Stranger  bool   // the visitor must see nothing of the log
	Namespace string // of the launch log; empty without one
	Data      any
}

// write writes an answer in the form that the client accepts.
func (v *visit) write(a answer) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	header := v.w.Header()
	header.Add("Vary", "Accept")
	if wantsJSON(v.r) {
		data, err := json.Marshal(a.data)
		if err == nil {
			header.Set("Content-Type", "application/json")
			v.send(a.status, append(visible.JSON(data), '\n'))
			return
		}
		a.status = http.StatusInternalServerError
	}
	here, _, _ := strings.Cut(v.path, "/")
	root := "./" + strings.Repeat("../", strings.Count(v.path, "/"))
	around := frame{Title: a.title, Root: root, Here: here, Stranger: v.stranger, Data: a.data}
	if !v.stranger {
		around.Namespace = v.h.log.Namespace()
	}
	var b bytes.Buffer
	if err := templates().ExecuteTemplate(&b, a.template, around); err != nil {
		panic(err) // a template that does not fit its data, which a test would have found
	}
	header.Set("Content-Type", "text/html; charset=utf-8")
	v.send(a.status, b.Bytes())
}

// send writes a body, of which the server sends only the length for a HEAD request.
func (v *visit) send(status int, body []byte) {
	v.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	v.w.WriteHeader(status)
	_, _ = v.w.Write(body) // the client may be gone
}

// wantsJSON reports whether the client accepts JSON first, as programs do, whereas a browser lists
// text/html first.
func wantsJSON(r *http.Request) bool {
	first, _, _ := strings.Cut(r.Header.Get("Accept"), ",")
	kind, _, err := mime.ParseMediaType(first)
	return err == nil && kind == "application/json"
}

// webLink returns the address of a safe link, or "". A text from the database may have any URL
// scheme, such as javascript.
func webLink(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return ""
	}
	return u.String()
}

// quoted quotes an input for a page.
func quoted(text string) string { return visible.Text(schemes.Quoted(text)) }
