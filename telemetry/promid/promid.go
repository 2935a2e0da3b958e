// Package promid publishes the metrics of a [telemetry.Set] with a Prometheus collector, and how
// long the steps of launch logs take.
//
//	set := new(telemetry.Set)
//	metrics := promid.New(set)
//	err := prometheus.Register(metrics)
//	log, err := launchlog.New(store, &launchlog.Options{Observe: metrics.Step})
//	err = set.Watch(log, nil)
//	ids, err := generator.NewDecimal(log.Generators(launch))
//	err = telemetry.Add(set, "orders", ids)
//
// [telemetry.Metrics] lists the metrics by their names in OpenTelemetry. [Name] and [Label] convert
// the names: idmint.generator.ids becomes idmint_generator_ids_total, and the attribute
// idmint.generator.name becomes the label generator_name. In addition, promid publishes the
// histogram idmint_log_step_duration_seconds, with the labels op, such as "claim", and error_type,
// which is empty if the step succeeded.
//
// The table of telemetry/metrics.md lists both names, and alerts.yml in this directory defines
// alerts.
package promid

import (
	"context"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/telemetry"
)

// Collector publishes a set. It is a [prometheus.Collector], safe for use by many goroutines.
type Collector struct {
	set       *telemetry.Set
	published map[string]published // by metric name; immutable
	steps     *prometheus.HistogramVec
}

// A published is a metric in terms of Prometheus.
type published struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
}

var _ prometheus.Collector = (*Collector)(nil)

// New returns a collector for a set, which may be filled later. For a nil set, the collector only
// publishes the histogram of steps.
func New(set *telemetry.Set) *Collector {
	if set == nil {
		set = new(telemetry.Set)
	}
	c := &Collector{
		set: set, published: map[string]published{},
		steps: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "idmint_log_step_duration_seconds",
			Help:    "Duration of attempts of the launch log's steps.",
			Buckets: []float64{0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10},
		}, []string{"op", "error_type"}),
	}
	for _, m := range telemetry.Metrics() {
		labels := make([]string, 0, len(m.Labels))
		for _, label := range m.Labels {
			labels = append(labels, Label(label))
		}
		kind := prometheus.GaugeValue
		if m.Kind == telemetry.Counter {
			kind = prometheus.CounterValue
		}
		c.published[m.Name] = published{prometheus.NewDesc(Name(m), m.Help, labels, nil), kind}
	}
	return c
}

// Name returns a metric's name in Prometheus, which ends with its unit, or with _total for a
// counter.
func Name(m telemetry.Metric) string {
	name := strings.ReplaceAll(m.Name, ".", "_")
	switch {
	case m.Kind == telemetry.Counter:
		name += "_total"
	case m.Unit == "s":
		name += "_seconds"
	case m.Unit == "1":
		name += "_ratio"
	}
	return name
}

// Label returns an attribute's name in Prometheus, without "idmint.".
func Label(attribute string) string {
	return strings.ReplaceAll(strings.TrimPrefix(attribute, "idmint."), ".", "_")
}

// Describe implements [prometheus.Collector].
func (c *Collector) Describe(to chan<- *prometheus.Desc) {
	for _, p := range c.published {
		to <- p.desc
	}
	c.steps.Describe(to)
}

// Collect implements [prometheus.Collector]. It may wait for a watched launch log: see
// telemetry.WatchOptions.
func (c *Collector) Collect(to chan<- prometheus.Metric) {
	c.set.Collect(context.Background(), func(s telemetry.Sample) {
		p := c.published[s.Metric]
		metric, err := prometheus.NewConstMetric(p.desc, p.kind, s.Value, s.Labels...)
		if err != nil { // reported to the scraper
			metric = prometheus.NewInvalidMetric(p.desc, err)
		}
		to <- metric
	})
	c.steps.Collect(to)
}

// Step is for launchlog.Options.Observe. It records the duration of an attempt.
func (c *Collector) Step(_ context.Context, s launchlog.Step) {
	c.steps.WithLabelValues(s.Op, telemetry.ErrorType(s.Err)).Observe(s.Duration.Seconds())
}
