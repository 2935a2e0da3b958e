package telemetry_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"time"

	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/checks"
	"github.com/idmint/idmint/launchlog/memory"
	"github.com/idmint/idmint/telemetry"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// A logger of the app hears which numbers were taken.
func ExampleEvents() {
	ctx := context.Background()
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == "duration" {
				return slog.Attr{} // or the output would differ each time
			}
			return a
		},
	}))
	store := memory.New(nil) // in production that of a database

	events := telemetry.NewEvents(logger)
	launches, err := launchlog.New(store, &launchlog.Options{
		Observe: events.Step, Taken: events.Taken,
	})
	check(err)
	launch, err := launches.Start(ctx, launchlog.Request{
		Key: "deploy-4711", Service: "shop", Environment: "production", Initiator: "ann",
	})
	check(err)
	_, err = launches.Claim(ctx, launch.ID) // as a generator does
	check(err)
	// Output:
	// level=INFO msg="idmint: launch number taken" namespace=default launch=1 used=1 max=2147483647
	// level=INFO msg="idmint: generator number taken" namespace=default launch=1 generator=0 used=1 max=100000
}

// health answers 200 where package doctor finds nothing, and 503 with what it found.
func health(readings *doctor.Watch) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		reading := readings.Read(r.Context())
		if reading.Err != nil { // the launch log does not answer
			http.Error(w, reading.Err.Error(), http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if reading.Level() == checks.Finding {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		for _, result := range reading.Results {
			if result.Level != checks.Passed {
				_ = json.NewEncoder(w).Encode(result) // who asked has gone
			}
		}
	}
}

// A page of health says what package doctor finds.
func Example_health() {
	ctx := context.Background()
	launches, err := launchlog.New(memory.New(nil), nil)
	check(err)
	ask := func() {
		answer := httptest.NewRecorder()
		readings := doctor.NewWatch(launches, &doctor.WatchOptions{Timeout: time.Minute})
		health(readings)(answer, httptest.NewRequest("GET", "/health/idmint", nil))
		fmt.Println(answer.Code)
		fmt.Print(answer.Body)
	}
	ask()
	orders, err := launches.Counter("orders")
	check(err)
	_, err = orders.Advance(ctx, 9e18, "ann")
	check(err)
	ask()
	// Output:
	// 200
	// 503
	// {"check":"counters","level":"finding","message":"counter orders is at 9000000000000000000 of 9223372036854775807","remedy":"Use a new log counter for a new table. Find out who raised this one so far."}
}

// A set tells of generators, of claims and of how much is used up. Modules otelid and promid
// publish it.
func ExampleSet() {
	ctx := context.Background()
	launches, err := launchlog.New(memory.New(nil), nil)
	check(err)
	counter, err := launches.Counter("orders")
	check(err)
	orders, err := generator.NewSequence(counter, 100)
	check(err)

	set := new(telemetry.Set)
	check(telemetry.Add(set, "orders", orders))
	check(set.Watch(launches, nil))

	_, err = orders.Next(ctx)
	check(err)
	set.Collect(ctx, func(s telemetry.Sample) {
		if s.Metric == "idmint.generator.ids" {
			fmt.Println(s.Metric, s.Labels, s.Value)
		}
	})
	// Output: idmint.generator.ids [orders sequence] 1
}
