package otelid_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric/noop"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/semconv/v1.43.0/dbconv"
	"go.uber.org/goleak"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
	"github.com/idmint/idmint/telemetry"
	"github.com/idmint/idmint/telemetry/otelid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ctx = context.Background()

// A source says of itself what a test wants.
type source[S telemetry.Stats] struct{ stats S }

func (s source[S]) Stats() S { return s.stats }

// publish publishes a set of a source of each kind, and a log with a launch.
func publish(t *testing.T) (*otelid.Metrics, *sdk.ManualReader) {
	t.Helper()
	reader := sdk.NewManualReader()
	provider := sdk.NewMeterProvider(sdk.WithReader(reader))
	log, err := launchlog.New(memory.New(nil), nil)
	check(t, err)
	_, err = log.Start(ctx, launchlog.Request{
		Key: "a", Service: "shop", Environment: "production", Initiator: "ann",
	})
	check(t, err)
	set := new(telemetry.Set)
	metrics, err := otelid.New(provider, "sqlite", set)
	check(t, err)
	t.Cleanup(func() { check(t, provider.Shutdown(ctx)) })
	check(t, set.Watch(log, &telemetry.WatchOptions{
		Readings: doctor.NewWatch(log, &doctor.WatchOptions{Timeout: time.Hour}),
	}))
	soon := time.Now().Add(time.Minute)
	check(t, telemetry.Add(set, "users", source[generator.DecimalStats]{
		generator.DecimalStats{Taken: 3},
	}))
	check(t, telemetry.Add(set, "clicks", source[generator.Stats]{
		generator.Stats{Scheme: "sno", Issued: 7, PoolUsed: 0.25, Until: soon},
	}))
	check(t, telemetry.Add(set, "clicks number", source[claims.Stats]{
		claims.Stats{Scheme: "sno", Taken: 1},
	}))
	return metrics, reader
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// collect returns the metrics by their names.
func collect(t *testing.T, reader sdk.Reader) map[string]metricdata.Metrics {
	t.Helper()
	var data metricdata.ResourceMetrics
	check(t, reader.Collect(ctx, &data))
	found := map[string]metricdata.Metrics{}
	for _, scope := range data.ScopeMetrics {
		if scope.Scope.Name != otelid.Name {
			t.Errorf("the scope is %q", scope.Scope.Name)
		}
		for _, m := range scope.Metrics {
			found[m.Name] = m
		}
	}
	return found
}

// valueOf is that of a point with attributes, -1 where there is none.
func valueOf[N int64 | float64](points []metricdata.DataPoint[N], labels string) N {
	for _, p := range points {
		if text(p.Attributes) == labels {
			return p.Value
		}
	}
	return -1
}

// text are attributes as "key=value key=value".
func text(set attribute.Set) string {
	var list []string
	for _, a := range set.ToSlice() {
		list = append(list, string(a.Key)+"="+a.Value.String())
	}
	return strings.Join(list, " ")
}

// TestMetrics are those of telemetry, with their kinds, units and values.
func TestMetrics(t *testing.T) {
	_, reader := publish(t)
	got := collect(t, reader)
	for _, m := range telemetry.Metrics() {
		found, ok := got[m.Name]
		if !ok || found.Unit != m.Unit || found.Description != m.Help {
			t.Errorf("%s is %+v, want unit %s and %q", m.Name, found, m.Unit, m.Help)
			continue
		}
		sum, isSum := found.Data.(metricdata.Sum[int64])
		if isSum != (m.Kind != telemetry.Gauge) || isSum &&
			sum.IsMonotonic != (m.Kind == telemetry.Counter) {
			t.Errorf("%s of kind %s is %T, %t", m.Name, m.Kind, found.Data, sum.IsMonotonic)
		}
	}
	const users = "idmint.generator.name=users idmint.scheme=decimal"
	const clicks = "idmint.generator.name=clicks idmint.scheme=sno"
	for _, want := range []struct {
		name, labels string
		value        float64
	}{
		{"idmint.generator.ids", users, 3},
		{"idmint.generator.ids", clicks, 7},
		{"idmint.generator.utilization", clicks, 0.25},
		{"idmint.generator.waiting", clicks, 0},
		{
			"idmint.claim.events",
			"idmint.claim.event=taken idmint.generator.name=clicks number idmint.scheme=sno", 1,
		},
		{"idmint.numbers.used", "idmint.namespace=default idmint.numbers.kind=launches", 1},
		{
			"idmint.numbers.used",
			"idmint.namespace=default idmint.numbers.kind=claims idmint.scheme=sno", 0,
		},
		{"idmint.launches.running", "idmint.namespace=default", 1},
	} {
		v := -2.0
		switch data := got[want.name].Data.(type) {
		case metricdata.Sum[int64]:
			v = float64(valueOf(data.DataPoints, want.labels))
		case metricdata.Gauge[float64]:
			v = valueOf(data.DataPoints, want.labels)
		}
		if v != want.value {
			t.Errorf("%s of %s is %v, want %v", want.name, want.labels, v, want.value)
		}
	}
	if len(got) != len(telemetry.Metrics()) {
		t.Errorf("%d metrics, want those of telemetry: no step was taken", len(got))
	}
}

// TestDuration has the name, unit, attributes and buckets of the semantic conventions.
func TestDuration(t *testing.T) {
	metrics, reader := publish(t)
	metrics.Step(ctx, launchlog.Step{Op: "claim", Duration: time.Second})
	metrics.Step(ctx, launchlog.Step{Op: "show", Err: launchlog.ErrNotFound})
	m := collect(t, reader)[dbconv.ClientOperationDuration{}.Name()]
	if m.Unit != (dbconv.ClientOperationDuration{}).Unit() ||
		m.Description != (dbconv.ClientOperationDuration{}).Description() {
		t.Errorf("%+v", m)
	}
	data, ok := m.Data.(metricdata.Histogram[float64])
	if !ok {
		t.Fatalf("it is %T", m.Data)
	}
	sums := map[string]float64{}
	for _, point := range data.DataPoints {
		sums[text(point.Attributes)] = point.Sum
		bounds := []float64{0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10}
		if !slices.Equal(point.Bounds, bounds) || point.Count != 1 {
			t.Errorf("%+v", point)
		}
	}
	claim := attribute.NewSet(semconv.DBSystemNameSQLite, semconv.DBOperationName("claim"))
	show := attribute.NewSet(semconv.DBSystemNameSQLite, semconv.DBOperationName("show"),
		semconv.ErrorTypeKey.String("not_found"))
	if _, ok := sums[text(show)]; !ok || sums[text(claim)] != 1 || len(sums) != 2 {
		t.Errorf("sums are %v", sums)
	}
}

// TestResource has the names of the semantic conventions.
func TestResource(t *testing.T) {
	launch := launchlog.Launch{ID: 1}
	launch.Service, launch.Environment, launch.Version = "shop", "production", "1.2.3"
	got := resource.NewSchemaless(otelid.Resource(launch)...)
	want := resource.NewSchemaless(
		semconv.DeploymentID("1"), semconv.DeploymentEnvironmentNameProduction,
		semconv.ServiceName("shop"), semconv.ServiceVersion("1.2.3"),
	)
	if !got.Equal(want) {
		t.Errorf("resource is %v, want %v", got, want)
	}
	launch.Version = ""
	if n := len(otelid.Resource(launch)); n != 3 {
		t.Errorf("%d attributes without a version", n)
	}
}

// TestClose ends the collecting, and may be called again.
func TestClose(t *testing.T) {
	metrics, reader := publish(t)
	if n := len(collect(t, reader)); n < 2 {
		t.Errorf("%d metrics before", n)
	}
	for range 2 {
		check(t, metrics.Close())
	}
	if got := collect(t, reader); len(got) != 0 {
		t.Errorf("%v is collected", got)
	}
}

// TestNewRefuses what it cannot publish.
func TestNewRefuses(t *testing.T) {
	none, set := noop.NewMeterProvider(), new(telemetry.Set)
	for option, try := range map[string]func() (*otelid.Metrics, error){
		"provider": func() (*otelid.Metrics, error) { return otelid.New(nil, "sqlite", set) },
		"system":   func() (*otelid.Metrics, error) { return otelid.New(none, "", set) },
		"set":      func() (*otelid.Metrics, error) { return otelid.New(none, "x", nil) },
	} {
		_, err := try()
		if e, ok := err.(*otelid.OptionError); !ok || e.Option != option ||
			!strings.HasPrefix(err.Error(), "otelid: "+option) {
			t.Errorf("%s: %v", option, err)
		}
	}
	if _, err := otelid.New(none, "sqlite", set); err != nil {
		t.Errorf("a provider that does nothing: %v", err)
	}
}
