package promid_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
	"github.com/idmint/idmint/telemetry"
	"github.com/idmint/idmint/telemetry/promid"
)

// An app publishes its generator and its launch log at /metrics.
func Example() {
	ctx := context.Background()
	check := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	store := memory.New(nil) // in production that of a database

	set := new(telemetry.Set)
	metrics := promid.New(set)
	registry := prometheus.NewRegistry()
	check(registry.Register(metrics))
	launches, err := launchlog.New(store, &launchlog.Options{Observe: metrics.Step})
	check(err)
	check(set.Watch(launches, nil))

	counter, err := launches.Counter("orders")
	check(err)
	orders, err := generator.NewSequence(counter, 100)
	check(err)
	check(orders.Ready(ctx))
	check(telemetry.Add(set, "orders", orders))

	_, err = orders.Next(ctx)
	check(err)
	scrape := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(scrape,
		httptest.NewRequest("GET", "/metrics", nil))
	page, err := io.ReadAll(scrape.Body)
	check(err)
	for line := range strings.Lines(string(page)) {
		if strings.Contains(line, `generator_name="orders"`) {
			fmt.Print(line)
		}
	}
	// Output:
	// idmint_generator_ids_total{generator_name="orders",scheme="sequence"} 1
	// idmint_generator_refills_total{generator_name="orders",scheme="sequence"} 1
	// idmint_generator_utilization_ratio{generator_name="orders",scheme="sequence"} 0.01
}
