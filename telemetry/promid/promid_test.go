package promid_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
	"github.com/idmint/idmint/telemetry"
	"github.com/idmint/idmint/telemetry/promid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ctx = context.Background()

// A source says of itself what a test wants.
type source[S telemetry.Stats] struct{ stats S }

func (s source[S]) Stats() S { return s.stats }

// publish makes a collector of a set with a source of each kind, and of a log.
func publish(t *testing.T) *promid.Collector {
	t.Helper()
	log, err := launchlog.New(memory.New(nil), nil)
	check(t, err)
	set := new(telemetry.Set)
	check(t, set.Watch(log, &telemetry.WatchOptions{
		Readings: doctor.NewWatch(log, &doctor.WatchOptions{Timeout: time.Hour}),
	}))
	soon := time.Now().Add(time.Minute)
	check(t, telemetry.Add(set, "users", source[generator.DecimalStats]{
		generator.DecimalStats{Taken: 3},
	}))
	check(t, telemetry.Add(set, "clicks", source[generator.Stats]{
		generator.Stats{Scheme: "sno", Issued: 7, Until: soon},
	}))
	check(t, telemetry.Add(set, "clicks number", source[claims.Stats]{
		claims.Stats{Scheme: "sno", Taken: 1},
	}))
	return promid.New(set)
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestMetrics are those of telemetry, with values. Prometheus has nothing to say about names, units
// and help.
func TestMetrics(t *testing.T) {
	collector, registry := publish(t), prometheus.NewPedanticRegistry()
	check(t, registry.Register(collector))
	collector.Step(ctx, launchlog.Step{Op: "claim", Duration: time.Second})
	collector.Step(ctx, launchlog.Step{Op: "show", Err: launchlog.ErrNotFound})
	if err := testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP idmint_generator_ids_total IDs minted, and IDs reserved by owned generators.
# TYPE idmint_generator_ids_total counter
idmint_generator_ids_total{generator_name="clicks",scheme="sno"} 7
idmint_generator_ids_total{generator_name="users",scheme="decimal"} 3
# HELP idmint_generator_waiting Calls that are waiting for the clock.
# TYPE idmint_generator_waiting gauge
idmint_generator_waiting{generator_name="clicks",scheme="sno"} 0
# HELP idmint_claim_events_total Events of lent numbers: raised, taken, lost, freed, doubt or failed.
# TYPE idmint_claim_events_total counter
idmint_claim_events_total{claim_event="doubt",generator_name="clicks number",scheme="sno"} 0
idmint_claim_events_total{claim_event="failed",generator_name="clicks number",scheme="sno"} 0
idmint_claim_events_total{claim_event="freed",generator_name="clicks number",scheme="sno"} 0
idmint_claim_events_total{claim_event="lost",generator_name="clicks number",scheme="sno"} 0
idmint_claim_events_total{claim_event="raised",generator_name="clicks number",scheme="sno"} 0
idmint_claim_events_total{claim_event="taken",generator_name="clicks number",scheme="sno"} 1
# HELP idmint_usage_failures_total Readings of how many numbers are used that failed or timed out.
# TYPE idmint_usage_failures_total counter
idmint_usage_failures_total{namespace="default"} 0
# HELP idmint_log_step_duration_seconds Duration of attempts of the launch log's steps.
# TYPE idmint_log_step_duration_seconds histogram
`+histogram(`error_type="",op="claim",`, "1", 6)+
		histogram(`error_type="not_found",op="show",`, "0", 0)),
		"idmint_generator_ids_total", "idmint_generator_waiting", "idmint_claim_events_total",
		"idmint_usage_failures_total", "idmint_log_step_duration_seconds",
	); err != nil {
		t.Error(err)
	}
	families, err := registry.Gather()
	check(t, err)
	told := map[string]bool{}
	for _, f := range families {
		told[f.GetName()] = true
	}
	for _, m := range telemetry.Metrics() {
		if !told[promid.Name(m)] {
			t.Errorf("%s is not told as %s", m.Name, promid.Name(m))
		}
	}
	if len(families) != len(telemetry.Metrics())+1 {
		t.Errorf("%d families, want those of telemetry and the histogram", len(families))
	}
	problems, err := testutil.CollectAndLint(collector)
	check(t, err)
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// histogram are the lines of one step that took so many seconds, from a bucket on.
func histogram(labels, seconds string, from int) string {
	var text strings.Builder
	bounds := strings.Fields("0.001 0.005 0.01 0.05 0.1 0.5 1 5 10 +Inf")
	for i, bound := range bounds {
		n := "1"
		if i < from {
			n = "0"
		}
		text.WriteString("idmint_log_step_duration_seconds_bucket{" + labels + `le="` + bound + `"} ` +
			n + "\n")
	}
	labels = strings.TrimSuffix(labels, ",")
	text.WriteString("idmint_log_step_duration_seconds_sum{" + labels + "} " + seconds + "\n" +
		"idmint_log_step_duration_seconds_count{" + labels + "} 1\n")
	return text.String()
}

// TestWrapped: a registerer that adds the launch takes the collector. Without a set the steps alone
// are published.
func TestWrapped(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	wrapped := prometheus.WrapRegistererWith(prometheus.Labels{"launch": "4711"}, registry)
	c := promid.New(nil)
	check(t, wrapped.Register(c))
	c.Step(ctx, launchlog.Step{Op: "claim"})
	families, err := registry.Gather()
	if err != nil || len(families) != 1 ||
		!strings.Contains(families[0].String(), `name:"launch"`) {
		t.Errorf("gathered %v, %v", families, err)
	}
}
