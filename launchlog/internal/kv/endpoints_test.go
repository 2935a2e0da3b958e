package kv_test

import (
	"crypto/tls"
	"errors"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
)

var (
	errRefused = &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	errUnknown = &net.OpError{
		Op: "dial", Net: "tcp",
		Err: &net.DNSError{Err: "no such host", Name: "etcd9", IsNotFound: true},
	}
	errForeign = &tls.CertificateVerificationError{Err: errors.New("x509: it is for b, not a")}
)

func TestNodes(t *testing.T) {
	for _, test := range []struct {
		errs     []error
		hopeless bool
		text     string
	}{
		{[]error{errRefused}, false, "a:1: connection refused"},
		{[]error{errUnknown}, true, "a:1: lookup etcd9: no such host"},
		{[]error{errUnknown, errForeign}, true, "a:1: lookup etcd9: no such host; " +
			"a:1: tls: failed to verify certificate: x509: it is for b, not a"},
		{[]error{errUnknown, errRefused}, false, "a:1: connection refused; " +
			"a:1: lookup etcd9: no such host"},
	} {
		nodes := []*kv.NodeError{nil} // which was not asked
		for _, err := range test.errs {
			nodes = append(nodes, &kv.NodeError{Node: "a:1", Err: err})
		}
		err := error(&launchlog.AttemptError{Err: kv.Nodes(nodes...)})
		if err.Error() != test.text || kv.Hopeless(err) != test.hopeless {
			t.Errorf("got %q, hopeless %t; want %q", err, kv.Hopeless(err), test.text)
		}
		for _, e := range test.errs {
			if !errors.Is(err, e) {
				t.Errorf("%v does not wrap %v", err, e)
			}
		}
	}
	if err := kv.Nodes(nil, nil); err != nil {
		t.Errorf("nobody was asked: %v", err)
	}
}

func TestAddresses(t *testing.T) {
	got, err := kv.Addresses("Nodes", []string{"a", "b:1", "::1", "[::2]", "[::3]:4"}, "7")
	want := []string{"a:7", "b:1", "[::1]:7", "[::2]:7", "[::3]:4"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	for given, shown := range map[string]string{
		"": "", ":1": ":1", "a:": "a:", "a:1/b": "a:1/b", "me@a:1": "me@a:1", "a:1,b:2": "a:1,b:2",
		"http://a:1": "http://a:1", "u:geheim@a:1": "u:xxxxx@a:1",
	} {
		_, err := kv.Addresses("Nodes", []string{"a:1", given}, "7")
		var wrong *launchlog.RequestError
		if !errors.As(err, &wrong) || wrong.Value != shown || wrong.Field != "Nodes" {
			t.Errorf("%q: %v", given, err)
		}
	}
}

func TestPlace(t *testing.T) {
	for path, want := range map[string]bool{
		"/a": true, "/a.b/c~d/-%_": true, "/" + strings.Repeat("a", 511): true,
		"/" + strings.Repeat("a", 512): false, "a": false, "/": false, "/a/": false, "//a": false,
		"/a/./b": false, "/a/..": false, "/~a": false, "/a/~log": false, "/a:b": false, "/é": false,
		"/a\x00": false, "/a b": false,
	} {
		got, err := kv.Place("Path", path)
		if want != (err == nil && got == path) || !want && !errors.As(err, new(*launchlog.RequestError)) {
			t.Errorf("%q: %q, %v", path, got, err)
		}
	}
}
