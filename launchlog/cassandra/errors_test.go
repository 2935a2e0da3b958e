package cassandra

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/idmint/idmint/launchlog"
)

// serverError is what a node says, by its code.
type serverError int

func (e serverError) Code() int { return int(e) }

func (e serverError) Message() string { return fmt.Sprintf("code %#x", int(e)) }

func (e serverError) Error() string { return e.Message() }

func TestClassify(t *testing.T) {
	for _, test := range []struct {
		err            error
		passes, strays bool
		unsent         bool
	}{
		{err: serverError(gocql.ErrCodeWriteTimeout), passes: true},
		{err: serverError(gocql.ErrCodeReadTimeout), passes: true},
		{err: serverError(gocql.ErrCodeCASWriteUnknown), passes: true},
		{err: serverError(gocql.ErrCodeWriteFailure), passes: true},
		{err: serverError(gocql.ErrCodeReadFailure), passes: true},
		{err: serverError(gocql.ErrCodeTruncate), passes: true},
		{err: serverError(gocql.ErrCodeUnavailable), passes: true, strays: true},
		{err: serverError(gocql.ErrCodeOverloaded), passes: true, strays: true},
		{err: serverError(gocql.ErrCodeBootstrapping), passes: true, strays: true},
		{err: serverError(gocql.ErrCodeServer), passes: true, strays: true},
		{err: gocql.ErrTimeoutNoResponse, passes: true, strays: true},
		{err: gocql.ErrConnectionClosed, passes: true, strays: true},
		{err: io.ErrUnexpectedEOF, passes: true, strays: true},
		{err: context.DeadlineExceeded, passes: true, strays: true},
		{err: gocql.ErrNoConnections, passes: true, strays: true, unsent: true},
		{err: gocql.ErrNoStreams, passes: true, strays: true, unsent: true},
		{err: gocql.ErrSessionClosed, strays: true},
		{err: gocql.ErrFrameTooBig, passes: true, strays: true},
		{err: gocql.NewErrProtocol("unexpected protocol version in response"), passes: true, strays: true},
		{err: serverError(gocql.ErrCodeSyntax)},
		{err: serverError(gocql.ErrCodeInvalid)},
		{err: serverError(gocql.ErrCodeUnauthorized)},
		{err: serverError(gocql.ErrCodeCredentials)},
		{err: serverError(gocql.ErrCodeConfig)},
		{err: serverError(gocql.ErrCodeProtocol)},
		{err: serverError(gocql.ErrCodeAlreadyExists)},
		{err: serverError(gocql.ErrCodeFunctionFailure)},
		{err: nil, strays: true},
	} {
		for _, err := range []error{test.err, fmt.Errorf("about: %w", test.err)} {
			if err != nil && test.err == nil {
				continue
			}
			if passes(err) != test.passes || strays(err) != test.strays ||
				unsent(err) != test.unsent {
				t.Errorf("%v: passes %v, strays %v, unsent %v",
					err, passes(err), strays(err), unsent(err))
			}
		}
	}
}

// An error names the nodes of the call that failed, and what each of them did.
func TestEndedTellsNodes(t *testing.T) {
	h, _ := newCluster(t, "dc1")
	over, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, ctx := range []context.Context{h.begin(t.Context(), "p"), h.begin(over, "p")} {
		var err error
		order := picked(h, ctx)
		for _, failure := range []error{gocql.ErrTimeoutNoResponse, io.ErrUnexpectedEOF} {
			err = h.send(ctx, func(ctx context.Context) error {
				h.Pick(request{ctx: ctx})()
				return failure
			})
		}
		got := fmt.Sprint(ended(ctx, err))
		for i, want := range []string{"it does not answer", "unexpected EOF"} {
			want = h.up[order[i]].ConnectAddressAndPort() + ": " + want
			if strings.Count(got, want) != 1 {
				t.Errorf("%q, want %q once", got, want)
			}
		}
		cancel() // the second one
	}
	if err := ended(h.begin(over, "p"), context.Canceled); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the context's end", err)
	}
	// Without a connection there is no node to ask. Why there is none is known.
	ctx := h.begin(t.Context(), "p")
	h.reasons.ObserveConnect(gocql.ObservedConnect{
		Host: h.up[picked(h, ctx)[0]], Err: io.ErrClosedPipe,
	})
	err := ended(ctx, gocql.ErrNoConnections)
	if !errors.Is(err, io.ErrClosedPipe) || !errors.Is(err, gocql.ErrNoConnections) {
		t.Errorf("%v does not say why", err)
	}
}

// The caller's end is told apart from the call's own bound.
func TestEnded(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		ctx  context.Context
		err  error
		want []error
		not  error
	}{
		{t.Context(), context.DeadlineExceeded, []error{errSilent}, context.DeadlineExceeded},
		{t.Context(), errLost, []error{errLost}, errSilent},
		{over, errLost, []error{errLost, context.Canceled}, errSilent},
	} {
		got := ended(test.ctx, test.err)
		for _, want := range test.want {
			if !errors.Is(got, want) {
				t.Errorf("%v became %v", test.err, got)
			}
		}
		if errors.Is(got, test.not) {
			t.Errorf("%v became %v", test.err, got)
		}
	}
}

// Migrate tries again where a node may not have heard of a table yet. It does not where the table
// of the log's rows is gone.
func TestFinal(t *testing.T) {
	invalid := serverError(gocql.ErrCodeInvalid)
	for _, test := range []struct {
		err   error
		final bool
	}{
		{invalid, false},
		{gocql.ErrTimeoutNoResponse, false},
		{fmt.Errorf("%w: %w", launchlog.ErrOtherLog, invalid), true},
		{serverError(gocql.ErrCodeUnauthorized), true},
		{&SerialError{}, true},
		{&ConfigError{}, true},
		{&launchlog.SchemaError{}, true},
	} {
		if got := isFinal(fmt.Errorf("about: %w", test.err)); got != test.final {
			t.Errorf("%v: %v", test.err, got)
		}
	}
}
