package otelid_test

import (
	"context"
	"fmt"
	"log"

	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
	"github.com/idmint/idmint/telemetry"
	"github.com/idmint/idmint/telemetry/otelid"
)

// An app publishes its generator and its launch log. The reader stands for an exporter.
func Example() {
	ctx := context.Background()
	check := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	store := memory.New(nil) // in production that of a database
	deployment, err := launchlog.New(store, nil)
	check(err)
	launch, err := deployment.Start(ctx, launchlog.Request{
		Key: "deploy-4711", Service: "shop", Environment: "production", Initiator: "ann",
	})
	check(err)

	reader := sdk.NewManualReader()
	provider := sdk.NewMeterProvider(
		sdk.WithReader(reader),
		sdk.WithResource(resource.NewSchemaless(otelid.Resource(launch)...)),
	)
	defer provider.Shutdown(ctx)

	set := new(telemetry.Set)
	metrics, err := otelid.New(provider, "postgresql", set)
	check(err)
	defer metrics.Close()
	launches, err := launchlog.New(store, &launchlog.Options{Observe: metrics.Step})
	check(err)
	check(set.Watch(launches, nil))
	orders, err := generator.NewDecimal(launches.Generators(launch.ID))
	check(err)
	check(orders.Ready(ctx))
	defer orders.Close(ctx)
	check(telemetry.Add(set, "orders", orders))

	_, err = orders.Next(ctx)
	check(err)
	var data metricdata.ResourceMetrics
	check(reader.Collect(ctx, &data))
	fmt.Println(data.Resource)
	for _, m := range data.ScopeMetrics[0].Metrics {
		if sum, ok := m.Data.(metricdata.Sum[int64]); ok && m.Name == "idmint.generator.ids" {
			fmt.Println(m.Name, sum.DataPoints[0].Value, m.Unit)
		}
	}
	// Output:
	// deployment.environment.name=production,deployment.id=1,service.name=shop
	// idmint.generator.ids 1 {id}
}
