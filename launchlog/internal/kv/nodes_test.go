package kv_test

import (
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
	"github.com/idmint/idmint/launchlog/internal/kv/kvtest"
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
	node := func(err error) *launchlog.NodeError { return &launchlog.NodeError{Node: "a:1", Err: err} }
	for _, test := range []struct {
		errs     []*launchlog.NodeError
		hopeless bool
		text     string
	}{
		{nil, false, ""},
		{[]*launchlog.NodeError{node(errRefused)}, false, "a:1: connection refused"},
		{[]*launchlog.NodeError{node(errUnknown)}, true, "a:1: lookup etcd9: no such host"},
		{
			[]*launchlog.NodeError{node(errUnknown), node(errForeign)},
			true,
			"a:1: lookup etcd9: no such host; " +
				"a:1: tls: failed to verify certificate: x509: it is for b, not a",
		},
		{
			[]*launchlog.NodeError{node(errUnknown), node(errRefused)},
			false,
			"a:1: lookup etcd9: no such host; a:1: connection refused",
		},
	} {
		err := kv.Nodes(test.errs...)
		if err == nil {
			if test.text != "" {
				t.Errorf("%q: no error", test.text)
			}
			continue
		}
		if err.Error() != test.text {
			t.Errorf("got %q, want %q", err, test.text)
		}
		again := &launchlog.AttemptError{Err: err}
		if kv.Hopeless(again) != test.hopeless {
			t.Errorf("%v: hopeless %t", err, !test.hopeless)
		}
		for _, e := range test.errs {
			if !errors.Is(again, e.Err) {
				t.Errorf("%v does not wrap %v", err, e.Err)
			}
		}
	}
}

// Open does not wait for what waiting does not mend.
func TestOpenGivesUp(t *testing.T) {
	for err, took := range map[error]time.Duration{errForeign: 0, errRefused: 10 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			engine := away{kvtest.NewMemory(), began.Add(time.Hour), &launchlog.AttemptError{
				Err: kv.Nodes(&launchlog.NodeError{Node: "a:1", Err: err}),
			}}
			_, got := kv.Find(ctx, engine)
			if !errors.Is(got, err) || !strings.HasPrefix(got.Error(), "a:1: ") ||
				time.Since(began).Round(time.Second) != took {
				t.Errorf("after %v: %v, want %v after %v", time.Since(began), got, err, took)
			}
		})
	}
}
