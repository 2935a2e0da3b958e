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

// Options are the optional settings of a [Handler]. The zero value is a good choice behind an app's
// own authentication.
type Options struct {
	// Timeout is how long a page waits for the launch log. It includes the wait for its turn, since
	// few pages ask at once. It is 2 s if zero.
	Timeout time.Duration
	// Readings reads the health of the log. It is a watch of the pages' own if nil, which reads once
	// a minute, within Timeout. One of yours may look at the database as well, or serve your metrics.
	Readings *doctor.Watch
	// Metrics serves /metrics. That path is not found if it is nil.
	Metrics http.Handler
	// Auth says who may see the pages. Everybody may if it is nil.
	Auth *Auth
	// Hosts are the names that a request may be for, on any port, such as "localhost". All may be
	// asked for if it is empty, and IP addresses always. A page of a stranger needs a name that
	// leads to this machine. So with Hosts it reads nothing.
	Hosts []string
	// Now is the clock. It is time.Now if nil.
	Now func() time.Time
}

// Auth says who may see the pages: whoever sends the password, by basic authentication. Without TLS
// in front of the pages, whoever sees the traffic reads it. A proxy that authenticates people itself
// may send it in their place.
type Auth struct {
	User     string
	Password string `json:"-"`
}

// Format keeps the password out of what every verb prints.
func (a Auth) Format(f fmt.State, verb rune) {
	type plain Auth
	if a.Password != "" {
		a.Password = "xxxxx"
	}
	fmt.Fprintf(f, fmt.FormatString(f, verb), plain(a))
}

// An OptionError is returned by [New] for a setting that cannot be.
type OptionError struct {
	Option string // its name in [Options]
	Value  string // what was given; empty for a password
	Reason string
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("viewer: %s %.80q %s", e.Option, e.Value, e.Reason)
}

// Handler serves the pages. It is safe for use by many goroutines, and needs no closing.
type Handler struct {
	log    *launchlog.Log
	opts   Options                  // without Auth
	allows func(*http.Request) bool // by Auth, or nil; a function, because fmt prints what structs hold
	turns  chan struct{}            // has one for each page that asks the log
	routes map[string]page
}

var _ http.Handler = (*Handler)(nil)

// New makes the pages of a launch log. Without one, nil, they explain IDs and say what they lack.
// The error is an [*OptionError].
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
		return &OptionError{"Auth", a.User, "wants a user and a password: leave it nil without"}
	}
	return nil
}

// mostAsking is how many pages ask the log at once. Others wait for their turn.
const mostAsking = 8

// turn waits until a page may ask the log, and bounds all of its waiting. Done ends its turn. The
// error is a [problem].
func (h *Handler) turn(ctx context.Context) (bounded context.Context, done func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, h.opts.Timeout)
	select {
	case h.turns <- struct{}{}:
		return ctx, func() { <-h.turns; cancel() }, nil
	case <-ctx.Done():
		cancel()
		return nil, nil, &problem{
			status: http.StatusServiceUnavailable, title: "Too many ask at once",
			text: "Other pages are asking the launch log. Load this one again in a moment.",
		}
	}
}

// A page answers a request for a path, which is without the prefix and the slash in front.
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
