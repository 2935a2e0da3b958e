package promid_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v2"

	"github.com/idmint/idmint/telemetry"
	"github.com/idmint/idmint/telemetry/promid"
)

const page = "../../docs/operate/observability.md"

func readPage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The table of metrics.md has Prometheus' names, and docs/operate/observability.md its labels.
func TestDocs(t *testing.T) {
	metrics, err := os.ReadFile("../metrics.md")
	check(t, err)
	for _, m := range telemetry.Metrics() {
		if row := fmt.Sprintf("| `%s` | `%s` |", m.Name, promid.Name(m)); !strings.Contains(
			string(metrics), row) {
			t.Errorf("telemetry/metrics.md does not have the row %s", row)
		}
		for _, label := range m.Labels {
			row := fmt.Sprintf("| `%s` | `%s` |", label, promid.Label(label))
			if !strings.Contains(readPage(t), row) {
				t.Errorf("docs/operate/observability.md does not have the label %s", row)
			}
		}
	}
}

// alerts.yml asks for metrics, labels and kinds that there are. The page names each alert with what
// to do, and no other.
func TestAlerts(t *testing.T) {
	file, err := os.ReadFile("alerts.yml")
	check(t, err)
	var rules struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	check(t, yaml.UnmarshalStrict(file, &rules))
	labels := map[string]string{"idmint_log_step_duration_seconds_count": "op error_type"}
	for _, m := range telemetry.Metrics() {
		for _, label := range m.Labels {
			labels[promid.Name(m)] += promid.Label(label) + " "
		}
	}
	text, names := readPage(t), map[string]bool{}
	selector := regexp.MustCompile(`(idmint_\w+)(?:\{(\w+)[=!]~?"([^"]*)"\})?`)
	for _, rule := range rules.Groups[0].Rules {
		names[rule.Alert] = true
		if !strings.Contains(text, "| `"+rule.Alert+"` | ") {
			t.Errorf("docs/operate/observability.md does not say what to do about %s", rule.Alert)
		}
		found := selector.FindAllStringSubmatch(rule.Expr, -1)
		if len(found) == 0 || rule.Annotations["summary"] == "" || rule.Labels["severity"] == "" ||
			strings.Count(rule.Expr, "(") != strings.Count(rule.Expr, ")") {
			t.Errorf("rule %+v", rule)
		}
		for _, m := range found {
			if of, known := labels[m[1]]; !known || !strings.Contains(of, m[2]) {
				t.Errorf("%s: %s has the labels %q", rule.Alert, m[0], of)
			}
			rates := strings.Contains(rule.Expr, "rate(") || strings.Contains(rule.Expr, "increase(")
			if rates != strings.HasSuffix(m[1], "_total") && !strings.HasSuffix(m[1], "_count") {
				t.Errorf("%s: rates are of counters: %s", rule.Alert, rule.Expr)
			}
		}
	}
	for _, m := range regexp.MustCompile("`(Idmint[A-Z]\\w+)`").FindAllStringSubmatch(text, -1) {
		if !names[m[1]] {
			t.Errorf("docs/operate/observability.md names %s, which alerts.yml has not", m[1])
		}
	}
}

// The programs of the page are those of the examples, which are run.
func TestDocsPrograms(t *testing.T) {
	var sources string
	for _, pattern := range []string{"../*_test.go", "../*/example_test.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			sources += string(source)
		}
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(readPage(t), -1)
	if len(blocks) < 4 {
		t.Errorf("%d blocks", len(blocks))
	}
	for _, block := range blocks {
		if !strings.Contains(sources, block[1]) {
			t.Errorf("no example holds this block:\n%s", block[1])
		}
	}
}
