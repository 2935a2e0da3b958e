package telemetry_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/telemetry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ctx = context.Background()

// A source says of itself what a test wants.
type source[S telemetry.Stats] struct{ stats S }

func (s *source[S]) Stats() S { return s.stats }

func add[S telemetry.Stats](t *testing.T, set *telemetry.Set, name string, stats S) {
	t.Helper()
	if err := telemetry.Add(set, name, &source[S]{stats}); err != nil {
		t.Fatal(err)
	}
}

// collect are the values by metric and labels: "idmint.generator.ids users decimal".
func collect(t *testing.T, set *telemetry.Set) map[string]float64 {
	t.Helper()
	metrics := map[string]telemetry.Metric{}
	for _, m := range telemetry.Metrics() {
		metrics[m.Name] = m
	}
	got := map[string]float64{}
	set.Collect(ctx, func(s telemetry.Sample) {
		if m, ok := metrics[s.Metric]; !ok || len(m.Labels) != len(s.Labels) {
			t.Errorf("%+v: the metric is %+v", s, m)
		}
		name := s.Metric + " " + strings.Join(s.Labels, " ")
		if _, twice := got[name]; twice {
			t.Errorf("%s is told twice", name)
		}
		got[name] = s.Value
	})
	return got
}

func wantValues(t *testing.T, when string, got, want map[string]float64) {
	t.Helper()
	for name, value := range want {
		if v, ok := got[name]; !ok || v != value {
			t.Errorf("%s: %s is %v (told: %t), want %v", when, name, v, ok, value)
		}
	}
}

// TestCollect tells all that a source of each kind says of itself, and what a log holds.
func TestCollect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, _, log := watch(t, nil)
		for range 2 {
			if _, err := log.Claim(ctx, 1); err != nil {
				t.Fatal(err)
			}
		}
		now := time.Now()
		after := func(seconds int) time.Time { return now.Add(time.Duration(seconds) * time.Second) }
		add(t, set, "users", generator.DecimalStats{
			Taken: 3, Generators: []int{7}, Counter: 461_168_601,
			Unheard: 2,
		})
		add(t, set, "orders", generator.SequenceStats{Taken: 5, Blocks: 1, BlockUsed: 0.25})
		add(t, set, "clicks", generator.Stats{
			Scheme: "sno", Issued: 7, Waits: 1, Waiting: 2, Over: 8 * time.Millisecond, Regressions: 3, Windows: 4,
			Time: after(5), PoolUsed: 0.5, Now: now, Until: after(60), NotBefore: after(20),
		})
		add(t, set, "sessions", generator.Stats{Scheme: "short", Now: now, Time: after(-1)})
		add(t, set, "clicks number", claims.Stats{
			Scheme: "sno", Until: after(90), Raised: 6, Taken: 5, Lost: 4, Freed: 3, Doubts: 2,
			Failed: 1, Away: after(-30),
		})
		got := collect(t, set)
		wantValues(t, "all", got, map[string]float64{
			"idmint.generator.ids users decimal":                  3,
			"idmint.generator.refills users decimal":              1,
			"idmint.generator.utilization users decimal":          0.5,
			"idmint.generator.order.failures users decimal":       2,
			"idmint.generator.ids orders sequence":                5,
			"idmint.generator.refills orders sequence":            1,
			"idmint.generator.utilization orders sequence":        0.25,
			"idmint.generator.ids clicks sno":                     7,
			"idmint.generator.refills clicks sno":                 4,
			"idmint.generator.utilization clicks sno":             0.5,
			"idmint.generator.waits clicks sno":                   1,
			"idmint.generator.waiting clicks sno":                 2,
			"idmint.generator.over clicks sno":                    0.008,
			"idmint.generator.clock.regressions clicks sno":       3,
			"idmint.generator.clock.behind clicks sno":            5,
			"idmint.generator.window.remaining clicks sno":        60,
			"idmint.generator.window.wait clicks sno":             20,
			"idmint.generator.clock.behind sessions short":        0,
			"idmint.generator.window.wait sessions short":         0,
			"idmint.claim.events clicks number sno raised":        6,
			"idmint.claim.events clicks number sno taken":         5,
			"idmint.claim.events clicks number sno lost":          4,
			"idmint.claim.events clicks number sno freed":         3,
			"idmint.claim.events clicks number sno doubt":         2,
			"idmint.claim.events clicks number sno failed":        1,
			"idmint.claim.remaining clicks number sno":            90,
			"idmint.claim.away clicks number sno":                 30,
			"idmint.numbers.used default launches ":               1,
			"idmint.numbers.used default generators ":             2,
			"idmint.numbers.utilization default generators ":      2e-5,
			"idmint.numbers.used default claims sno":              0,
			"idmint.numbers.utilization default claims eightbyte": 0,
			"idmint.launches.running default":                     1,
			"idmint.usage.age default":                            0,
			"idmint.usage.failures default":                       0,
		})
		if v, told := got["idmint.generator.window.remaining sessions short"]; told {
			t.Errorf("there is no window, and it lasts %v s", v)
		}
		told := map[string]bool{}
		for name := range got {
			metric, _, _ := strings.Cut(name, " ")
			told[metric] = true
		}
		var all []string
		for _, m := range telemetry.Metrics() {
			all = append(all, m.Name)
		}
		slices.Sort(all)
		if names := slices.Sorted(maps.Keys(told)); !slices.Equal(names, all) {
			t.Errorf("told are %q, listed %q", names, all)
		}
	})
}

