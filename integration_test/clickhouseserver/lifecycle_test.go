package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

func TestHTTP(t *testing.T) {
	p := start(t)
	for path, want := range map[string]int{"/": 200, "/ping": 200, "/other": 404} {
		r, err := http.Get("http://" + p.http + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r.Body)
		_ = r.Body.Close()
		if err != nil || r.StatusCode != want || want == 200 && string(body) != "Ok.\n" {
			t.Errorf("%s: %d %q, %v", path, r.StatusCode, body, err)
		}
	}
}

// endless runs until it is killed.
const endless = "SELECT count() FROM numbers(1000000000000000) WHERE NOT ignore(rand())"

func running(t testing.TB, c driver.Conn) uint64 {
	return one[uint64](t, c, "SELECT count() FROM system.processes WHERE query = ?", endless)
}

// TestCancel: clients that cancel a query, or go, end it.
func TestCancel(t *testing.T) {
	p := start(t)
	c := open(t, p.options())
	for name, query := range map[string]func(context.Context) error{
		"clickhouse-go": func(ctx context.Context) error { return c.Exec(ctx, endless) },
		"ch-go": func(ctx context.Context) error {
			return dial(t, p, ch.CompressionLZ4).Do(ctx, ch.Query{Body: endless})
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- query(ctx) }()
		for running(t, c) == 0 {
			select {
			case err := <-ended:
				t.Fatalf("%s: the query has ended: %v", name, err)
			default:
			}
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		for running(t, c) != 0 {
		}
	}
}
