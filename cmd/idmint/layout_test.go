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
	for _, test := range []struct {
		args string
		want string // "" where it succeeds
	}{
		{"inspect --scheme eightbyte --layout v1 cb54ecf2840003f0", ""},
		{
			"inspect --scheme eightbyte --layout v1 cb54ecf284000400",
			"cb54ecf284000400: EightByteID: generator_id 64 is outside 0..63",
		},
		{"inspect --scheme eightbyte --layout v1 cb54ecf284001000", "mode 1 is outside 0..0"},
		{"inspect --scheme eightbyte --layout v2 cb54ecf284000ff0", ""},
		{
			"inspect --scheme eightbyte --layout v2 cb54ecf284002000",
			"generator_id 256 is outside 0..255",
		},
		{"inspect --scheme eightbyte --layout v2 cb54ecf284001000", "mode 1 is outside 0..0"},
		{"inspect --scheme eightbyte --layout v3 cb54ecf284001ff0", ""},
		{
			"inspect --scheme eightbyte --layout v3 --form hex cb54ecf284002000",
			"generator_id 256 is outside 0..255",
		},
		{
			"inspect --scheme eightbyte --layout v4 cb54ecf284000ff0",
			`--layout "v4": want one of the former layouts of eightbyte IDs, v1, v2, v3`,
		},
		{
			"inspect --scheme sno --layout v1 8fhmi7mfls62jp64",
			`--layout "v1": sno IDs have one layout`,
		},
		{"inspect --layout v1 cb54ecf284000ff0", `--layout "v1": whose? name the --scheme`},
		{"compose --scheme decimal --layout v1 {}", `--layout "v1": decimal IDs have one layout`},
		{
			`compose --scheme eightbyte --layout v2 {"unix_ms":1,"sequence":0,"generator_id":255}`,
			"want the fields unix_ms, sequence, generator_id and cluster_id",
		},
		{`compose --scheme eightbyte --layout v2 ` +
			`{"mode":null,"unix_ms":1,"sequence":0,"generator_id":255,"cluster_id":0}`, ""},
		{
			`compose --scheme eightbyte --layout v2 ` +
				`{"mode":"TIME_SEQUENTIAL","unix_ms":1,"sequence":0,"generator_id":255,` +
				`"cluster_id":0}`,
			"mode 1 is outside 0..0",
		},
		{
			`compose --scheme eightbyte --layout v3 ` +
				`{"unix_ms":1,"sequence":0,"generator_id":255,"cluster_id":0}`,
			"want the fields mode, unix_ms",
		},
		{
			`compose --scheme eightbyte {"unix_ms":1,"sequence":0,"generator_id":255,` +
				`"cluster_id":0}`,
			"want the fields mode, unix_ms",
		},
	} {
		got := s.run(strings.Fields(test.args)...)
		if test.want == "" && (got.status != 0 || got.stdout == "") ||
			test.want != "" && (got.status == 0 || got.stdout != "" ||
				!strings.Contains(got.stderr, test.want)) {
			t.Errorf("%s: %v; want %q", test.args, got, test.want)
		}
	}
}
