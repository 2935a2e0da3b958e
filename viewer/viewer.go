package viewer

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/launchlog"
)

// Options are the optional settings of a [Handler]. The zero value is suitable behind an app's own
// authentication.
type Options struct {
	// Timeout limits how long a page waits for the launch log, including the wait for its turn,
	// because only eight pages ask at once. The default is 2 s.
	Timeout time.Duration
	// Readings reads the health of the log. If it is nil, the pages create their own watch, which
	// reads once a minute and within Timeout. Your own watch may also check the database, or serve
	// your metrics.
	Readings *doctor.Watch
	// Metrics serves /metrics, a path that is not found if Metrics is nil.
	Metrics http.Handler
	// Auth says who may see the pages, which is everybody if it is nil.
	Auth *Auth
	// Hosts are the host names for which requests are answered, on any port, such as "localhost".
	// If it is empty, requests for all names are answered, as are requests for IP addresses in any
	// case. Another site in a browser can reach this machine only by a name that it controls, so
	// Hosts keeps it from reading the pages.
	Hosts []string
	// Now is the clock, by default time.Now.
	Now func() time.Time
}

// Auth is the user and the password that a client must send by basic authentication to see the
// pages. Without TLS in front of the pages, anyone who sees the traffic can read the password. A
// proxy that authenticates people itself may send it for them.
type Auth struct {
	User     string
	Password string `json:"-"`
}

// Format prints a without the password, for every verb.
func (a Auth) Format(f fmt.State, verb rune) {
	type plain Auth
	if a.Password != "" {
		a.Password = "xxxxx"
	}
	fmt.Fprintf(f, fmt.FormatString(f, verb), plain(a))
}

// An OptionError is returned by [New] for an invalid setting.
type OptionError struct {
	Option string // its name in [Options]
	Value  string // what was given; empty for a password
	Reason string
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("viewer: %s %.80q %s", e.Option, e.Value, e.Reason)
}

// Handler serves the pages. It is safe for concurrent use, and does not need to be closed.
type Handler struct {
	log    *launchlog.Log
	opts   Options                  // without Auth
	allows func(*http.Request) bool // by Auth, or nil; a function, so that fmt prints no password
	turns  chan struct{}            // has an element for each page that asks the log
	routes map[string]page
}

var _ http.Handler = (*Handler)(nil)

// New returns the pages for a launch log. If log is nil, the pages only explain IDs. The error is
// an [*OptionError].
func New(log *launchlog.Log, opts *Options) (*Handler, error) {
	h := &Handler{log: log, turns: make(chan struct{}, mostAsking)}
	if opts != nil {
		h.opts = *opts
	}
	o := &h.opts
	if err := o.validate(); err != nil {
		return nil, err
	}
	if o.Auth != nil {
		h.allows = (&Auth{o.Auth.User, o.Auth.Password}).allows
		o.Auth = nil
	}
	o.Hosts = slices.Clone(o.Hosts)
	for i, host := range o.Hosts {
		o.Hosts[i] = hostOf(host)
	}
	o.Timeout = cmp.Or(o.Timeout, 2*time.Second)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Readings == nil && log != nil {
		o.Readings = doctor.NewWatch(log, &doctor.WatchOptions{Timeout: o.Timeout, Now: o.Now})
	}
	h.routes = map[string]page{
		"":         h.explain,
		"launches": h.launches,
		"health":   h.healthPage,
	}
	return h, nil
}

func (o *Options) validate() error {
	if o.Timeout < 0 {
		return &OptionError{"Timeout", o.Timeout.String(), "is negative"}
	}
	if a := o.Auth; a != nil && (a.User == "" || a.Password == "") {
		return &OptionError{"Auth", a.User, "must have a user and a password, or be nil"}
	}
	return nil
}

// mostAsking is the most pages that ask the log at once, while others wait for their turn.
const mostAsking = 8

// turn waits until a page may ask the log, and returns a context that limits all of its waiting,
// and a function that ends its turn. The error is a [problem].
func (h *Handler) turn(ctx context.Context) (bounded context.Context, done func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, h.opts.Timeout)
	select {
	case h.turns <- struct{}{}:
		return ctx, func() { <-h.turns; cancel() }, nil
	case <-ctx.Done():
		cancel()
		return nil, nil, &problem{
			status: http.StatusServiceUnavailable, title: "Too many requests at once",
			text: "Other pages are asking the launch log. Reload this one in a moment.",
		}
	}
}

// A page answers a request for a path, which has neither the prefix nor a leading slash.
type page func(r *http.Request) (answer, error)

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	secure(w.Header())
	v := visit{h: h, w: w, r: r, path: strings.TrimPrefix(r.URL.Path, "/")}
	if err := h.admit(r); err != nil {
		v.stranger = true
		if v.path == "healthz" && reads(r) {
			h.healthz(w, r, false)
			return
		}
		v.fail(err)
		return
	}
	v.serve()
}
