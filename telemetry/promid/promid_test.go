package promid_test

import (
	"context"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"
	"go.yaml.in/yaml/v2"

	"github.com/idmint/idmint/internal/telemetrysuite"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/telemetry"
	"github.com/idmint/idmint/telemetry/promid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ctx = context.Background()

// publish makes a scene whose log a collector observes, in a registry that checks what it gathers.
func publish(t *testing.T) (
	*telemetrysuite.Scene, *promid.Collector, *prometheus.Registry,
) {
	t.Helper()
	var collector *promid.Collector
	scene := telemetrysuite.New(t, &launchlog.Options{
		Observe: func(ctx context.Context, s launchlog.Step) {
			if collector != nil {
				collector.Step(ctx, s)
			}
		},
	})
	collector = promid.New(scene.Set)
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(collector); err != nil {
		t.Fatal(err)
	}
	return scene, collector, registry
}

// TestMetrics are those of telemetry, with values.
func TestMetrics(t *testing.T) {
	s, _, registry := publish(t)
	s.Mint(t)
	if err := testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP idmint_generator_ids_total IDs that were minted, and those reserved by owned generators.
# TYPE idmint_generator_ids_total counter
idmint_generator_ids_total{generator_name="clicks",scheme="sno"} 7
idmint_generator_ids_total{generator_name="orders",scheme="sequence"} 5
idmint_generator_ids_total{generator_name="sessions",scheme="short"} 11
idmint_generator_ids_total{generator_name="users",scheme="decimal"} 3
# HELP idmint_generator_waiting Calls that wait for the clock now.
# TYPE idmint_generator_waiting gauge
idmint_generator_waiting{generator_name="clicks",scheme="sno"} 0
idmint_generator_waiting{generator_name="sessions",scheme="short"} 0
# HELP idmint_claim_events_total What happened to lent numbers: raised, taken, lost, freed, doubt or failed.
# TYPE idmint_claim_events_total counter
idmint_claim_events_total{claim_event="doubt",generator_name="clicks number",scheme="sno"} 0
idmint_claim_events_total{claim_event="failed",generator_name="clicks number",scheme="sno"} 0
idmint_claim_events_total{claim_event="freed",generator_name="clicks number",scheme="sno"} 0
idmint_claim_events_total{claim_event="lost",generator_name="clicks number",scheme="sno"} 0
idmint_claim_events_total{claim_event="raised",generator_name="clicks number",scheme="sno"} 1
idmint_claim_events_total{claim_event="taken",generator_name="clicks number",scheme="sno"} 1
# HELP idmint_launches_running Launches that have not ended.
# TYPE idmint_launches_running gauge
idmint_launches_running{namespace="default"} 1
# HELP idmint_usage_failures_total Readings of how many numbers are used that failed or took too long.
# TYPE idmint_usage_failures_total counter
idmint_usage_failures_total{namespace="default"} 0
`),
		"idmint_generator_ids_total", "idmint_generator_waiting", "idmint_claim_events_total",
		"idmint_launches_running", "idmint_usage_failures_total",
	); err != nil {
		t.Error(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
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
}

// TestLint: Prometheus has nothing to say about names, units and help.
func TestLint(t *testing.T) {
	s, collector, _ := publish(t)
	s.Mint(t)
	problems, err := testutil.CollectAndLint(collector)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// TestSteps are counted by operation and kind of failure.
func TestSteps(t *testing.T) {
	s, _, registry := publish(t)
	if _, err := s.Log.Claim(ctx, s.Launch.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Log.Show(ctx, 77); !errors.Is(err, launchlog.ErrNotFound) {
		t.Fatal(err)
	}
	var unresolved *launchlog.UnresolvedError
	if _, err := s.Cut.Claim(ctx, s.Launch.ID); !errors.As(err, &unresolved) {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]uint64{}
	for _, f := range families {
		if f.GetName() != "idmint_log_step_duration_seconds" {
			continue
		}
		for _, m := range f.GetMetric() {
			name := ""
			for _, label := range m.GetLabel() { // in the order of their names
				name += label.GetValue() + " "
			}
			counts[name] = m.GetHistogram().GetSampleCount()
			if n := len(m.GetHistogram().GetBucket()); n != 9 {
				t.Errorf("%d buckets", n)
			}
		}
	}
	if lost := counts["answer_lost claim "] + counts["unavailable claim "]; counts[" claim "] != 1 ||
		counts["not_found show "] != 1 || lost != uint64(unresolved.Attempts) {
		t.Errorf("counts are %v, want one claim, one show, %d failures", counts,
			unresolved.Attempts)
	}
}

// TestWrapped: a registerer that adds the launch takes the collector.
func TestWrapped(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	wrapped := prometheus.WrapRegistererWith(prometheus.Labels{"launch": "4711"}, registry)
	c := promid.New(nil)
	if err := wrapped.Register(c); err != nil {
		t.Fatal(err)
	}
	c.Step(ctx, launchlog.Step{Op: "claim"})
	families, err := registry.Gather()
	if err != nil || len(families) != 1 ||
		!strings.Contains(families[0].String(), `name:"launch"`) {
		t.Errorf("gathered %v, %v", families, err)
	}
}

// TestNoSet: the steps alone are published.
func TestNoSet(t *testing.T) {
	c := promid.New(nil)
	c.Step(ctx, launchlog.Step{Op: "claim"})
	if n := testutil.CollectAndCount(c); n != 1 {
		t.Errorf("%d metrics", n)
	}
}

// alerts are a file of Prometheus' rules.
type alerts struct {
	Groups []struct {
		Name  string
		Rules []struct {
			Alert, Expr, For    string
			Labels, Annotations map[string]string
		}
	}
}

// TestAlerts: alerts.yml is read strictly, and asks for metrics, labels and kinds that there are.
func TestAlerts(t *testing.T) {
	file, err := os.ReadFile("alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	var rules alerts
	if err := yaml.UnmarshalStrict(file, &rules); err != nil {
		t.Fatal(err)
	}
	labels := map[string][]string{
		"idmint_log_step_duration_seconds_count": {"op", "error_type"},
	}
	for _, m := range telemetry.Metrics() {
		labels[promid.Name(m)] = nil
		for _, label := range m.Labels {
			labels[promid.Name(m)] = append(labels[promid.Name(m)], promid.Label(label))
		}
	}
	selector := regexp.MustCompile(`(idmint_\w+)(?:\{(\w+)[=!]~?"([^"]*)"\})?`)
	seen := 0
	for _, group := range rules.Groups {
		for _, rule := range group.Rules {
			seen++
			found := selector.FindAllStringSubmatch(rule.Expr, -1)
			if rule.Alert == "" || len(found) == 0 || rule.Annotations["summary"] == "" ||
				rule.Labels["severity"] == "" {
				t.Errorf("rule %+v", rule)
			}
			if _, err := time.ParseDuration(rule.For); rule.For != "" && err != nil {
				t.Errorf("%s: for: %v", rule.Alert, err)
			}
			for _, m := range found {
				of, known := labels[m[1]]
				if !known {
					t.Errorf("%s: there is no metric %s", rule.Alert, m[1])
				}
				if m[2] != "" && !strings.Contains(strings.Join(of, " "), m[2]) {
					t.Errorf("%s: %s has no label %s, but %s", rule.Alert, m[1], m[2], of)
				}
				if strings.HasSuffix(m[1], "_total") != strings.Contains(rule.Expr, "rate(") &&
					strings.HasSuffix(m[1], "_total") != strings.Contains(rule.Expr, "increase(") {
					t.Errorf("%s: rates are of counters: %s", rule.Alert, rule.Expr)
				}
			}
			if strings.Count(rule.Expr, "(") != strings.Count(rule.Expr, ")") {
				t.Errorf("%s: brackets of %s", rule.Alert, rule.Expr)
			}
		}
	}
	if seen < 8 {
		t.Errorf("%d rules", seen)
	}
}
