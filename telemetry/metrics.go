package telemetry

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

// Kind says how the values of a metric behave.
type Kind string

// Kinds of metrics.
const (
	Counter Kind = "counter" // only rises, until the process ends
	Level   Kind = "level"   // rises and falls; the sum over processes makes sense
	Gauge   Kind = "gauge"   // rises and falls; a sum makes no sense
)

// A Metric is something that a [Set] measures.
type Metric struct {
	Name string // as in OpenTelemetry
	Kind Kind
	Unit string // as in OpenTelemetry: "s", "1" for a share of 0 to 1, or "{what is counted}"
	Help string
	// Labels are the names of the attributes. A [Sample] has its values in this order.
	Labels []string
}

//go:embed metrics.md
var page string

// metrics are the rows of the table in metrics.md.
var metrics = sync.OnceValue(func() (all []Metric) {
	for line := range strings.Lines(page) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		if len(cells) == 6 && strings.HasPrefix(cells[0], "`") {
			all = append(all, Metric{
				strings.Trim(cells[0], "`"), Kind(cells[2]), cells[3], cells[5],
				strings.Fields(strings.ReplaceAll(cells[4], "`", "")),
			})
		}
	}
	return all
})

// Metrics lists what [Set.Collect] reports. The duration of the launch log's steps is not included,
// because it is a histogram, which otelid and promid compute from launchlog.Options.Observe.
func Metrics() []Metric {
	list := slices.Clone(metrics())
	for i := range list {
		list[i].Labels = slices.Clone(list[i].Labels)
	}
	return list
}

// A Sample is a value of a metric.
type Sample struct {
	Metric string   // its name
	Labels []string // in the order of Metric.Labels; empty means absent
	Value  float64  // exact up to 2^53
}
