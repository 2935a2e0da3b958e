package telemetry_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/telemetry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ctx = context.Background()

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

// between is a range of values, both ends included.
type between struct{ from, to float64 }

func exactly(v float64) between { return between{v, v} }

func wantValues(t *testing.T, when string, got map[string]float64, want map[string]between) {
	t.Helper()
	for name, b := range want {
		if v, ok := got[name]; !ok || v < b.from || v > b.to {
			t.Errorf("%s: %s is %v (told: %t), want %v", when, name, v, ok, b)
		}
	}
}

// TestCollect mints with a generator of each kind, and looks at every metric.
func TestCollect(t *testing.T) {
	s := newScene(t, nil)
	before := collect(t, s.set)
	wantValues(t, "before", before, map[string]between{
		"idmint.generator.ids users decimal":           exactly(0),
		"idmint.claim.events clicks number sno taken":  exactly(0),
		"idmint.claim.remaining clicks number sno":     exactly(0),
		"idmint.generator.window.wait sessions short":  exactly(0),
		"idmint.numbers.utilization default launches ": exactly(1.0 / 99_999),
		"idmint.numbers.used default claims eightbyte": exactly(0),
	})
	if v, told := before["idmint.generator.window.remaining sessions short"]; told {
		t.Errorf("there is no window, and it lasts %v s", v)
	}
	s.mint(t)
	got := collect(t, s.set)
	wantValues(t, "after", got, map[string]between{
		"idmint.generator.ids users decimal":               exactly(3),
		"idmint.generator.ids orders sequence":             exactly(5),
		"idmint.generator.ids clicks sno":                  exactly(7),
		"idmint.generator.ids sessions short":              exactly(11),
		"idmint.generator.refills users decimal":           exactly(1),
		"idmint.generator.refills orders sequence":         exactly(1),
		"idmint.generator.refills clicks sno":              exactly(1),
		"idmint.generator.utilization users decimal":       exactly(3.0 / 922_337_202),
		"idmint.generator.utilization orders sequence":     exactly(0.05),
		"idmint.generator.order.failures users decimal":    exactly(0),
		"idmint.generator.window.remaining sessions short": {30, 60},
		"idmint.generator.window.remaining clicks sno":     {30, 60},
		"idmint.generator.waiting sessions short":          exactly(0),
		"idmint.claim.events clicks number sno taken":      exactly(1),
		"idmint.claim.events clicks number sno raised":     exactly(1),
		"idmint.claim.events clicks number sno lost":       exactly(0),
		"idmint.claim.remaining clicks number sno":         {30, 60},
		"idmint.claim.away clicks number sno":              exactly(0),
		"idmint.numbers.used default generators ":          exactly(0), // as it was read before
		"idmint.launches.running default":                  exactly(1),
		"idmint.usage.failures default":                    exactly(0),
		"idmint.usage.age default":                         {0, 30},
		"idmint.generator.waits clicks sno":                exactly(0),
		"idmint.generator.utilization clicks sno":          {0, 1},
		"idmint.generator.clock.regressions clicks sno":    exactly(0),
		"idmint.generator.clock.behind clicks sno":         exactly(0),
		"idmint.generator.window.wait clicks sno":          exactly(0),
	})
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
}

// TestUsageIsRead: a set made after the IDs tells of what they used.
func TestUsageIsRead(t *testing.T) {
	s := newScene(t, nil)
	s.mint(t)
	wantValues(t, "at first", collect(t, s.set), map[string]between{
		"idmint.numbers.used default launches ":          exactly(1),
		"idmint.numbers.used default generators ":        exactly(1),
		"idmint.numbers.used default claims sno":         exactly(1),
		"idmint.numbers.utilization default generators ": exactly(1e-5),
		"idmint.numbers.utilization default claims sno":  exactly(1.0 / 65_536),
		"idmint.launches.running default":                exactly(1),
		"idmint.numbers.used default counters ":          {1e12, 1e13}, // milliseconds
		"idmint.numbers.utilization default counters ":   {1e-7, 1e-6},
	})
}

// TestCeilingAhead: a start that finds its ceiling ahead tells how far.
func TestCeilingAhead(t *testing.T) {
	set := new(telemetry.Set)
	clock := ticking{}
	last := clock.UnixNano()/1e6 + 20_000
	short, err := generator.NewShort(
		generator.Ceiling(struct{}{}, standing(last), 1e9),
		&generator.Options{Clock: clock, MaxWait: 1e9},
	)
	if err != nil {
		t.Fatal(err)
	}
	if err := telemetry.Add(set, "s", short); err != nil {
		t.Fatal(err)
	}
	if err := short.Ready(ctx); !errors.Is(err, generator.ErrClockBehind) {
		t.Fatal(err)
	}
	wantValues(t, "ahead", collect(t, set), map[string]between{
		"idmint.generator.window.wait s short": exactly(20.001),
	})
}

// ticking is a clock that stands still.
type ticking struct{ generator.WallClock }

func (ticking) UnixNano() int64 { return 1_773_489_600_000_000_000 }

// standing is a counter that nobody raises.
type standing int64

func (c standing) Last(context.Context) (int64, error) { return int64(c), nil }

func (c standing) Reserve(context.Context, int64, int64) (int64, error) {
	return 0, errors.New("not to be raised")
}

// TestAddRefuses what cannot be told of, and says what it was given.
func TestAddRefuses(t *testing.T) {
	s := newScene(t, nil)
	var none *generator.Sno
	for text, err := range map[string]error{
		`telemetry: name "" is no text of 1 to 63 bytes`: telemetry.Add(s.set, "", s.users),
		`telemetry: name "` + strings.Repeat("x", 64) + `" is no text of 1 to 63 bytes`: telemetry.Add(
			s.set, strings.Repeat("x", 64), s.users),
		`telemetry: name "\xff" is no text of 1 to 63 bytes`: telemetry.Add(s.set, "\xff", s.users),
		`telemetry: name "users" is there already`:           telemetry.Add(s.set, "users", s.orders),
		`telemetry: source of metrics "n" is nil`:            telemetry.Add(s.set, "n", none),
		`telemetry: namespace "default" is watched already`:  s.set.Watch(s.log, nil),
		`telemetry: log "nil" is no log: launchlog.New makes one`: s.set.Watch(nil,
			nil),
	} {
		var input *telemetry.InputError
		if !errors.As(err, &input) || err.Error() != text {
			t.Errorf("%v, want %s", err, text)
		}
	}
}

// TestRemove: what was removed is not told of, and its name is free.
func TestRemove(t *testing.T) {
	s := newScene(t, nil)
	if !s.set.Remove("users") || s.set.Remove("users") {
		t.Error("users are not removed once")
	}
	for name := range collect(t, s.set) {
		if strings.Contains(name, "users") {
			t.Errorf("%s is told", name)
		}
	}
	if err := telemetry.Add(s.set, "users", s.users); err != nil {
		t.Error(err)
	}
}

// TestMetrics have names, units and help that OpenTelemetry and Prometheus take.
func TestMetrics(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range telemetry.Metrics() {
		switch {
		case !strings.HasPrefix(m.Name, "idmint.") || seen[m.Name]:
			t.Errorf("%+v: the name", m)
		case m.Help == "" || !strings.HasSuffix(m.Help, "."):
			t.Errorf("%+v: the help", m)
		case m.Unit != "s" && m.Unit != "1" && !strings.HasPrefix(m.Unit, "{"):
			t.Errorf("%+v: the unit", m)
		case m.Unit == "1" && !strings.HasSuffix(m.Name, ".utilization"):
			t.Errorf("%+v: a share is a utilization", m)
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
