// Package promid publishes the metrics of a [telemetry.Set] by a Prometheus collector, and how long
// the steps of launch logs take.
//
//	set := new(telemetry.Set)
//	metrics := promid.New(set)
//	err := prometheus.Register(metrics)
//	log, err := launchlog.New(store, &launchlog.Options{Observe: metrics.Step})
//	err = set.Watch(log, nil)
//	ids, err := generator.NewDecimal(log.Generators(launch))
//	err = telemetry.Add(set, "orders", ids)
//
// [telemetry.Metrics] lists the metrics by OpenTelemetry's names. [Name] and [Label] say what
// becomes of those: idmint.generator.ids is idmint_generator_ids_total here, and
// idmint.generator.name is the label generator_name. Beside them is the histogram
// idmint_log_step_duration_seconds. Its labels are op, as "claim", and error_type, which is empty
// where the step succeeded.
//
// telemetry/metrics.md has a table, and alerts.yml beside this file has alerts.
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
	published map[string]published // by the names of metrics; immutable
	steps     *prometheus.HistogramVec
}

// A published is what Prometheus knows of a metric.
type published struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
}

var _ prometheus.Collector = (*Collector)(nil)

// New makes a collector of a set, which may be filled later. A nil set has no metrics, and only
// the histogram of steps is published.
func New(set *telemetry.Set) *Collector {
	if set == nil {
		set = new(telemetry.Set)
	}
	c := &Collector{
		set: set, published: map[string]published{},
		steps: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "idmint_log_step_duration_seconds",
			Help:    "How long attempts of the launch log's steps took.",
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

// Name is a metric's name in Prometheus: with its unit, and _total for a counter.
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

// Label is an attribute's name in Prometheus: without "idmint.".
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

// Collect implements [prometheus.Collector]. It waits for a launch log that is watched as long as
// telemetry.WatchOptions say.
func (c *Collector) Collect(to chan<- prometheus.Metric) {
	c.set.Collect(context.Background(), func(s telemetry.Sample) {
		p := c.published[s.Metric]
		metric, err := prometheus.NewConstMetric(p.desc, p.kind, s.Value, s.Labels...)
		if err != nil { // told to who scrapes
			metric = prometheus.NewInvalidMetric(p.desc, err)
		}
		to <- metric
	})
	c.steps.Collect(to)
}

// Step is for launchlog.Options.Observe. It records how long an attempt took.
func (c *Collector) Step(_ context.Context, s launchlog.Step) {
	c.steps.WithLabelValues(s.Op, telemetry.ErrorType(s.Err)).Observe(s.Duration.Seconds())
}
