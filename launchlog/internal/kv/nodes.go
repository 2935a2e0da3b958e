package kv

import (
	"crypto/tls"
	"errors"
	"slices"
	"strings"

	"github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/launchlog"
)

// A nodesError is what happened at the nodes that a call asked.
type nodesError []*launchlog.NodeError

func (e nodesError) Error() string {
	texts := make([]string, len(e))
	for i, node := range e {
		texts[i] = node.Error()
	}
	return strings.Join(texts, "; ")
}

func (e nodesError) Unwrap() []error {
	errs := make([]error, len(e))
	for i, node := range e {
		errs[i] = node
	}
	return errs
}

// Nodes is the error of a call that asked these nodes, in the order of their names. It is nil where
// there are none.
func Nodes(errs ...*launchlog.NodeError) error {
	if len(errs) == 0 {
		return nil
	}
	errs = slices.SortedFunc(slices.Values(errs), func(a, b *launchlog.NodeError) int {
		return strings.Compare(a.Node, b.Node)
	})
	return nodesError(errs)
}

// Shown is a node's name without what may be a password, as in USER:PASSWORD@HOST.
func Shown(node string) string {
	at := strings.LastIndexByte(node, '@')
	if user, _, has := strings.Cut(node[:max(at, 0)], ":"); has {
		return user + ":xxxxx" + node[at:]
	}
	return node
}

// Hopeless reports whether each node of [Nodes] failed in a way that waiting does not mend. Nobody
// knows its name, or its certificate is not the one that is asked for.
func Hopeless(err error) bool {
	var nodes nodesError
	return errors.As(err, &nodes) && !slices.ContainsFunc(nodes, func(e *launchlog.NodeError) bool {
		var certificate *tls.CertificateVerificationError
		return !dialect.UnknownHost(e) && !errors.As(e, &certificate)
	})
}
