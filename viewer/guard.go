package viewer

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// policy lets pages use what this handler serves, and nothing else. There is no inline style or
// script. So what a text of the database might bring along is not run.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// secure sets the headers that every answer has.
func secure(header http.Header) {
	for name, value := range map[string]string{
		"Content-Security-Policy":      policy,
		"X-Content-Type-Options":       "nosniff",
		"X-Frame-Options":              "DENY",
		"Referrer-Policy":              "no-referrer", // permalinks hold IDs
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
		"Cache-Control":                "no-store",
	} {
		header.Set(name, value)
	}
}

// admit looks whether a request may be answered. The host comes first: a stranger's page is not to
// make a browser ask for a password.
func (h *Handler) admit(r *http.Request) error {
	if !h.answersFor(hostOf(r.Host)) {
		return &problem{
			status: http.StatusMisdirectedRequest, title: "Not this host",
			text: "The request is for the host " + quoted(r.Host) + ". These pages do not answer " +
				"for that name. Who runs them may add it: idmint serve --host, or Options.Hosts.",
		}
	}
	if !reads(r) {
		return &problem{
			status: http.StatusMethodNotAllowed, title: "Nothing can be changed here",
			text: "The method is " + quoted(r.Method) +
				". These pages only read: want GET or HEAD.",
		}
	}
	if h.allows != nil && !h.allows(r) {
		return &problem{
			status: http.StatusUnauthorized, title: "Who are you?",
			text: "These pages want a user and a password.",
		}
	}
	return nil
}

// answersFor reports whether a request for a host may be answered. A stranger's page has a name of
// its own, and no address.
func (h *Handler) answersFor(host string) bool {
	if len(h.opts.Hosts) == 0 || slices.Contains(h.opts.Hosts, host) {
		return true
	}
	_, err := netip.ParseAddr(host)
	return err == nil
}

// reads reports whether a request changes nothing.
func reads(r *http.Request) bool {
	return r.Method == http.MethodGet || r.Method == http.MethodHead
}

// hostOf is a host without its port.
func hostOf(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}

func (a *Auth) allows(r *http.Request) bool {
	user, password, ok := r.BasicAuth()
	return ok && same(user, a.User)&same(password, a.Password) == 1
}

// same compares in a time that tells nothing of what is compared, its length included.
func same(a, b string) int {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:])
}
