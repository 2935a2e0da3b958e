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

// kinds are those of the assets, by their names. Package mime asks the machine, which may say
// anything.
var kinds = map[string]string{
	"icon.svg": "image/svg+xml", "script.js": "text/javascript; charset=utf-8",
	"style.css": "text/css; charset=utf-8",
}

// version is a hash of the assets. Their addresses have it, so a browser may keep them.
var version = sync.OnceValue(func() string {
	hash := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		data, err := assetFiles.ReadFile("assets/" + name)
		if err != nil {
			panic(err) // it is part of the program
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

// An answer is a page in both of its forms.
type answer struct {
	status   int    // 0 is 200
	template string // of the page
	title    string
	data     any // for the template, and for machines
}

// A problem is why there is no answer, in words. It is a page itself.
type problem struct {
	status int
	title  string
	text   string
	detail string // what the database says
	err    error
}

func (p *problem) Error() string { return "viewer: " + p.title + ": " + p.text }
func (p *problem) Unwrap() error { return p.err }

// away is the problem of a launch log that does not answer, or of what it answers.
func away(err error) *problem {
	var schema *launchlog.SchemaError
	if errors.As(err, &schema) {
		return &problem{
			status: http.StatusServiceUnavailable, title: "The launch log has other tables",
			text:   "Run idmint migrate, or the version of idmint that made them.",
			detail: err.Error(), err: err,
		}
	}
	return &problem{
		status: http.StatusServiceUnavailable, title: "The launch log does not answer",
		text: "Apps that run go on minting until their numbers are used up. " +
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
	// stranger is who was not admitted. Nothing of the log is shown to one.
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
		text: "The path " + quoted(v.r.URL.Path) + " leads nowhere. The pages are below.",
	}
}

func (v *visit) asset(address string) {
	of, name, _ := strings.Cut(address, "/")
	data, err := assetFiles.ReadFile("assets/" + name)
	if of != version() || err != nil {
		v.fail(&problem{
			status: http.StatusNotFound, title: "There is no such file",
			text: "The file " + quoted(address) + " is of another version of these pages. Load " +
				"the page again.",
		})
		return
	}
	header := v.w.Header()
	header.Set("Content-Type", kinds[name])
	header.Set("Cache-Control", "public, max-age=31536000, immutable")
	v.send(http.StatusOK, data)
}

// fail answers with a problem. An error that is none is the launch log's.
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

// A frame is what all pages have around them.
type frame struct {
	Title     string
	Root      string // leads from the page to the first one
	Here      string // which page of the menu it is
	Stranger  bool   // who asks may not know of the log
	Namespace string // of the launch log; empty without one
	Data      any
}

// write writes an answer in the form that is wanted.
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

// send writes a body. Of a HEAD request the server sends its length alone.
func (v *visit) send(status int, body []byte) {
	v.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	v.w.WriteHeader(status)
	_, _ = v.w.Write(body) // whoever asked may have gone
}

// wantsJSON reports whether a program asks. A browser names text/html first.
func wantsJSON(r *http.Request) bool {
	first, _, _ := strings.Cut(r.Header.Get("Accept"), ",")
	kind, _, err := mime.ParseMediaType(first)
	return err == nil && kind == "application/json"
}

// webLink is the address of a link that may be followed, or empty. A text of the database may hold
// any scheme, such as javascript.
func webLink(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return ""
	}
	return u.String()
}

// quoted is an input as pages name it.
func quoted(text string) string { return visible.Text(schemes.Quoted(text)) }
