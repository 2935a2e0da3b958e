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

// policy lets pages use only what this handler serves, without inline styles or scripts, so that
// nothing in a text from the database can run.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// secure sets the headers of every response.
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

// admit returns a [problem] unless a request may be answered. It checks the host first, so that
// another site cannot make a browser ask for a password.
func (h *Handler) admit(r *http.Request) error {
	if !h.answersFor(hostOf(r.Host)) {
		return &problem{
			status: http.StatusMisdirectedRequest, title: "Not this host",
			text: "The request is for the host " + quoted(r.Host) + ", a name for which these " +
				"pages do not answer. Add it by idmint serve --host, or by Options.Hosts.",
		}
	}
	if !reads(r) {
		return &problem{
			status: http.StatusMethodNotAllowed, title: "Nothing can be changed here",
			text: "The method is " + quoted(r.Method) +
				", but these pages only read: use GET or HEAD.",
		}
	}
	if h.allows != nil && !h.allows(r) {
		return &problem{
			status: http.StatusUnauthorized, title: "Who are you?",
			text: "These pages require a user and a password.",
		}
	}
	return nil
}

// answersFor reports whether a request for a host may be answered. IP addresses are always allowed,
// because another site can only use a name.
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

// hostOf returns a host without its port.
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

// same compares two strings in a time that does not depend on them, not even on their lengths.
func same(a, b string) int {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:])
}
