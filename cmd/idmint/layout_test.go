package main

import (
	"strings"
	"testing"
)

// What each release of java-uniqueid made, compose makes by its layout, and inspect takes; what it
// refused, they refuse.
func TestLayouts(t *testing.T) {
	s := inside(t)
	own := map[string]string{"1.13": "v1", "1.14": "v2", "2.4": "v2", "2.5": "v3", "3.1": "v3"}
	fields, ids, bad := map[string]string{}, map[string]string{}, map[string]string{}
	valid, invalidParts := vectorsOf(t, "eightbyte")
	for i, v := range valid {
		layout, former := own[strings.TrimPrefix(v.Source, "java-uniqueid ")]
		if !former {
			continue
		}
		parts := string(v.Parts)
		if layout != "v3" && i%2 == 0 { // which these layouts have not
			parts = strings.Replace(parts, `"mode":"SPREAD",`, "", 1)
		}
		fields[layout] += parts + "\n"
		ids[layout] += v.Text + "\n"
	}
	for _, v := range invalidParts {
		bad[v.Layout] += string(v.Parts) + "\n"
	}
	for _, layout := range []string{"v1", "v2", "v3"} {
		composed := s.feed(fields[layout], "compose", "--scheme", "eightbyte", "--layout", layout)
		if composed.status != 0 || composed.stdout != ids[layout] || ids[layout] == "" {
			t.Errorf("compose by %s: %v", layout, composed)
		}
		inspected := s.feed(ids[layout], "inspect", "--scheme", "eightbyte", "--layout", layout,
			"--json")
		again := s.feed(inspected.stdout, "compose", "--scheme", "eightbyte", "--layout", layout)
		if inspected.status != 0 || again.status != 0 || again.stdout != ids[layout] {
			t.Errorf("inspect by %s, and compose: %v, %v", layout, inspected, again)
		}
		refused := s.feed(bad[layout], "compose", "--scheme", "eightbyte", "--layout", layout)
		if refused.status != 1 || refused.stdout != "" ||
			strings.Count(refused.stderr, "is outside 0..") != strings.Count(bad[layout], "\n") ||
			bad[layout] == "" {
			t.Errorf("compose by %s of what it has not: %v", layout, refused)
		}
	}
}
