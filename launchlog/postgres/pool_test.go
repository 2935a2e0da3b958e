package postgres

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idmint/idmint/launchlog"
)

// A step that waits in vain for a connection of an app's pool says what to do. One that waits for a
// connection of the store's own does not: no transaction of the app has it.
func TestAllConnectionsInUse(t *testing.T) {
	config, err := pgxpool.ParseConfig("postgres://me@127.0.0.1:1/none" +
		"?pool_max_conns=1&sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	config.ConnConfig.DialFunc = func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go greet(server)
		return client, nil
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	held, err := pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	for _, own := range []bool{false, true} {
		s := &Store{pool: pool, own: own}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		_, reading := s.LastNumber(ctx, launchlog.CounterRef{Namespace: "n", Name: "c"})
		_, writing := s.ReserveNumbers(ctx, launchlog.CounterRef{Namespace: "n", Name: "c"}, 0, 1)
		cancel()
		for _, err := range []error{reading, writing} {
			if !errors.Is(err, context.DeadlineExceeded) ||
				strings.Contains(err.Error(), "Ready") == own {
				t.Errorf("with a pool of its own %v: %v", own, err)
			}
		}
	}
}

// greet lets a client in, and answers nothing.
func greet(server net.Conn) {
	defer server.Close()
	backend := pgproto3.NewBackend(server, server)
	if _, err := backend.ReceiveStartupMessage(); err != nil {
		return
	}
	backend.Send(&pgproto3.AuthenticationOk{})
	backend.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	if backend.Flush() == nil {
		_, _ = io.Copy(io.Discard, server)
	}
}
