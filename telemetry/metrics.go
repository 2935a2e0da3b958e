package telemetry

import "slices"

// Kind is how values of a metric behave.
type Kind string

// The kinds.
const (
	Counter Kind = "counter" // only rises, until the process ends
	Level   Kind = "level"   // rises and falls; the sum over processes makes sense
	Gauge   Kind = "gauge"   // rises and falls; a sum makes no sense
)

// A Metric is something that a [Set] tells of.
type Metric struct {
	Name string // as OpenTelemetry names it
	Kind Kind
	Unit string // as OpenTelemetry writes it: "s", "1" for a share of 0 to 1, or "{what is counted}"
	Help string
	// Labels are the names of the attributes. A [Sample] has the values in this order.
	Labels []string
}

// The names of the attributes.
const (
	generatorLabel = "idmint.generator.name" // that the caller gave, also of a source of claims
	schemeLabel    = "idmint.scheme"         // idtype.Scheme
	eventLabel     = "idmint.claim.event"    // see claims.Stats
	namespaceLabel = "idmint.namespace"      // of the launch log
	numbersLabel   = "idmint.numbers.kind"   // doctor.Numbers
)

var (
	ofGenerator = []string{generatorLabel, schemeLabel}
	ofEvent     = []string{generatorLabel, schemeLabel, eventLabel}
	ofNumbers   = []string{namespaceLabel, numbersLabel, schemeLabel}
	ofLog       = []string{namespaceLabel}
)

// The metrics.
var (
	ids = Metric{
		"idmint.generator.ids", Counter, "{id}",
		"IDs that were minted, and those reserved by owned generators.", ofGenerator,
	}
	refills = Metric{
		"idmint.generator.refills", Counter, "{refill}",
		"Generator numbers, blocks or windows that the generator got.", ofGenerator,
	}
	used = Metric{
		"idmint.generator.utilization", Gauge, "1",
		"Share that is used of the generator number, the block, or the slots of the present time.",
		ofGenerator,
	}
	waits = Metric{
		"idmint.generator.waits", Counter, "{wait}",
		"Times that a call waited for the clock.", ofGenerator,
	}
	waiting = Metric{
		"idmint.generator.waiting", Level, "{call}",
		"Calls that wait for the clock now.", ofGenerator,
	}
	regressions = Metric{
		"idmint.generator.clock.regressions", Counter, "{regression}",
		"Times that the clock was seen to have gone back.", ofGenerator,
	}
	behind = Metric{
		"idmint.generator.clock.behind", Gauge, "s",
		"How far the clock is behind the time that was stamped last.", ofGenerator,
	}
	remaining = Metric{
		"idmint.generator.window.remaining", Gauge, "s",
		"How long the window lasts, whose end is its ceiling: 0 where it is over.", ofGenerator,
	}
	notBefore = Metric{
		"idmint.generator.window.wait", Gauge, "s",
		"How long until there is a window: the ceiling's distance, where it is ahead of the clock.",
		ofGenerator,
	}
	unheard = Metric{
		"idmint.generator.order.failures", Counter, "{look}",
		"Looks at how far other generators have come that were not answered.", ofGenerator,
	}
	claimEvents = Metric{
		"idmint.claim.events", Counter, "{event}",
		"What happened to lent numbers: raised, taken, lost, freed, doubt or failed.", ofEvent,
	}
	claimLeft = Metric{
		"idmint.claim.remaining", Gauge, "s",
		"How long the lent number may be used: 0 without one.", ofGenerator,
	}
	claimAway = Metric{
		"idmint.claim.away", Gauge, "s",
		"How long the launch log has not answered the source of claims: 0 where it answers.",
		ofGenerator,
	}
	numbersUsed = Metric{
		"idmint.numbers.used", Gauge, "{number}",
		"Numbers that are used up or lent. Of launches that run, and of counters, the most used one.",
		ofNumbers,
	}
	numbersPart = Metric{
		"idmint.numbers.utilization", Gauge, "1",
		"The same, as a share of the numbers there are.", ofNumbers,
	}
	launchesRunning = Metric{
		"idmint.launches.running", Gauge, "{launch}",
		"Launches that have not ended.", ofLog,
	}
	usageAge = Metric{
		"idmint.usage.age", Gauge, "s",
		"How long ago the launch log told how many numbers are used, or was watched first.", ofLog,
	}
	usageFailures = Metric{
		"idmint.usage.failures", Counter, "{reading}",
		"Readings of how many numbers are used that failed or took too long.", ofLog,
	}
)

var metrics = []*Metric{
	&ids, &refills, &used, &waits, &waiting, &regressions, &behind, &remaining, &notBefore,
	&unheard, &claimEvents, &claimLeft, &claimAway, &numbersUsed, &numbersPart, &launchesRunning,
	&usageAge, &usageFailures,
}

// Metrics lists what [Set.Collect] tells of. The duration of the launch log's steps is not among
// them: it is a histogram, which otelid and promid make of launchlog.Options.Observe.
func Metrics() []Metric {
	list := make([]Metric, 0, len(metrics))
	for _, m := range metrics {
		copied := *m
		copied.Labels = slices.Clone(m.Labels)
		list = append(list, copied)
	}
	return list
}

// A Sample is a value of a metric.
type Sample struct {
	Metric string   // its name
	Labels []string // values in the order of Metric.Labels; an empty one says nothing
	Value  float64  // exact up to 2^53
}
