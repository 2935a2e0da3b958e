// Package otelid publishes the metrics of a [telemetry.Set] with an OpenTelemetry meter, and how
// long the steps of launch logs take. It only uses OpenTelemetry's API, so the app chooses the SDK.
//
//	set := new(telemetry.Set)
//	metrics, err := otelid.New(otel.GetMeterProvider(), "postgresql", set)
//	defer metrics.Close()
//	log, err := launchlog.New(store, &launchlog.Options{Observe: metrics.Step})
//	err = set.Watch(log, nil)
//	ids, err := generator.NewDecimal(log.Generators(launch))
//	err = telemetry.Add(set, "orders", ids)
//
// [telemetry.Metrics] lists the metrics. All of them are asynchronous: they are read when the SDK
// collects. In addition, otelid publishes db.client.operation.duration, a histogram of
// OpenTelemetry's semantic conventions. Each of its points is one attempt of a step of the launch
// log:
//
//	db.system.name      the database, as passed to New
//	db.operation.name   launchlog.Step.Op, such as "claim"
//	error.type          telemetry.ErrorType, absent if the step succeeded
//
// [Resource] describes the launch of an app.
package otelid

import (
	"context"
	"fmt"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/telemetry"
)

// Name is the name of the meter, which is the instrumentation scope.
const Name = "github.com/idmint/idmint/telemetry/otelid"

// Metrics publishes a set. It is safe for use by many goroutines.
type Metrics struct {
	set      *telemetry.Set
	system   attribute.KeyValue
	duration metric.Float64Histogram

	observers    map[string]observer // by metric name; immutable
	registration metric.Registration
	close        func() error // runs once
}

// An observer is an instrument and the labels of its metric.
type observer struct {
	labels  []attribute.Key
	observe func(to metric.Observer, value float64, attributes metric.MeasurementOption)
}

// New creates the instruments of a provider, and registers them until Close. System is the database
// of the launch log, as OpenTelemetry names it: "postgresql", "mysql", "mariadb", "sqlite",
// "cassandra", or other names such as "etcd" or "zookeeper". The set may be filled later. Create
// only one Metrics per set, because a second one would publish the same values again. The error is
// an [*OptionError], or an error of the provider.
func New(
	provider metric.MeterProvider, system string, set *telemetry.Set,
) (*Metrics, error) {
	switch {
	case provider == nil:
		return nil, &OptionError{"provider", "nil", "must not be nil"}
	case system == "":
		return nil, &OptionError{"system", system, `must name a database, such as "postgresql"`}
	case set == nil:
		return nil, &OptionError{"set", "nil", "must not be nil"}
	}
	meter := provider.Meter(Name)
	m := &Metrics{
		set: set, system: attribute.String("db.system.name", system),
		observers: map[string]observer{},
	}
	duration, err := meter.Float64Histogram(
		"db.client.operation.duration", metric.WithUnit("s"),
		metric.WithDescription("Duration of database client operations."),
		metric.WithExplicitBucketBoundaries(0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10),
	)
	if err != nil {
		return nil, fmt.Errorf("otelid: %w", err)
	}
	m.duration = duration
	var instruments []metric.Observable
	for _, of := range telemetry.Metrics() {
		instrument, err := m.instrument(meter, of)
		if err != nil {
			return nil, fmt.Errorf("otelid: %w", err)
		}
		instruments = append(instruments, instrument)
	}
	m.registration, err = meter.RegisterCallback(m.collect, instruments...)
	if err != nil {
		return nil, fmt.Errorf("otelid: %w", err)
	}
	m.close = sync.OnceValue(m.registration.Unregister)
	return m, nil
}

// instrument creates the instrument of a metric.
func (m *Metrics) instrument(
	meter metric.Meter, of telemetry.Metric,
) (instrument metric.Observable, err error) {
	o := observer{}
	for _, label := range of.Labels {
		o.labels = append(o.labels, attribute.Key(label))
	}
	unit, help := metric.WithUnit(of.Unit), metric.WithDescription(of.Help)
	switch of.Kind {
	case telemetry.Counter:
		var i metric.Int64ObservableCounter
		i, err = meter.Int64ObservableCounter(of.Name, unit, help)
		instrument, o.observe = i, func(
			to metric.Observer, v float64, attributes metric.MeasurementOption,
		) {
			to.ObserveInt64(i, int64(v), attributes)
		}
	case telemetry.Level:
		var i metric.Int64ObservableUpDownCounter
		i, err = meter.Int64ObservableUpDownCounter(of.Name, unit, help)
		instrument, o.observe = i, func(
			to metric.Observer, v float64, attributes metric.MeasurementOption,
		) {
			to.ObserveInt64(i, int64(v), attributes)
		}
	default:
		var i metric.Float64ObservableGauge
		i, err = meter.Float64ObservableGauge(of.Name, unit, help)
		instrument, o.observe = i, func(
			to metric.Observer, v float64, attributes metric.MeasurementOption,
		) {
			to.ObserveFloat64(i, v, attributes)
		}
	}
	m.observers[of.Name] = o
	return instrument, err
}

// collect is called by the SDK when it collects.
func (m *Metrics) collect(ctx context.Context, to metric.Observer) error {
	m.set.Collect(ctx, func(s telemetry.Sample) {
		o := m.observers[s.Metric]
		attributes := make([]attribute.KeyValue, 0, len(o.labels))
		for i, value := range s.Labels {
			if value != "" {
				attributes = append(attributes, o.labels[i].String(value))
			}
		}
		o.observe(to, s.Value, metric.WithAttributes(attributes...))
	})
	return nil
}

// Step is for launchlog.Options.Observe. It records the duration of an attempt.
func (m *Metrics) Step(ctx context.Context, s launchlog.Step) {
	attributes := []attribute.KeyValue{m.system, attribute.String("db.operation.name", s.Op)}
	if kind := telemetry.ErrorType(s.Err); kind != "" {
		attributes = append(attributes, attribute.String("error.type", kind))
	}
	m.duration.Record(ctx, s.Duration.Seconds(), metric.WithAttributes(attributes...))
}

// Close stops publishing. It may be called more than once. The error is the provider's.
func (m *Metrics) Close() error {
	if err := m.close(); err != nil {
		return fmt.Errorf("otelid: %w", err)
	}
	return nil
}

// An OptionError is returned by [New] for an invalid parameter.
type OptionError struct {
	Option string
	Value  string
	Reason string
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("otelid: %s %.80q %s", e.Option, e.Value, e.Reason)
}