// TestAddRefuses what cannot be told of, and says what it was given. What was removed is not told
// of, and its name is free.
func TestAddRefuses(t *testing.T) {
	set, _, log := watch(t, nil)
	add(t, set, "users", generator.DecimalStats{})
	of := &source[claims.Stats]{}
	long := strings.Repeat("x", 64)
	for text, err := range map[string]error{
		`telemetry: name "" must be a UTF-8 text of 1 to 63 bytes`:             telemetry.Add(set, "", of),
		`telemetry: name "` + long + `" must be a UTF-8 text of 1 to 63 bytes`: telemetry.Add(set, long, of),
		`telemetry: name "\xff" must be a UTF-8 text of 1 to 63 bytes`:         telemetry.Add(set, "\xff", of),
		`telemetry: name "users" is already in use`:                            telemetry.Add(set, "users", of),
		`telemetry: source of metrics "n" must not be nil`: telemetry.Add(set, "n",
			(*generator.Sno)(nil)),
		`telemetry: namespace "default" is already watched`:                   set.Watch(log, nil),
		`telemetry: log "nil" must not be nil: create one with launchlog.New`: set.Watch((*launchlog.Log)(nil), nil),
	} {
		var input *telemetry.InputError
		if !errors.As(err, &input) || err.Error() != text {
			t.Errorf("%v, want %s", err, text)
		}
	}
	if !set.Remove("users") || set.Remove("users") {
		t.Error("users are not removed once")
	}
	for name := range collect(t, set) {
		if strings.Contains(name, "users") {
			t.Errorf("%s is told", name)
		}
	}
	add(t, set, "users", claims.Stats{})
}

// TestMetrics have names, units and help that OpenTelemetry and Prometheus take.
func TestMetrics(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range telemetry.Metrics() {
		if !strings.HasPrefix(m.Name, "idmint.") || seen[m.Name] || !strings.HasSuffix(m.Help, ".") ||
			m.Unit != "s" && m.Unit != "1" && !strings.HasPrefix(m.Unit, "{") ||
			m.Unit == "1" && !strings.HasSuffix(m.Name, ".utilization") {
			t.Errorf("%+v", m)
		}
		seen[m.Name] = true
		m.Labels[0] = fmt.Sprint("changed by a caller: ", m.Labels[0])
	}
	for _, m := range telemetry.Metrics() {
		if strings.HasPrefix(m.Labels[0], "changed") {
			t.Errorf("%+v: a caller changes the list", m)
		}
	}
}
