package kv

import (
	"crypto/tls"
	"errors"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/launchlog"
)

// A NodeError is what happened at one node of a store, such as etcd. The error of a step that no
// node has answered wraps it, and so does the error of Open.
type NodeError struct {
	Node string // HOST:PORT
	Err  error
}

func (e *NodeError) Error() string {
	err := e.Err
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil && err.Error() == op.Error() {
		err = op.Err // without the address, which is the node's
	}
	var call *os.SyscallError
	if errors.As(err, &call) && err.Error() == call.Error() {
		err = call.Err
	}
	return e.Node + ": " + err.Error()
}

func (e *NodeError) Unwrap() error { return e.Err }

// A nodesError is what happened at the nodes that a call asked.
type nodesError []error

func (e nodesError) Error() string {
	texts := make([]string, len(e))
	for i, node := range e {
		texts[i] = node.Error()
	}
	return strings.Join(texts, "; ")
}

func (e nodesError) Unwrap() []error { return e }

// Nodes returns the error of a call that asked these nodes, sorted by name. Nodes that are nil were
// not asked. It returns nil if no node was asked.
func Nodes(errs ...*NodeError) error {
	var all nodesError
	for _, e := range errs {
		if e != nil {
			all = append(all, e)
		}
	}
	if all == nil {
		return nil
	}
	slices.SortFunc(all, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return all
}

// Hopeless reports whether every node of [Nodes] failed in a way that waiting does not fix: its
// name is unknown, or its certificate is for another name.
func Hopeless(err error) bool {
	var nodes nodesError
	return errors.As(err, &nodes) && !slices.ContainsFunc(nodes, func(e error) bool {
		var certificate *tls.CertificateVerificationError
		return !dialect.UnknownHost(e) && !errors.As(e, &certificate)
	})
}

// Addresses returns nodes as HOST:PORT, with port for those that have none. The error is a
// [*launchlog.RequestError] about the given field of a Config.
func Addresses(field string, nodes []string, port string) ([]string, error) {
	if len(nodes) == 0 {
		return nil, &launchlog.RequestError{Field: field, Reason: "must name at least one node"}
	}
	full := make([]string, len(nodes))
	for i, given := range nodes {
		full[i] = given
		if _, _, err := net.SplitHostPort(given); err != nil {
			full[i] = net.JoinHostPort(strings.Trim(given, "[]"), port)
		}
		host, at, err := net.SplitHostPort(full[i])
		if err != nil || host == "" || at == "" || strings.ContainsAny(full[i], "/@, \t\n") {
			return nil, &launchlog.RequestError{
				Field: field, Value: Shown(given), Reason: "must be HOST:PORT",
			}
		}
	}
	return full, nil
}

// Shown returns a node's name without what may be a password, as in USER:PASSWORD@HOST.
func Shown(node string) string {
	at := strings.LastIndexByte(node, '@')
	if user, _, has := strings.Cut(node[:max(at, 0)], ":"); has {
		return user + ":xxxxx" + node[at:]
	}
	return node
}

var placePattern = regexp.MustCompile(`^(/[A-Za-z0-9_%-][A-Za-z0-9_~%.-]*)+$`)

// Place returns the path below which a log keeps its data, or /idmint if path is empty. The error
// is a [*launchlog.RequestError] about the given field of a Config.
func Place(field, path string) (string, error) {
	switch {
	case path == "":
		return "/idmint", nil
	case len(path) > 512 || !placePattern.MatchString(path):
		return "", &launchlog.RequestError{
			Field: field, Value: path, Reason: "must be /NAME or /NAME/NAME, of up to 512 " +
				"letters, digits and signs - _ . ~ %, where no name begins with . or ~",
		}
	}
	return path, nil
}
