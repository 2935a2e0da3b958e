package otelid_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric/noop"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/semconv/v1.43.0/dbconv"
	"go.uber.org/goleak"

	"github.com/idmint/idmint/internal/telemetrysuite"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/telemetry"
	"github.com/idmint/idmint/telemetry/otelid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ctx = context.Background()

// published is a scene with the reader of an SDK, whose log is observed.
type published struct {
	*telemetrysuite.Scene
	metrics *otelid.Metrics
	reader  *sdk.ManualReader
}

func publish(t *testing.T) published {
	t.Helper()
	reader := sdk.NewManualReader()
	provider := sdk.NewMeterProvider(sdk.WithReader(reader))
	t.Cleanup(func() {
		if err := provider.Shutdown(ctx); err != nil {
			t.Error(err)
		}
	})
	var metrics *otelid.Metrics
	scene := telemetrysuite.New(t, &launchlog.Options{
		Observe: func(ctx context.Context, s launchlog.Step) {
			if metrics != nil {
				metrics.Step(ctx, s)
			}
		},
	})
	var err error
	if metrics, err = otelid.New(provider, "sqlite", scene.Set); err != nil {
		t.Fatal(err)
	}
	return published{scene, metrics, reader}
}

// collect returns the metrics by their names.
func (p published) collect(t *testing.T) map[string]metricdata.Metrics {
	t.Helper()
	var data metricdata.ResourceMetrics
	if err := p.reader.Collect(ctx, &data); err != nil {
		t.Fatal(err)
	}
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

// value is that of a point with attributes, as "users decimal".
func value(t *testing.T, m metricdata.Metrics, labels string) float64 {
	t.Helper()
	switch data := m.Data.(type) {
	case metricdata.Sum[int64]:
		return float64(pointOf(t, m.Name, data.DataPoints, labels))
	case metricdata.Gauge[float64]:
		return pointOf(t, m.Name, data.DataPoints, labels)
	}
	t.Errorf("%s is %T", m.Name, m.Data)
	return -1
}

func pointOf[N int64 | float64](
	t *testing.T, name string, points []metricdata.DataPoint[N], labels string,
) N {
	t.Helper()
	for _, p := range points {
		if text(p.Attributes) == labels {
			return p.Value
		}
	}
	t.Errorf("%s has no point of %s: %+v", name, labels, points)
	return 0
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
	p := publish(t)
	p.Mint(t)
	got := p.collect(t)
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
		{"idmint.generator.utilization", users, 3.0 / 922_337_202},
		{"idmint.generator.waiting", clicks, 0},
		{
			"idmint.claim.events",
			"idmint.claim.event=taken idmint.generator.name=clicks number idmint.scheme=sno", 1,
		},
		{"idmint.numbers.used", "idmint.namespace=default idmint.numbers.kind=generators", 1},
		{
			"idmint.numbers.utilization",
			"idmint.namespace=default idmint.numbers.kind=claims idmint.scheme=sno", 1.0 / 65_536,
		},
		{"idmint.launches.running", "idmint.namespace=default", 1},
	} {
		if v := value(t, got[want.name], want.labels); v != want.value {
			t.Errorf("%s of %s is %v, want %v", want.name, want.labels, v, want.value)
		}
	}
	if len(got) != len(telemetry.Metrics())+1 {
		t.Errorf("%d metrics, want those of telemetry and the duration", len(got))
	}
}

// TestDuration has the name, unit, attributes and buckets of the semantic conventions.
func TestDuration(t *testing.T) {
	p := publish(t)
	if _, err := p.Log.Claim(ctx, p.Launch.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Log.Show(ctx, 77); !errors.Is(err, launchlog.ErrNotFound) {
		t.Fatal(err)
	}
	var unresolved *launchlog.UnresolvedError
	if _, err := p.Cut.Claim(ctx, p.Launch.ID); !errors.As(err, &unresolved) {
		t.Fatal(err)
	}

	m := p.collect(t)[dbconv.ClientOperationDuration{}.Name()]
	if m.Unit != (dbconv.ClientOperationDuration{}).Unit() ||
		m.Description != (dbconv.ClientOperationDuration{}).Description() {
		t.Errorf("%+v", m)
	}
	data, ok := m.Data.(metricdata.Histogram[float64])
	if !ok {
		t.Fatalf("it is %T", m.Data)
	}
	counts := map[string]uint64{}
	for _, point := range data.DataPoints {
		counts[text(point.Attributes)] = point.Count
		bounds := []float64{0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10}
		if !slices.Equal(point.Bounds, bounds) || point.Sum < 0 ||
			point.Sum > float64(point.Count) {
			t.Errorf("%+v", point)
		}
	}
	of := func(op, kind string) string {
		attributes := []attribute.KeyValue{semconv.DBSystemNameSQLite, semconv.DBOperationName(op)}
		if kind != "" {
			attributes = append(attributes, semconv.ErrorTypeKey.String(kind))
		}
		return text(attribute.NewSet(attributes...))
	}
	lost := counts[of("claim", "answer_lost")] + counts[of("claim", "unavailable")]
	if counts[of("claim", "")] != 1 || counts[of("show", "not_found")] != 1 ||
		lost != uint64(unresolved.Attempts) {
		t.Errorf("counts are %v, want one claim, one show, %d failures", counts,
			unresolved.Attempts)
	}
}

// TestResource has the names of the semantic conventions.
func TestResource(t *testing.T) {
	s := telemetrysuite.New(t, nil)
	launch, err := s.Log.Show(ctx, s.Launch.ID)
	if err != nil {
		t.Fatal(err)
	}
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
	p := publish(t)
	p.Mint(t)
	if n := len(p.collect(t)); n < 2 {
		t.Errorf("%d metrics before", n)
	}
	for range 2 {
		if err := p.metrics.Close(); err != nil {
			t.Error(err)
		}
	}
	for name := range p.collect(t) {
		if strings.HasPrefix(name, "idmint.") {
			t.Errorf("%s is collected", name)
		}
	}
}

// TestNewRefuses what it cannot publish.
func TestNewRefuses(t *testing.T) {
	set := new(telemetry.Set)
	for option, try := range map[string]func() error{
		"provider": func() error { _, err := otelid.New(nil, "sqlite", set); return err },
		"system":   func() error { _, err := otelid.New(noop.NewMeterProvider(), "", set); return err },
		"set":      func() error { _, err := otelid.New(noop.NewMeterProvider(), "x", nil); return err },
	} {
		var e *otelid.OptionError
		if err := try(); !errors.As(err, &e) || e.Option != option ||
			!strings.HasPrefix(err.Error(), "otelid: "+option) {
			t.Errorf("%s: %v", option, err)
		}
	}
	if _, err := otelid.New(noop.NewMeterProvider(), "sqlite", set); err != nil {
		t.Errorf("a provider that does nothing: %v", err)
	}
}
